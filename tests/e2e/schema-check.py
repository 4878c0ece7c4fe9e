"""Holds JSON files against a schema of docs/schemas. usage: schema-check.py [--fails] SCHEMA FILE... (.gz is unpacked)"""
import gzip
import json
import pathlib
import sys

import jsonschema


def main(words):
    fails = words[0] == "--fails"
    name, files = words[fails], words[fails + 1:]
    folder = pathlib.Path(__file__).resolve().parents[2] / "docs/schemas"
    schema = json.loads((folder / (name + ".schema.json")).read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    others = {path.name: json.loads(path.read_text()) for path in folder.glob("*.schema.json")}
    resolver = jsonschema.RefResolver(name + ".schema.json", schema, store=others)
    checker = jsonschema.Draft7Validator(schema, resolver=resolver)
    wrong = 0
    for file in files:
        with (gzip.open if file.endswith(".gz") else open)(file, "rt", encoding="utf-8") as stream:
            errors = list(checker.iter_errors(json.load(stream)))
        if bool(errors) != fails:
            why = "passes, and should not" if fails else "%s: %s" % ("/".join(map(str, errors[0].absolute_path)), errors[0].message[:200])
            print("%s: %s: %s" % (name, file, why), file=sys.stderr)
            wrong = 1
    return wrong


sys.exit(main(sys.argv[1:]))
