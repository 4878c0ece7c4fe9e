"""Checks links between the documents. Usage: links-check.py FILE... Every relative link must lead to a file, and a #fragment to a
heading or an anchor there. A path of the tree between backticks must exist, too, except in logs, which describe earlier trees."""

import glob
import os
import re
import sys

failures = 0
links = 0


def anchors(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings]
    return set(slugs) | set(re.findall(r'<a id="([^"]+)">', text))


for document in sys.argv[1:]:
    with open(document, encoding="utf-8") as opened:
        text = opened.read()
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"^\[[^\]]+\]: (\S+)$", text, re.MULTILINE)
    defined = re.findall(r"^\[([^\]]+)\]: \S+$", text, re.MULTILINE)
    for name in re.findall(r"\]\[([^\]]+)\]", re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)):
        links += 1
        if name not in defined:
            print(f"{document}: [{name}] is defined nowhere, or not on a line of its own")
            failures += 1
    for target in targets:
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        links += 1
        path, _, fragment = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document
        if not os.path.exists(path):
            print(f"{document}: {target}: no such file")
            failures += 1
        elif fragment and path.endswith(".md") and fragment not in anchors(path):
            print(f"{document}: {target}: no such heading")
            failures += 1

    if "results/" in document:
        continue
    for path in re.findall(r"`((?:base|ci|cost_model|docs|harness|kernels|metrics|plots|results|scene|scripts|solver|suites|tests|variants)/[\w./*-]+)`", text):
        links += 1
        if not glob.glob(path) and not glob.glob(path + "*") and "name" not in path.lower():
            print(f"{document}: `{path}`: no such file")
            failures += 1

print(f"links: {links} between documents, {failures} lead nowhere")
sys.exit(1 if failures or links == 0 else 0)
