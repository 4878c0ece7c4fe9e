#!/bin/bash
# Measures landscapes of kernels that are not kftune's (tests/data/t1) on a GPU: seven kernels at two sizes each, every config of their
# spaces in random order. Usage: scripts/gpu/kernel-landscapes.sh FOLDER [DEVICE] [SECONDS, 800]
# HALF=0, HALF=1: half of them, one for each of two GPUs. PROBLEMS="nbody:6000x1x1 ...": these. An H200 measures some 27 configs a second, so that
# a space takes it about a minute. Leaves what landscapes.sh leaves.
set -u
problems=$(cd "$(dirname "$0")/../../tests/data/t1" && pwd)
first=(convolution:700x600x1 nbody:3000x1x1 dedispersion:6000x160x1 matmul:768x512x1
    transpose:3000x3000x1 star:400x200x60)
second=(logsumexp:320x20000x1 convolution:1000x500x1 nbody:5000x1x1 matmul:640x900x1
    transpose:1500x2000x1 star:100x100x100 logsumexp:1000x20000x1 dedispersion:16000x64x1)
case ${HALF:-} in
0) chosen=("${first[@]}") ;;
1) chosen=("${second[@]}") ;;
*) chosen=("${first[@]}" "${second[@]}") ;;
esac
[ -z "${PROBLEMS:-}" ] || read -ra chosen <<<"$PROBLEMS"
for scene in "${chosen[@]}"; do
    scenes+="$problems/${scene/:/.t1.json:} "
done
SCENES=$scenes STRATEGY=random EFFORT=${EFFORT:-0.03} FIX=" " AT_ONCE=${AT_ONCE:-2} exec "$(dirname "$0")/landscapes.sh" "${1:?usage: $0 FOLDER [DEVICE] [SECONDS]}" \
    "${2:-cuda:0}" "${3:-800}"
