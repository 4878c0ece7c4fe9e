#!/bin/bash
# docs/parameters.md is what scripts/parameters.sh makes of variants/*.json, and each parameter has a help line.
set -u
cd "$(dirname "$0")/../.." || exit 3
command -v jq >/dev/null || { echo "parameters.sh: skipped, jq is not installed"; exit 77; }
failures=0
changes=$(sh scripts/parameters.sh | diff -u docs/parameters.md - | head -n 20)
if [ -n "$changes" ]; then
    echo "$changes"
    echo "parameters.sh: docs/parameters.md is not current: scripts/parameters.sh >docs/parameters.md"
    failures=1
fi
for file in variants/*.json; do
    grep -q "^## $(jq -r .system "$file")$" docs/parameters.md || { echo "parameters.sh: $file has no part in docs/parameters.md"; failures=1; }
    silent=$(jq -r '.parameters[] | select((.help // "") == "") | .name' "$file")
    [ -z "$silent" ] || { echo "parameters.sh: $file: no help for" $silent; failures=1; }
done
[ $failures -eq 0 ] && echo "parameters.sh: passed"
exit $failures
