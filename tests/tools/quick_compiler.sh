#!/bin/sh
# The C compiler of the cpu backend's kernels for tests of many variants: -O1 takes half the time, and leaves the SIMD loops vectors.
for word; do
    shift
    [ "$word" != -O3 ] || word=-O1
    set -- "$@" "$word"
done
exec cc "$@"
