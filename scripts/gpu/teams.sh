#!/bin/bash
# Every road of docs/teams.md on the GPUs of one host: in one process and in one for each GPU, each held against one GPU by state and forces, byte
# for byte; tuning by processes, and a process that is killed. From a bundle or a built source tree; builds nothing but MPI's shim.
# usage: scripts/gpu/teams.sh FOLDER [DEVICES] [ROADS]; DEVICES: two or four, cuda:0-1 if not given; cpu:1,cpu:1 to see that it works.
# ROADS: a pattern of names (bash's [[ =~ ]]), all if not given. TEAMS_LIMIT: seconds for all of it (540). Writes teams.txt into FOLDER and
# prints the same table: a road, what became of it, seconds. Status 1 when a road failed. Without mpirun the roads of processes are skipped.
set -u
folder=${1:?usage: scripts/gpu/teams.sh FOLDER [DEVICES] [ROADS]}
devices=${2:-cuda:0-1} wanted=${3:-.} transfers='' gpu_grid=96x96x160 gpu_steps=200 cpu_transfers='direct copies host'
. "$(dirname "$0")/same.sh"
case $devices in *-*) count=$((${devices##*-} - $(sed 's/.*:\([0-9]*\)-.*/\1/' <<<"$devices") + 1)) ;; *) count=$(tr -cd , <<<"$devices" | wc -c) && count=$((count + 1)) ;; esac
case $devices in cpu*) each=cpu:1 other_grid=24x24x40 flat=64x32x1 alpha=16384 ;; *) each=$devices other_grid=80x80x128 flat=1024x512x1 alpha=131072 ;; esac
limit=${TEAMS_LIMIT:-540} failed=0
: >teams.txt
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader \
    OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_orte_tmpdir_base=/tmp

tell() { # NAME OUTCOME SECONDS
    printf '%-52s %-44s %4d s\n' "$1" "$2" "$3" | tee -a teams.txt
}
# Why the last command failed, in a line of kftune's own where it said one.
why() { # FILE
    local line
    line=$(grep 'kftune:' "$1" | grep -v warning | head -n 1)
    [ -n "$line" ] || line=$(tail -n 1 "$1")
    echo "${line:0:160}"
}

# begin NAME: whether the road is wanted and there is time; sets $begun, and goes to a folder of its own.
begin() {
    [[ $1 =~ $wanted ]] || return 1
    [ $SECONDS -lt $((limit - 30)) ] || { tell "$1" 'not reached: no time left' 0; return 1; }
    begun=$SECONDS
    rm -rf road && mkdir road && cd road || exit 3
}
end() { # NAME OUTCOME STATUS
    cd .. || exit 3
    [ "$3" -eq 0 ] || failed=1
    tell "$1" "$2" $((SECONDS - begun))
}

tuned() { # SCENE GRID OPTION...: config.json
    local scene=$1 grid=$2
    shift 2
    timeout 120 "$kftune" tune --scene "$scene" --grid "$grid" --devices "$devices" --budget 1evals --rounds 0 --effort 0.01 --store road.db --out config.json "$@" \
        >tune.out 2>&1
}
run() { # FOLDER STEPS COMMAND...
    local name=$1 steps=$2
    shift 2
    timeout 120 "$@" --config config.json --output "$name" --steps "$steps" --every "$steps" >"$name.out" 2>&1
}
alike() { # FOLDER: the same state as one device's, and forces where there are any
    [ "$(state one)" = "$(state "$1")" ] || return 1
    [ ! -f one/forces.csv ] || cmp -s one/forces.csv "$1/forces.csv"
}

# A team in one process, and the same config on one device.
team() { # NAME SCENE GRID OPTION...
    local name=$1 scene=$2 grid=$3
    shift 3
    begin "$name" || return 0
    if ! tuned "$scene" "$grid" "$@"; then end "$name" "FAILED: $(why tune.out)" 1
    elif ! run one $steps "$kftune" run --device $one; then end "$name" "FAILED on one device: $(why one.out)" 1
    elif ! run team $steps "$kftune" run --devices "$devices"; then end "$name" "FAILED: $(why team.out)" 1
    elif alike team; then end "$name" 'byte for byte one device' 0
    else end "$name" 'ANOTHER RESULT than one device' 1; fi
}
# The same with a process for each device.
processes() { # NAME SCENE GRID OPTION...
    local name=$1 scene=$2 grid=$3
    shift 3
    begin "$name" || return 0
    if ! command -v mpirun >/dev/null; then end "$name" 'skipped: no mpirun' 0
    elif ! tuned "$scene" "$grid" "$@"; then end "$name" "FAILED: $(why tune.out)" 1
    elif ! run one $steps "$kftune" run --device $one; then end "$name" "FAILED on one device: $(why one.out)" 1
    elif ! run team $steps mpirun -n "$count" "$kftune" run --devices "$each"; then end "$name" "FAILED: $(why team.out)" 1
    elif alike team; then end "$name" 'byte for byte one device' 0
    else end "$name" 'ANOTHER RESULT than one device' 1; fi
}
# Begun on one number of parts, ended on another.
restart() {
    begin restart || return 0
    if ! tuned ahmed $grid "${samples[@]}" "${two[@]}" --fix transfer=copies; then end restart "FAILED: $(why tune.out)" 1
    elif ! run one $steps "$kftune" run --device $one || ! run begun $((steps / 2)) "$kftune" run --devices "$devices"; then end restart "FAILED: $(why begun.out)" 1
    elif ! run on $((steps / 2)) "$kftune" run --device $one --restart begun/checkpoint_*.kfc; then end restart "FAILED: $(why on.out)" 1
    elif [ "$(state one)" = "$(state on)" ]; then end restart 'byte for byte one device' 0
    else end restart 'ANOTHER RESULT than one device' 1; fi
}

# Several processes tune; then the command goes on from where it was.
tune() { # NAME OPTION...
    local name=$1 budget=30s
    shift
    [ $one = cuda:0 ] || budget=3evals
    begin "$name" || return 0
    if ! command -v mpirun >/dev/null; then end "$name" 'skipped: no mpirun' 0; return; fi
    if timeout 200 mpirun -n "$count" "$kftune" tune --scene ahmed --grid $grid "${samples[@]}" --devices "$each" --budget $budget --rounds 0 --store ranks.db --out ranks.json "$@" \
        >ranks.out 2>&1; then end "$name" "$(sed -n 's/^tried *//p' ranks.out | head -n 1)" 0
    else end "$name" "FAILED: $(why ranks.out)" 1; fi
}
# One of the processes is killed: all end with a line, and the last checkpoint goes on.
killed() {
    local rank looks=0 mpirun
    begin killed || return 0
    if ! command -v mpirun >/dev/null; then end killed 'skipped: no mpirun' 0; return; fi
    if ! tuned ahmed $grid "${samples[@]}" "${two[@]}"; then end killed "FAILED: $(why tune.out)" 1; return; fi
    mpirun -n "$count" "$kftune" run --config config.json --devices "$each" --output run --steps 100000000 --every 100000000 --checkpoint-every 2 >run.out 2>&1 &
    mpirun=$!
    until compgen -G 'run/checkpoint_*.kfc' >/dev/null || [ $((looks += 1)) -gt 600 ]; do sleep 0.1; done
    rank=$(ps -o pid= --ppid $mpirun | sed -n 2p | tr -d ' ')
    [ -z "$rank" ] || kill -KILL "$rank"
    wait $mpirun
    if ! grep -q 'was killed; the run ends here' run.out; then end killed "FAILED: $(why run.out)" 1
    elif run on 10 "$kftune" run --devices "$devices" --restart "$(printf '%s\n' run/checkpoint_*.kfc | tail -n 1)"; then end killed 'all end, and it goes on' 0
    else end killed "FAILED to go on: $(why on.out)" 1; fi
}

two=(--fix plan=fused --fix streaming=two_grids --fix boundary_kernels=0)
shift=(--fix plan=fused --fix streaming=shift)
esoteric=(--fix plan=fused --fix streaming=esoteric --fix boundary_kernels=0)
moments=(--fix plan=moments)
# Scenes that plan moments takes: all high-order rates are 1.
for scene in ball torus settling; do
    sed -E 's/"model": \{[^}]*\}/"model": {"rates": "ones"}/' "$KFTUNE_DATA/scene/library/$scene.json" >"$scene-ones.json"
done
carried='copies host'
[ $one != cuda:0 ] || carried='copies host nccl'
for transfer in direct $carried; do team "two grids, $transfer" ahmed $grid "${samples[@]}" "${two[@]}" --fix transfer=$transfer; done
for transfer in direct $carried; do processes "processes, two grids, $transfer" ahmed $grid "${samples[@]}" "${two[@]}" --fix transfer=$transfer; done
for transfer in $carried; do team "boxes, $transfer" ahmed $grid "${samples[@]}" "${two[@]}" --fix transfer=$transfer --fix parts_y=2; done
team 'two grids, copies, large alpha' ahmed $grid "${samples[@]}" "${two[@]}" --fix transfer=copies --fix layout=csoa --fix alpha=$alpha
tune 'tuning by processes'
killed
restart
for transfer in direct copies; do
    team "moments, solid at rest, $transfer" "$folder/ball-ones.json" $other_grid "${moments[@]}" --fix transfer=$transfer
    team "moments, moving solid, $transfer" "$folder/torus-ones.json" $other_grid "${moments[@]}" --fix force_sum=fixed --fix transfer=$transfer
    team "moments, free solid, $transfer" "$folder/settling-ones.json" $other_grid "${moments[@]}" --fix force_sum=fixed --fix transfer=$transfer
done
team 'moments, boxes' "$folder/ball-ones.json" $other_grid "${moments[@]}" --fix transfer=copies --fix parts_y=2
team 'shift, copies' ahmed $grid "${samples[@]}" "${shift[@]}" --fix transfer=copies
for transfer in direct copies; do team "esoteric, $transfer" ahmed $grid "${samples[@]}" "${esoteric[@]}" --fix transfer=$transfer; done
team 'boxes on one grid' ahmed $grid "${samples[@]}" "${esoteric[@]}" --fix transfer=copies --fix parts_y=2
for transfer in direct copies; do team "moving solid, $transfer" torus $other_grid "${two[@]}" --fix force_sum=fixed --fix transfer=$transfer; done
team 'free solid, copies' settling $other_grid "${two[@]}" --fix force_sum=fixed --fix transfer=copies
team 'two dimensions' cylinder2d $flat --system d2q9 --fix plan=pull
processes 'processes, two dimensions' cylinder2d $flat --system d2q9 --fix plan=pull
processes 'processes, boxes' ahmed $grid "${samples[@]}" "${two[@]}" --fix transfer=copies --fix parts_y=2
rm -rf road
exit $failed
