#!/bin/bash
# The d2q9 system on a GPU: its tests, its validation cases, one-step and temporal plans tuned on the cavity, the porous
# medium, and the paper's tables. From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/d2q9.sh FOLDER [DEVICE]; writes into FOLDER, prints a short table last. About 4 minutes on a GPU;
# with DEVICE cpu it runs the same on small grids, to see that it works.
set -u
folder=${1:?usage: scripts/gpu/d2q9.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
mkdir -p "$folder" || exit 2
folder=$(realpath "$folder")
cd "$(dirname "$0")/../.."
for kftune in ${KFTUNE:-} ./kftune build/kftune; do [ -x "$kftune" ] && break; done
[ -x "$kftune" ] || { echo "kftune is not built" >&2; exit 1; }
for program in "$(dirname "$kftune")/tests/test_d2q9" tests/unit/test_d2q9; do [ -x "$program" ] && break; done
failed=0
summary=$folder/summary.txt
: >"$summary"
note() { printf '%-44s %s\n' "$1" "$2" >>"$summary"; }
# judge NAME STATUS
judge() { if [ "$2" = 0 ]; then note "$1" ok; else note "$1" "FAILED ($2)"; failed=1; fi; }

case $device in
cuda*) grid=8192x8192x1 seconds=30 quick= ;;
*) grid=512x512x1 seconds=40 quick=--quick ;;
esac

begin=$SECONDS
if [ -x "$program" ]; then
    KFTUNE_TEST_DEVICE=$device timeout 120 "$program" >"$folder/tests.txt" 2>&1
    judge "tests: every plan agrees with the reference" $?
    grep -h 'FAILED\|deviate' "$folder/tests.txt" | head -n 5
else
    note "tests" "test_d2q9 is not here"
fi
echo "tests: $((SECONDS - begin)) s" >&2

# tune NAME SCENE FIX...: the best of what is left, into NAME.json and NAME.txt
tune() {
    name=$1 scene=$2
    shift 2
    fixes=()
    for fix in "$@"; do fixes+=(--fix "$fix"); done
    # shellcheck disable=SC2086
    timeout 120 "$kftune" tune --scene "$scene" --system d2q9 --device "$device" --grid $grid --budget ${seconds}s \
        --store "$folder/d2q9.db" --out "$folder/$name.kftune.json" "${fixes[@]}" --json >"$folder/$name.json" 2>"$folder/$name.log"
    judge "tuned: $name" $?
    sed -n 's/.*"mlups":[[:space:]]*\([0-9.]*\).*/\1/p' "$folder/$name.json" | head -n 1 >"$folder/$name.mlups"
    note "  MLUPS" "$(cat "$folder/$name.mlups")"
    note "  config" "$(tr -d ' \n\t' <"$folder/$name.json" | sed -n 's/.*"best":{"config":\({[^}]*}[^}]*}\).*/\1/p' | cut -c1-260)"
}
tune one-step cavity2d plan=pull storage=f32
tune temporal cavity2d plan=temporal storage=f32 layout=soa
seconds=$((seconds / 2))
tune porous cylinder_array2d plan=pull storage=f32
tune half cavity2d storage=f16
echo "tuned: $((SECONDS - begin)) s" >&2

# shellcheck disable=SC2086
timeout 100 "$kftune" validate $quick --device "$device" --case d2q9-poiseuille --case d2q9-cavity --case d2q9-array \
    --case d2q9-channel --json >"$folder/validate.json" 2>"$folder/validate.log"
judge "validation" $?
echo "validated: $((SECONDS - begin)) s" >&2

timeout 200 "$kftune" bench --suite toelke --device "$device" >"$folder/toelke.txt" 2>"$folder/toelke.log"
judge "bench --suite toelke" $?
grep -h 'd2q9' "$folder/validate.log" | tail -n 8
tail -n 3 "$folder/toelke.log"
cat "$folder/toelke.txt"
echo "all: $((SECONDS - begin)) s" >&2
cat "$summary"
exit $failed
