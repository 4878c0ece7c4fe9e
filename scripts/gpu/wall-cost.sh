#!/bin/bash
# The cost of links and of a law of the wall at 400^3: a ball of 60,000 cells^2 of surface (as many samples would be 1.5 million) in a
# stream, by links with the law, with modelled layers and without the law, and the box with nothing in it. Prints a Markdown table of a step's time and
# of the share of it that is above the empty box's. From a bundle or a built source tree; builds nothing. 60 s on an H200; a cpu takes
# 40^3.
# usage: scripts/gpu/wall-cost.sh FOLDER [DEVICE]; BUDGET (seconds, 240) may be set. Leaves FOLDER/cost.md and cost.log. Status 1 when a
# run failed or was left out.
set -u
folder=${1:?usage: scripts/gpu/wall-cost.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
budget=${BUDGET:-240}
scripts=$(cd "$(dirname "$0")" && pwd)
. "$scripts/budget.sh"
case $device in cuda*) cells=400 ;; *) cells=40 ;; esac
log=$folder/cost.log bad=0 empty=''
: >"$log"
# scene NAME SOLID MODEL: a box of 400 cells whatever the grid, at y+ 200.
scene() {
    cat >"$work/$1.json" <<EOF
{$2"domain": {"cells": [$cells, $cells, $cells], "size": [400, 400, 400]},
 "boundaries": {"xmin": "inflow", "xmax": "outflow", "ymin": "free_slip", "ymax": "free_slip", "zmin": "free_slip", "zmax": "free_slip"},
 "flow": {"speed": 1, "reynolds": 1e6, "reference_length": 138, "lattice_speed": 0.08},
 "model": {"collision": "acm_mrt", "rates": "k17"$3}}
EOF
}
# time_of NAME: microseconds of a step by the default config, as kftune tune measures it, with the half of its interval.
time_of() {
    [ "$(left)" -gt 10 ] && timeout -s INT -k 8 "$(left)" "$kftune" tune --scene "$work/$1.json" --device "$device" --budget 1evals \
        --presets default --store "$work/$1.db" --out "$work/$1.kftune.json" --json >"$folder/cost-$1.json" 2>>"$log" &&
        awk '/"best":/ { best = 1 } best && /"time_us":/ { gsub(/[^0-9.e+-]/, "", $2); time = $2 }
            best && /"ci_us":/ { sub(/^[^[]*\[/, ""); sub(/\].*/, ""); split($0, end, ","); print time, (end[2] - end[1]) / 2; exit }' "$folder/cost-$1.json"
}
printf '| %s^3, %s | us a step | share of it |\n| --- | ---: | ---: |\n' "$cells" "$device" >"$folder/cost.md"
scene nothing '' ''
ball='"solid": {"shape": "ball", "radius": 69.1, "boundary": "links", "position": [200, 200, 200]}, '
scene links "$ball" ''
scene law "$ball" ', "wall": "law"'
scene layers "$ball" ', "wall": "law", "layers": "modelled"'
for name in nothing links law layers; do
    read -r took half <<<"$(time_of "$name")"
    [ -n "$took" ] || { echo "wall-cost.sh: $name: $(tail -n 1 "$log")" >&2; bad=1; continue; }
    [ "$name" != nothing ] || empty=$took
    awk -v name="$name" -v took="$took" -v half="$half" -v empty="$empty" 'BEGIN {
        printf "| %s | %.1f +- %.1f | %s |\n", name, took, half, empty == "" ? "-" : sprintf("%.1f %%", 100 * (1 - empty / took)) }' >>"$folder/cost.md"
done
cat "$folder/cost.md"
exit $bad
