"""Checks commands in documents. Usage: documented-check.py KFTUNE FILE... Every `kftune COMMAND --option ...` must have a command and
options that its help lists."""

import re
import subprocess
import sys

program = sys.argv[1]
helps = {}
failures = 0
commands = 0


def help_of(command):
    if command not in helps:
        words = [program] + ([command] if command else []) + ["--help"]
        helps[command] = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    return helps[command]


def spans(text):
    """Returns the code of a document: blocks with their continued lines joined, and text between backticks."""
    fenced = re.findall(r"^```([a-z]*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    blocks = [block for language, block in fenced if language in ("", "sh")]
    blocks += re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)
    for block in blocks:
        for line in block.replace("\\\n", " ").split("\n"):
            yield re.sub(r"\s#.*", "", line)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from (span.replace("\n", " ") for span in re.findall(r"`([^`]+)`", prose))


PLACED = ("--up", "--wind", "--length", "--speed", "--reynolds", "--viscosity", "--road", "--yaw", "--blockage", "--cells")


def misnamed(found, tuned):
    """Returns whether a run names a config without the options that place its mesh, which are part of the name. tuned collects such
    names."""
    words = found.split()
    if (words[0] == "tune" or words[0].startswith("--")) and "--scene" in words[:-1] and any(option in words for option in PLACED):
        tuned.add(re.sub(r"(\.scene)?\.[a-z]+$", "", words[words.index("--scene") + 1]) + ".kftune.json")
    return words[0] == "run" and "--config" in words[:-1] and words[words.index("--config") + 1] in tuned


known = re.findall(r"^  ([a-z]+)  ", help_of(""), re.MULTILINE) + ["help"]
for document in sys.argv[2:]:
    with open(document, encoding="utf-8") as opened:
        text = opened.read()
    tuned = set()
    for span in spans(text):
        for found in re.findall(r"(?:^|[\s;&|(\"'])(?:build/)?kftune ((?:[^|;&`\"]|'[^']*')*)", span):
            words = found.split()
            if not words or not re.fullmatch(r"-?-?[a-z][a-z-]*", words[0]):
                continue
            command = "tune" if words[0].startswith("--") else words[0]
            commands += 1
            if misnamed(found, tuned):
                print(f"{document}: 'kftune {found.strip()}': what was tuned before it has its options in its name")
                failures += 1
            if command not in known:
                print(f"{document}: 'kftune {found.strip()}': there is no command '{command}'")
                failures += 1
                continue
            for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", found):
                if not re.search(rf"(?<!\S){option}(?![\w-])", help_of(command)):
                    print(f"{document}: 'kftune {found.strip()}': {command} has no option {option}")
                    failures += 1

print(f"documented: {commands} commands in documents, {failures} that the program does not know")
sys.exit(1 if failures or commands < 50 else 0)
