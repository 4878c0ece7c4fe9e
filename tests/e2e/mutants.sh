#!/bin/bash
# Tests that every fault of tests/mutants/list.txt has its place: its file contains the line's text once, and its test
# programs exist.
set -u
cd "$(dirname "$0")/../.." || exit 3
failures=0 count=0
complain() {
    echo "mutants.sh: $*"
    failures=$((failures + 1))
}
while read -r id file programs; do
    [[ -n $id && $id != \#* ]] || continue
    IFS= read -r from
    IFS= read -r to
    count=$((count + 1))
    if [[ $from != "- "* || $to != "+ "* || ${from#- } == "${to#+ }" ]]; then
        complain "$id has no line that changes"
        continue
    fi
    [ -f "$file" ] || { complain "$id: there is no $file" && continue; }
    [ "$(grep -oF -- "${from#- }" "$file" | wc -l)" = 1 ] || complain "$id: $file does not hold its text once: ${from#- }"
    [ -n "$programs" ] || complain "$id names no test program"
    for program in $programs; do
        [ -f "tests/unit/$program.c" ] || [ -x "$program" ] || complain "$id: there is no $program"
    done
done <tests/mutants/list.txt
[ $count -gt 0 ] || complain "the list is empty"
[ $failures -eq 0 ] && echo "mutants.sh: passed, $count faults"
exit $failures
