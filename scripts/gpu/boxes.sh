#!/bin/bash
# A team that is cut across y and z held against one device and against slabs: the Ahmed body, once for every way in which planes and rows
# are copied. From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/boxes.sh FOLDER [DEVICES] [TRANSFERS]; DEVICES: two or four, cuda:0-1 if not given; with cpu:1,cpu:1 to see that it works.
# TRANSFERS: "copies host nccl" if not given, without nccl on the cpu. Prints a line for each with steps a second of boxes (two along y) and of
# slabs; status 1 when one ends with another state or other forces than one device.
set -u
folder=${1:?usage: scripts/gpu/boxes.sh FOLDER [DEVICES] [TRANSFERS]}
devices=${2:-cuda:0-1}
. "$(dirname "$0")/program.sh"
case $devices in
cpu*) one=cpu:1 grid=32x24x40 samples=(--samples-per-cell 9) steps=20 transfers='copies host' ;;
*) one=cuda:0 grid=256x256x256 samples=() steps=400 transfers='copies host nccl' ;;
esac
transfers=${3:-$transfers}
kftune=$(realpath "$kftune")
cd "$folder" || exit 3

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
state() { # FOLDER: the checkpoint's state, without its first bytes, in which the config stands
    tail -c +4096 "$1"/checkpoint_*.kfc | md5sum
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
    if [ -f boxes/forces.csv ] && [ "$(state one)" = "$(state boxes)" ] && cmp -s one/forces.csv boxes/forces.csv; then
        echo "boxes, transfer $transfer: one device's state and forces, byte for byte; $(rate boxes), slabs $(rate slabs), one device $(rate one)"
    else
        echo "boxes, transfer $transfer: ANOTHER state or other forces than one device's"
        status=1
    fi
    rm -rf one slabs boxes
done
exit $status
