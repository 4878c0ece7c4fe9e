#!/bin/bash
# Nested grids on a GPU: their tests against the reference, then the validation cases nested and nested_drag with each plan.
# From a bundle or a built source tree; builds nothing; some eight minutes (at most 540 s of cases: BUDGET).
# usage: scripts/gpu/nested.sh FOLDER [DEVICE]
# Leaves in FOLDER: nested.json (what the program printed, one JSON object a line) and log.txt (seconds of each case too).
# Status 1 when a test or a check failed, or time ended a case.
set -u
folder=${1:?usage: scripts/gpu/nested.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
budget=${BUDGET:-540}
. "$(dirname "$0")/budget.sh"
bad=0
: >"$folder/nested.json"
: >"$folder/log.txt"

for name in test_nested_plans test_nested; do
    for program in "$(dirname "$kftune")/tests/$name" "build/tests/$name"; do [ ! -x "$program" ] || break; done
    KFTUNE_TEST_DEVICE=$device timeout -k 8 "$(left)" "$program" >>"$folder/log.txt" 2>&1 || { bad=1 && echo "FAILED $name"; }
done

# check CASE VALUE...: the case with these values fixed.
check() {
    local case=$1 fixed=() value start=$SECONDS
    shift
    for value in "$@"; do fixed+=(--fix "$value"); done
    timeout -s INT -k 8 "$(left)" "$kftune" validate --device "$device" --case "$case" "${fixed[@]}" --json \
        >"$work/out.json" 2>>"$folder/log.txt" || { bad=1 && echo "FAILED $case $*"; }
    cat "$work/out.json" >>"$folder/nested.json"
    echo "$case $*: $((SECONDS - start)) s" | tee -a "$folder/log.txt"
}
check nested plan=fused
check nested plan=moments
check nested_drag plan=moments
check nested_drag plan=fused
check nested_drag plan=moments storage=f16
exit $bad
