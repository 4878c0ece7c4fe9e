"""Compares figures in documents with the files of results/measured that they come from.

usage: quotes-check.py LIST. A line of LIST: document :: the words as they stand there, over the ends of lines too :: file :: an expression for each number of the words.
An expression is one of
  NAME, NAME.MEMBER   the value, or a member, of the figure of this name (spaces as +)
  /KEY/KEY...         a path into the file's JSON; in a list a key is a number, or the name, kernel, scene or flow of the item
  =                   the number stands in the file, as it is told: for files of text
  ~                   the file has a number that, rounded to as many digits, is that number
  -                   not looked at
The first two may end in *FACTOR, in ^^NUMBER for the number over the value, and in % for a share told in percent.
A number in the words holds when the value, rounded to as many digits as it has, is that number. Skips empty lines and those that begin with '#'."""

import json
import re
import sys

failures = 0
checked = 0
documents = {}
results = {}


def complain(line, words):
    global failures
    failures += 1
    print(f"{sys.argv[1]}:{line}: {words}")


def read(path, store):
    if path not in store:
        with open(path, encoding="utf-8") as file:
            store[path] = file.read()
    return store[path]


def child(value, key):
    if not isinstance(value, list):
        return value[key]
    if key.lstrip("-").isdigit():
        return value[int(key)]
    names = [item.get(member) for item in value for member in ("name", "kernel", "scene", "flow")]
    return value[names.index(key) // 4]


def value_of(text, expression):
    percent = expression.endswith("%")
    name, _, over = expression.rstrip("%").partition("^^")
    name, _, factor = name.partition("*")
    name = name.replace("+", " ")
    value = json.loads(text)
    if name.startswith("/"):
        for key in name[1:].split("/"):
            value = child(value, key)
    else:
        name, _, member = name.partition(".")
        value = child(value["figures"], name)[member or "value"]
    value *= (float(factor) if factor else 1.0) * (100.0 if percent else 1.0)
    return float(over) / value if over else value


def stands_in(text, told, rounded):
    plain = re.sub(r"(?<=[0-9]),(?=[0-9]{3})", "", text)
    if rounded:
        digits = len(told.partition(".")[2])
        return any(f"{float(number):.{digits}f}" == told for number in re.findall(r"(?<![\w.])[0-9]+(?:\.[0-9]+)?", plain))
    return re.search(rf"(?<![\w.]){re.escape(told)}(?!\w|\.[0-9])", plain) is not None


for number, text in enumerate(open(sys.argv[1], encoding="utf-8"), 1):
    if not text.strip() or text.startswith("#"):
        continue
    document, words, file, expressions = (part.strip() for part in text.split("::"))
    if " ".join(words.split()) not in " ".join(read(document, documents).split()):
        complain(number, f"{document} does not say '{words}'")
        continue
    said = re.findall(r"(?<![\w^.])[0-9]+(?:\.[0-9]+)?(?![\w^]|\.[0-9])", re.sub(r"(?<=[0-9]),(?=[0-9])", "", words))
    expressions = expressions.split()
    if len(said) != len(expressions):
        complain(number, f"{len(said)} numbers in '{words}', {len(expressions)} expressions")
        continue
    known = read("results/measured/" + file, results)
    for told, expression in zip(said, expressions):
        if expression == "-":
            continue
        digits = len(told.partition(".")[2])
        if expression in ("=", "~"):
            checked += 1
            if not stands_in(known, told, expression == "~"):
                complain(number, f"{document} says {told}, which is not in {file}")
            continue
        try:
            value = value_of(known, expression)
        except (KeyError, IndexError, ValueError):
            complain(number, f"{file} has no {expression}")
            continue
        checked += 1
        if f"{value:.{digits}f}" != told:
            complain(number, f"{document} says {told}, {file} has {value:.{digits + 3}f} ({expression})")

if checked == 0:
    complain(0, "nothing was checked")
print(f"quotes: {checked} figures held against their files, {failures} wrong")
sys.exit(1 if failures else 0)
