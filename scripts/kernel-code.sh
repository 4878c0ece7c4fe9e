#!/bin/bash
# Shows whether a change of kernels/ changes the compiled code: run it before and after the change, and compare.
# usage: scripts/kernel-code.sh tokens|cpu|sm_90|... [BUILD] > FILE
# Prints a line for each source of the known launches, and of others (tests/tools/kernel_code.c): a hash, the file, its defines.
#   tokens  the hash of the preprocessor's output for both backends; takes minutes. Equal tokens give equal machine code.
#   cpu     the hash of the machine code for this processor
#   sm_90   the hash of the machine code for this GPU architecture, by NVRTC; needs no GPU
# KFTUNE_TEST_CACHE: the folder of compiled kernels (default: BUILD/test-cache).
set -eu -o pipefail

mode=${1:?usage: scripts/kernel-code.sh tokens|cpu|sm_90|... [BUILD]}
build=$(realpath -m "${2:-build}")
cd "$(dirname "$0")/.."
export LC_ALL=C XDG_CACHE_HOME=${KFTUNE_TEST_CACHE:-$build/test-cache} KFTUNE_DATA=$PWD
mkdir -p "$XDG_CACHE_HOME"
make BUILD="$build" "$build/tests/kernel_code" >&2
list=$(mktemp)
trap 'rm -rf "$list" "$list".*' EXIT
"$build/tests/kernel_code" list $([ "$mode" = tokens ] && echo 10 || echo 0) >"$list"

# Prints the preprocessor's output, a token a line, without comments, blanks and line breaks. System headers are empty.
tokens() { # WORD...: of the preprocessor
    "${CC:-cc}" -E -P -w -undef -nostdinc -Ikernels -I"$list.headers" -x c "$@" |
        grep -oE '"([^"\\]|\\.)*"|[A-Za-z0-9_.]+|->|<<=|>>=|<<|>>|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|[^A-Za-z0-9_. ]'
}

hash_tokens() { # FILE -DNAME=VALUE ...
    { tokens "$@" && tokens -D__CUDACC_RTC__ -D__CUDA_ARCH__=900 -D__CUDACC_VER_MAJOR__=13 -D__CUDACC_VER_MINOR__=0 "$@"; } |
        sha256sum | cut -c 1-16
}

hash_lines() { # reads FILE -DNAME=VALUE ...
    while read -ra words; do
        hash=$(hash_tokens "${words[@]}")
        echo "$hash ${words[*]}"
    done
}

# In as many processes as there are processors, each with its share of the lines.
mkdir "$list.headers" "$list.shares"
touch "$list.headers"/{math,stddef,stdint,immintrin}.h
split -n "r/$(nproc)" "$list" "$list.shares/"
jobs=()
for share in "$list.shares"/*; do
    if [ "$mode" = tokens ]; then hash_lines; else "$build/tests/kernel_code" code "$mode"; fi <"$share" >"$share.code" &
    jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job"; done
sort -k 2 "$list.shares"/*.code
