#!/bin/bash
# The step of the stable fluids system on a cpu: own transforms beside FFTW's measured plans, with all threads there are, in one
# run. usage: scripts/cpu/stable-fluids.sh FOLDER [N] [SECONDS]; N x N cells (512), SECONDS of timing a config (2). From a
# built source tree or a bundle; builds nothing, and needs a C compiler and FFTW. Leaves result.txt in FOLDER. Best with
# nothing else at work: where there is, the three ratios tell how much it was in the way, for both are timed three times in turns.
# The last line has the median of each one's three times.
set -u
folder=${1:?usage: scripts/cpu/stable-fluids.sh FOLDER [N] [SECONDS]}
n=${2:-512} seconds=${3:-2}
device=cpu
. "$(dirname "$0")/../gpu/program.sh"
awk -v n="$n" 'BEGIN { printf "{\"stable_fluids\": {}, \"domain\": {\"cells\": [%d, %d], \"length\": 1},\n", n, n
    printf " \"flow\": {\"viscosity\": 6.3e-5, \"time_step\": %.9g},\n", 0.09 * 512 / n
    printf " \"initial\": {\"kind\": \"random\", \"amplitude\": 0.026, \"velocity\": [0.004, -0.002]}}\n" }' >"$folder/scene.json"
cat >"$folder/suite.json" <<JSON
{"suite": "cpu-transforms", "description": "$n x $n cells on a cpu, own transforms beside FFTW's", "promise": "every config passes the gate",
 "scenes": [{"name": "box", "scene": "scene.json", "system": "stable_fluids"}],
 "candidates": {
   "own": [{"name": "8 lines", "with": {"rows_per_block": 8, "columns_per_block": 8}},
           {"name": "8 rows, 16 columns", "with": {"rows_per_block": 8, "columns_per_block": 16, "points_columns": 16}},
           {"name": "16 lines", "with": {"rows_per_block": 16, "columns_per_block": 16}},
           {"name": "8 lines, 16 points", "with": {"rows_per_block": 8, "columns_per_block": 8, "points_rows": 16, "points_columns": 16, "points_inverse": 16}}],
   "library": [{"name": "packed", "with": {"plan": "packed"}}, {"name": "batched", "with": {"plan": "batched"}}, {"name": "separate", "with": {"plan": "separate"}}]},
 "timings": [{"name": "own", "scene": "box", "candidates": "own", "seconds": $seconds},
             {"name": "library", "scene": "box", "preset": "baseline", "with": {"fft": "library"}, "candidates": "library", "seconds": $seconds},
             {"name": "own again", "scene": "box", "follows": "own", "seconds": $seconds},
             {"name": "library again", "scene": "box", "follows": "library", "seconds": $seconds},
             {"name": "own once more", "scene": "box", "follows": "own", "seconds": $seconds},
             {"name": "library once more", "scene": "box", "follows": "library", "seconds": $seconds}],
 "figures": [{"name": "own transforms", "kind": "step", "of": "own"}, {"name": "FFTW", "kind": "step", "of": "library"},
             {"name": "FFTW over own", "kind": "ratio", "of": "library", "against": "own"},
             {"name": "FFTW over own, again", "kind": "ratio", "of": "library again", "against": "own again"},
             {"name": "FFTW over own, once more", "kind": "ratio", "of": "library once more", "against": "own once more"}]}
JSON
echo "$(nproc) threads; load before $(cut -d ' ' -f 1 /proc/loadavg)" | tee "$folder/result.txt"
"$kftune" bench --suite "$folder/suite.json" --device "$device" 2>&1 | tee -a "$folder/result.txt"
status=${PIPESTATUS[0]}
median() { # NAME...: of the times that the run reported of these
    for name in "$@"; do sed -n "s/^ *[0-9.]* s  $name  *\([0-9.]*\) us a step.*/\1/p" "$folder/result.txt"; done | sort -n | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'
}
own=$(median own "own again" "own once more") library=$(median library "library again" "library once more")
[ -n "$own" ] && [ -n "$library" ] && awk -v own="$own" -v library="$library" \
    'BEGIN { printf "medians of three: own transforms %g us a step, FFTW %g us, FFTW over own %.2f\n", own, library, library / own }' | tee -a "$folder/result.txt"
exit "$status"
