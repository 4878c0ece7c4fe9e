#!/bin/bash
# Compares a team that is cut across y and z with one device and with slabs: the Ahmed body, once for each way to copy planes and rows.
# From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/boxes.sh FOLDER [DEVICES] [TRANSFERS]; DEVICES: two or four, cuda:0-1 if not given; with cpu:1,cpu:1 to see that it works.
# TRANSFERS: "copies host nccl" if not given, without nccl on the cpu. Prints a line for each with steps a second of boxes (two along y) and of
# slabs; status 1 when one ends with another state or other forces than one device.
set -u
folder=${1:?usage: scripts/gpu/boxes.sh FOLDER [DEVICES] [TRANSFERS]}
devices=${2:-cuda:0-1} transfers=${3:-} gpu_grid=256x256x256 gpu_steps=400 cpu_transfers='copies host'
. "$(dirname "$0")/same.sh"

tuned() { # NAME OPTION...
    local name=$1
    shift
    timeout 120 "$kftune" tune --scene ahmed --grid $grid "${samples[@]}" --devices "$devices" --budget 1evals --rounds 1 --effort 0.01 --fix plan=fused \
        --fix streaming=two_grids --fix boundary_kernels=0 --fix storage=f32 --fix sample_cost=0 --store boxes.db --out "$name.json" "$@" >"$name.tune" 2>&1 ||
        { echo "$name: $(tail -n 1 "$name.tune")"; return 1; }
}
run() { # CONFIG FOLDER DEVICES: its files into FOLDER
    timeout 120 "$kftune" run --config "$1.json" --devices "$3" --output "$2" --fields pressure --steps $steps --every $steps >"$2.out" 2>&1 ||
        echo "$2: status $?: $(grep kftune: "$2.out" | tail -n 1)"
}
rate() { # FOLDER: steps a second, as the run says them
    grep -o '[0-9.]* steps/s' "$1.out" | tail -n 1
}

status=0
for transfer in $transfers; do
    tuned "slabs-$transfer" --fix "transfer=$transfer" && tuned "boxes-$transfer" --fix "transfer=$transfer" --fix parts_y=2 || { status=1 && continue; }
    run "boxes-$transfer" one $one
    run "slabs-$transfer" slabs "$devices"
    run "boxes-$transfer" boxes "$devices"
    same "boxes, transfer $transfer" boxes "; $(rate boxes), slabs $(rate slabs), one device $(rate one)" || status=1
    rm -rf one slabs boxes
done
exit $status
