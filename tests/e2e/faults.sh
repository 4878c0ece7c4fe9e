#!/bin/bash
# Runs a sample of `make check-faults`: the n-th allocation, open, write, rename or fork of a command fails, for a few
# n. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
set -u
kftune=$(realpath "${KFTUNE:?KFTUNE must name the program}")
scratch=${KFTUNE_SCRATCH:-$(mktemp -d)}
# shellcheck source=tests/e2e/quick-compiler.bash
. "$(dirname "$0")/quick-compiler.bash"
scratch=$(realpath -m "$scratch")
shim=$(dirname "$kftune")/tests/fail_nth.so
if [ ! -e "$shim" ] || ! command -v python3 >/dev/null; then
    echo "faults.sh: skipped: no $shim, or no python3"
    exit 77
fi
export KFTUNE_DATA=${KFTUNE_DATA:-$(realpath "$(dirname "$0")/../..")}
faults=$(dirname "$0")/../tools/faults.py
status=0
python3 "$faults" "$kftune" "$shim" "$scratch/sample" --points 4 --commands tune,run,import,export-t4,report || status=1
# A separate process reads meshes, and its calls count, too. More of them are tested than of other commands.
python3 "$faults" "$kftune" "$shim" "$scratch/meshes" --points 15 --calls malloc,open,write --commands scene,gltf || status=1
# Fields cannot be read for want of file descriptors. That an answer of status 1 cannot be written is in sweep.sh.
python3 "$faults" "$kftune" "$shim" "$scratch/compared" --points 7 --calls open --commands compare || status=1
# A night whose processes cannot do their work is no good night.
python3 "$faults" "$kftune" "$shim" "$scratch/night" --calls fork --commands night || status=1
# This is the target's way: the data are in a folder with a relative name, and the result is a table.
(cd "$(dirname "$0")/../.." && KFTUNE_DATA=. python3 tests/tools/faults.py "$kftune" "$shim" "$scratch/folders" --points 12 --calls open \
    --commands again,longer,scenes --table "$scratch/faults.md") && [ -s "$scratch/faults.md" ] || status=1
exit $status
