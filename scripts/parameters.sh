#!/bin/sh
# The page of all parameters, docs/parameters.md, from variants/*.json, to stdout. Needs jq.
# usage: scripts/parameters.sh >docs/parameters.md
set -eu
cd "$(dirname "$0")/../variants"
{
    cat <<'TEXT'
# Parameters

Everything that tuning may choose, system by system. An expression is over the scene and the device
([space-format.md](space-format.md)).

- `kftune space --scene FILE` shows what domains and defaults come to on a scene and device.
- A default *by rule* depends on scene and device. The rules are in `variants/<system>.json`.
- Combinations that are left out are there too, with the reason for each.

`scripts/parameters.sh` makes this page of `variants/*.json`, and `tests/e2e/parameters.sh` compares it with them.
TEXT
    for file in kinetic.json $(ls -- *.json | grep -vx kinetic.json); do
        jq -r '
            def literal: if type == "object" then "`" + .expression + "`" else "`" + tostring + "`" end;
            def domain: if .values == null then "`true`, `false`" elif (.values | type) == "string" then "`" + .values + "`"
                else (.values | map("`" + tostring + "`") | join(", ")) end;
            ([.defaults[]?.set | keys[]] | unique) as $ruled |
            "\n## " + .system + "\n",
            (.parameters[] | "- **`" + .name + "`**: " + (.help // "") + ". Values: " + domain + ". Default: "
                + (if (.name as $name | $ruled | index($name)) then "by rule, else " else "" end) + (.default | literal) + "."),
            "\nPresets:\n",
            (.presets | to_entries[] | select(.value != {}) | "- `" + .key + "`: " + (.value | to_entries | map("`" + .key + "` " + (.value | literal)) | join(", ")))
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
