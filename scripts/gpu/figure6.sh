#!/bin/bash
# The paper's Figure 6 and Algorithm 1: the immersed boundary beside solids by links, interpolated and half-way, on the ball and the
# Ahmed body without stilts: the smallest viscosity at which it is stable, the drag over grids, the time of a step.
# From a bundle or a built source tree; builds nothing; in parts of at most 540 s each (BUDGET).
# usage: scripts/gpu/figure6.sh FOLDER PART [DEVICE]; PART is stability, drag, ahmed or cost. GRIDS: lattices of the part instead of its own.
# Leaves in FOLDER: PART.csv (a row a run) and log.txt. Status 1 when time ended a part; a run that blows up is a row.
set -u
folder=${1:?usage: scripts/gpu/figure6.sh FOLDER stability|drag|ahmed|cost [DEVICE]}
part=${2:?usage: scripts/gpu/figure6.sh FOLDER stability|drag|ahmed|cost [DEVICE]}
device=${3:-cuda:0}
budget=${BUDGET:-540}
. "$(dirname "$0")/budget.sh"
bad=0
boundaries="immersed links half-way"

# solid BOUNDARY: the keys of a solid in a scene.
solid() {
    case $1 in
    links) printf '"boundary": "links", ' ;;
    half-way) printf '"boundary": "links", "links": "half-way", ' ;;
    esac
}
# measure BODY BOUNDARY REYNOLDS GRID LENGTH...: a row of one run, which LENGTH (options of kftune run) ends.
measure() {
    local body=$1 boundary=$2 reynolds=$3 grid=$4 name=$1-$2-$3-$4 state
    shift 4
    sed "s/\"shape\":/$(solid "$boundary")\"shape\":/; s/\"reynolds\": *[0-9.e+]*/\"reynolds\": $reynolds/" \
        "scene/library/$body.json" >"$work/$name.json"
    timeout -s INT -k 8 "$(left)" "$kftune" run --scene "$work/$name.json" --grid "$grid" --device "$device" "$@" \
        --every 1000000000 --picture none --fields none --checkpoints 0 --output "$work/$name" --json >"$work/out" 2>>"$folder/log.txt"
    state=$?
    [ $state = 124 ] || [ $state = 130 ] && bad=1
    python3 - "$work/out" "$body,$boundary,$reynolds,$grid,$state" >>"$folder/$part.csv" <<'END'
import json, sys
try:
    run = json.load(open(sys.argv[1]))
except ValueError:
    run = {}
drag = (run.get("coefficients") or {}).get("drag") or {}
values = [run.get("steps"), run.get("steps_per_second"), drag.get("mean"), drag.get("interval_95")]
print(",".join([sys.argv[2]] + ["" if value is None else str(value) for value in values]))
END
}
echo "body,boundary,reynolds,grid,status,steps,steps_per_second,drag,interval" >"$folder/$part.csv"
case $part in
stability) # the same grid and speed: viscosity falls as the Reynolds number rises
    for reynolds in 100 1000 10000 100000 1000000; do
        for b in $boundaries; do measure ball "$b" $reynolds "${GRIDS:-96x48x48}" --steps 20000; done
    done ;;
drag) # 8 to 32 cells a diameter; published 1.087 in an open stream
    for grid in ${GRIDS:-64x32x32 96x48x48 128x64x64 192x96x96 256x128x128}; do
        for b in $boundaries; do measure ball "$b" 100 "$grid" --flow-throughs 8; done
    done ;;
ahmed)
    for grid in ${GRIDS:-128x48x48 256x96x96 512x192x192}; do
        for b in $boundaries; do measure ahmed_no_stilts "$b" 4290000 "$grid" --flow-throughs 8; done
    done ;;
cost)
    for grid in ${GRIDS:-256x96x96 512x192x192 768x288x288}; do
        for b in $boundaries; do measure ahmed_no_stilts "$b" 10000 "$grid" --steps 3000; done
    done ;;
*) echo "figure6.sh: PART is stability, drag, ahmed or cost, not $part" >&2 && exit 2 ;;
esac
exit $bad
