#!/bin/bash
# The sph system on a GPU: particle-steps a second of the rows that must be reached, each the best of a short search of
# rows, masks and cells, whole steps with sort and integration. From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/sph.sh FOLDER [DEVICE] [SECONDS]; under 5 minutes on an H200; SECONDS for each row's search (30).
# FOLDER gets h200-sph.json (a list of what `tune --json` prints, one object a row), summary.txt and a log a row.
# Status 1 when a row could not be measured.
set -u
folder=$(realpath -m "${1:?usage: scripts/gpu/sph.sh FOLDER [DEVICE] [SECONDS]}")
device=${2:-cuda:0}
seconds=${3:-30}
cd "$(dirname "$0")/../.." || exit 3
for kftune in "${KFTUNE:-}" ./kftune build/kftune; do [ -n "$kftune" ] && [ -x "$kftune" ] && break; done
[ -x "$kftune" ] || { echo "kftune is neither here nor in build/: build it first" >&2; exit 3; }
export KFTUNE_DATA=${KFTUNE_DATA:-$PWD}
mkdir -p "$folder" || exit 3
store=$folder/sph.db
failed=0
row() { # name, scene, spacings along x, least billion particle-steps a second, further options
    local name=$1 scene=$2 across=$3 must=$4
    shift 4
    "$kftune" tune --scene "$scene" --grid "${across}x${across}x${across}" --device "$device" --budget "${seconds}s" --rounds 1 \
        --store "$store" --out "$folder/$name.kftune.json" --json "$@" >"$folder/$name.json" 2>"$folder/$name.log" || failed=1
    "$kftune" store export --store "$store" --format csv >"$folder/all.csv" 2>/dev/null
    awk -v name="$name" -v must="$must" '
        { gsub(/[",]/, ""); sub(/:/, "") }
        ($1 == "mlups" || $1 == "mups") && rate == 0 { rate = $2 / 1000 }
        $1 == "updates_per_second" && rate == 0 { rate = $2 / 1e9 }
        $1 == "time_us" && time == 0 { time = $2 / 1000 }
        END {
            verdict = "MISSED"
            if (rate >= must + 0) verdict = "met"
            printf "%-14s %8.3f ms a step %8.3f G particle-steps/s, must be %s: %s\n", name, time, rate, must, verdict
        }' "$folder/$name.json" | tee -a "$folder/summary.txt"
}
: >"$folder/summary.txt"
gpu=(--fix layout=float4 --fix search=rows,masks,cells)
case $device in
cuda*) ;;
*) gpu=(--fix layout=soa,float4) ;;
esac
row water32_1m particles_32 100 2.2 "${gpu[@]}"
row water80_1m particles_80 100 1.2 "${gpu[@]}"
row water32_8m particles_32 200 2.2 "${gpu[@]}"
row water80_8m particles_80 200 1.2 "${gpu[@]}"
row bingham32_8m particles_bingham 200 1.4 "${gpu[@]}"
row lists32_1m particles_32 100 2.2 --fix layout=float4 --fix search=list
{
    echo '['
    separator=''
    for name in water32_1m water80_1m water32_8m water80_8m bingham32_8m lists32_1m; do
        [ -s "$folder/$name.json" ] || continue
        echo "$separator{\"row\": \"$name\", \"tune\":"
        cat "$folder/$name.json"
        echo '}'
        separator=','
    done
    echo ']'
} >"$folder/h200-sph.json"
exit $failed
