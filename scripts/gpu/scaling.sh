#!/bin/bash
# One simulation on several GPUs of one host, weak and strong, with the Ahmed body across the cut; results must equal those of one GPU bit for bit:
# `kftune bench --suite scaling`. From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/scaling.sh FOLDER [DEVICES] [OPTION...]; writes scaling.json, scaling.txt and scaling.log into FOLDER and
# prints the table: planes read in place, copied from GPU to GPU and through the host. DEVICES is a team, cuda:0-1 if not given; about four minutes on two H200s. With cpu,cpu on small grids, to see
# that it works. OPTIONs go to the suite: --figure NAME measures only that figure. Status 1 when a team's result is not one device's.
set -u
folder=${1:?usage: scripts/gpu/scaling.sh FOLDER [DEVICES] [OPTION...]}
devices=${2:-cuda:0-1}
shift $(($# < 2 ? $# : 2))
. "$(dirname "$0")/program.sh"

begin=$SECONDS
timeout "${SCALING_LIMIT:-400}" "$kftune" bench --suite scaling --devices "$devices" "$@" --json >"$folder/scaling.json" 2>"$folder/scaling.log"
status=$?
echo "suite scaling: status $status, $((SECONDS - begin)) s" >>"$folder/scaling.log"
awk -f scripts/gpu/figures.awk "$folder/scaling.json" | tee "$folder/scaling.txt"
tail -n 3 "$folder/scaling.log"
exit $status
