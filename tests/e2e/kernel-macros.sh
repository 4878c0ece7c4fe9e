#!/bin/bash
# Tests that no kernel uses a macro in #if before one of its headers defines it. There it would silently count as 0, and
# the wrong code would be compiled. (Macros that a config defines are not defined at the end either, and are allowed.)
# It also tests that no struct of arguments has a member that no kernel reads. Usage: tests/e2e/kernel-macros.sh [BUILD]
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0 count=0

# early FILE OPTION...: prints the macros that a file uses too early, as preprocessed with these options.
early() {
    local file=$1
    shift
    gcc -E -x c "$@" -Ikernels -I"$(dirname "$file")" -Wundef "$file" 2>&1 >"$work/text" | sed -n 's/.*warning: "\(KF_[A-Z0-9_]*\)" is not defined.*/\1/p' |
        sort -u >"$work/asked"
    gcc -E -dM -x c "$@" -Ikernels -I"$(dirname "$file")" "$file" 2>/dev/null | sed -n 's/^#define \(KF_[A-Z0-9_]*\).*/\1/p' | sort -u >"$work/defined"
    comm -12 "$work/asked" "$work/defined"
}

printf '#if KF_LATE\n#endif\n#define KF_LATE 1\n#if KF_OF_A_CONFIG\n#endif\n' >"$work/late.cu"
[ "$(early "$work/late.cu")" = KF_LATE ] || { echo "kernel-macros.sh: does not see a macro that is defined too late" && exit 1; }
for file in kernels/*/*.cu; do
    for language in -D__CUDACC__ -DKF_NO_CUDA; do
        for name in $(early "$file" "$language"); do
            echo "$file: #if asks for $name before it is defined"
            bad=1
        done
        count=$((count + 1))
    done
done
# Each member of a kernel's arguments is read by a kernel of its folder.
python3 tests/e2e/arguments-check.py || bad=1
[ "$bad" = 0 ] && echo "kernel-macros.sh: passed, $count texts"
exit $bad
