#!/bin/sh
# The C compiler of the cpu backend's kernels for tests of many variants: -O1, with registers assigned in one region, takes
# a third of the time, and leaves the SIMD loops vectors.
for word; do
    shift
    if [ "$word" = -O3 ]; then
        set -- "$@" -O1
        case $(cc --version) in *clang*) ;; *) set -- "$@" -fira-region=one ;; esac
    else
        set -- "$@" "$word"
    fi
done
exec cc "$@"
