#!/bin/sh
# The C compiler of the cpu backend's kernels for tests of many variants, most of whose time is the compiler's. A level
# in front of the other words, -O2, is for tests with thousands of steps. It compiles in half the time of -O3. Kernels
# whose loops would be too slow without vectors have -O1, with registers assigned in one region, which takes a third of
# the time. The kernels of the kinetic system, of D2Q9 and of stable fluids, and those that sort and check particles,
# have -Og and call their functions instead of inlining all of them. This takes a third of the time of -O1, and one
# region a twentieth less.
level=
case ${1-} in -O2) level=$1 && shift ;; esac
if [ -z "$level" ]; then
    case $* in
    *kernels/kinetic/* | *kernels/d2q9/* | *kernels/stable_fluids/* | *kernels/sph/sort.cu* | *kernels/sph/check.cu*) level="-Og -Dalways_inline=unused" ;;
    *) level=-O1 ;;
    esac
    case $(cc --version) in *clang*) ;; *) level="$level -fira-region=one" ;; esac
fi
for word; do
    shift
    case $word in
    -O3) set -- "$@" $level ;;
    *) set -- "$@" "$word" ;;
    esac
done
exec cc "$@"
