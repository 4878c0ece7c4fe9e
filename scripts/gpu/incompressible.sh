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
#   cube (110)        256^3 cells (or KFTUNE_CUBE) with a ball: the best solver's time and iterations, cube-bench.json; DRAM
#                     counted, cube.db, table `counter`
#   advection (60)    the same cube: advection with one address or eight, bounds found or kept, shapes of blocks: advection.json
#   rest-100x50x50 (50)  figures of that size that 80 s do not reach: rest-100x50x50.json
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
# Writes cube.json.
write_cube() {
    local n=${KFTUNE_CUBE:-256}
    cat >"$folder/cube.json" <<JSON
{"description": "$n^3 cells with a ball of a quarter of them in a stream",
 "solid": {"shape": "ball", "radius": 0.125, "position": [0.35, 0.5, 0.5]},
 "domain": {"cells": [$n, $n, $n], "size": [1, 1, 1]},
 "boundaries": {"xmin": "inflow", "xmax": "outflow", "ymin": "free_slip", "ymax": "free_slip", "zmin": "free_slip", "zmax": "free_slip"},
 "flow": {"speed": 1.0, "reynolds": 10000, "reference_length": 0.25, "lattice_speed": 0.05},
 "incompressible": {"steps": 10}}
JSON
}
cube() {
    local n=${KFTUNE_CUBE:-256}
    write_cube
    cat >"$folder/cube.suite.json" <<JSON
{"suite": "cube", "description": "the pressure solve on $n^3 cells with a solid", "promise": "every config passes the gate",
 "scenes": [{"name": "cube", "scene": "$folder/cube.json"}],
 "candidates": {"solvers": [
  {"name": "multigrid_cg, 2 sweeps, 4", "with": {"iterations": 4}}, {"name": "multigrid_cg, 2 sweeps, 5", "with": {"iterations": 5}},
  {"name": "multigrid_cg, 2 sweeps, 6", "with": {"iterations": 6}}, {"name": "multigrid_cg, 1 sweep, 9", "with": {"sweeps": 1, "iterations": 9}},
  {"name": "multigrid, 2 sweeps, 9", "with": {"solver": "multigrid", "iterations": 9}},
  {"name": "fourier_cg, 12", "with": {"solver": "fourier_cg", "iterations": 12}}]},
 "timings": [{"name": "cube", "scene": "cube", "candidates": "solvers", "seconds": 1}],
 "figures": [
  {"name": "solve", "kind": "solve_time", "of": "cube", "must": 12, "at_most": true},
  {"name": "iterations", "kind": "solve_iterations", "of": "cube", "must": 12, "at_most": true},
  {"name": "step", "kind": "step", "of": "cube"}, {"name": "memory", "kind": "plan_memory", "of": "cube"}]}
JSON
    timeout -s INT -k 5 50 "$kftune" bench --suite "$folder/cube.suite.json" --device "$device" --json >"$folder/cube.json.out" \
        2>"$folder/cube-bench.txt"
    local status=$?
    mv "$folder/cube.json.out" "$folder/cube-bench.json"
    timeout 60 "$kftune" tune --scene "$folder/cube.json" --device "$device" --strategy random --budget 1evals --rounds 0 --fix iterations=6 \
        --counters standard --store "$folder/cube.db" --out "$folder/cube.kftune.json" --json >"$folder/cube-tune.json" 2>"$folder/cube-tune.txt" || status=1
    "$kftune" store show --store "$folder/cube.db" --limit 2 >"$folder/cube-kernels.txt"
    return $status
}
# Every combination is a timing of its own, so that each has its kernels' times.
advection() {
    local shapes=(64/4 32/4 64/1 128/1 128/2 256/1) ways=(eight one fixed) timings=() figures=() shape bounds way name with
    [ "$device" != cpu ] || { shapes=(1024/1) && ways=(eight one); }
    write_cube
    for shape in "${shapes[@]}"; do
        for way in "${ways[@]}"; do
            with="\"addresses\": \"$way\""
            [ "$way" != fixed ] || with="\"addresses\": \"one\", \"fixed_rows\": true"
            for bounds in found kept; do
                name="$way $bounds $shape"
                timings+=("{\"name\": \"$name\", \"scene\": \"cube\", \"seconds\": 0.3, \"with\": {\"iterations\": 6, $with,
 \"bounds\": \"$bounds\", \"block_x\": ${shape%/*}, \"block_y\": ${shape#*/}}}")
                figures+=("{\"name\": \"$name\", \"kind\": \"step\", \"of\": \"$name\"}"
                    "{\"name\": \"advection, $name\", \"kind\": \"kernels_time\", \"of\": \"$name\", \"kernels\": [\"predict\", \"correct\"]}")
            done
        done
    done
    local IFS=,
    echo "{\"suite\": \"advection\", \"seconds\": 35, \"description\": \"advection's variants\", \"promise\": \"every config passes the gate\",
\"scenes\": [{\"name\": \"cube\", \"scene\": \"$folder/cube.json\"}], \"timings\": [${timings[*]}], \"figures\": [${figures[*]}]}" \
        >"$folder/advection.suite.json"
    timeout -s INT -k 5 60 "$kftune" bench --suite "$folder/advection.suite.json" --device "$device" --json >"$folder/advection.json" \
        2>"$folder/advection.txt"
}
rest() { # SIZE
    timeout -s INT -k 5 50 "$kftune" bench --suite incompressible --device "$device" --json --figure "40x $1" --figure "40x over kinetic $1" \
        --figure "40x iterations $1" --figure "10x, paper $1" --figure "10x over kinetic, papers $1" >"$folder/rest-$1.json" 2>"$folder/rest-$1.txt"
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
    rest-100x50x50) rest 100x50x50 ;;
    cube) cube ;;
    advection) advection ;;
    spectra) validate spectra 40 --case incompressible-wake --pictures "$folder/spectra" ;;
    wake) timeout -k 5 60 bash scripts/wake.sh "$folder/wake" "$device" 200x100x100 ;;
    *) echo "$part: no such part; see the head of this script" >&2 && exit 2 ;;
    esac
    echo "$part: status $?, $((SECONDS - begin)) s"
done
