#!/bin/bash
# Kernels whose blocks wait for each other (persistent of stable_fluids, band_chain of kinetic): that they run, and how long a step
# takes. Builds nothing; about two minutes on an H200.
# usage: scripts/gpu/waiting.sh FOLDER [DEVICE]      BEFORE: another kftune, whose times stand beside (run in turn, the best of ROUNDS=3)
# Leaves waiting.txt in FOLDER: us a step. Status 1 when a run fails, or takes 5 % longer than BEFORE's.
set -u
folder=${1:?usage: scripts/gpu/waiting.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
before=${BEFORE:+$(realpath "$BEFORE")}
. "$(dirname "$0")/program.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work XDG_DATA_HOME=$work

# NAME, steps, then the run's options.
cases() {
    local n
    for n in 64 128 256 512; do
        for graph in false true; do
            echo "persistent-$n-graph-$graph 40000 --system stable_fluids --scene decay --grid ${n}x${n}x1 --fix plan=persistent --fix graph=$graph"
        done
    done
    for n in 96x64x64 128x80x80; do # where band_chain is the default
        for concurrent in false true; do
            echo "band-chain-$n-concurrent-$concurrent 4000 --system kinetic --scene ball --grid $n --fix plan=fused --fix band_chain=true --fix concurrent_solid=$concurrent"
        done
    done
}
step_us() { # PROGRAM STEPS OPTION...: nothing when it fails, whose log then stays
    local program=$1 steps=$2
    shift 2
    rm -rf "$work/run"
    timeout 60 "$program" run "$@" --device "$device" --steps "$steps" --every "$steps" --picture none --fields none --checkpoints 0 \
        --output "$work/run" >"$work/log" 2>&1 </dev/null || return 1
    awk '/steps\/s/ { for (i = 1; i < NF; i++) if ($(i + 1) == "steps/s") printf "%.4f", 1e6 / $i }' "$work/log"
}
least() { awk -v a="$1" -v b="$2" 'BEGIN { print a == "" || b + 0 < a + 0 ? b : a }'; }

while read -r name steps options; do
    read -r -a words <<<"$options"
    now='' earlier=''
    for ((round = 0; round < ${ROUNDS:-3}; round++)); do
        if [ -n "$before" ]; then
            us=$(step_us "$before" "$steps" "${words[@]}") && earlier=$(least "$earlier" "$us")
        fi
        us=$(step_us "$kftune" "$steps" "${words[@]}") || break
        now=$(least "$now" "$us")
    done
    if [ -z "$now" ]; then
        cp "$work/log" "$folder/$name.log"
        echo "$name FAILED: $(grep -v '^kftune: warning' "$work/log" | tail -n 1)"
    else
        echo "$name $now us a step${earlier:+, before $earlier}"
    fi
done < <(cases) | tee "$folder/waiting.txt"
! grep -q FAILED "$folder/waiting.txt" &&
    awk '/before/ { if ($2 > 1.05 * $NF) bad = 1 } END { exit bad }' "$folder/waiting.txt"
