#!/bin/bash
# Tunes the same scene ten times from nothing: is the winner the same, or a declared tie, and its time too? From a bundle
# or a built source tree. usage: scripts/gpu/aa.sh FOLDER [DEVICE]; SCENE, GRID, BUDGET (a run) and RUNS may be set.
# Writes each run's JSON into FOLDER, prints a table last; status 1 when a run's winner is neither.
set -u
folder=${1:?usage: scripts/gpu/aa.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
runs=${RUNS:-10}
mkdir -p "$folder" || exit 2
folder=$(realpath "$folder")
cd "$(dirname "$0")/../.."
for kftune in ${KFTUNE:-} ./kftune build/kftune; do [ -x "$kftune" ] && break; done
[ -x "$kftune" ] || { echo "kftune is not built" >&2; exit 1; }
for i in $(seq "$runs"); do
    rm -f "$folder/aa-$i.db"
    timeout 300 "$kftune" tune --scene "${SCENE:-ball}" --device "$device" ${GRID:+--grid "$GRID"} --budget "${BUDGET:-25s}" --seed "$i" \
        --store "$folder/aa-$i.db" --out "$folder/aa-$i.kftune.json" --json >"$folder/aa-$i.json" 2>"$folder/aa-$i.log" ||
        { echo "run $i failed:"; tail -n 2 "$folder/aa-$i.log"; exit 1; }
    rm -f "$folder/aa-$i.db" "$folder/aa-$i.db-wal" "$folder/aa-$i.db-shm" # large, and said in the JSON
done
# The best config's hash comes first in the JSON, then those of its ties.
value() { grep -m1 "\"$2\":" "$1" | sed 's/.*: *//; s/[",[:space:]]//g'; }
hashes() { grep '"hash":' "$1" | sed 's/.*:[[:space:]]*"//; s/".*//'; }
first=$(value "$folder/aa-1.json" hash)
first_time=$(value "$folder/aa-1.json" time_us)
strangers=0
printf '%-4s %-14s %12s %10s %10s %s\n' run winner "us a step" "off run 1" noise verdict
for i in $(seq "$runs"); do
    json=$folder/aa-$i.json
    hash=$(value "$json" hash) time=$(value "$json" time_us) noise=$(value "$json" noise_floor)
    if [ "$hash" = "$first" ]; then
        verdict=same
    elif hashes "$json" | grep -qx "$first" || hashes "$folder/aa-1.json" | grep -qx "$hash"; then
        verdict="a declared tie"
    elif awk -v a="$time" -v b="$first_time" -v n="$noise" 'BEGIN { d = a / b - 1; if (d < 0) d = -d; exit !(d <= 3 * n) }'; then
        verdict="another config, within the noise"
    else
        verdict=another
        strangers=$((strangers + 1))
    fi
    awk -v i="$i" -v h="${hash:0:12}" -v t="$time" -v f="$first_time" -v n="$noise" -v v="$verdict" \
        'BEGIN { printf "%-4s %-14s %12.2f %9.2f%% %9.2f%% %s\n", i, h, t, 100 * (t / f - 1), 100 * n, v }'
done
echo "$strangers of $runs winners are neither run 1's nor as fast within the noise"
[ "$strangers" = 0 ]
