#!/bin/bash
# Tests that docs/rules.md names every validation case, and nothing that is neither a case nor a test of tests/unit.
# KFTUNE: the program.
set -u
cd "$(dirname "$0")/../.." || exit 3
kftune=$(realpath "${KFTUNE:?KFTUNE must name the program}")
page=docs/rules.md
cases=$("$kftune" validate --list | awk '{ print $1 }') || exit 1
[ "$(wc -l <<<"$cases")" -gt 40 ] || { echo "rules.sh: kftune validate --list names $(wc -l <<<"$cases") cases"; exit 1; }
# Prints the names in the last column of all tables.
names=$(awk -F'|' 'NF > 4 { print $4 }' $page | grep -o '`[^`]*`' | tr -d '`' | sort -u)
failures=0
for name in $names; do
    grep -qxF "$name" <<<"$cases" || grep -q "^static void $name(void \*\*state)" tests/unit/*.c ||
        { echo "rules.sh: $page: '$name' is neither a case of kftune validate nor a test"; failures=1; }
done
for case in $cases; do
    grep -qxF "$case" <<<"$names" || { echo "rules.sh: $page does not name the case $case"; failures=1; }
done
[ $failures -eq 0 ] && echo "rules.sh: $(wc -w <<<"$names") names, all there"
exit $failures
