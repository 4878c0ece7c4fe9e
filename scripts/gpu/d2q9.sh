#!/bin/bash
# The d2q9 system on a GPU: the suite toelke (the paper's tables, and what must be reached), then its tests and
# validation cases side by side. From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/d2q9.sh FOLDER [DEVICE]; about 100 seconds on an H200 and never more than 150 on a GPU; DEVICE cpu
# runs the same on small grids.
# FOLDER gets h200-d2q9.json (the suite; named after the device on others), suite.log, tests.txt, validate.json,
# validate.log and summary.txt, which is also printed.
# Status 1 when a test or a check fails or is out of time, or a config of the suite fails the gate.
set -u
folder=${1:?usage: scripts/gpu/d2q9.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
. "$(dirname "$0")/program.sh"
for tests in tests/unit/test_d2q9 build/tests/test_d2q9; do [ -x "$tests" ] && break; done
[ -x "$tests" ] || { echo "test_d2q9 is neither in tests/unit/ nor in build/tests/: build it first" >&2; exit 3; }
case $device in
cuda*) quick='' seconds=150 suite=$folder/h200-d2q9.json ;;
*) quick=--quick seconds=600 suite=$folder/${device//:/}-d2q9.json ;;
esac
left() { # seconds that are left of the budget, but at least 1
    echo $((SECONDS < seconds ? seconds - SECONDS : 1))
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
timeout "$(left)" "$kftune" bench --suite toelke --device "$device" --json >"$suite" 2>"$folder/suite.log"
measured=$?
figures=$SECONDS
limit=$(left)
KFTUNE_SCRATCH=$scratch KFTUNE_TEST_DEVICE=$device timeout "$limit" "$tests" >"$folder/tests.txt" 2>&1 &
running=$!
timeout "$limit" "$kftune" validate --device "$device" ${quick:+"$quick"} --json --case d2q9-poiseuille --case d2q9-cavity \
    --case d2q9-array --case d2q9-channel >"$folder/validate.json" 2>"$folder/validate.log"
validated=$?
wait $running
tested=$?

{
    awk -f scripts/gpu/figures.awk "$suite"
    grep -h '^\[ *\(OK\|FAILED\) *\]' "$folder/tests.txt"
    # One line a check: the keys of an object follow each other, one a line.
    awk -F'":[ \t]*' '
        /"quantity":/ { quantity = $2 } /"expected":/ { expected = $2 } /"measured":/ { measured = $2 }
        /"bound":/ { bound = $2 }
        /"pass":/ {
            gsub(/",?$/, "", quantity)
            sub(/^"/, "", quantity)
            printf "%s %-75s expected %-9.4g measured %-9.4g bound %.3g\n", $2 ~ /true/ ? "pass  " : "FAILED", quantity,
                expected, measured, bound
        }' "$folder/validate.json"
    grep -h error: "$folder"/*.log
    echo "suite toelke: status $measured; tests: status $tested; validation: status $validated;" \
        "$figures s for the suite, $((SECONDS - figures)) s for the other two"
} >"$folder/summary.txt"
cat "$folder/summary.txt"
[ "$measured$tested$validated" = 000 ] || exit 1
