#!/bin/bash
# Compiles the kernels of every preset of every system for each GPU architecture that kftune supports, with the installed
# NVRTC; needs no GPU. usage: scripts/architectures.sh [BUILD] [ARCHITECTURE...]
# Prints how many sources there are of each; one that does not compile is named, with status 1. An architecture that this
# NVRTC does not know (13 knows none before sm_75) is left out, with a message.
set -eu -o pipefail

build=$(realpath -m "${1:-build}")
shift || true
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- sm_70 sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120
export LC_ALL=C XDG_CACHE_HOME=${KFTUNE_TEST_CACHE:-$build/test-cache} KFTUNE_DATA=$PWD KFTUNE_CACHE_LIMIT=4294967296
mkdir -p "$XDG_CACHE_HOME"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$build/tests/kernel_code" presets >"$folder/list"
split -n "r/$(nproc)" "$folder/list" "$folder/share."
compiled=0
for architecture in "$@"; do
    if ! echo kernels/probe/truth.cu | "$build/tests/kernel_code" code "$architecture" >/dev/null 2>"$folder/said"; then
        grep -q 'invalid value for --gpu-architecture' "$folder/said" || { cat "$folder/said" >&2; exit 1; }
        echo "$architecture: not known to this NVRTC"
        continue
    fi
    jobs=()
    for share in "$folder"/share.*; do
        "$build/tests/kernel_code" code "$architecture" <"$share" >"$folder/code.${share##*.}" &
        jobs+=($!)
    done
    for job in "${jobs[@]}"; do wait "$job"; done
    echo "$architecture: $(cat "$folder"/code.* | wc -l) sources compile"
    compiled=$((compiled + 1))
done
[ "$compiled" -gt 0 ]
