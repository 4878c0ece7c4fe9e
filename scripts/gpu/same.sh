# Sourced by boxes.sh and processes.sh: finds the program, sets $one, the device with which a team's runs are compared, $grid, $samples, $steps
# and $transfers, as far as the latter were not asked for, and goes to $folder. In: $folder, $devices, $transfers (none: all that there are),
# $gpu_grid, $gpu_steps, $cpu_transfers, the transfers that are tried on the cpu; on GPUs nccl, too.
. "$(dirname "${BASH_SOURCE[0]}")/program.sh"
case $devices in
cpu*) one=cpu:1 grid=32x24x40 samples=(--samples-per-cell 9) steps=20 transfers=${transfers:-$cpu_transfers} ;;
*) one=cuda:0 grid=$gpu_grid samples=() steps=$gpu_steps transfers=${transfers:-$cpu_transfers nccl} ;;
esac
kftune=$(realpath "$kftune")
cd "$folder" || exit 3

state() { # FOLDER: the checkpoint's state, without its first bytes, in which the config stands
    tail -c +4096 "$1"/checkpoint_*.kfc | md5sum
}

same() { # WHAT FOLDER [MORE]: a line on whether the run left what that on one device left, with more where it did; 1 where it did not
    if [ -f "$2/forces.csv" ] && [ "$(state one)" = "$(state "$2")" ] && cmp -s one/forces.csv "$2/forces.csv"; then
        echo "$1: one device's state and forces, byte for byte${3:-}"
    else
        echo "$1: ANOTHER state or other forces than one device's"
        return 1
    fi
}
