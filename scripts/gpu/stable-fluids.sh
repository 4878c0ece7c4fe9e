#!/bin/bash
# The step of the stable fluids system on a GPU, tuned for each size beside the preset paper and the library's transforms.
# From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/stable-fluids.sh FOLDER [DEVICE] [SIZE...]; writes stable-fluids.json, .txt, .log and store.db (every
# config with the times of its kernels) into FOLDER and prints for each size: us a step of the best config of those that
# matter at that size, of the default, of the best of the library's plans (graphs) and of the preset paper; the kernels of
# the best one and its config. A SIZE is N for N x N cells, NxNxN, NxK for an ensemble of K boxes of N x N, or Np with a
# particle a cell. SECONDS_EACH (14) is what a size may cost in search; all sizes take about five minutes on an H200.
set -u
folder=${1:?usage: scripts/gpu/stable-fluids.sh FOLDER [DEVICE] [SIZE...]}
device=${2:-cuda:0}
shift $(($# < 2 ? $# : 2))
sizes=("$@")
[ $# -gt 0 ] || sizes=(256 512 1024 2048 4096 8192 256x16 256x256x256 4096p)
seconds=${SECONDS_EACH:-14}
. "$(dirname "$0")/program.sh"
log=$folder/stable-fluids.log out=$folder/stable-fluids.json table=$folder/stable-fluids.txt
: >"$log"
graph=
overlap=
case $device in cuda*) graph=graph=true overlap=overlap=true,false ;; esac
: >"$table"

# A box of long random waves that moves at most about 1.2 cells a step, whatever its size.
scene() { # FILE CELLS N SIMULATIONS PARTICLES
    awk -v cells="$2" -v n="$3" -v simulations="$4" -v particles="$5" 'BEGIN {
        printf "{\"stable_fluids\": {}, \"domain\": {\"cells\": [%s], \"length\": 1, \"simulations\": %d},\n", cells, simulations
        printf " \"flow\": {\"viscosity\": 6.3e-5, \"time_step\": %.9g},\n", 0.09 * 512 / n
        if (particles > 0) printf " \"particles\": {\"count\": %d},\n", particles
        printf " \"initial\": {\"kind\": \"random\", \"amplitude\": 0.026, \"velocity\": [0.004, -0.002%s]}}\n", cells ~ /,.*,/ ? ", 0" : ""
    }' >"$1"
}
# What is worth trying at a size; the rest of the space is left out.
space() { # SIZE
    case $1 in
    256) echo plan=persistent steps_per_launch=64 points_rows=4,8 points_columns=8 points_inverse=8 rows_per_block=1,2,4 columns_per_block=2 \
        twiddles=products,early exchange_buffers=2 component_per_thread=true tile_columns=0 resident_rows=0 resident_columns=0 ;;
    512) echo plan=persistent steps_per_launch=64 points_rows=4,8 points_columns=8 points_inverse=8 rows_per_block=2,4 columns_per_block=1,2 \
        twiddles=products,early exchange_buffers=2 tile_columns=0 resident_rows=0 resident_columns=0 ;;
    1024) echo plan=fused points_rows=16 points_columns=8,16 points_inverse=16 rows_per_block=2 columns_per_block=2,4 \
        twiddles=products,table exchange_buffers=2 tile_columns=0 resident_rows=0 resident_columns=0 ;;
    2048) echo plan=fused points_rows=16,32 points_columns=16 points_inverse=16,32 rows_per_block=1 columns_per_block=2 twiddles=products \
        exchange_buffers=1 component_per_thread=false tile_columns=4 resident_rows=0 resident_columns=0 ahead_rows=0,4 ahead_columns=0,1 ;;
    4096 | 8192) echo plan=fused points_rows=16,32 points_columns=16,32 points_inverse=16,32 rows_per_block=1 columns_per_block=$(($1 > 4096 ? 1 : 2)) twiddles=products \
        exchange_buffers=1 component_per_thread=false,true tile_columns=$([ "$1" = 4096 ] && echo 4 || echo 2,4) resident_rows=$(($1 > 4096 ? 2 : 0)) resident_columns=0 ahead_rows=0,2 ahead_columns=0,1 ;;
    4096p) echo plan=fused points_rows=16 points_columns=16 points_inverse=16 ;;
    *x*x*) echo plan=fused points_rows=8 points_columns=8,16 points_inverse=8 rows_per_block=1,2 columns_per_block=8,16 \
        twiddles=products exchange_buffers=1,2 component_per_thread=true tile_columns=0 resident_rows=0 resident_columns=0 ;;
    *x*) echo plan=fused points_rows=16 points_columns=4,8 points_inverse=16 rows_per_block=2 columns_per_block=4 \
        twiddles=products exchange_buffers=2 component_per_thread=true tile_columns=0,4 resident_rows=0 resident_columns=0 ;;
    *) echo plan=fused ;;
    esac
}
# Tunes; the numbers of the run are in NAME.json, those of its kernels in NAME.txt.
tune() { # NAME OPTION...
    local name=$1
    shift
    timeout $((seconds * 3 + 60)) "$kftune" tune --device "$device" --seed 1 --quiet --store "$folder/store.db" --json \
        --out "$folder/$name.kftune.json" "$@" >"$folder/$name.json" 2>>"$log"
    echo "$name: status $?" >>"$log"
    "$kftune" store show --store "$folder/store.db" --limit 1 >"$folder/$name.txt" 2>>"$log"
}
# us a step of the best; nothing when none was found.
best_of() { # NAME
    awk -F'\t' '/"time_us":/ && !found { gsub(/[",]/, "", $NF); print $NF; found = 1 }' "$folder/$1.json"
}
# us a step of a preset of that run.
preset_of() { # NAME PRESET
    awk -F'\t' -v preset="\"$2\":" '/"time_us":/ && !us { gsub(/[",]/, "", $NF); us = $NF } /"gain":/ { gain = 1 }
        gain && index($0, preset) { gsub(/[",]/, "", $NF); if ($NF > 0) printf "%.6g\n", us * $NF; exit }' "$folder/$1.json"
}
number() { [ -n "$1" ] && echo "$1" || echo null; }

begin=$SECONDS
printf '{\n"device": "%s",\n"sizes": [' "$device" >"$out"
printf '%-12s %10s %10s %10s %10s  %s\n' size best default library paper 'kernels of the best, and its config' | tee -a "$table"
separator=
for size in "${sizes[@]}"; do
    simulations=1 particles=0
    case $size in
    *x*x*) n=${size%%x*} cells=${size//x/, } ;;
    *x*) n=${size%%x*} cells="$n, $n" simulations=${size##*x} ;;
    *p) n=${size%p} cells="$n, $n" particles=$((n * n)) ;;
    *) n=$size cells="$n, $n" ;;
    esac
    scene "$folder/$size.scene.json" "$cells" "$n" "$simulations" "$particles"
    fixed=()
    for one in fft=own storage_velocity=f32 storage_spectrum=f32 pad=0 block_x=64 block_y=4 $graph $overlap $(space "$size"); do fixed+=(--fix "$one"); done
    effort=(--strategy random --effort 0.3 --budget "${seconds}s" --rounds 1)
    [ "$particles" = 0 ] || effort=(--strategy random --budget 3evals --rounds 0)
    tune "best-$size" --scene "$folder/$size.scene.json" "${fixed[@]}" "${effort[@]}"
    best=$(best_of "best-$size") default=$(preset_of "best-$size" default) paper= library=
    if [ "$simulations" = 1 ] && [ "$particles" = 0 ]; then
        paper=$(preset_of "best-$size" paper)
        tune "library-$size" --scene "$folder/$size.scene.json" --fix fft=library --fix storage_velocity=f32 \
            --fix plan=packed,batched --fix points_rows=8 --fix points_columns=8 --fix points_inverse=8 --fix rows_per_block=1 \
            --fix columns_per_block=1 --fix twiddles=table --fix exchange_buffers=1 ${graph:+--fix $graph} --fix block_x=64 --fix block_y=4 \
            --strategy random --effort 0.3 --budget 5evals --rounds 0
        library=$(best_of "library-$size")
    fi
    kernels=$(awk '/^Kernels/ { on = 1; next } on && NF > 3 && $1 != "kernel" { printf "%s %s %s (%s registers); ", $1, $2, $3, $(NF - 2) }' "$folder/best-$size.txt")
    config=$(awk '/^ +[0-9]+ +ok/ && !found { for (i = 1; i <= NF; i++)
        if ($i ~ /^(columns_per|component|exchange|plan|points|resident|rows_per|tile|twiddles)/) printf "%s ", $i; found = 1 }' "$folder/best-$size.txt")
    printf '%-12s %10s %10s %10s %10s  %s\n%57s%s\n' "$size" "$(number "$best")" "$(number "$default")" "$(number "$library")" "$(number "$paper")" \
        "$kernels" '' "$config" | tee -a "$table"
    printf '%s\n{"size": "%s", "simulations": %s, "particles": %s, "best_us": %s, "default_us": %s, "library_us": %s, "paper_us": %s}' \
        "$separator" "$size" "$simulations" "$particles" "$(number "$best")" "$(number "$default")" "$(number "$library")" "$(number "$paper")" >>"$out"
    separator=,
done
printf '\n],\n"seconds": %d\n}\n' $((SECONDS - begin)) >>"$out"
echo "$((SECONDS - begin)) s" | tee -a "$table"
