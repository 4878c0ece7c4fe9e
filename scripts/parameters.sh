#!/bin/sh
# The page of all parameters, docs/parameters.md, from variants/*.json, to stdout. Needs jq.
# usage: scripts/parameters.sh >docs/parameters.md
set -eu
cd "$(dirname "$0")/../variants"
cat <<'TEXT'
# Parameters

Everything that tuning may choose, system by system: the values it may take and what it takes without tuning. Expressions are over the scene
and the device ([space-format.md](space-format.md)); `kftune space --scene FILE` shows what they come to, and which combinations there are.

Made from `variants/*.json` by `scripts/parameters.sh`; `tests/e2e/parameters.sh` holds it against them.
TEXT
for file in kinetic.json $(ls -- *.json | grep -vx kinetic.json); do
    jq -r '
        def cell: gsub("\\|"; "\\|");
        def literal: if type == "object" then "`" + .expression + "`" elif type == "string" then . else tostring end;
        def domain: if .values == null then "true, false" elif (.values | type) == "string" then "`" + .values + "`"
            else (.values | map(tostring) | join(", ")) end;
        "\n## " + .system,
        (if .variables == null then empty else "\nShort for:" end),
        (.variables[]? | "\n- `" + .name + "`: " + .help + " (`" + .expression + "`)"),
        "\n| parameter | what it is | values | default |\n| --- | --- | --- | --- |",
        (.parameters[] | "| `" + .name + "` | " + ((.help // "") | cell) + " | " + (domain | cell) + " | " + (.default | literal | cell) + " |"),
        (if .defaults == null then empty else "\nDefaults by rule; of each parameter the first rule that fits and has it counts:\n" end),
        (.defaults[]? | "- `" + .when + "`" + (if .help == null then "" else " (" + .help + ")" end) + ": "
            + (.set | to_entries | map("`" + .key + "` " + (.value | literal)) | join(", "))),
        "\nCombinations that are left out:\n",
        (.constraints[]? | "- " + .reason + " (`" + .expression + "`)"),
        "\nPresets besides the defaults:\n",
        (.presets | to_entries[] | select(.value != {}) | "- `" + .key + "`: " + (.value | to_entries | map("`" + .key + "` " + (.value | literal)) | join(", ")))
    ' "$file"
done
