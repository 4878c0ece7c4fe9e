"""Figures that documents quote, against the files of results/measured that they come from.

usage: quotes-check.py LIST. A line of LIST: document :: the words as they stand there :: file :: an expression for each number of the words.
An expression is the name of a figure (spaces as +), for its value, or name.member, or name*FACTOR; one that ends in % is a share told in percent; - is not looked at.
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


def read(path, store, parse):
    if path not in store:
        with open(path, encoding="utf-8") as file:
            store[path] = parse(file)
    return store[path]


def figures(file):
    return {figure["name"]: figure for figure in json.load(file)["figures"]}


def value_of(known, expression):
    percent = expression.endswith("%")
    name, _, factor = expression.rstrip("%").partition("*")
    name, _, member = name.partition(".")
    value = known[name.replace("+", " ")][member or "value"]
    return value * (float(factor) if factor else 1.0) * (100.0 if percent else 1.0)


for number, text in enumerate(open(sys.argv[1], encoding="utf-8"), 1):
    if not text.strip() or text.startswith("#"):
        continue
    document, words, file, expressions = (part.strip() for part in text.split("::"))
    if words not in read(document, documents, lambda opened: opened.read()):
        complain(number, f"{document} does not say '{words}'")
        continue
    said = re.findall(r"(?<![\w^.])[0-9]+(?:\.[0-9]+)?(?![\w^]|\.[0-9])", re.sub(r"(?<=[0-9]),(?=[0-9])", "", words))
    expressions = expressions.split()
    if len(said) != len(expressions):
        complain(number, f"{len(said)} numbers in '{words}', {len(expressions)} expressions")
        continue
    known = read("results/measured/" + file, results, figures)
    for told, expression in zip(said, expressions):
        if expression == "-":
            continue
        digits = len(told.partition(".")[2])
        try:
            value = value_of(known, expression)
        except KeyError:
            complain(number, f"{file} has no {expression}")
            continue
        checked += 1
        if f"{value:.{digits}f}" != told:
            complain(number, f"{document} says {told}, {file} has {value:.{digits + 3}f} ({expression})")

if checked == 0:
    complain(0, "nothing was checked")
print(f"quotes: {checked} figures held against their files, {failures} wrong")
sys.exit(1 if failures else 0)
