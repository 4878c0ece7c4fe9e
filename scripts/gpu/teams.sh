#!/bin/bash
# Every transfer and option of docs/teams.md on the GPUs of one host, in five parts of at most four minutes each; part 2 on four GPUs takes five and a
# half (TEAMS_LIMIT). From a bundle or a built source tree; builds nothing.
# usage: [PART=1|2|3|4|5] scripts/gpu/teams.sh FOLDER [DEVICES] [CHECKS]; DEVICES: two or four, cuda:0-1 if not given; cpu:1,cpu:1 to see that it works.
# Part 1: every check, several at once, in one process and in one for each GPU. State and forces must equal those of one GPU, byte for byte. Also a process
# that is killed, and tuning by processes. Part 2: what a team gains, weak and strong, by each transfer (`kftune bench --suite scaling`). Part 3: tuning by
# processes and by one with nothing beside it, and what each kernel of a copy costs. Part 4: configs an hour of one GPU and of all, which share a
# search for one (--share search), with an empty cache of kernels and a full one. Part 5: Figure 20 of the paper, its plan with ghost planes copied
# through the host beside ours, on one, two and more of the GPUs. Without PART all five.
# CHECKS: a pattern of names (bash's [[ =~ ]]), all if not given. TEAMS_LIMIT: seconds for a part (235; part 2 for each GPU beyond two 80 more).
# AT_ONCE: checks at once (three for each GPU).
# Writes teams-PART.txt, and in part 2 scaling.json, into FOLDER and prints the tables: the name, outcome and seconds of each check, and the last lines of
# those that failed. Status 1 when a check failed. Without mpirun the checks of processes are skipped.
set -u
folder=${1:?usage: [PART=1|2|3|4|5] scripts/gpu/teams.sh FOLDER [DEVICES] [CHECKS]}
devices=${2:-cuda:0-1} wanted=${3:-.}
if [ -z "${PART:-}" ]; then
    failed=0
    for part in 1 2 3 4 5; do PART=$part "$0" "$folder" "$devices" "$wanted" || failed=1; done
    exit $failed
fi
root=$(realpath "$(dirname "$0")/../..")
. "$root/scripts/gpu/program.sh"
case $devices in
*-*) count=$((${devices##*-} - $(sed 's/.*:\([0-9]*\)-.*/\1/' <<<"$devices") + 1)) ;;
*) count=$(($(tr -cd , <<<"$devices" | wc -c) + 1)) ;;
esac
case $devices in
cpu*) one=cpu:1 grid=32x24x40 samples=(--samples-per-cell 9) steps=20 each=cpu:1 other_grid=24x24x40 flat=64x32x1 alpha=16384 tuned_grid=$grid budget=3evals shared_evals=8evals on_gpu='' patience=600 ;;
*) one=cuda:0 grid=96x96x160 samples=() steps=200 each=$devices other_grid=80x80x128 flat=1024x512x1 alpha=131072 tuned_grid=256x256x512 budget=30s shared_evals=150evals on_gpu=yes patience=120 ;;
esac
kftune=$(realpath "$kftune")
cd "$folder" || exit 3
more=0
[ "$PART" != 2 ] || more=$((80 * (count - 2)))
limit=${TEAMS_LIMIT:-$((235 + more))} at_once=${AT_ONCE:-$((3 * count))} table=$PWD/teams-$PART.txt lasts=$PWD/lasts-$PART.txt
mpirun=$(command -v mpirun.openmpi || command -v mpirun || true)
: >"$table"
: >"$lasts"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader \
    OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_orte_tmpdir_base=/tmp

# --- checks -----------------------------------------------------------------------------------------------------------------------

tell() { # NAME OUTCOME SECONDS
    printf '%-46s %-70s %4d s\n' "$1" "$2" "$3" | tee -a "$table"
}
# Why the last command failed, in a line of kftune's own where it said one.
why() { # FILE
    local line
    line=$(grep 'kftune:' "$1" | grep -v warning | head -n 1)
    [ -n "$line" ] || line=$(tail -n 1 "$1")
    echo "${line:0:200}"
}

# check NAME FUNCTION ARGUMENT...: runs it in its own folder while others run, if it is wanted and there is time. The function prints
# the outcome.
number=0
check() {
    local name=$1 begun outcome status
    [[ $name =~ $wanted ]] || return 0
    shift
    while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
    [ $SECONDS -lt $((limit - 45)) ] || { tell "$name" 'not reached: no time left' 0; return 0; }
    number=$((number + 1))
    (
        begun=$SECONDS
        rm -rf "check-$number" && mkdir "check-$number" && cd "check-$number" || exit 3
        outcome=$("$@")
        status=$?
        tell "$name" "$outcome" $((SECONDS - begun))
        [ $status -eq 0 ] || { echo "--- $name" && tail -n 12 ./*.out; } >>"$lasts"
        cd .. && rm -rf "check-$number"
    ) &
}
finish() {
    wait
    [ ! -s "$lasts" ] || { echo && tail -n 150 "$lasts" | cut -c1-300; } | tee -a "$table"
    rm -f "$lasts"
    ! grep -qE ' (FAILED|ANOTHER|SAYS NOTHING|not reached)' "$table"
}

tuned() { # SCENE GRID OPTION...: config.json
    local scene=$1 grid=$2
    shift 2
    timeout "$patience" "$kftune" tune --scene "$scene" --grid "$grid" --devices "$devices" --budget 1evals --rounds 0 --effort "${effort:-0.01}" --take-turns \
        --store check.db --out config.json "$@" >tune.out 2>&1
}
run() { # FOLDER STEPS COMMAND...
    local name=$1 steps=$2
    shift 2
    timeout "$patience" "$@" --config config.json --output "$name" --steps "$steps" --every "$steps" >"$name.out" 2>&1
}
state() { # FOLDER: the checkpoint's state, without its first bytes, in which the config stands
    tail -c +4096 "$1"/checkpoint_*.kfc | md5sum
}
alike() { # FOLDER: the same state as one device's, and forces where there are any
    [ "$(state one)" = "$(state "$1")" ] || return 1
    [ ! -f one/forces.csv ] || cmp -s one/forces.csv "$1/forces.csv"
}
verdict() { # FOLDER
    alike "$1" && echo 'byte for byte one device' && return
    run again $steps "$kftune" run --device $one
    alike again && echo 'ANOTHER RESULT than one device' && return 1
    echo 'SAYS NOTHING: one device differs from itself'
    return 1
}
failed() { # FILE [MORE]
    echo "FAILED${2:+ $2}: $(why "$1")"
    return 1
}

# A team in one process, and the same config on one device.
team() { # SCENE GRID OPTION...
    tuned "$@" || { failed tune.out 'to tune'; return; }
    run one $steps "$kftune" run --device $one || { failed one.out 'on one device'; return; }
    run team $steps "$kftune" run --devices "$devices" || { failed team.out; return; }
    verdict team
}
# The same with a process for each device.
processes() { # SCENE GRID OPTION...
    [ -n "$mpirun" ] || { echo 'skipped: no mpirun'; return; }
    tuned "$@" || { failed tune.out 'to tune'; return; }
    run one $steps "$kftune" run --device $one || { failed one.out 'on one device'; return; }
    run team $steps "$mpirun" -n "$count" "$kftune" run --devices "$each" || { failed team.out; return; }
    verdict team
}
# Begun on some number of parts, ended on another: on one device, and on all again.
restart() {
    tuned ahmed $grid "${samples[@]}" "${two[@]}" --fix transfer=copies || { failed tune.out 'to tune'; return; }
    run one $steps "$kftune" run --device $one && run begun $((steps / 2)) "$kftune" run --devices "$devices" || { failed begun.out; return; }
    run begun-one $((steps / 2)) "$kftune" run --device $one || { failed begun-one.out; return; }
    run on $((steps / 2)) "$kftune" run --device $one --restart begun/checkpoint_*.kfc || { failed on.out 'on one device'; return; }
    run on-all $((steps / 2)) "$kftune" run --devices "$devices" --restart begun-one/checkpoint_*.kfc || { failed on-all.out 'on all'; return; }
    [ "$(state one)" = "$(state on)" ] && [ "$(state one)" = "$(state on-all)" ] && echo 'byte for byte one device, both ways' && return
    echo 'ANOTHER RESULT than one device'
    return 1
}
# Smoke: the same pictures.
smoke() { # OPTION...
    tuned ahmed $grid "${samples[@]}" "${two[@]}" "$@" || { failed tune.out 'to tune'; return; }
    run one $steps "$kftune" run --smoke --device $one || { failed one.out 'on one device'; return; }
    run team $steps "$kftune" run --smoke --devices "$devices" || { failed team.out; return; }
    compgen -G 'one/smoke_*.png' >/dev/null || { echo 'FAILED: no picture'; return 1; }
    for picture in one/smoke_*.png; do cmp -s "$picture" "team/$(basename "$picture")" || { echo 'ANOTHER PICTURE than one device'; return 1; }; done
    verdict team
}

# --- processes -------------------------------------------------------------------------------------------------------------------

# Several processes tune, as the command line of a user has it; then the same command goes on from where it was. A store of its own, and a
# cache of its own, in which lies the lock that keeps others from measuring.
tune() { # OPTION...
    [ -n "$mpirun" ] || { echo 'skipped: no mpirun'; return; }
    XDG_CACHE_HOME=$PWD/cache timeout 110 "$mpirun" -n "$count" "$kftune" tune --scene ahmed --grid $tuned_grid "${samples[@]}" --devices "${each%%:*}" --budget $budget \
        --store ranks.db --out ranks.json "$@" >ranks.out 2>&1 || { failed ranks.out; return; }
    echo "$(grep -m1 -oE '^tried .*' ranks.out | tr -s ' ' | cut -c1-60)"
}
children() { # PROCESS: its children's numbers
    local file line
    for file in /proc/[0-9]*/stat; do
        read -r line 2>/dev/null <"$file" || continue
        line=${line##*) } # the state and the parent follow
        line=${line#* }
        [ "${line%% *}" != "$1" ] || { file=${file#/proc/} && echo "${file%/stat}"; }
    done 2>/dev/null
}
# One of the processes is killed: all end with a line, and the last checkpoint goes on.
killed() {
    local rank looks=0 started
    [ -n "$mpirun" ] || { echo 'skipped: no mpirun'; return; }
    tuned ahmed $grid "${samples[@]}" "${two[@]}" || { failed tune.out 'to tune'; return; }
    timeout 100 "$mpirun" -n "$count" "$kftune" run --config config.json --devices "$each" --output run --steps 100000000 --every 100000000 --checkpoint-every 2 >run.out 2>&1 &
    started=$!
    until compgen -G 'run/checkpoint_*.kfc' >/dev/null || [ $((looks += 1)) -gt 600 ]; do sleep 0.1; done
    rank=$(children "$(children $started | head -n 1)" | tail -n 1)
    [ -n "$rank" ] || { failed run.out 'to find the process'; return; }
    kill -KILL "$rank"
    wait $started
    grep -q 'was killed; the run ends here' run.out || { failed run.out; return; }
    run on 10 "$kftune" run --devices "$devices" --restart "$(printf '%s\n' run/checkpoint_*.kfc | tail -n 1)" || { failed on.out 'to go on'; return; }
    echo 'all end with a line, and it goes on'
}

# --- the parts -------------------------------------------------------------------------------------------------------------------

all_checks() {
    local transfer carried='copies host' two shift moments scene i
    # What adds forces up by atomics in floating point differs from run to run on one device, too.
    two=(--fix plan=fused --fix streaming=two_grids --fix boundary_kernels=0 --fix immersed_boundary=aggregated)
    shift=(--fix plan=fused --fix streaming=shift --fix boundary_kernels=0 --fix immersed_boundary=aggregated)
    moments=(--fix plan=moments --fix immersed_boundary=aggregated)
    [ -z "$on_gpu" ] || carried='copies host nccl'
    # Scenes that plan moments takes: all high-order rates are 1.
    for scene in ball torus settling; do
        sed -E 's/"model": \{[^}]*\}/"model": {"rates": "ones"}/' "$KFTUNE_DATA/scene/library/$scene.json" >"$scene-ones.json"
    done
    check 'tuning by processes, beside the others' tune
    for transfer in direct $carried; do check "two grids, $transfer" team ahmed $grid "${samples[@]}" "${two[@]}" --fix transfer=$transfer; done
    for transfer in direct $carried; do check "processes, two grids, $transfer" processes ahmed $grid "${samples[@]}" "${two[@]}" --fix transfer=$transfer; done
    for transfer in $carried; do check "boxes, $transfer" team ahmed $grid "${samples[@]}" "${two[@]}" --fix transfer=$transfer --fix parts_y=2; done
    check killed killed
    check 'restart' restart
    for i in direct copies; do check "smoke, $i" smoke --fix transfer=$i; done
    check 'tuning by processes, again' tune
    check 'two grids, copies, large alpha' team ahmed $grid "${samples[@]}" "${two[@]}" --fix transfer=copies --fix layout=csoa --fix alpha=$alpha
    check 'two grids, 16 bits, copies' team ahmed $grid "${samples[@]}" "${two[@]}" --fix transfer=copies --fix storage=f16 --accuracy 0.03
    for transfer in direct copies; do
        check "moments, solid at rest, $transfer" team "$folder/ball-ones.json" $other_grid "${moments[@]}" --fix transfer=$transfer
        check "moments, moving solid, $transfer" team "$folder/torus-ones.json" $other_grid "${moments[@]}" --fix force_sum=fixed --fix transfer=$transfer
        check "moments, free solid, $transfer" team "$folder/settling-ones.json" $other_grid "${moments[@]}" --fix force_sum=fixed --fix transfer=$transfer
    done
    check 'moments, boxes' team "$folder/ball-ones.json" $other_grid "${moments[@]}" --fix transfer=copies --fix parts_y=2
    check 'processes, moments, copies' processes "$folder/ball-ones.json" $other_grid "${moments[@]}" --fix transfer=copies
    check 'tuning by processes, a third time' tune
    check 'shift, copies' team ahmed $grid "${samples[@]}" "${shift[@]}" --fix transfer=copies
    check 'processes, shift, copies' processes ahmed $grid "${samples[@]}" "${shift[@]}" --fix transfer=copies
    check 'boxes on one grid' team ahmed $grid "${samples[@]}" "${shift[@]}" --fix transfer=copies --fix parts_y=2
    for transfer in direct copies; do check "moving solid, $transfer" team torus $other_grid "${two[@]}" --fix force_sum=fixed --fix transfer=$transfer; done
    check 'free solid, copies' team settling $other_grid "${two[@]}" --fix force_sum=fixed --fix transfer=copies
    check 'two dimensions' team cylinder2d $flat --system d2q9 --fix plan=pull
    check 'processes, two dimensions' processes cylinder2d $flat --system d2q9 --fix plan=pull
    check 'processes, boxes' processes ahmed $grid "${samples[@]}" "${two[@]}" --fix transfer=copies --fix parts_y=2
}

scaling() {
    local figures=() name
    while IFS= read -r name; do [[ $name =~ $wanted ]] && figures+=(--figure "$name"); done <<'END'
weak 400^3, f32
weak 400^3, copies
weak 400^3, through the host
weak 400^3, nccl
weak 400^3, f16
weak 400^3, on one grid
weak 256^3, f32
weak 256^3, copies
weak 256^3, nccl
strong 512^3, f32
strong 512^3, copies
strong 256^3, copies
strong 256^3, boxes, copies
strong 256^3, host
strong 256^3, boxes, host
strong 256^3, nccl
strong 256^3, boxes, nccl
Figure 20 (a), 200x400x200
largest, on one grid
weak 400^3, turning
END
    (cd "$root" && timeout "$limit" "$kftune" bench --suite scaling --devices "$devices" "${figures[@]}" --json) >scaling.json 2>scaling.log
    local status=$?
    { awk -f "$root/scripts/gpu/figures.awk" scaling.json; echo "suite scaling: status $status, $SECONDS s"; tail -n 4 scaling.log; } | tee -a "$table"
    return $status
}

# The kernels of a step by each transfer: the time of the slowest part, of the fastest, and the rate of all.
copies_by_kernel() {
    local transfer carried='direct copies host nccl' effort=1
    [ -n "$on_gpu" ] || carried='direct copies host'
    for transfer in $carried; do
        [ $SECONDS -lt "$limit" ] || { tell "kernels, $transfer" 'not reached: no time left' 0; continue; }
        tuned ahmed $tuned_grid "${samples[@]}" --fix plan=fused --fix streaming=two_grids --fix boundary_kernels=0 --fix transfer=$transfer --fix parts_y=1
        { echo && echo "transfer $transfer, $tuned_grid" && sed -n '/^kernel  */,/^all, launch by launch/p; /^best /p' tune.out; } | tee -a "$table"
        grep -q '^kernel ' tune.out || tell "kernels, $transfer" "FAILED: $(why tune.out)" 0
    done
}
quiet_tuning() {
    at_once=1
    check 'tuning by processes' tune
    check 'tuning by processes, once more' tune
    wait
    XDG_CACHE_HOME=$PWD/cache timeout 110 "$kftune" tune --scene ahmed --grid $tuned_grid "${samples[@]}" --devices "$devices" --budget $budget --store one.db --out one.json >one.out 2>&1 ||
        tell 'tuning by one process' "FAILED: $(why one.out)" 0
    { echo && echo "tune --devices $devices, $tuned_grid, $budget" && cut -c1-160 one.out | grep -v '^\[' | tail -n 60; } | tee -a "$table"
}

# Random search of a space, the same proposals each time: how many configs an hour.
share() { # NAME CACHE DEVICE...
    local name=$1 cache=$2 begun=$SECONDS line
    shift 2
    [ $SECONDS -lt "$limit" ] || { tell "$name" 'not reached: no time left' 0; return 0; }
    XDG_CACHE_HOME=$PWD/$cache timeout "$patience" "$kftune" tune --scene ahmed --grid $grid "${samples[@]}" "$@" --strategy random --seed 7 --budget $shared_evals --rounds 0 \
        --store "share-$((number += 1)).db" --out share.json >share.out 2>&1 || { tell "$name" "FAILED: $(why share.out)" $((SECONDS - begun)); return 0; }
    line=$(awk '$1 == "tried" { tried = $2 } $1 == "took" { took = $2 } END { if (took > 0) printf "%d configs in %.1f s, %.0f an hour", tried, took, 3600 * tried / took }' share.out)
    tell "$name" "$line" $((SECONDS - begun))
}
shares() {
    share 'one device, no kernel compiled' cold-one --device $one
    share 'one device, all kernels compiled' cold-one --device $one
    share 'all devices, all kernels compiled' cold-one --devices "$devices" --share search
    share 'all devices, no kernel compiled' cold-all --devices "$devices" --share search
}

some() { # COUNT: the first devices
    local low=${devices##*:}
    low=${low%-*}
    case $devices in
    *-*) echo "${devices%%:*}:$low-$((low + $1 - 1))" ;;
    *) cut -d, -f"1-$1" <<<"$devices" ;;
    esac
}
# Figure 20 on two and more devices, each held against one. The table: a step of one, a step of all, times as fast.
figure_20() {
    local n figures=() status=0 name
    for name in '(a), 200x400x200' "(a), the paper's plan" '(b), 400^3' "(b), the paper's plan"; do
        [[ "Figure 20 $name" =~ $wanted ]] && figures+=(--figure "Figure 20 $name")
    done
    for ((n = 2; n <= count; n++)); do
        [ $SECONDS -lt "$limit" ] || { tell "Figure 20 on $n" 'not reached: no time left' 0; continue; }
        (cd "$root" && timeout "$((limit - SECONDS))" "$kftune" bench --suite scaling --devices "$(some "$n")" "${figures[@]}" --json) \
            >"figure-20-$n.json" 2>"figure-20-$n.log" || status=1
        awk -f "$root/scripts/gpu/figures.awk" "figure-20-$n.json" | sed "s/^/$n devices: /" | tee -a "$table"
        tail -n 2 "figure-20-$n.log" >>"$lasts"
    done
    [ $status -eq 0 ] && rm -f "$lasts"
    finish && return $status
}

case $PART in
1)
    all_checks
    wait
    tell 'several hosts, a CUDA-aware MPI' 'not tried: this is one host' 0
    finish
    ;;
2) scaling ;;
3) quiet_tuning && copies_by_kernel && finish ;;
4) shares && finish ;;
5) figure_20 ;;
*) echo "PART=$PART: 1 to 5" >&2 && exit 2 ;;
esac
