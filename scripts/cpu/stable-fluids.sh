#!/bin/bash
# The step of the stable fluids system on a cpu: kftune's transforms beside FFTW's measured plans, with all threads, in one
# run. usage: scripts/cpu/stable-fluids.sh FOLDER [N] [SECONDS] [TURNS]; N x N cells (512), SECONDS of timing a turn (0.5), TURNS (9) of each, one
# after the other. From a built source tree or a bundle; builds nothing, and needs a C compiler and FFTW. Leaves result.txt in FOLDER. Nothing else should
# run. A disturbance of some seconds affects both times of a turn, so the ratios of turns are more certain than the times. The last lines
# have the median of the ratios, with quartiles, and the median and the least time of each.
set -u
folder=${1:?usage: scripts/cpu/stable-fluids.sh FOLDER [N] [SECONDS]}
n=${2:-512} seconds=${3:-0.5} turns=${4:-9}
device=cpu
. "$(dirname "$0")/../gpu/program.sh"
awk -v n="$n" 'BEGIN { printf "{\"stable_fluids\": {}, \"domain\": {\"cells\": [%d, %d], \"length\": 1},\n", n, n
    printf " \"flow\": {\"viscosity\": 6.3e-5, \"time_step\": %.9g},\n", 0.09 * 512 / n
    printf " \"initial\": {\"kind\": \"random\", \"amplitude\": 0.026, \"velocity\": [0.004, -0.002]}}\n" }' >"$folder/scene.json"
again=$(for turn in $(seq 2 "$turns"); do
    printf ', {"name": "own %d", "scene": "box", "follows": "own 1", "seconds": %s}, {"name": "library %d", "scene": "box", "follows": "library 1", "seconds": %s}' "$turn" "$seconds" "$turn" "$seconds"
done)
steps=$(for turn in $(seq "$turns"); do
    printf ', {"name": "own %d", "kind": "step", "of": "own %d"}, {"name": "library %d", "kind": "step", "of": "library %d"}' "$turn" "$turn" "$turn" "$turn"
done)
cat >"$folder/suite.json" <<JSON
{"suite": "cpu-transforms", "description": "$n x $n cells on a cpu, own transforms beside FFTW's", "promise": "every config passes the gate",
 "scenes": [{"name": "box", "scene": "scene.json", "system": "stable_fluids"}],
 "candidates": {
   "own": [{"name": "8 lines", "with": {"rows_per_block": 8, "columns_per_block": 8}},
           {"name": "8 rows, 16 columns", "with": {"rows_per_block": 8, "columns_per_block": 16, "points_columns": 16}},
           {"name": "16 lines", "with": {"rows_per_block": 16, "columns_per_block": 16}},
           {"name": "8 lines, 16 points", "with": {"rows_per_block": 8, "columns_per_block": 8, "points_rows": 16, "points_columns": 16, "points_inverse": 16}}],
   "library": [{"name": "packed", "with": {"plan": "packed"}}, {"name": "batched", "with": {"plan": "batched"}}, {"name": "separate", "with": {"plan": "separate"}}]},
 "timings": [{"name": "own 1", "scene": "box", "candidates": "own", "seconds": $seconds},
             {"name": "library 1", "scene": "box", "preset": "baseline", "with": {"fft": "library"}, "candidates": "library", "seconds": $seconds}$again],
 "figures": [{"name": "FFTW over own", "kind": "ratio", "of": "library 1", "against": "own 1"}$steps]}
JSON
echo "$(nproc) threads; load before $(cut -d ' ' -f 1 /proc/loadavg)" | tee "$folder/result.txt"
"$kftune" bench --suite "$folder/suite.json" --device "$device" 2>&1 | tee -a "$folder/result.txt"
status=${PIPESTATUS[0]}
times() { sed -n "s/^ *[0-9.]* s  $1 [0-9]*  *\([0-9.]*\) us a step.*/\1/p" "$folder/result.txt"; }
paste <(times own) <(times library) | awk 'NF == 2 { print $2 / $1, $1, $2 }' | sort -n | awk '
    { ratio[NR] = $1; own[NR] = $2; library[NR] = $3 }
    function sorted(t, n,  i, j, x) { for (i = 2; i <= n; i++) for (j = i; j > 1 && t[j - 1] > t[j]; j--) { x = t[j]; t[j] = t[j - 1]; t[j - 1] = x } }
    END {
        if (NR == 0) exit
        sorted(own, NR); sorted(library, NR)
        printf "%d turns: FFTW over own transforms %.2f (quartiles %.2f to %.2f)\n", NR, ratio[int((NR + 1) / 2)], ratio[int((NR + 3) / 4)], ratio[int((3 * NR + 1) / 4)]
        printf "medians and least: own %g and %g us a step, FFTW %g and %g\n", own[int((NR + 1) / 2)], own[1], library[int((NR + 1) / 2)], library[1]
    }' | tee -a "$folder/result.txt"
exit "$status"
