#!/bin/bash
# The whole time step compared with the memory's limit, on a GPU: `kftune bench --suite step`. From a bundle or a built source
# tree; builds nothing.
# usage: scripts/gpu/step.sh FOLDER [DEVICE] [OPTION...]; writes h200-step.json (named after the device), step.txt and
# step.log into FOLDER and prints the table. About two minutes on an H200; with DEVICE cpu a small grid, to see that it
# works. OPTIONs go to the suite: --figure NAME measures only that figure and what it needs.
set -u
folder=${1:?usage: scripts/gpu/step.sh FOLDER [DEVICE] [OPTION...]}
device=${2:-cuda:0}
shift $(($# < 2 ? $# : 2))
. "$(dirname "$0")/program.sh"
case "$device $*" in
cuda* | *--grid*) grid=() ;;
*) grid=(--grid 64x48x48) ;;
esac

begin=$SECONDS
timeout ${STEP_LIMIT:-280} "$kftune" bench --suite step --device "$device" "${grid[@]}" "$@" --json >"$folder/step.json" 2>"$folder/step.log"
status=$?
echo "suite step: status $status, $((SECONDS - begin)) s" >>"$folder/step.log"
cat "$folder/step.log"
awk -f scripts/gpu/figures.awk "$folder/step.json" | tee "$folder/step.txt"
exit $status
