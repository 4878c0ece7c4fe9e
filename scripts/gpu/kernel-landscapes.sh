#!/bin/bash
# Measures landscapes of other projects' kernels (tests/data/t1) on a GPU: six kernels at two sizes each, every config of their
# spaces in random order. Usage: scripts/gpu/kernel-landscapes.sh FOLDER [DEVICE] [SECONDS, 110]
# PART=0 (default), 1, 2: four of the twelve. PROBLEMS="nbody:6000x1x1 ...": these. An H200 measures some 40 configs a second, whatever the
# number of landscapes, because timing slow configs takes most of the time. Two sizes of a kernel share what is compiled. Leaves what landscapes.sh leaves.
set -u
problems=$(cd "$(dirname "$0")/../../tests/data/t1" && pwd)
parts=("nbody:3000x1x1 convolution:1400x700x1 nbody:4800x1x1 convolution:1000x1100x1"
    "matmul:900x700x1 logsumexp:65536x256x1 dedispersion:6000x160x1 transpose:3000x3000x1"
    "matmul:500x1500x1 logsumexp:20000x500x1 dedispersion:3000x300x1 transpose:1500x5000x1")
read -ra chosen <<<"${PROBLEMS:-${parts[${PART:-0}]}}"
for scene in "${chosen[@]}"; do
    scenes+="$problems/${scene/:/.t1.json:} "
done
SCENES=$scenes STRATEGY=random EFFORT=${EFFORT:-0.02} FIX=" " AT_ONCE=${AT_ONCE:-4} exec "$(dirname "$0")/landscapes.sh" "${1:?usage: $0 FOLDER [DEVICE] [SECONDS]}" \
    "${2:-cuda:0}" "${3:-110}"
