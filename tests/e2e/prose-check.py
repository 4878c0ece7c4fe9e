"""Checks how documents read. Usage: prose-check.py SENTENCES FILE... There is no line above 120 columns, no date or commit in an
explaining page, and in all at most SENTENCES sentences have more than 40 words. Lists the lines and the longest sentences."""

import re
import sys

most = int(sys.argv[1])
failures = 0
long_sentences = []
for document in sys.argv[2:]:
    with open(document, encoding="utf-8") as opened:
        text = opened.read()
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > 120:
            print(f"{document}:{number}: {len(line)} columns")
            failures += 1
        if re.search(r"\b20\d\d-\d\d-\d\d\b|\bcommit [0-9a-f]{7}\b", line):
            print(f"{document}:{number}: a date or a commit belongs in results/log: {line.strip()[:80]}")
            failures += 1
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    prose = "\n".join(line for line in prose.split("\n") if not line.startswith(("|", "#", "    ", "!")))
    for paragraph in re.split(r"\n\s*\n|\n- ", prose):
        for sentence in re.split(r"(?<=[.!?:;])\s+(?=[A-Z`*(\[])", paragraph.replace("\n", " ")):
            words = len(sentence.split())
            if words > 40:
                long_sentences.append((words, document, sentence.strip()))

if len(long_sentences) > most:
    failures += 1
    for words, document, sentence in sorted(long_sentences, reverse=True)[:10]:
        print(f"{document}: {words} words: {sentence[:100]} ...")
print(f"prose: {len(sys.argv) - 2} documents, {len(long_sentences)} sentences above 40 words (at most {most}), {failures} complaints")
sys.exit(1 if failures else 0)
