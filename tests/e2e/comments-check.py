"""Checks how comments read. Usage: comments-check.py FRAGMENTS SILENT FILE... At most FRAGMENTS comments may begin in mid-sentence,
and at most SILENT functions of 15 lines or more may have no comment before them. Otherwise all of these are listed."""

import re
import sys

fragments = []
silent = []
START = re.compile(r"(What|Of|Whether|Where|The same|Those|That|Its|And|Also|As)\b|[a-z]|\"|\.\.\.|(True|False) when\b|(NULL|NAN): ")
for source in sys.argv[3:]:
    with open(source, encoding="utf-8") as opened:
        text = opened.read()
    for match in re.finditer(r"/\*(.*?)\*/", text, flags=re.DOTALL):
        body = re.sub(r"\s*\n\s*\*?\s*", " ", match.group(1)).strip(" *-")
        alone = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip() == ""
        if alone and len(body.split()) > 2 and START.match(body):
            fragments.append((source, text.count("\n", 0, match.start()) + 1, body[:70]))
    lines = text.split("\n")
    begin = None
    for number, line in enumerate(lines):
        if re.match(r"[A-Za-z].*\)\s*\{\s*$", line):
            begin = number
        elif line == "}" and begin is not None:
            above = begin - 1
            while above >= 0 and lines[above] and not lines[above].rstrip().endswith(("}", ";", "*/")):
                above -= 1
            if number - begin >= 15 and not (above >= 0 and lines[above].rstrip().endswith("*/")):
                silent.append((source, begin + 1, lines[begin][:70]))
            begin = None

failures = 0
most_of_each = (int(sys.argv[1]), int(sys.argv[2]))
for found, most, what in zip((fragments, silent), most_of_each, ("begin in mid-sentence", "are functions without a comment")):
    if len(found) > most:
        failures += 1
        for source, number, words in found:
            print(f"{source}:{number}: {words}")
    print(f"comments: {len(found)} {what} (at most {most})")
sys.exit(1 if failures else 0)
