#!/bin/bash
# Two programs whose kernels wait for their own blocks share one GPU: both end, and each has the fields that it has alone.
# Builds nothing; half a minute on an H200. usage: scripts/gpu/together.sh FOLDER [DEVICE]
# Leaves together.txt in FOLDER: steps a second alone and beside the other. Status 1 when one fails or has other fields.
set -u
folder=${1:?usage: scripts/gpu/together.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
. "$(dirname "$0")/program.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work XDG_DATA_HOME=$work
one() { # NAME OPTION...
    local name=$1
    shift
    rm -rf "${work:?}/$name"
    timeout 120 "$kftune" run "$@" --device "$device" --picture none --checkpoints 0 --force --output "$work/$name" >"$work/$name.log" 2>&1 </dev/null
    echo "$?" >"$work/$name.status"
}
persistent=(--system stable_fluids --scene decay --grid 512x512x1 --fix plan=persistent --steps 60000 --every 60000)
band=(--system kinetic --scene ball --grid 128x80x80 --fix plan=fused --fix band_chain=true --steps 6000 --every 6000)
speed() { awk '/steps\/s/ { for (i = 1; i < NF; i++) if ($(i + 1) == "steps/s") print $i; exit }' "$work/$1.log"; }
one alone-persistent "${persistent[@]}"
one alone-band "${band[@]}"
pairs=("persistent persistent" "persistent band" "band band")
for pair in "${pairs[@]}"; do
    read -r first second <<<"$pair"
    declare -n a=$first b=$second
    one left "${a[@]}" &
    one right "${b[@]}" &
    wait
    for side in "left $first" "right $second"; do
        read -r place kind <<<"$side"
        status=$(cat "$work/$place.status")
        same=no
        ours=$(find "$work/$place" -name 'fields_*.vtkhdf' | head -n 1)
        theirs=$(find "$work/alone-$kind" -name 'fields_*.vtkhdf' | head -n 1)
        [ -n "$ours" ] && cmp -s "$ours" "$theirs" && same=yes
        echo "$pair: $kind status $status, fields as alone: $same, $(speed "$place") steps/s, alone $(speed "alone-$kind")"
        [ "$status" = 0 ] || tail -n 2 "$work/$place.log"
    done
done | tee "$folder/together.txt"
! grep -qE 'status [1-9]|alone: no' "$folder/together.txt"
