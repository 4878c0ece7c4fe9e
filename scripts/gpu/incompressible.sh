#!/bin/bash
# Measures the incompressible system on a GPU, part by part; never more than the seconds beside each. From a bundle or a
# built source tree; builds nothing.
# usage: scripts/gpu/incompressible.sh FOLDER [DEVICE] [PART...]; parts:
#   suite-100x50x50 (80), suite-200x100x100 (110)  that size of the suite `incompressible`: suite-SIZE.json, .txt
#   sphere-100 (45)   drag of the sphere at Re 100, 24 cells a diameter: sphere-100.txt
#   vortices (25)     Taylor-Green vortices on 32^3, 64^3 and 128^3, and the divergence that is left: vortices.txt
# and, when named,
#   suite-400x200x200 (145)
#   sphere-300 (150)  the same at Re 100 and 300: sphere-300.txt
#   cube (110)        256^3 cells with a ball: solvers tuned, DRAM counted, iterations of a run of 20 steps: cube-*
#   wake (60)         smoke of this system and the kinetic one at one moment, scripts/wake.sh: wake/
#   spectra (40)      the case incompressible-wake with its pictures: spectra.txt, spectra/
set -u
folder=${1:?usage: scripts/gpu/incompressible.sh FOLDER [DEVICE] [PART...]}
device=${2:-cuda:0}
shift $(($# < 2 ? $# : 2))
parts=("$@")
[ $# -gt 0 ] || parts=(suite-200x100x100 sphere-100 suite-100x50x50 vortices)
. "$(dirname "$0")/program.sh"

# Figures of one size of the suite; what is not begun half a minute before the end is left out, and says so.
suite() { # SIZE SECONDS
    local figures=()
    while IFS= read -r name; do figures+=(--figure "$name"); done < <(
        sed -n '/"figures"/,$ s/.*{"name": "\([^"]*\)".*/\1/p' suites/incompressible.json | grep " $1")
    sed "s/\"suite\": \"incompressible\",/&\n  \"seconds\": $(($2 - 30)),/" suites/incompressible.json >"$folder/suite-$1.suite.json"
    timeout -s INT -k 5 "$2" "$kftune" bench --suite "$folder/suite-$1.suite.json" --device "$device" --json "${figures[@]}" \
        >"$folder/suite-$1.json" 2>"$folder/suite-$1.txt"
}
validate() { # FILE SECONDS OPTION...
    local file=$1 seconds=$2
    shift 2
    timeout -k 5 "$seconds" "$kftune" validate --device "$device" "$@" >"$folder/$file.txt" 2>&1
}
cube() {
    cat >"$folder/cube.json" <<'JSON'
{"description": "256^3 cells with a ball of 64 cells in a stream",
 "solid": {"shape": "ball", "radius": 0.125, "position": [0.35, 0.5, 0.5]},
 "domain": {"cells": [256, 256, 256], "size": [1, 1, 1]},
 "boundaries": {"xmin": "inflow", "xmax": "outflow", "ymin": "free_slip", "ymax": "free_slip", "zmin": "free_slip", "zmax": "free_slip"},
 "flow": {"speed": 1.0, "reynolds": 10000, "reference_length": 0.25, "lattice_speed": 0.05},
 "incompressible": {"steps": 10}}
JSON
    timeout 70 "$kftune" tune --scene "$folder/cube.json" --device "$device" --budget 25s --rounds 0 \
        --fix solver=multigrid_cg,multigrid,fourier_cg --counters standard --store "$folder/cube.db" --out "$folder/cube.kftune.json" \
        --json >"$folder/cube-tune.json" 2>"$folder/cube-tune.txt" &&
        "$kftune" store show --store "$folder/cube.db" --limit 6 >"$folder/cube-kernels.txt" &&
        timeout 40 "$kftune" run --config "$folder/cube.kftune.json" --device "$device" --steps 20 --every 10 --fields velocity \
            --checkpoints 0 --output "$folder/cube-run" >"$folder/cube-run.txt" 2>&1
    local status=$?
    rm -f "$folder"/cube-run/*.vtkhdf "$folder"/cube.db*
    return $status
}
for part in "${parts[@]}"; do
    begin=$SECONDS
    case $part in
    suite-100x50x50) suite 100x50x50 80 ;;
    suite-200x100x100) suite 200x100x100 110 ;;
    suite-400x200x200) suite 400x200x200 145 ;;
    sphere-100) validate sphere-100 45 --quick --case incompressible-sphere ;;
    sphere-300) validate sphere-300 150 --case incompressible-sphere ;;
    vortices) validate vortices 25 --case incompressible-tg --case incompressible-div ;;
    cube) cube ;;
    spectra) validate spectra 40 --case incompressible-wake --pictures "$folder/spectra" ;;
    wake) timeout -k 5 60 bash scripts/wake.sh "$folder/wake" "$device" 200x100x100 ;;
    *) echo "$part: no such part; see the head of this script" >&2 && exit 2 ;;
    esac
    echo "$part: status $?, $((SECONDS - begin)) s"
done
