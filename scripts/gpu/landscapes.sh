#!/bin/sh
# Measures landscapes of the kinetic space: ten scenes, each sampled at random (what the cost model and replays are
# judged on) and then searched (so that the best is among them). Writes DIR/landscapes.db and DIR/<scene>.json.gz.
# Usage: scripts/gpu/landscapes.sh DIR [DEVICE] [SECONDS a scene and strategy]
# KFTUNE names the program; without it, kftune beside this script's folder or in build/. Under five minutes.
set -eu
out=${1:?usage: $0 DIR [DEVICE] [SECONDS]}
device=${2:-cuda}
seconds=${3:-12}
root=$(cd "$(dirname "$0")/../.." && pwd)
for program in "${KFTUNE:-}" "$root/kftune" "$root/build/kftune" "$root/bin/kftune"; do
    [ -n "$program" ] && [ -x "$program" ] && break
done
mkdir -p "$out"
store=$out/landscapes.db

# scene grid
scenes=${SCENES:-"ball:192x96x96 ball:256x128x128 ahmed:256x96x96 ahmed:384x144x144 concave:192x128x128 concave:288x192x192
plate:192x96x96 plate:256x128x128 torus:192x128x128 torus:240x160x160"}

status=0
seed=1
for scene in $scenes; do
    name=${scene%%:*}
    grid=${scene#*:}
    label=$name-$grid
    for strategy in random model; do
        echo "== $label, $strategy" >&2
        "$program" tune --scene "$name" --grid "$grid" --device "$device" --strategy $strategy --seed $seed \
            --budget "${seconds}s" --store "$store" --out "$out/$label.kftune.json" --quiet > "$out/$label-$strategy.txt" ||
            { echo "landscapes: tuning $label failed" >&2; status=1; }
    done
    "$program" store export --store "$store" --format landscape --out "$out/$label.json" > /dev/null && gzip -9nf "$out/$label.json" ||
        status=1
    seed=$((seed + 1))
done

echo
printf '%-22s %8s %8s %12s\n' landscape configs correct best_us
for scene in $scenes; do
    file=$out/${scene%%:*}-${scene#*:}.json.gz
    [ -f "$file" ] || continue
    "$program" replay --landscape "$file" --strategy random --evaluations 1 --repeats 1 --json |
        awk -v name="${scene%%:*}-${scene#*:}" -F'[:,]' '/"configs"/ {c = $2} /"correct"/ {k = $2} /"optimum"/ {o = $2}
            END {printf "%-22s %8d %8d %12.2f\n", name, c, k, o}'
done
du -ch "$out"/*.json.gz | tail -1
exit $status
