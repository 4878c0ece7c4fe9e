#!/bin/sh
# The page of all parameters, docs/parameters.md, from variants/*.json, to stdout. Needs jq.
# usage: scripts/parameters.sh >docs/parameters.md
set -eu
cd "$(dirname "$0")/../variants"
{
    cat <<'TEXT'
# Parameters

Everything that tuning may choose, system by system: name, values, meaning. Values may be an expression over the scene
and the device ([space-format.md](space-format.md)). `kftune space --scene FILE` shows what values, defaults, presets
and constraints come to there. `variants/<system>.json` has the rules for defaults and the reason for each constraint.

`scripts/parameters.sh` makes this page of `variants/*.json`, and `tests/e2e/parameters.sh` compares it with them.
TEXT
    for file in kinetic.json $(ls -- *.json | grep -vx kinetic.json); do
        jq -r '
            def cell: if type == "string" then "`" + . + "`" else (map("`" + tostring + "`") | join(", ")) end;
            "\n## " + .system + "\n",
            (.parameters[] | "- **`" + .name + "`** (" + (if .values == null then "`true`, `false`" else (.values | cell) end) + "): " + (.help // "") + ".")
        ' "$file"
    done
} | awk '
    length($0) <= 120 { print; next }
    { # An item of a list, cut at spaces.
        line = ""
        count = split($0, words, " ")
        for (i = 1; i <= count; i++) {
            if (line != "" && length(line) + 1 + length(words[i]) > 120) { print line; line = "  " words[i] }
            else line = line (line == "" ? "" : " ") words[i]
        }
        print line
    }'
