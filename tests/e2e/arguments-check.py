#!/usr/bin/env python3
"""Every member of a struct in kernels/*/arguments.h is read by a kernel or header of that folder, or stands in KEPT."""
import glob
import os
import re
import sys

KEPT = {
    ("kf_pose", "free"): "a pose lies in checkpoints byte for byte",
}


def read(path):
    with open(path, encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)


def members(text):
    """Yields (struct, member) of structs without inner ones."""
    for struct in re.finditer(r"typedef struct (\w+)\s*\{([^{}]*)\}\s*\w+;", text):
        for declaration in struct.group(2).split(";"):
            if "(" in declaration or "#" in declaration:
                continue
            for name in re.findall(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?=,|$)", declaration.strip()):
                yield struct.group(1), name


def unread(header, sources):
    """Returns the members of a header's structs that no source reads by . or -> or hands to a macro."""
    return [
        (struct, name)
        for struct, name in members(header)
        if not re.search(r"(?:->|\.|,|\()\s*" + name + r"\b", re.sub(r"typedef struct \w+\s*\{[^{}]*\}", "", sources))
    ]


sample = "typedef struct kf_a {\n int used, idle;\n double list[3];\n} kf_a;\nint f(kf_a *a) { return a->used + (int)a->list[0]; }"
if unread(sample, sample) != [("kf_a", "idle")]:
    sys.exit("arguments-check.py: does not see a member that nobody reads")
count = bad = 0
for folder in sorted(glob.glob("kernels/*/")):
    header = os.path.join(folder, "arguments.h")
    if not os.path.exists(header):
        continue
    text = read(header)
    files = [path for path in sorted(glob.glob(folder + "*")) if path.endswith((".h", ".cu"))]
    sources = "\n".join(read(path) for path in [*files, "kernels/portable.h"])
    count += len(list(members(text)))
    for struct, name in unread(text, sources):
        if (struct, name) in KEPT:
            continue
        print(f"{header}: {struct}.{name} is read by no kernel")
        bad += 1
print(f"arguments: {count} members, {bad} that no kernel reads")
sys.exit(bad > 0)
