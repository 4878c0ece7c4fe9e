#!/bin/bash
# Measures landscapes of the kinetic space on a GPU: ten scenes, half of the configs random (what the cost model and replays
# are judged on), half those of the model (so that the best is among them), with a tenth of the usual effort and no final.
# Usage: scripts/gpu/landscapes.sh FOLDER [DEVICE] [SECONDS of measuring in all, 230]
# Leaves FOLDER/landscapes.tar (to be unpacked in results/landscapes/), landscapes.txt (the table it prints) and
# landscapes.log. KFTUNE names the program; without it, kftune beside this script's folder or in build/ or bin/.
# SCENES="ball:32x24x24 ...": other scenes. FIX="--fix ...": other limits on what makes new code, without which compiling
# would take the time. While one scene measures the next is sampled and compiled, and waits for the device.
set -u
out=${1:?usage: $0 FOLDER [DEVICE] [SECONDS]}
device=${2:-cuda:0}
seconds=${3:-230}
root=$(cd "$(dirname "$0")/../.." && pwd)
for program in "${KFTUNE:-}" "$root/kftune" "$root/build/kftune" "$root/bin/kftune"; do
    [ -n "$program" ] && [ -x "$program" ] && break
done
scenes=(${SCENES:-ball:160x80x80 ball:224x112x112 ahmed:192x72x72 ahmed:256x96x96 concave:144x96x96 concave:192x128x128
    plate:160x80x80 plate:224x112x112 torus:144x96x96 torus:192x128x128})
fix=(${FIX:---fix alpha=1,32,256,2048 --fix storage=f32 --fix collision_form=factorised --fix segment_length=8,16,32})
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$out/landscapes.log
: >"$log"

# measure SCENE:GRID SEED SECONDS
measure() {
    local label=${1/:/-} status
    # A tenth more than asked for, and what waiting for the device takes, is a hang.
    timeout -s INT -k 10 $((SECONDS + seconds + 60)) "$program" tune --scene "${1%%:*}" --grid "${1#*:}" --device "$device" \
        --strategy survey --seed "$2" --budget "$3s" --effort 0.1 --rounds 0 "${fix[@]}" --store "$work/$label.db" \
        --out "$work/$label.kftune.json" --json >"$work/$label.tune" 2>"$work/$label.err" </dev/null
    status=$?
    {
        echo "== $label: status $status"
        tail -n 4 "$work/$label.err"
    } >>"$log"
    "$program" store export --store "$work/$label.db" --format landscape --out "$work/$label.landscape" >/dev/null 2>>"$log" &&
        gzip -9nc "$work/$label.landscape" >"$work/$label.json.gz"
}

share=$(awk -v all="$seconds" -v count=${#scenes[@]} 'BEGIN { printf "%.1f", all / count }')
seed=0
for scene in "${scenes[@]}"; do
    seed=$((seed + 1))
    measure "$scene" $seed "$share" &
    [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
done
wait

# value KEY FILE: the first number of that name in --json's output.
value() { sed -n "s/^.*\"$1\":[^0-9-]*\([0-9.e+-]*\),\{0,1\}$/\1/p" "$2" | head -n 1; }
{
    printf '%-20s %8s %8s %9s %8s %10s %10s %6s\n' landscape configs correct best_us seconds verifying measuring rank
    for scene in "${scenes[@]}"; do
        label=${scene/:/-} file=$work/${scene/:/-}.json.gz
        [ -s "$file" ] || { echo "$label was not measured; landscapes.log says why" && continue; }
        "$program" replay --landscape "$file" --strategy random --evaluations 1 --repeats 1 --json >"$work/replay" 2>>"$log"
        "$program" predict --scene "${scene%%:*}" --grid "${scene#*:}" --device "$device" --landscape "$file" --top 1 --json >"$work/predict" 2>>"$log"
        printf '%-20s %8s %8s %9.2f %8.1f %10.1f %10.1f %6.3f\n' "$label" "$(value configs "$work/replay")" "$(value correct "$work/replay")" \
            "$(value optimum "$work/replay")" "$(value total "$work/$label.tune")" "$(value verifying "$work/$label.tune")" \
            "$(value measuring "$work/$label.tune")" "$(value rank_correlation "$work/predict")"
    done
    echo "$SECONDS s in all"
} | tee "$out/landscapes.txt"
(cd "$work" && ls ./*.json.gz >/dev/null 2>&1 && tar -cf "$out/landscapes.tar" ./*.json.gz) || exit 1
echo "$(stat -c %s "$out/landscapes.tar") bytes in landscapes.tar"
