#!/bin/bash
# Compares two processes under mpirun, each with a device, with one device: the Ahmed body on a small grid, once for each way in which
# planes cross the cut. From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/processes.sh FOLDER [DEVICES] [TRANSFERS]; DEVICES names both, cuda:0-1 if not given; with cpu:1 to see that it works.
# TRANSFERS: "direct copies host nccl" if not given, without nccl on the cpu. Prints a line for each; status 1 when one ends with another
# state or other forces than one device.
set -u
folder=${1:?usage: scripts/gpu/processes.sh FOLDER [DEVICES] [TRANSFERS]}
devices=${2:-cuda:0-1} transfers=${3:-} gpu_grid=96x96x160 gpu_steps=200 cpu_transfers='direct copies host'
. "$(dirname "$0")/same.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader \
    OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_orte_tmpdir_base=/tmp

run() { # FOLDER COMMAND...: its files into FOLDER
    local name=$1
    shift
    timeout 120 "$@" --output "$name" --fields pressure --steps $steps --every $steps >"$name.out" 2>&1 || echo "$name: status $?: $(grep kftune: "$name.out" | tail -n 1)"
}

timeout 120 "$kftune" tune --scene ahmed --grid $grid "${samples[@]}" --device $one --budget 1evals --rounds 1 --effort 0.01 --fix plan=fused --fix streaming=two_grids \
    --fix boundary_kernels=0 --fix storage=f32 --store one.db --out direct.json >tune.out 2>&1 || { tail -n 2 tune.out; exit 3; }
run one "$kftune" run --config direct.json --device $one
status=0
for transfer in $transfers; do
    # The same config with another transfer, under the name that kftune gives it.
    [ "$transfer" = direct ] || sed "s/\"transfer\":\([[:space:]]*\)\"direct\"/\"transfer\":\1\"$transfer\"/" direct.json >"$transfer.json"
    hash=$("$kftune" run --config "$transfer.json" --device $one --steps 1 --output "named-$transfer" 2>&1 | sed -n 's/.*set it to \([0-9a-f]*\).*/\1/p')
    [ -z "$hash" ] || sed -i "s/^\t\"hash\":.*/\t\"hash\": \"$hash\",/" "$transfer.json"
    run "$transfer" mpirun -n 2 "$kftune" run --config "$transfer.json" --devices "$devices"
    same "two processes, transfer $transfer" "$transfer" || status=1
    rm -rf "named-$transfer" "$transfer"
done
rm -rf one
exit $status
