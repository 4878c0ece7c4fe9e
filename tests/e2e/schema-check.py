"""Checks JSON files with schemas of docs/schemas. On stdin there is a line `holds SCHEMA FILE` or `fails SCHEMA FILE` for each
(.gz is unpacked). Lists those that differ, and then ends with status 1."""
import gzip
import json
import pathlib
import sys

import jsonschema

folder = pathlib.Path(__file__).resolve().parents[2] / "docs/schemas"
schemas = {path.name: json.loads(path.read_text()) for path in folder.glob("*.schema.json")}
checkers = {}


def checker(name):
    if name not in checkers:
        schema = schemas[name + ".schema.json"]
        jsonschema.Draft7Validator.check_schema(schema)
        resolver = jsonschema.RefResolver(name + ".schema.json", schema, store=schemas)
        checkers[name] = jsonschema.Draft7Validator(schema, resolver=resolver)
    return checkers[name]


def main():
    wrong = 0
    for line in sys.stdin:
        what, name, file = line.rstrip("\n").split(" ", 2)
        with (gzip.open if file.endswith(".gz") else open)(file, "rt", encoding="utf-8") as stream:
            content = stream.read()
        errors = list(checker(name).iter_errors(json.loads(content)))
        if bool(errors) != (what == "fails"):
            why = "%s: %s" % ("/".join(map(str, errors[0].absolute_path)), errors[0].message[:200]) if errors else "passes, and should not"
            print("docs/schemas/%s: %s: %s (%s...)" % (name, file, why, content[:60]), file=sys.stderr)
            wrong = 1
    return wrong


sys.exit(main())
