#!/bin/bash
# A long run of a shipped scene, to see whether it stays stable. results/log/physics.md, "Long runs", has the cpu's answer on small grids.
# From a bundle or a built source tree; builds nothing; some 30 s on an H200 and never more than 90 (BUDGET).
# usage: scripts/gpu/long-run.sh FOLDER [DEVICE]; SCENE, GRID, STEPS and BUDGET may be set.
# Leaves in FOLDER: forces.csv, speed.png (the last), long-run.md (the table it prints) and log.txt.
set -u
folder=${1:?usage: scripts/gpu/long-run.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
scene=${SCENE:-ahmed}
case $device in
cuda*) grid=${GRID:-256x96x96} steps=${STEPS:-60000} budget=${BUDGET:-90} ;;
*) grid=${GRID:-64x24x24} steps=${STEPS:-2000} budget=${BUDGET:-600} ;;
esac
. "$(dirname "$0")/flow-config.sh"
timeout -s INT -k 5 "$(left)" "$kftune" run --config "$work/config.json" --device "$device" --steps "$steps" \
    --every $(((steps + 5) / 6)) --output "$work/run" --checkpoints 0 --json >"$work/run.json" 2>>"$folder/log.txt"
status=$?
[ -s "$work/run/forces.csv" ] || failed run
cp "$work/run/forces.csv" "$folder/forces.csv"
last=$(find "$work/run" -name 'speed_*.png' | sort | tail -n 1)
[ -z "$last" ] || cp "$last" "$folder/speed.png"

# Mean and largest deviation of the drag coefficient over a quarter (1 to 4) of the rows.
drag() {
    awk -F, -v quarter="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "drag_coefficient") column = i; next }
        { value[++n] = $column; step = $1 }
        END { for (i = int((quarter - 1) * n / 4) + 1; i <= int(quarter * n / 4); i++) { sum += value[i]; rows++ }
              for (i = int((quarter - 1) * n / 4) + 1; i <= int(quarter * n / 4); i++) {
                  off = value[i] - sum / rows; if (off < 0) off = -off; if (off > most) most = off }
              printf "%.4f, %.4f", sum / rows, most }' "$folder/forces.csv"
}
{
    echo "| what | |"
    echo "| --- | ---: |"
    echo "| scene, grid | $scene, $grid |"
    echo "| steps asked for, of the last force | $steps, $(tail -n 1 "$folder/forces.csv" | cut -d, -f1) |"
    printf "| MLUPS | %.0f |\n" "$(grep -m1 '"mlups":' "$work/run.json" | sed 's/.*: *//; s/[",[:space:]]//g')"
    for quarter in 2 3 4; do echo "| drag coefficient in quarter $quarter: mean, largest deviation | $(drag $quarter) |"; done
    echo "| status of the run (0: it reached its end) | $status |"
} | tee "$folder/long-run.md"
[ $status -eq 0 ] || grep -v "MLUPS" "$folder/log.txt" | tail -n 2
exit $status
