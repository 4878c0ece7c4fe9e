#!/bin/sh
# Draws the plots of a store that scripts/gpu/counters.sh left. usage: scripts/plots.sh STORE.db[.gz] FOLDER [ENDING]
# Writes roofline, occupancy and kernels of the first run that has what they show, and surface of the newest. ENDING: svg,
# png or pdf. Status 1 when a run for one of them is not there. KFTUNE: the program (build/kftune).
set -eu
store=${1:?usage: scripts/plots.sh STORE.db[.gz] FOLDER [ENDING]}
folder=${2:?usage: scripts/plots.sh STORE.db[.gz] FOLDER [ENDING]}
ending=${3:-svg}
kftune=${KFTUNE:-$(dirname "$0")/../build/kftune}
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $store in
*.gz) gzip -dc "$store" >"$work/plots.db" ;;
*) cp "$store" "$work/plots.db" ;;
esac
# A store of an earlier version is migrated.
"$kftune" store prune --older-than 100000 --store "$work/plots.db" --quiet >/dev/null
# Newest first. A plot for which a run has no data is refused with the reason.
runs=$("$kftune" store list --store "$work/plots.db" | awk '$1 ~ /^[0-9]+$/ { print $1 }')
for kind in roofline occupancy kernels surface; do
    drawn=
    for run in $([ $kind = surface ] && echo "$runs" || echo "$runs" | sort -n); do
        "$kftune" plot $kind --store "$work/plots.db" --run "$run" --out "$folder/$kind.$ending" 2>"$work/why" && drawn=yes && break
    done
    [ -n "$drawn" ] || { echo "$kind: $(tail -n 1 "$work/why")" >&2; failed=yes; }
done
[ -z "${failed:-}" ]
