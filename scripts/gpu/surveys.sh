#!/bin/bash
# Random surveys, measured by kftune landscape in shards, all of them side by side, taking turns config by config: without SURVEYS those of the
# systems other than kinetic, on grids that no cost model was fitted to, and what the models say of them without calibration. From a bundle or a
# built source tree; builds nothing.
# usage: scripts/gpu/surveys.sh FOLDER [DEVICE] [SECONDS from beginning to end, 60]; DEVICE cpu: the same on small grids.
# SURVEYS: other ones, each "SYSTEM SCENE GRID SHARDS [PARAMETER=VALUES...]", with a ; between them; a shard has an eighth of the cores to compile.
# CONFIGS=60: of each; EFFORT=0.05; SEED=91: of the first; the next has 92.
# Leaves in FOLDER, for each, SCENE-GRID.json.gz (to be put into results/measured/) and .predict.json.gz (prediction and time of every config,
# on this device); surveys.txt, the table that it prints, with how hard each is, and surveys.log. The presets, which no chance has drawn, are in all of them.
set -u
folder=${1:?usage: $0 FOLDER [DEVICE] [SECONDS]}
device=${2:-cuda:0}
seconds=${3:-60}
. "$(dirname "$0")/program.sh"
case $device in
cuda*) usual='stable_fluids decay 768x768x1 2 storage_velocity=f32;stable_fluids decay 3072x3072x1 2 storage_velocity=f32;
    sph particles_32 80x80x80 1;sph particles_bingham 64x64x64 1;incompressible ball 128x112x96 1 storage=f32 iterations=25,400;
    d2q9 cavity2d 1536x1536x1 1 storage=f32;d2q9 cylinder_array2d 1280x1280x1 1 storage=f32' ;;
*) usual='stable_fluids decay 96x96x1 2 storage_velocity=f32;sph particles_32 16x16x16 1;incompressible ball 32x24x24 1 storage=f32 iterations=25,400;
    d2q9 cavity2d 96x96x1 1 storage=f32' ;;
esac
IFS=';' read -ra surveys <<<"$(tr '\n' ' ' <<<"${SURVEYS:-$usual}")"
# In memory if a GiB is free, because every result and kernel is synchronised to the disk, and a slow disk delays all runs.
memory=$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)
[ "${memory:-0}" -gt 1048576 ] && [ -w /dev/shm ] && export TMPDIR=/dev/shm
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
trap 'rm -rf "$work"' EXIT

# As kftune is told which; label: as its files are called.
read_survey() { # SURVEY
    local fixed
    read -r system scene grid shards fixed <<<"$1"
    label=${scene##*/}
    label=${label%%.*}-$grid
    fix=()
    for fixed in $fixed; do fix+=(--fix "$fixed"); done
}

# value KEY FILE: the first number of that name in --json's output.
value() { sed -n "s/^.*\"$1\":[^0-9-]*\([0-9.e+-]*\),\{0,1\}$/\1/p" "$2" | head -n 1; }

finish() { # SURVEY: what was measured of it, and what was predicted
    local system scene grid shards fix label
    read_survey "$1"
    "$kftune" store import --store "$work/$label.db" "$work/$label.shards" >>"$work/$label.log" 2>&1
    "$kftune" store export --store "$work/$label.db" --format landscape --out "$work/$label" >/dev/null 2>>"$work/$label.log" &&
        gzip -9nc "$work/$label" >"$folder/$label.json.gz"
    "$kftune" predict --landscape "$folder/$label.json.gz" --system "$system" --top 200 "${fix[@]}" --json >"$work/$label.predict.json" 2>>"$work/$label.log"
    gzip -9nc "$work/$label.predict.json" >"$folder/$label.predict.json.gz"
}

for i in "${!surveys[@]}"; do
    read_survey "${surveys[i]}"
    for ((shard = 0; shard < shards; shard++)); do
        timeout -s INT -k 5 $((seconds > 20 ? seconds - 10 : seconds / 2)) "$kftune" landscape --scene "$scene" --system "$system" --grid "$grid" --device "$device" \
            --configs "${CONFIGS:-60}" --shard "$shard/$shards" --seed $((${SEED:-91} + i)) --effort "${EFFORT:-0.05}" --take-turns --journal "$work/$label.shards" \
            "${fix[@]}" </dev/null >>"$work/$label.log" 2>&1 &
    done
done
wait
measured=$SECONDS
for survey in "${surveys[@]}"; do finish "$survey" & done
wait
{
    printf '%-28s %-14s %8s %12s %12s %14s\n' survey system measured correlation calibrated median_error
    for survey in "${surveys[@]}"; do
        read_survey "$survey"
        answer=$work/$label.predict.json
        printf '%-28s %-14s %8s %12.6s %12.6s %14.6s\n' "$label" "$system" "$(value measured "$answer")" "$(value rank_correlation "$answer")" \
            "$(value rank_correlation_calibrated "$answer")" "$(value median_error_calibrated "$answer")"
    done
    for survey in "${surveys[@]}"; do
        read_survey "$survey"
        "$kftune" replay --landscape "$folder/$label.json.gz" --strategy random --evaluations 1 --repeats 1 2>&1 | head -n 3
    done
    echo "measured in $measured s, $SECONDS s in all"
} | tee "$folder/surveys.txt"
for survey in "${surveys[@]}"; do
    read_survey "$survey"
    echo "== $label" && cat "$work/$label.log"
done >"$folder/surveys.log" 2>&1
