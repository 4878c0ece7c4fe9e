#!/bin/bash
# The full validation on a GPU. usage: scripts/gpu/validate.sh FOLDER [DEVICE] [OPTION...]
# FOLDER gets validate.json, the table, what was said on the way, and pictures. Runs from a bundle or the source tree,
# builds nothing. Status 1 when a check is out of its bound.
set -u
folder=$(realpath -m "${1:?usage: scripts/gpu/validate.sh FOLDER [DEVICE] [OPTION...]}")
device=${2:-cuda:0}
shift $(($# < 2 ? $# : 2))
cd "$(dirname "$0")/../.." || exit 3
program=
for candidate in "${KFTUNE:-}" ./kftune build/kftune; do
    if [ -n "$candidate" ] && [ -x "$candidate" ]; then program=$candidate; break; fi
done
if [ -z "$program" ]; then
    echo "kftune is neither here nor in build/: build it first" >&2
    exit 3
fi
export KFTUNE_DATA=${KFTUNE_DATA:-$PWD}
mkdir -p "$folder/pictures" || exit 3
"$program" validate --device "$device" --json --pictures "$folder/pictures" "$@" >"$folder/validate.json" \
    2> >(tee "$folder/validate.log" >&2)
status=$?
# One line a check, without a JSON tool: the keys of a case follow each other, one a line.
awk -F'": *' '
    /"name":/ { name = $2 } /"quantity":/ { quantity = $2 } /"expected":/ { expected = $2 }
    /"measured":/ { measured = $2 } /"error":/ { error = $2 } /"bound":/ { bound = $2 }
    /"pass":/ {
        line = name " " quantity " expected " expected " measured " measured " error " error " bound " bound
        gsub(/",|,|"|\t/, "", line)
        print ($2 ~ /true/ ? "pass   " : "FAILED ") line
    }' "$folder/validate.json" | tee "$folder/validate.txt"
echo "status $status"
exit $status
