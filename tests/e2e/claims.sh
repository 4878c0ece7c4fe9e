#!/bin/bash
# Tests that small files which ask for much work are refused, or reported, before the work is done. Work is counted in
# allocations and bytes of memory, not in seconds. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
set -u
kftune=$(realpath "${KFTUNE:?KFTUNE must name the program}")
shim=$(dirname "$kftune")/tests/fail_nth.so
if [ ! -e "$shim" ] || ! command -v python3 >/dev/null; then
    echo "claims.sh: skipped: no $shim, or no python3"
    exit 77
fi
export KFTUNE_DATA=${KFTUNE_DATA:-$(realpath "$(dirname "$0")/../..")}
python3 "$(dirname "$0")/../tools/claims.py" "$kftune" "$shim" "${KFTUNE_SCRATCH:-$(mktemp -d)}"
