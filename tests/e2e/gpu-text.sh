#!/bin/bash
# Tests the coupling of nested grids on a GPU at the ends of rows. Through arrays of its own (kernels/kinetic/edges.h)
# it gives the same bits as through the grid, also where a still finer grid begins near the side. From a coarser level
# that holds moments it gives the same as from populations. Two nodes a thread give the same bits as one, with modelled
# layers, and so do planes in either order and addresses that are not chosen. No GPU is needed: g++ compiles the text for
# GPUs. Usage: tests/e2e/gpu-text.sh
set -u
cd "$(dirname "$0")/../.." || exit 3
command -v g++ >/dev/null || { echo "gpu-text.sh: needs g++ (Debian: g++): skipped"; exit 77; }
scratch=${KFTUNE_SCRATCH:-$(mktemp -d)}
common=(-std=gnu++20 -O1 -ffp-contract=off -w -fpermissive -Ikernels -Ikernels/kinetic -Itests/e2e -DKF_STORAGE=2 -DKF_LAYOUT=2 -DKF_ALPHA_LOG2=5
    -DKF_INDEX64=0 -DKF_ALIGNED_ROWS=1 -DKF_BODY_FORCE=0)
flow=(-DKF_COLLISION=2 -DKF_RATE_RULE=5 -DKF_BASIS=0 -DKF_FORM=0 -DKF_FACE_0=2 -DKF_FACE_1=2 -DKF_FACE_2=2 -DKF_FACE_3=2 -DKF_FACE_4=1
    -DKF_FACE_5=2 -DKF_SPECULAR=16 -DKF_GHOSTS=1 -DKF_COVERED=1 -DKF_FOLDED_BOUNDARY=1 -DKF_BOUNDARY_CHOICES=1
    -DKF_NODES_PER_THREAD=1 -DKF_FIXED_POINT_FORCE=0 -DKF_SEGMENTS=1 -DKF_MOVING=0)

fail() { echo "gpu-text.sh: $*" && exit 1; }
# build NAME EDGES COARSE_MOMENTS [-DKF_...]: makes $scratch/gpu-text-NAME. Of a define that is there twice the last counts.
build() {
    local to=$scratch/gpu-text-$1 kind=(-DKF_EDGES="$2" -DKF_COARSE_MOMENTS="$3" "${@:4}")
    g++ "${common[@]}" "${kind[@]}" -DPART=1 '-DTEXT="nested.cu"' -c tests/e2e/gpu-text.cpp -o "$to-1.o" &&
        g++ "${common[@]}" "${flow[@]}" "${kind[@]}" -DPART=2 '-DTEXT="fused.cu"' -c tests/e2e/gpu-text.cpp -o "$to-2.o" &&
        g++ "${common[@]}" "${kind[@]}" -DPART=3 tests/e2e/gpu-text.cpp "$to-1.o" "$to-2.o" -o "$to" || fail "does not compile: $1"
}
build 0 0 0
build 3 3 0
build moments 3 1
build single 0 0 -DKF_LAYERS=1
build pairs 0 0 -DKF_LAYERS=1 -DKF_NODES_PER_THREAD=2
build order 0 0 -DKF_BOUNDARY_CHOICES=0 -DKF_ALTERNATE=1
through=$("$scratch/gpu-text-0") own=$("$scratch/gpu-text-3")
[[ $through == *', 0 values are no numbers' ]] || fail "through the grid: $through"
[ "$own" = "$through" ] || fail "arrays of their own: $own, through the grid: $through"
for array in fresh inner; do
    [ "$("$scratch/gpu-text-3" $array)" != "$own" ] || fail "does not see a wrong value in $array"
done
single=$("$scratch/gpu-text-single") pairs=$("$scratch/gpu-text-pairs")
[[ $single == *', 0 values are no numbers' && $single != "$through" ]] || fail "modelled layers: $single, without: $through"
[ "$pairs" = "$single" ] || fail "two nodes a thread: $pairs, one: $single"
order=$("$scratch/gpu-text-order")
[ "$order" = "$through" ] || fail "planes in either order, without choices of addresses: $order, usually: $through"
moments=$("$scratch/gpu-text-moments")
[[ $moments == *', 0 values are no numbers' ]] || fail "a coarser level of moments: $moments"
awk -v a="${own#*sum }" -v b="${moments#*sum }" 'BEGIN { a += 0; b += 0; exit !(a != 0 && a / b - 1 < 1e-9 && b / a - 1 < 1e-9) }' ||
    fail "a coarser level of moments: $moments, of populations: $own"
echo "gpu-text.sh: passed, $own"
