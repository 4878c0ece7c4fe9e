#!/bin/bash
# Measures the incompressible system on a GPU, part by part; never more than the seconds beside each. From a bundle or a
# built source tree; builds nothing.
# The output of a part is in FOLDER/PART.txt (dram: dram-log.txt, cube: cube-bench.txt). If a part fails, its last lines are
# printed, too, and the status is 1.
# usage: scripts/gpu/incompressible.sh FOLDER [DEVICE] [PART...]; parts:
#   suite (105)       the suite `incompressible`; figures that have not begun after 65 s of timing are left out, with a message: suite.json, .txt
#   dram (45)         256^3 cells (or KFTUNE_CUBE) with a ball, today's default: DRAM bytes of a step outside of its solves,
#                     both halves, over the least: dram.txt; all that was counted: dram.json
#   sphere-100 (45)   drag of the sphere at Re 100, 24 cells a diameter: sphere-100.txt
#   vortices (25)     Taylor-Green vortices on 32^3, 64^3 and 128^3, and the divergence that is left: vortices.txt
# and, when named,
#   suite-200x100x100 (110), suite-400x200x200 (145)  that size of the suite: suite-SIZE.json, .txt
#   sphere-300 (150)  the same at Re 100 and 300: sphere-300.txt
#   cube (50)         the same cube: the best solver's time, its share of the copy rate and iterations: cube-bench.json
#   advection (60)    the same cube: advection with one address or eight, bounds found or kept, shapes of blocks: advection.json
#   wake (60)         smoke of this system and the kinetic one at one moment, scripts/wake.sh: wake/
#   spectra (60)      the case incompressible-wake with its pictures: spectra.txt, spectra/
#   beside (100)      drag of a sphere by both systems on one grid of 16 cells a diameter, steps 1, 10 and 40 times as long: beside.txt
set -u
folder=${1:?usage: scripts/gpu/incompressible.sh FOLDER [DEVICE] [PART...]}
device=${2:-cuda:0}
shift $(($# < 2 ? $# : 2))
parts=("$@")
[ $# -gt 0 ] || parts=(suite dram sphere-100 vortices)
. "$(dirname "$0")/program.sh"

# The suite, or its figures of one size; what is not begun 40 s before the end is left out (figures take a quarter of a minute).
suite() { # NAME SECONDS [SIZE]
    local figures=()
    [ $# -lt 3 ] || while IFS= read -r name; do figures+=(--figure "$name"); done < <(
        sed -n '/"figures"/,$ s/.*{"name": "\([^"]*\)".*/\1/p' suites/incompressible.json | grep " $3")
    sed "s/\"suite\": \"incompressible\",/&\n  \"seconds\": $(($2 - 40)),/" suites/incompressible.json >"$folder/$1.suite.json"
    timeout -s INT -k 5 "$2" "$kftune" bench --suite "$folder/$1.suite.json" --device "$device" --json ${figures[@]+"${figures[@]}"} \
        >"$folder/$1.json" 2>"$folder/$1.txt"
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
    return $status
}
# The default, timed before the budget is over and counted after: the kernels of advection, divergence and gradient. A step's two divergences are alike.
dram() {
    local cells=$((${KFTUNE_CUBE:-256} ** 3))
    write_cube
    cat >"$folder/dram.set" <<SET
SHORT Bytes of device memory

METRICS
dram_read_bytes     B  dram__bytes_read.sum
dram_write_bytes    B  dram__bytes_write.sum

DERIVED
dram_bytes          B  dram_read_bytes + dram_write_bytes
traffic_over_least  1  dram_bytes / least_bytes

LONG
In one pass.
SET
    timeout -s INT -k 5 43 "$kftune" tune --scene "$folder/cube.json" --device "$device" --samples-per-cell 1 --strategy random --budget 16s \
        --rounds 0 --counters "$folder/dram.set" --store "$folder/dram.db" --out "$folder/dram.kftune.json" --json \
        >"$folder/dram.json" 2>"$folder/dram-log.txt" || return 1
    awk -v cells="$cells" -f scripts/gpu/dram.awk "$folder/dram.json" >"$folder/dram.txt"
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
failed=0
for part in "${parts[@]}"; do
    begin=$SECONDS
    log=$folder/$part.txt
    case $part in
    suite) suite suite 105 ;;
    dram) log=$folder/dram-log.txt && dram ;;
    suite-200x100x100) suite "$part" 110 200x100x100 ;;
    suite-400x200x200) suite "$part" 145 400x200x200 ;;
    sphere-100) validate sphere-100 45 --quick --case incompressible-sphere ;;
    sphere-300) validate sphere-300 150 --case incompressible-sphere ;;
    vortices) validate vortices 25 --case incompressible-tg --case incompressible-div ;;
    cube) log=$folder/cube-bench.txt && cube ;;
    advection) advection ;;
    beside) validate beside 100 --case incompressible-beside ;;
    spectra) validate spectra 60 --case incompressible-wake --pictures "$folder/spectra" ;;
    wake) timeout -k 5 60 bash scripts/wake.sh "$folder/wake" "$device" 200x100x100 >"$log" 2>&1 ;;
    *) echo "$part: no such part; see the head of this script" >&2 && exit 2 ;;
    esac
    status=$?
    echo "$part: status $status, $((SECONDS - begin)) s"
    [ $status -eq 0 ] || { failed=1 && tail -n 4 "$log"; }
done
exit $failed
