#!/bin/bash
# The d2q9 system on a GPU: its tests and validation cases side by side, then the suite toelke alone (what must be
# reached, and the paper's tables). From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/d2q9.sh FOLDER [DEVICE]; about 90 seconds on an H200; DEVICE cpu runs the same on small grids.
# FOLDER gets tests.txt, validate.json, validate.log, toelke.json, toelke.log and summary.txt, which is also printed.
# Status 1 when a test or a check fails, or a config of the suite the gate.
set -u
folder=$(realpath -m "${1:?usage: scripts/gpu/d2q9.sh FOLDER [DEVICE]}")
device=${2:-cuda:0}
cd "$(dirname "$0")/../.." || exit 3
for kftune in "${KFTUNE:-}" ./kftune build/kftune; do [ -n "$kftune" ] && [ -x "$kftune" ] && break; done
[ -x "$kftune" ] || { echo "kftune is neither here nor in build/: build it first" >&2; exit 3; }
for tests in tests/unit/test_d2q9 build/tests/test_d2q9; do [ -x "$tests" ] && break; done
[ -x "$tests" ] || { echo "test_d2q9 is neither in tests/unit/ nor in build/tests/: build it first" >&2; exit 3; }
export KFTUNE_DATA=${KFTUNE_DATA:-$PWD}
mkdir -p "$folder" || exit 3
case $device in cuda*) quick='' ;; *) quick=--quick ;; esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
KFTUNE_SCRATCH=$scratch KFTUNE_TEST_DEVICE=$device timeout 300 "$tests" >"$folder/tests.txt" 2>&1 &
running=$!
timeout 300 "$kftune" validate --device "$device" ${quick:+"$quick"} --json --case d2q9-poiseuille --case d2q9-cavity \
    --case d2q9-array --case d2q9-channel >"$folder/validate.json" 2>"$folder/validate.log"
validated=$?
wait $running
tested=$?
correct=$SECONDS
timeout 900 "$kftune" bench --suite toelke --device "$device" --json >"$folder/toelke.json" 2>"$folder/toelke.log"
measured=$?

# One line a check and a figure, without a JSON tool: the keys of an object follow each other, one a line.
{
    grep -h '^\[ *\(OK\|FAILED\) *\]' "$folder/tests.txt"
    awk -F'":[ \t]*' '
        /"quantity":/ { quantity = $2 } /"expected":/ { expected = $2 } /"measured":/ { measured = $2 }
        /"bound":/ { bound = $2 }
        /"pass":/ {
            gsub(/",?$/, "", quantity)
            sub(/^"/, "", quantity)
            printf "%s %-75s expected %-9.4g measured %-9.4g bound %.3g\n", $2 ~ /true/ ? "pass  " : "FAILED", quantity,
                expected, measured, bound
        }' "$folder/validate.json"
    awk -F'":[ \t]*' '
        function text() { gsub(/",?$|,$/, "", $2); sub(/^"/, "", $2); return $2 }
        function flush() {
            if (name != "") printf "%-40s %10.4g %-6s %s%s%s\n", name, value, unit, share, published, asked
            name = ""
        }
        /"figures":/ { begun = 1 }
        !begun { next }
        /"name":/ { flush(); name = text(); share = published = asked = ""; next }
        /"value":/ { value = text(); next }
        /"unit":/ { unit = text(); next }
        /"share":/ { if ($2 !~ /null/) share = sprintf("%4.0f %% of the floor", 100 * $2); next }
        /"published":/ { published = sprintf("  published %.3g", $2) }
        /"must":/ { asked = sprintf("must be at least %.3g", $2) }
        /"met":/ { asked = asked ($2 ~ /true/ ? ": met" : ": MISSED") }
        END { flush() }' "$folder/toelke.json"
    grep -h error: "$folder"/*.log
    echo "tests: status $tested; validation: status $validated; suite toelke: status $measured;" \
        "$correct s for the first two, $((SECONDS - correct)) s for the suite"
} >"$folder/summary.txt"
cat "$folder/summary.txt"
[ "$tested$validated$measured" = 000 ] || exit 1
