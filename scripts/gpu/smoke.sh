#!/bin/bash
# Smoke around the Ahmed body, for the README: a fine grid, one and a half times through the domain, a sequence of pictures.
# From a bundle or a built source tree; builds nothing; about a minute on a GPU, a third of it for the flow.
# usage: scripts/gpu/smoke.sh FOLDER [DEVICE]; SCENE, GRID, STEPS and PICTURES (of the sequence) may be set.
# Leaves in FOLDER: smoke-1.png .. smoke-4.png (from the sequence's second half, the last its end), speed.png, forces.csv, run.json and
# log.txt; prints a short table.
set -u
folder=${1:?usage: scripts/gpu/smoke.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
scene=${SCENE:-ahmed}
case $device in
cuda*) grid=${GRID:-480x180x180} steps=${STEPS:-14400} pictures=${PICTURES:-60} ;;
*) grid=${GRID:-64x24x24} steps=${STEPS:-320} pictures=${PICTURES:-4} ;;
esac
mkdir -p "$folder" || exit 2
folder=$(realpath "$folder")
cd "$(dirname "$0")/../.." || exit 3
for kftune in ${KFTUNE:-} ./kftune build/kftune; do [ -x "$kftune" ] && break; done
[ -x "$kftune" ] || { echo "kftune is not built" >&2; exit 3; }
export KFTUNE_DATA=${KFTUNE_DATA:-$PWD}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$folder/log.txt"
failed() { echo "$1 failed:" >&2; tail -n 3 "$folder/log.txt" >&2; exit 1; }

# The presets alone, and the fastest of them: the pictures are of the flow, not of the search.
begin=$SECONDS
timeout 120 "$kftune" tune --scene "$scene" --device "$device" --grid "$grid" --budget 1evals --seed 1 --fix plan=fused --fix storage=f32 \
    --store "$work/kftune.db" --out "$work/config.json" >"$work/tune.txt" 2>>"$folder/log.txt" || failed tune
tuned=$((SECONDS - begin)) begin=$SECONDS

every=$((steps / pictures))
[ "$every" -gt 0 ] || every=1
timeout 300 "$kftune" run --config "$work/config.json" --device "$device" --steps "$steps" --every "$steps" --smoke --smoke-every "$every" \
    --output "$work/run" --checkpoints 0 --json >"$folder/run.json" 2>>"$folder/log.txt" || failed run
ran=$((SECONDS - begin))

mapfile -t sequence < <(find "$work/run" -name 'smoke_*.png' | sort)
count=${#sequence[@]}
for i in 1 2 3 4; do cp "${sequence[$(((count - 1) * (4 + i) / 8))]}" "$folder/smoke-$i.png"; done
cp "$(find "$work/run" -name 'speed_*.png' | sort | tail -n 1)" "$folder/speed.png"
cp "$work/run/forces.csv" "$folder/forces.csv"

value() { grep -m1 "\"$1\":" "$folder/run.json" | sed 's/.*: *//; s/[",[:space:]]//g'; }
echo "| what | |"
echo "| --- | ---: |"
echo "| scene, grid | $scene, $grid |"
echo "| steps | $steps |"
printf "| MLUPS, the smoke included | %.0f |\n" "$(value mlups)"
printf "| tracers at the end, born a step | %.0f, %.1f |\n" "$(value tracers)" "$(value tracers_a_step)"
echo "| pictures of the sequence | $count |"
echo "| seconds: choosing, running and drawing | $tuned, $ran |"
