#!/bin/bash
# Checks the default rates and their cost: long runs, the cases that depend on the collision, and the Ahmed body with and without stilts.
# From a bundle or a built source tree; builds nothing; in parts of at most 540 s each (BUDGET).
# usage: scripts/gpu/wall.sh FOLDER PART [DEVICE]; PART is long, cases, stilts, law (channels) or car (an Ahmed body by links with
# and without a law of the wall, in mid-tunnel too).
# Leaves in FOLDER: PART.json (what the program printed) and log.txt. Status 1 when a check or a run failed, or time ended a part.
set -u
folder=${1:?usage: scripts/gpu/wall.sh FOLDER long|cases|stilts|law|car [DEVICE]}
part=${2:?usage: scripts/gpu/wall.sh FOLDER long|cases|stilts|law|car [DEVICE]}
device=${3:-cuda:0}
budget=${BUDGET:-540}
. "$(dirname "$0")/budget.sh"
bad=0

# check CASE...: of kftune validate, all at once, one JSON object a line.
check() {
    local case jobs=()
    for case in "$@"; do
        timeout -s INT -k 8 "$(left)" "$kftune" validate --device "$device" --case "$case" --json >"$work/$case.json" \
            2>"$work/$case.log" &
        jobs+=($!)
    done
    for case in "${jobs[@]}"; do wait "$case" || bad=1; done
    for case in "$@"; do
        cat "$work/$case.json" >>"$folder/$part.json"
        cat "$work/$case.log" >>"$folder/log.txt"
    done
}
# ahmed STILTS GRID: drag at the experiment's Reynolds number.
ahmed() {
    local name=stilts-$1-$2
    sed "s/\"slant_angle\": 25,/\"slant_angle\": 25, \"stilts\": $1,/; s/\"reynolds\": *[0-9.e+]*/\"reynolds\": 4290000/" \
        scene/library/ahmed.json >"$work/$name.json"
    timeout -s INT -k 8 "$(left)" "$kftune" run --scene "$work/$name.json" --grid "$2" --device "$device" --flow-throughs 10 \
        --every 1000000000 --checkpoints 0 --output "$work/$name" --json >>"$folder/$part.json" 2>>"$folder/log.txt" || bad=1
}
# car NAME GRID LAW RATES HEIGHT: the same body by links, HEIGHT m above the road.
car() {
    local name=car-$1 law=
    [ "$3" = law ] && law=', "wall": "law"'
    sed "s/\"stilts\": false,/\"stilts\": false, \"boundary\": \"links\",/; s/0.7875, 0\]/0.7875, $5]/; s/\"reynolds\": *[0-9.e+]*/\"reynolds\": 4290000/
        s/\"rates\": *\"[a-z0-9_]*\"/\"rates\": \"$4\"$law/" scene/library/ahmed_no_stilts.json >"$work/$name.json"
    timeout -s INT -k 8 "$(left)" "$kftune" run --scene "$work/$name.json" --grid "$2" --device "$device" --flow-throughs 8 \
        --every 1000000000 --checkpoints 0 --output "$work/$name" --json >>"$folder/$part.json" 2>>"$folder/log.txt" || bad=1
    cp "$work/$name/wall.csv" "$folder/$name-wall.csv" 2>>"$folder/log.txt"
    cp "$work/$name/forces.csv" "$folder/$name-forces.csv" 2>>"$folder/log.txt"
}
: >"$folder/$part.json"
case $part in
long) check long_runs ;;
cases) check taylor_green_3d rate_rules shear_layer cavity_2d cavity_3d sphere_drag cylinder_drag cylinder_wake nineteen ;;
stilts) for grid in 256x96x96 512x192x192; do ahmed true $grid && ahmed false $grid; done ;;
law) check wall_law links links_drag ;;
car)
    for law in law none; do
        car 256-$law-k17 256x96x96 $law k17 0
        car 256-$law-middle 256x96x96 $law adaptive_2020 0.6
    done
    car 512-law-k17 512x192x192 law k17 0
    car 512-law-middle 512x192x192 law adaptive_2020 0.6
    ;;
*) echo "wall.sh: PART is long, cases, stilts, law or car, not $part" >&2 && exit 2 ;;
esac
exit $bad
