#!/bin/bash
# Smoke around the Ahmed body, for the gallery: a fine grid, one and a half times through the domain, a sequence of pictures.
# From a bundle or a built source tree; builds nothing; some 45 s on an H200 and never more than 60 (BUDGET): when time is up,
# the pictures drawn so far are used.
# usage: scripts/gpu/smoke.sh FOLDER [DEVICE]; SCENE, GRID, STEPS, PICTURES (of the sequence), SIZE and BUDGET may be set.
# Leaves in FOLDER: smoke-1.png .. smoke-4.png (from the sequence's second half, the last its end), speed.png, forces.csv,
# smoke.md (the table it prints) and log.txt.
set -u
folder=${1:?usage: scripts/gpu/smoke.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
scene=${SCENE:-ahmed}
case $device in
cuda*) grid=${GRID:-480x180x180} steps=${STEPS:-14400} pictures=${PICTURES:-16} size=${SIZE:-1120x630} budget=${BUDGET:-60} ;;
*) grid=${GRID:-64x24x24} steps=${STEPS:-320} pictures=${PICTURES:-4} size=${SIZE:-320x180} budget=${BUDGET:-600} ;;
esac
. "$(dirname "$0")/flow-config.sh"
tuned=$SECONDS

every=$((steps / pictures))
[ "$every" -gt 0 ] || every=1
timeout -s INT -k 5 "$(left)" "$kftune" run --config "$work/config.json" --device "$device" --steps "$steps" --every "$steps" \
    --smoke --smoke-every "$every" --smoke-size "$size" --output "$work/run" --checkpoints 0 --json >"$work/run.json" 2>>"$folder/log.txt"
status=$?
mapfile -t sequence < <(find "$work/run" -name 'smoke_*.png' | sort)
count=${#sequence[@]}
[ "$count" -gt 0 ] || failed run
for i in 1 2 3 4; do cp "${sequence[$(((count - 1) * (4 + i) / 8))]}" "$folder/smoke-$i.png"; done
last=$(find "$work/run" -name 'speed_*.png' | sort | tail -n 1)
[ -z "$last" ] || cp "$last" "$folder/speed.png"
cp "$work/run/forces.csv" "$folder/forces.csv"

value() { grep -m1 "\"$1\":" "$work/run.json" | sed 's/.*: *//; s/[",[:space:]]//g'; }
{
    echo "| what | |"
    echo "| --- | ---: |"
    echo "| scene, grid | $scene, $grid |"
    echo "| steps, of the last picture | $steps, $(basename "${sequence[-1]}" .png | tr -dc 0-9 | sed 's/^0*//') |"
    [ $status -ne 0 ] || printf "| MLUPS, the smoke included | %.0f |\n" "$(value mlups)"
    [ $status -ne 0 ] || printf "| tracers at the end, born a step | %.0f, %.1f |\n" "$(value tracers)" "$(value tracers_a_step)"
    echo "| pictures of the sequence | $count |"
    echo "| seconds: choosing a config, running and drawing | $tuned, $((SECONDS - tuned)) |"
} | tee "$folder/smoke.md"
[ $status -eq 0 ] || echo "the run ended before its last step (status $status): the pictures are those until then" | tee -a "$folder/smoke.md"
exit $status
