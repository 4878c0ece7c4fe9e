#!/bin/bash
# Ceilings, counters against arithmetic and against Nsight Compute, and a scene tuned with counters. From a bundle or a
# built source tree. usage: scripts/gpu/counters.sh FOLDER [DEVICE]; writes into FOLDER, prints a short table last.
set -u
folder=${1:?usage: scripts/gpu/counters.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
mkdir -p "$folder" || exit 2
folder=$(realpath "$folder")
cd "$(dirname "$0")/../.."
for kftune in ${KFTUNE:-} ./kftune build/kftune; do [ -x "$kftune" ] && break; done
for program in "$(dirname "$kftune")/tests/test_cupti_gpu" tests/unit/test_cupti_gpu; do [ -x "$program" ] && break; done
[ -x "$kftune" ] && [ -x "$program" ] || { echo "kftune or test_cupti_gpu is not built" >&2; exit 1; }
failed=0
summary=$folder/summary.txt
: >"$summary"
note() { printf '%-44s %s\n' "$1" "$2" | tee -a "$summary" >/dev/null; }
# judge NAME STATUS
judge() { if [ "$2" = 0 ]; then note "$1" ok; else note "$1" "FAILED ($2)"; failed=1; fi; }

"$kftune" doctor >"$folder/doctor.txt" 2>&1
begin=$SECONDS
timeout 120 "$kftune" roofs --device "$device" --store "$folder/counters.db" --json >"$folder/roofs.json" 2>"$folder/roofs.log"
judge "roofs in $((SECONDS - begin)) s (at most 60)" $?

case $device in cuda*) gpu=yes ;; *) gpu=no ;; esac
if [ $gpu = yes ]; then
    timeout 120 "$program" >"$folder/truth.txt" 2>&1
    status=$?
    grep -q SKIPPED "$folder/truth.txt" && status=skipped
    judge "counters of known kernels: $(grep -c '^truth.*ok$' "$folder/truth.txt") values right" $status
    grep 'WRONG\|not true' "$folder/truth.txt"

    for ncu in "$(command -v ncu)" /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu; do [ -x "$ncu" ] && break; done
    timeout 90 "$program" count ball baseline standard "$folder/ours.csv" >"$folder/ours.log" 2>&1
    status=$?
    judge "counters of a plan" $status
    if [ $status != 0 ]; then
        tail -n 3 "$folder/ours.log"
    elif [ -x "$ncu" ]; then
        metrics=$(cut -d, -f2 "$folder/ours.csv" | sort -u | paste -sd, -)
        timeout 150 "$ncu" --csv --page raw --print-units base --replay-mode application --cache-control none \
            --clock-control none --profile-from-start off --metrics "$metrics" \
            "$program" launch ball baseline >"$folder/ncu.csv" 2>"$folder/ncu.log"
        judge "ncu" $?
        "$program" compare "$folder/ours.csv" "$folder/ncu.csv" >"$folder/ncu.txt" 2>&1
        judge "the same as ncu within 2 %" $?
    else
        note "ncu" "not on this machine"
    fi
else
    note "counters of known kernels, ncu" "not run: $device is no GPU"
fi

begin=$SECONDS
timeout 150 "$kftune" tune --scene ball --device "$device" --grid "${GRID:-192x96x96}" --budget "${BUDGET:-40s}" --counters standard \
    --store "$folder/counters.db" --out "$folder/ball.kftune.json" --json >"$folder/tune.json" 2>"$folder/tune.log"
judge "tuned with counters in $((SECONDS - begin)) s" $?
note "counters stored" "$(grep -o '"counted":[[:space:]]*[0-9]*' "$folder/tune.json" | grep -o '[0-9]*' || echo 0)"
grep -h 'warning: counters' "$folder/tune.log"

[ -f "$folder/ncu.txt" ] && { grep DIFFERS "$folder/ncu.txt" | head -n 20; tail -n 1 "$folder/ncu.txt"; }
cat "$summary"
exit $failed
