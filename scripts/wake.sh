#!/bin/bash
# Smoke behind a ball at the same moment, by the kinetic and by the incompressible solver with steps of the same length.
# usage: scripts/wake.sh FOLDER [DEVICE] [GRID] [STEPS]: cpu, 64x32x32, 1600. From a built source tree or a bundle; leaves
# FOLDER/kinetic.png and FOLDER/incompressible.png, and the output of the runs (SYSTEM.txt).
set -u
folder=${1:?usage: scripts/wake.sh FOLDER [DEVICE] [GRID] [STEPS]}
device=${2:-cpu} grid=${3:-64x32x32} steps=${4:-1600}
. "$(dirname "$0")/gpu/program.sh"
worst=0
for system in kinetic incompressible; do
    "$kftune" tune --scene ball --system $system --grid "$grid" --device "$device" --strategy random --budget 1evals --rounds 0 \
        --store "$folder/wake.db" --out "$folder/$system.kftune.json" --quiet >"$folder/$system.txt" 2>&1 &&
        "$kftune" run --config "$folder/$system.kftune.json" --device "$device" --steps "$steps" --every "$steps" --checkpoints 0 \
            --smoke --smoke-size 900x450 --camera 90,12,0.6 --force --output "$folder/$system-run" >>"$folder/$system.txt" 2>&1 &&
        cp "$folder/$system-run/smoke_"*"$steps.png" "$folder/$system.png" || worst=1
    rm -rf "$folder/$system-run"
done
rm -f "$folder"/wake.db*
exit $worst
