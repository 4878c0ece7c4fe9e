#!/bin/bash
# The step of the stable fluids system on a GPU, tuned for each size beside the seed's plan and the library's transforms.
# From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/stable-fluids.sh FOLDER [DEVICE] [SIZE...]; writes stable-fluids.json and .log into FOLDER and prints a
# table: us a step of the best config, of its plan with the library's transforms, of the seed's plan. A SIZE is N for
# N x N cells, NxNxN, or NxK for an ensemble of K boxes of N x N. SECONDS_EACH (20) is what a size may cost.
set -u
folder=${1:?usage: scripts/gpu/stable-fluids.sh FOLDER [DEVICE] [SIZE...]}
device=${2:-cuda:0}
shift $(($# < 2 ? $# : 2))
sizes=("$@")
[ $# -gt 0 ] || sizes=(256 512 1024 2048 4096 8192 256x16 256x256x256)
seconds=${SECONDS_EACH:-20}
mkdir -p "$folder" || exit 3
folder=$(realpath "$folder")
cd "$(dirname "$0")/../.." || exit 3
for kftune in ${KFTUNE:-} ./kftune build/kftune; do [ -x "$kftune" ] && break; done
[ -x "$kftune" ] || { echo "kftune is neither here nor in build/: build it first" >&2; exit 3; }
export KFTUNE_DATA=${KFTUNE_DATA:-$PWD}
log=$folder/stable-fluids.log out=$folder/stable-fluids.json
: >"$log"

# A box of long random waves that moves at most about 1.2 cells a step, whatever its size.
scene() { # FILE CELLS N SIMULATIONS
    awk -v cells="$2" -v n="$3" -v simulations="$4" 'BEGIN {
        printf "{\"stable_fluids\": {}, \"domain\": {\"cells\": [%s], \"length\": 1, \"simulations\": %d},\n", cells, simulations
        printf " \"flow\": {\"viscosity\": 6.3e-5, \"time_step\": %.9g},\n", 0.09 * 512 / n
        printf " \"initial\": {\"kind\": \"random\", \"amplitude\": 0.026, \"velocity\": [0.004, -0.002%s]}}\n", cells ~ /,.*,/ ? ", 0" : ""
    }' >"$1"
}
# us a step of the best of a tuning run; nothing when it found none.
tune() { # NAME OPTION...
    local name=$1
    shift
    timeout $((seconds * 3 + 60)) "$kftune" tune --device "$device" --seed 1 --quiet --store "$folder/store.db" --json \
        --out "$folder/$name.kftune.json" "$@" >"$folder/$name.json" 2>>"$log"
    local status=$?
    echo "$name: status $status" >>"$log"
    awk -F'\t' '/"time_us":/ && !found { gsub(/[",]/, "", $NF); print $NF; found = 1 }' "$folder/$name.json"
}
number() { [ -n "$1" ] && echo "$1" || echo null; }

printf '{\n"device": "%s",\n"sizes": [' "$device" >"$out"
printf '%-14s %12s %12s %12s\n' size best library paper
separator=
for size in "${sizes[@]}"; do
    simulations=1
    case $size in
    *x*x*) n=${size%%x*} cells=${size//x/, } ;;
    *x*) n=${size%%x*} cells="$n, $n" simulations=${size##*x} ;;
    *) n=$size cells="$n, $n" ;;
    esac
    scene "$folder/$size.scene.json" "$cells" "$n" "$simulations"
    best=$(tune "best-$size" --scene "$folder/$size.scene.json" --fix fft=own --fix storage_velocity=f32 --fix storage_spectrum=f32 \
        --fix plan=fused,persistent --budget "${seconds}s" --rounds 1)
    library= paper=
    if [ "$simulations" = 1 ]; then
        library=$(tune "library-$size" --scene "$folder/$size.scene.json" --fix fft=library --fix storage_velocity=f32 \
            --fix plan=packed,batched,separate --fix points_rows=8 --fix points_columns=8 --fix points_inverse=8 --fix rows_per_block=1 \
            --fix columns_per_block=1 --fix twiddles=table --fix exchange_buffers=1 --budget 12evals --rounds 1)
        paper=$(tune "paper-$size" --scene "$folder/$size.scene.json" --fix plan=paper --fix fft=library --fix storage_velocity=f32 \
            --fix graph=false --fix block_x=64 --fix block_y=4 --budget 3evals --rounds 0)
    fi
    printf '%-14s %12s %12s %12s\n' "$size" "$(number "$best")" "$(number "$library")" "$(number "$paper")"
    printf '%s\n{"size": "%s", "simulations": %s, "best_us": %s, "library_us": %s, "paper_us": %s}' "$separator" "$size" "$simulations" \
        "$(number "$best")" "$(number "$library")" "$(number "$paper")" >>"$out"
    separator=,
done
printf '\n]\n}\n' >>"$out"
