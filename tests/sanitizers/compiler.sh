#!/bin/sh
# The C compiler of the cpu backend's kernels under sanitizers, which do not see into kernels: half the time to compile.
for word; do
    shift
    [ "$word" != -O3 ] || word=-O1
    set -- "$@" "$word"
done
exec cc "$@"
