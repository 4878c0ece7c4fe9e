#!/bin/bash
# Tests that each parameter of variants/*.json has a help line, and that kftune space prints it. KFTUNE: the program;
# KFTUNE_SCRATCH: a folder to write into.
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=tests/e2e/preamble.bash
. tests/e2e/preamble.bash
command -v jq >/dev/null || { echo "parameters.sh: skipped, jq is not installed"; exit 77; }
for file in variants/*.json; do
    silent=$(jq -r '.parameters[] | select((.help // "") == "") | .name' "$file")
    [ -z "$silent" ] || complain "$file: no help for $silent"
done
expect 0 space --scene ball --device cpu
while read -r help; do shows "$help"; done < <(jq -r '.parameters[].help' variants/kinetic.json)
finish
