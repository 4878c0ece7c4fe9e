#!/bin/bash
# Measures landscapes of the kernels in plain C under tests/data/t1 on a cpu: three kernels at two sizes each, every config of their spaces in
# random order, all six side by side with two processors each: both compile, then one measures. Two sizes of a kernel share what is compiled.
# usage: scripts/cpu/kernel-landscapes.sh FOLDER [SECONDS, 280]; PROBLEMS="matmul_c:256x192x1 ...": these. It takes the processors that it may run
# on (taskset), in pairs. Leaves cpu-KERNEL-GRID.json.gz, to be put into results/landscapes/, and the output of tune for each. Nothing else should use
# these processors.
set -u
folder=${1:?usage: scripts/cpu/kernel-landscapes.sh FOLDER [SECONDS]}
seconds=${2:-280}
. "$(dirname "$0")/../gpu/program.sh"
processors=()
IFS=, read -ra ranges <<<"$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)"
for range in "${ranges[@]}"; do
    for ((p = ${range%-*}; p <= ${range#*-}; p++)); do processors+=("$p"); done
done
read -ra problems <<<"${PROBLEMS:-matmul_c:256x192x1 nbody_c:600x1x1 convolution_c:192x128x1 matmul_c:200x300x1 nbody_c:1100x1x1 convolution_c:300x100x1}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1

# measure PROBLEM SEED PROCESSORS
measure() {
    local label=${1/:/-}
    XDG_CACHE_HOME=$work/cache-${1%%:*} timeout -s INT -k 20 $((seconds + 30)) taskset -c "$3" "$kftune" tune --scene "tests/data/t1/${1%%:*}.t1.json" \
        --grid "${1#*:}" --device cpu --strategy random --seed "$2" --budget "${seconds}s" --effort "${EFFORT:-0.03}" --rounds 0 \
        --store "$work/$label.db" --out "$work/$label.kftune.json" >"$folder/$label.txt" 2>&1 </dev/null
    "$kftune" store export --store "$work/$label.db" --format landscape --out "$work/$label" >/dev/null 2>&1 &&
        gzip -9nc "$work/$label" >"$folder/cpu-$label.json.gz"
}

for i in "${!problems[@]}"; do
    first=${processors[2 * i % ${#processors[@]}]}
    measure "${problems[i]}" $((${SEED:-81} + i)) "$first,${processors[(2 * i + 1) % ${#processors[@]}]}" &
done
wait
for landscape in "$folder"/cpu-*.json.gz; do
    "$kftune" replay --landscape "$landscape" --strategy model --evaluations 1 --repeats 1 | head -n 3
done
