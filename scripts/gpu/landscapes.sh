#!/bin/bash
# Measures landscapes of the kinetic space on a GPU: ten scenes, half of the configs random (what the cost model and replays
# are judged on), half those of the model (so that the best is among them), with a small part of the usual effort and no final.
# Usage: scripts/gpu/landscapes.sh FOLDER [DEVICES] [SECONDS from beginning to end of measuring, 225]
# DEVICES of one kind share the scenes: cuda:0,cuda:1 (default: cuda:0).
# Leaves FOLDER/landscapes.tar (to be unpacked in results/landscapes/), landscapes.txt (the table it prints) and
# landscapes.log; both are written again every minute, so that little is lost when time runs out. KFTUNE names the program.
# SCENES="ball:32x24x24 ...": other scenes. SEED=11: the first scene's seed (the next has 12). EFFORT=0.1: another effort. FIX="--fix ...": other limits on what makes new code,
# without which compiling would take the time (" ": none); these leave some 200 modules for all ten scenes. All scenes are measured at once, config by config in turns: while one has the device, the others
# sample, compile, order samples and fill buffers, and each is sampled once. AT_ONCE=4: only so many at a time, the others when one of them ends. STRATEGY=random: without a model. A scene may be a T1 file.
set -u
folder=${1:?usage: $0 FOLDER [DEVICES] [SECONDS]}
IFS=, read -ra devices <<<"${2:-cuda:0}"
seconds=${3:-225}
. "$(dirname "$0")/program.sh"
scenes=(${SCENES:-ball:160x80x80 ball:224x112x112 ahmed:192x72x72 ahmed:256x96x96 concave:144x96x96 concave:192x128x128
    plate:160x80x80 plate:224x112x112 torus:144x96x96 torus:192x128x128})
fix=(${FIX:---fix plan=baseline,paper,fused,moments --fix alpha=1,32 --fix storage=f32 --fix velocities=27 --fix collision_form=factorised,low_order
    --fix collision_split=0,1,2 --fix streaming=two_grids,shift --fix boundary_kernels=0,1,6 --fix force_sum=float --fix segment_length=8,16,32})
effort=${EFFORT:-0.04}
at_once=${AT_ONCE:-${#scenes[@]}}
# In memory if a GiB is free, because every result and kernel is synchronised to the disk, and a slow disk delays all runs.
memory=$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)
[ "${memory:-0}" -gt 1048576 ] && [ -w /dev/shm ] && export TMPDIR=/dev/shm
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
trap 'rm -rf "$work"' EXIT
trap 'pack; exit 143' TERM

# label SCENE:GRID: as its files are called
label() {
    local name=${1##*/}
    name=${name/.t1.json/}
    name=${name/.json:/:}
    echo "${name/:/-}"
}

# measure SCENE:GRID SEED DEVICE
measure() {
    local label
    label=$(label "$1")
    [ $((seconds - SECONDS)) -gt 5 ] || return
    # A run that has not ended some seconds after its time hangs.
    timeout -s INT -k 10 $((seconds - SECONDS + 15)) "$kftune" tune --scene "${1%%:*}" --grid "${1#*:}" --device "$3" \
        --take-turns --strategy "${STRATEGY:-survey}" --seed "$2" --budget "$((seconds - SECONDS))s" --effort "$effort" --rounds 0 "${fix[@]}" \
        --store "$work/$label.db" --out "$work/$label.kftune.json" --json >"$work/$label.tune" 2>"$work/$label.err" </dev/null
    echo "status $?" >>"$work/$label.err"
}

# value KEY FILE: the first number of that name in --json's output.
value() { sed -n "s/^.*\"$1\":[^0-9-]*\([0-9.e+-]*\),\{0,1\}$/\1/p" "$2" | head -n 1; }

# Everything measured so far, into FOLDER.
pack() {
    local scene label
    for scene in "${scenes[@]}"; do
        label=$(label "$scene")
        [ -s "$work/$label.db" ] || continue
        "$kftune" store export --store "$work/$label.db" --format landscape --out "$work/$label.landscape" >/dev/null 2>&1 &&
            gzip -9nc "$work/$label.landscape" >"$work/$label.json.gz"
    done
    for scene in "${scenes[@]}"; do
        label=$(label "$scene")
        echo "== $label" && tail -n 4 "$work/$label.err"
    done >"$folder/landscapes.log" 2>&1
    {
        printf '%-20s %8s %8s %9s %8s %10s %10s\n' landscape configs correct best_us seconds verifying measuring
        for scene in "${scenes[@]}"; do
            label=$(label "$scene")
            [ -s "$work/$label.json.gz" ] || { echo "$label was not measured; landscapes.log says why" && continue; }
            "$kftune" replay --landscape "$work/$label.json.gz" --strategy random --evaluations 1 --repeats 1 --json \
                >"$work/replay" 2>>"$folder/landscapes.log"
            printf '%-20s %8s %8s %9.2f %8.1f %10.1f %10.1f\n' "$label" "$(value configs "$work/replay")" \
                "$(value correct "$work/replay")" "$(value optimum "$work/replay")" "$(value total "$work/$label.tune")" \
                "$(value verifying "$work/$label.tune")" "$(value measuring "$work/$label.tune")"
        done
        echo "$SECONDS s in all"
    } >"$work/table"
    mv "$work/table" "$folder/landscapes.txt"
    (cd "$work" && ls ./*.json.gz >/dev/null 2>&1 && tar -cf all.tar ./*.json.gz && mv all.tar "$folder/landscapes.tar")
}

started=0
next=60
while
    while [ $started -lt ${#scenes[@]} ] && [ "$(jobs -rp | wc -l)" -lt "$at_once" ]; do
        measure "${scenes[started]}" $((${SEED:-1} + started)) "${devices[started % ${#devices[@]}]}" &
        started=$((started + 1))
    done
    [ -n "$(jobs -rp)" ]
do
    sleep 1
    [ $SECONDS -ge $next ] && [ $((SECONDS + 10)) -lt "$seconds" ] || continue
    next=$((next + 60))
    pack
done
wait
pack
cat "$folder/landscapes.txt"
[ -s "$folder/landscapes.tar" ] || exit 1
echo "$(stat -c %s "$folder/landscapes.tar") bytes in landscapes.tar"
