#!/bin/bash
# Measures landscapes of kernels that are not kftune's (tests/data/t1) on a GPU: seven kernels at two sizes each, every config of their
# spaces in random order. Usage: scripts/gpu/kernel-landscapes.sh FOLDER [DEVICE] [SECONDS, 250]
# HALF=0: matmul, nbody, transpose and dedispersion alone; HALF=1: the others, for a second GPU. PROBLEMS="nbody:6000x1x1 ...": these. The two
# sizes of a kernel share their compiled modules. Leaves what landscapes.sh leaves.
set -u
problems=$(cd "$(dirname "$0")/../../tests/data/t1" && pwd)
first=(matmul:1024x768x1 nbody:4096x1x1 transpose:4096x2048x1 dedispersion:4096x96x1
    matmul:2000x400x1 nbody:10000x1x1 transpose:3000x3000x1 dedispersion:10000x64x1)
second=(convolution:1200x800x1 star:256x256x128 logsumexp:4096x4096x1
    convolution:2048x512x1 star:400x200x60 logsumexp:1000x20000x1)
case ${HALF:-} in
0) chosen=("${first[@]}") ;;
1) chosen=("${second[@]}") ;;
*) chosen=("${first[@]:0:4}" "${second[@]:0:3}" "${first[@]:4}" "${second[@]:3}") ;;
esac
[ -z "${PROBLEMS:-}" ] || read -ra chosen <<<"$PROBLEMS"
for scene in "${chosen[@]}"; do
    scenes+="$problems/${scene/:/.t1.json:} "
done
SCENES=$scenes STRATEGY=random EFFORT=${EFFORT:-0.05} FIX=" " AT_ONCE=${AT_ONCE:-4} exec "$(dirname "$0")/landscapes.sh" "${1:?usage: $0 FOLDER [DEVICE] [SECONDS]}" \
    "${2:-cuda:0}" "${3:-250}"
