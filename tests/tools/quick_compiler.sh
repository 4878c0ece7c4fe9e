#!/bin/sh
# The C compiler of the cpu backend's kernels for tests of many variants, most of whose time is the compiler's. A level
# in front of the other words, -O2, is for tests with thousands of steps. It compiles in half the time of -O3. Most
# kernels have -Og and call their functions instead of inlining all of them. This takes a third of the time of -O1, and
# registers assigned in one region a twentieth less. The sums over particles have -O1, because their loops would be too
# slow without vectors. The incompressible solver has -O1 with functions that are called, two thirds of the time of -O1.
level=
case ${1-} in -O2) level=$1 && shift ;; esac
if [ -z "$level" ]; then
    case $* in
    *kernels/sph/modern.cu* | *kernels/sph/thesis.cu*) level=-O1 ;;
    *kernels/kinetic/* | *kernels/d2q9/* | *kernels/stable_fluids/* | *kernels/sph/*) level="-Og -Dalways_inline=unused" ;;
    *) level="-O1 -Dalways_inline=unused" ;;
    esac
    case $(cc --version) in *clang*) ;; *) level="$level -fira-region=one" ;; esac
fi
# The program has the libraries that these kernels call. Linking with them takes longer than the rest of the linker's work.
case $* in
*kernels/kinetic/* | *kernels/d2q9/* | *kernels/stable_fluids/* | *kernels/sph/* | *kernels/incompressible/*) defined=-nostdlib ;;
*) defined=-Wl,-z,defs ;;
esac
for word; do
    shift
    case $word in
    -O3) set -- "$@" $level ;;
    -Wl,-z,defs) set -- "$@" $defined ;;
    -lm) [ $defined = -nostdlib ] || set -- "$@" -lm ;;
    *) set -- "$@" "$word" ;;
    esac
done
exec cc "$@"
