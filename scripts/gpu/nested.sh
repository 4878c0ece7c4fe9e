#!/bin/bash
# Nested grids on a GPU. PARTS=cases: their tests against the reference, then the validation cases nested, nested_flows and nested_drag with each plan.
# PARTS=scene: the Ahmed body in nested grids, from a scene file, against the finest cells everywhere: drag, wall time, updates a second,
# and each kernel's share of a step by level (share.txt).
# From a bundle or a built source tree; builds nothing; each part some eight minutes (at most 540 s: BUDGET).
# usage: scripts/gpu/nested.sh FOLDER [DEVICE]; PARTS (cases), GRID (of the coarsest level), LEVELS, FLOW_THROUGHS may be set.
# Leaves in FOLDER: nested.json (what the program printed, one JSON object a line) and log.txt (seconds of each case too); of a scene
# scene.md, the table it prints, and pictures.
# Status 1 when a test or a check failed, time ended a case, or the two drags differ by more than 2 %.
set -u
folder=${1:?usage: scripts/gpu/nested.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
budget=${BUDGET:-540}
. "$(dirname "$0")/budget.sh"
bad=0
case $device in
cuda*) grid=${GRID:-128x48x48} levels=${LEVELS:-2} through=${FLOW_THROUGHS:-6} ;;
*) grid=${GRID:-24x12x12} levels=${LEVELS:-1} through=${FLOW_THROUGHS:-1} ;;
esac
: >"$folder/nested.json"
: >"$folder/log.txt"

# value KEY FILE: the first number of that name in --json's output.
value() { grep -m1 "\"$1\":" "$2" | sed 's/^[^:]*:[[:space:]]*//; s/,$//'; }
# mean FILE: of the drag.
mean() { awk '$1 == "\"drag\":" { inside = 1 } inside && $1 == "\"mean\":" { sub(/^[^:]*:[ \t]*/, ""); sub(/,$/, ""); print; exit }' "$1"; }

# ahmed NAME RULE PLAN: runs $work/NAME.json, and its row.
ahmed() {
    local name=$1 json=$work/$1.out start=$SECONDS
    timeout -s INT -k 8 "$(left)" "$kftune" run --scene "$work/$name.json" --device "$device" --flow-throughs "$through" \
        --every 1000000000 --fields none --checkpoints 0 --output "$work/$name" --json >"$json" 2>>"$folder/log.txt" ||
        { bad=1 && echo "FAILED $name: $(tail -n 1 "$folder/log.txt")"; }
    cat "$json" >>"$folder/nested.json"
    find "$work/$name" -name 'speed_*.png' -exec cp {} "$folder/$name.png" \;
    echo "| $name | $(mean "$json") | $(value seconds "$json") | $(value steps_per_second "$json") | $(value mlups "$json") | $((SECONDS - start)) |" \
        >>"$folder/scene.md"
    mean "$json" >>"$work/drags"
}

# Each kernel's share of a step of the nested grids, and that of what crosses between levels.
share() {
    timeout -s INT -k 8 "$(left)" "$kftune" tune --scene "$work/nested.json" --device "$device" --budget 1evals --presets default --rounds 0 \
        --store "$work/share.db" --out "$work/share.kftune.json" >"$folder/share.txt" 2>>"$folder/log.txt" || bad=1
    awk '$1 == "refine" || $1 == "coarsen" { sum += $3; rows++ }
        END { if (!rows) exit 1; printf "between levels: %.1f %% of a step (must be 8, aim 4)\n", sum }' "$folder/share.txt" || bad=1
}

# The same flow twice: cells of the finest level everywhere, and nested grids around the body.
scene() {
    local x y z finer=$((1 << levels))
    IFS=x read -r x y z <<<"$grid"
    echo "| grids | drag | seconds of steps | steps a second | million updates a second | seconds in all |
| --- | ---: | ---: | ---: | ---: | ---: |" >"$folder/scene.md"
    : >"$work/drags"
    sed "s/\"cells\": *\[[^]]*\]/\"cells\": [$x, $y, $z]/; s/\"rates\": *\"[a-z0-9_]*\"/\"rates\": \"k17\"/
        s/^{/{\"refine\": {\"around\": \"body\", \"levels\": $levels},/" scene/library/ahmed.json >"$work/nested.json"
    sed "s/\"cells\": *\[[^]]*\]/\"cells\": [$((finer * x)), $((finer * y)), $((finer * z))]/; s/\"rates\": *\"[a-z0-9_]*\"/\"rates\": \"k17\"/" \
        scene/library/ahmed.json >"$work/uniform.json"
    "$kftune" scene "$work/nested.json" --picture "$folder/boxes.png" | tee -a "$folder/log.txt"
    share
    ahmed nested
    ahmed uniform
    cat "$folder/scene.md"
    awk -F '|' '$2 ~ /nested/ { nested = $6 } $2 ~ /uniform/ && $6 > 0 {
        printf "updates a second: %.0f %% of the uniform grid'"'"'s (must be 85, aim 93)\n", 100 * nested / $6 }' "$folder/scene.md"
    awk 'NR == 1 { nested = $1 } NR == 2 { off = ($1 > nested ? $1 - nested : nested - $1) / $1
        printf "drags differ by %.2f %%\n", 100 * off; exit off > 0.02 } END { if (NR < 2) exit 1 }' "$work/drags" || bad=1
}
case " ${PARTS:-cases} " in *' scene '*) scene ;; esac
case " ${PARTS:-cases} " in *' cases '*) ;; *) exit $bad ;; esac

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
check nested_flows plan=fused
check nested_drag plan=moments
check nested_drag plan=fused
check nested_drag plan=moments storage=f16
exit $bad
