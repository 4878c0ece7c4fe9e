#!/bin/bash
# Small configs of every system under compute-sanitizer: memcheck (addresses), racecheck (shared memory), initcheck (memory
# that was never written) and synccheck (barriers). Builds nothing; at most eight minutes on one GPU.
# usage: scripts/gpu/memory.sh FOLDER [DEVICE]     (TOOLS="memcheck racecheck"; JOBS=6 at a time; SANITIZER: the program;
# ONLY: the configs whose lines this regular expression finds)
# Leaves in FOLDER: memory.md (a table, results/measured/gpu-memory.md is one) and the logs of what was not clean.
# Status 1 when a tool finds something, a config does not run, or fewer than 30 (with ONLY: all) were looked at by every tool.
set -u
folder=${1:?usage: scripts/gpu/memory.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
tools=${TOOLS-memcheck racecheck initcheck synccheck}
budget=${BUDGET:-460} # seconds; runs that have not ended by then are killed, and the table says so
. "$(dirname "$0")/program.sh"
sanitizer=${SANITIZER:-$(command -v compute-sanitizer || ls -d /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | tail -n 1)}
[ -n "$sanitizer" ] || { echo "memory.sh: compute-sanitizer is not here; it is part of the CUDA toolkit" >&2; exit 3; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"
folder=$(realpath "$folder")
cd "$work" || exit 3

echo '{"particles": {"spacing": 0.1}, "box": {"size": [1, 1, 1]}, "gravity": [0, 0, -9.81], "material": {"density": 1000, "sound_speed": 40, "viscosity": 0.001}, "fluid": [{"shape": "box", "low": [0, 0, 0], "high": [0.5, 1, 0.5]}], "gauges": [{"name": "h", "height": [0.2, 0.5]}, {"name": "p", "pressure": [0.2, 0.5, 0.1]}]}' >drop.json
echo '{"particles": {"dimensions": 2, "spacing": 0.1}, "box": {"size": [2, 2]}, "gravity": [0, -9.81], "material": {"density": 1000, "sound_speed": 40, "viscosity": 0.001}, "fluid": [{"shape": "box", "low": [0, 0], "high": [1, 1]}]}' >drop2d.json

library=$KFTUNE_DATA/scene/library
sed 's/"shape":/"boundary": "links", "shape":/' "$library/ball.json" >links.json
sed 's/"shape":/"boundary": "links", "links": "half-way", "shape":/' "$library/ball.json" >half_way.json
# The Reynolds number is one at which the law acts.
sed 's/"reynolds": 1000/"reynolds": 1e6/; s/"adaptive_2020"/"k17", "wall": "law", "trip": 0/' links.json >law.json
sed 's/"law"/&, "layers": "modelled"/' law.json >layers.json
sed 's/"shape":/"motion": {"axis": [0, 0, 1], "angular_velocity": 1}, "shape":/' links.json >turning.json
sed 's/adaptive_2020/k17/; 0,/{/s//{ "refine": {"around": "body", "levels": 1},/' "$library/ball.json" >nested.json

# SYSTEM, scene and grid, then what is fixed; a word each.
configs() {
    local flow
    for fix in plan=baseline plan=paper plan=fused plan=fused,layout=aos plan=fused,layout=soa plan=paper,immersed_boundary=gather plan=fused,immersed_boundary=aggregated plan=fused,storage=f64 plan=fused,streaming=shift; do echo "kinetic --scene ball --grid 32x24x24 $fix"; done
    for flow in spinning_torus settling vortices; do echo "kinetic --scene $flow --grid 32x32x32 plan=fused"; done
    for flow in links half_way law layers turning; do echo "kinetic --scene $flow.json --grid 32x24x24 plan=fused"; done
    echo "kinetic --scene layers.json --grid 32x24x24 plan=fused,nodes_per_thread=2"
    echo "kinetic --scene nested.json --grid 32x24x24 plan=fused"
    for fix in toelke separate pull push inplace temporal; do echo "d2q9 --scene cavity2d --grid 32x32x1 plan=$fix"; done
    for fix in layout=aos layout=soa storage=f64; do echo "d2q9 --scene cylinder2d --grid 64x32x1 $fix"; done
    for fix in paper separate packed batched fused; do echo "stable_fluids --scene decay --grid 64x64x1 plan=$fix"; done
    echo "stable_fluids --scene decay --grid 64x64x1 plan=persistent"
    echo "stable_fluids --scene plume --grid 64x64x1"
    echo "stable_fluids --scene plume3d --grid 32x32x32"
    for fix in layout=float4 layout=float3 layout=soa; do echo "sph --scene drop.json $fix"; done
    for fix in layout=float4 layout=soa; do echo "sph --scene drop2d.json $fix"; done
    for fix in multigrid multigrid_cg; do echo "incompressible --scene plate --grid 16x8x8 solver=$fix,iterations=4"; done
    echo "incompressible --scene plate --grid 32x16x16 solver=fourier_cg"
    for fix in cg incomplete_cg; do echo "incompressible --scene plate --grid 16x8x8 solver=$fix,iterations=100"; done
}
# Systems take turns, and each config runs under every tool before the next config. If time is short, every system has configs
# that ran under all tools.
configs | grep -E "${ONLY:-.}" | awk '{ print ++turn[$1], $0 }' | sort -s -n -k 1,1 | cut -d ' ' -f 2- >list
total=$(wc -l <list)

# Runs config number $2 under tool $1 (none: alone, so that its kernels are in the cache). Solvers of the pressure launch
# some hundred kernels a step: they are verified before, alone, and do one step under a tool, as verifying does eight.
one() {
    local tool=$1 number=$2 system scene name rest grid size fix words=() over=() fixed=() word steps=2
    local left=$((budget - SECONDS))
    [ $left -gt 0 ] || return
    [ $left -lt 120 ] || left=120
    read -r system scene name rest < <(sed -n "${number}p" list)
    case $rest in --grid*) read -r grid size fix <<<"$rest" && words+=("$grid" "$size") ;; *) fix=$rest ;; esac
    IFS=, read -r -a fixed <<<"$fix"
    for word in "${fixed[@]}"; do words+=(--fix "$word"); done
    if [ "$tool" != none ]; then
        over=("$sanitizer" --tool "$tool" --target-processes all --error-exitcode 77 --print-limit 20)
        [ "$tool" != memcheck ] || over+=(--report-api-errors no --leak-check no)
    fi
    words=(--system "$system" "$scene" "$name" "${words[@]}")
    if [ "$system" = incompressible ]; then
        if [ "$tool" = none ]; then
            timeout -k 5 $left "$kftune" tune "${words[@]}" --device "$device" --budget 1evals --presets default --rounds 0 --store "$number.db" \
                --out "$number.kftune.json" </dev/null >"$tool-$number.log" 2>&1 || { echo $? >"$tool-$number.status" && return; }
        fi
        words=(--config "$number.kftune.json") steps=1
    fi
    timeout -k 5 $left "${over[@]}" "$kftune" run "${words[@]}" --device "$device" \
        --steps $steps --every $steps --checkpoints 0 --output "$work/$tool-$number" </dev/null >"$tool-$number.log" 2>&1
    echo "$?" >"$tool-$number.status"
}

export XDG_CACHE_HOME=$work/cache XDG_DATA_HOME=$work/data
jobs_at_once=${JOBS:-6}
start() { # TOOL NUMBER: as soon as there is room
    while [ "$(jobs -pr | wc -l)" -ge "$jobs_at_once" ]; do wait -n; done
    one "$1" "$2" &
}
for number in $(seq "$total"); do start none "$number"; done
wait
for number in $(seq "$total"); do
    [ "$(cat "none-$number.status" 2>/dev/null)" = 0 ] || continue
    for tool in $tools; do start "$tool" "$number"; done
done
wait

failed=0 whole=0
{
    echo "# Kernels under compute-sanitizer"
    echo
    echo "\`scripts/gpu/memory.sh\`, 2 steps of each config, 1 of incompressible; $("$sanitizer" --version 2>/dev/null | tail -n 1)."
    echo
    echo "| system | scene, config | runs |$(for tool in $tools; do printf ' %s |' "$tool"; done)"
    echo "| --- | --- | --- |$(for tool in $tools; do printf ' --- |'; done)"
    for number in $(seq "$total"); do
        all=1
        read -r system rest < <(sed -n "${number}p" list)
        printf '| %s | %s |' "$system" "${rest#--scene }"
        case $(cat "none-$number.status" 2>/dev/null) in
        0) printf ' yes |' ;;
        2) printf ' refused |' && all=0 && cp "none-$number.log" "$folder" ;;
        '' | 124 | 137) printf ' no time |' && all=0 ;;
        *) printf ' FAILED |' && all=0 && failed=$((failed + 1)) && cp "none-$number.log" "$folder" ;;
        esac
        for tool in $tools; do
            case $(cat "$tool-$number.status" 2>/dev/null) in
            0) printf ' clean |' ;;
            '') printf ' - |' && all=0 ;;
            77) printf ' FOUND |' && all=0 && failed=$((failed + 1)) && cp "$tool-$number.log" "$folder" ;;
            124 | 137) printf ' too slow |' && all=0 ;;
            *) printf ' FAILED |' && all=0 && failed=$((failed + 1)) && cp "$tool-$number.log" "$folder" ;;
            esac
        done
        echo
        whole=$((whole + all))
    done
    echo
    echo "$whole of $total configs are clean under every tool, in $SECONDS s."
} >"$folder/memory.md"
tail -n 1 "$folder/memory.md"
least=30
[ -z "${ONLY:-}" ] || least=$total
[ "$failed" -eq 0 ] && [ "$whole" -ge "$least" ]
