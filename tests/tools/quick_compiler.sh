#!/bin/sh
# The C compiler of the cpu backend's kernels for tests of many variants: with registers assigned in one region, -O1 takes
# a third of the time, and leaves the SIMD loops vectors. Kernels of the kinetic system and of D2Q9, most of whose time is
# the compiler's, have -Og: half of that, and no vectors, of which -O1 makes next to none there. The search for equal
# loads (-ftree-fre) takes a tenth of that.
quick=-O1 region=-fira-region=one
case $* in *kernels/kinetic/* | *kernels/d2q9/*) quick="-Og -fno-tree-fre" ;; esac
case $(cc --version) in *clang*) region= ;; esac
for word; do
    shift
    case $word in
    -O3) set -- "$@" $quick $region ;;
    *) set -- "$@" "$word" ;;
    esac
done
exec cc "$@"
