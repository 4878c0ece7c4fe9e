#!/bin/bash
# Several solids on a GPU: their tests, then the scene wheels (a body and four wheels that turn) with each way to spread forces from samples to nodes.
# From a bundle or a built source tree; builds nothing; some three minutes (at most 300 s: BUDGET).
# usage: scripts/gpu/solids.sh FOLDER [DEVICE]; GRID and STEPS may be set.
# Leaves in FOLDER: solids.md, which it prints (mean drag and the last axis torque of each by variant, steps a second), and log.txt.
# Status 1 when a test failed, the forces of each do not add up to that on all within 1e-4, or a variant's drag is off by 1 %.
set -u
folder=${1:?usage: scripts/gpu/solids.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
budget=${BUDGET:-300}
. "$(dirname "$0")/budget.sh"
bad=0
case $device in
cuda*) grid=${GRID:-256x128x96} steps=${STEPS:-400} ;;
*) grid=${GRID:-96x48x36} steps=${STEPS:-40} ;;
esac
solids='body front_left front_right rear_left rear_right'
: >"$folder/log.txt"

# column FILE NAME: its values, below the title.
column() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR > 1 && c { print $c }' "$1"; }
mean() { awk '{ s += $1 } END { printf "%.5g", s / NR }'; }

test=
for candidate in "$(dirname "$kftune")/tests/test_solids" tests/unit/test_solids build/tests/test_solids; do
    [ -x "$candidate" ] && test=$candidate && break
done
if [ -z "$test" ]; then
    echo "test_solids is not built: 'make tests' builds it" && bad=1
else
    KFTUNE_TEST_DEVICE=$device timeout -k 8 "$(left)" "$test" >>"$folder/log.txt" 2>&1 || { bad=1 && echo "FAILED test_solids: see log.txt"; }
fi

# row NAME OPTION...: runs the scene so, and its row of the table.
row() {
    local name=$1 out=$work/$1 drag=''
    shift
    timeout -s INT -k 8 "$(left)" "$kftune" run --scene wheels --grid "$grid" --device "$device" --steps "$steps" --every "$steps" \
        --fields none --picture none --checkpoints 0 --output "$out" --json "$@" >"$work/$name.json" 2>>"$folder/log.txt" ||
        { bad=1 && echo "FAILED $name: $(tail -n 1 "$folder/log.txt")" && return; }
    for solid in $solids; do
        column "$out/forces_$solid.csv" drag_coefficient >"$work/$solid"
        drag="$drag $(mean <"$work/$solid") |"
    done
    (cd "$work" && paste $solids) | awk '{ print $1 + $2 + $3 + $4 + $5 }' | paste - <(column "$out/forces.csv" drag_coefficient) |
        awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-4 * ($2 < 0 ? -$2 : $2)) off++ } END { exit off > 0 }' ||
        { bad=1 && echo "FAILED $name: the forces of each do not add up to that on all"; }
    column "$out/forces.csv" drag_coefficient | mean >"$work/all"
    echo "| $name |$drag $(cat "$work/all") | $(column "$out/forces_front_left.csv" axis_torque_m5_s2 | tail -n 1) |" \
        "$(grep -m1 '"steps_per_second"' "$work/$name.json" | sed 's/.*:[[:space:]]*//; s/,$//' | xargs printf %.4g) |" >>"$folder/solids.md"
    cat "$work/all" >>"$work/drags" && echo >>"$work/drags"
}

{
    echo "# Several solids: the scene wheels, $grid, $steps steps"
    echo
    echo "| variant | body | front left | front right | rear left | rear right | all: mean drag | axis torque, front left, m⁵/s² | steps/s |"
    echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
} >"$folder/solids.md"
row default
row "patches of 256" --fix patch_length=256
row scatter --fix patch_length=0 --fix immersed_boundary=scatter
row "sums in floats" --fix force_sum=float
awk 'NR == 1 { first = $1 } NF { d = $1 - first; if (d < 0) d = -d; if (d > 0.01 * first) off = 1 } END { exit off }' "$work/drags" ||
    { bad=1 && echo "FAILED: the variants' drags differ by more than 1 %"; }
cat "$folder/solids.md"
exit $bad
