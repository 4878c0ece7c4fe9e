#!/bin/sh
# The C compiler of the cpu backend's kernels for tests that take thousands of steps: -O2 compiles in half the time of
# -O3, and its kernels take half the time of those of quick_compiler.sh.
for word; do
    shift
    case $word in
    -O3) set -- "$@" -O2 ;;
    *) set -- "$@" "$word" ;;
    esac
done
exec cc "$@"
