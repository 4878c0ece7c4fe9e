#!/bin/bash
# Tests that the options of predict and space choose what is predicted and listed. Nothing is measured. KFTUNE: the
# program; KFTUNE_SCRATCH: a folder to write into.
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=tests/e2e/preamble.bash
. tests/e2e/preamble.bash
compact() { tr -d ' \n\t' <"$out" >"$scratch/compact"; }
holds() { grep -qF -- "$1" "$scratch/compact" || complain "--json does not hold $1"; }
numbers() { grep -o "\"$1\":[-0-9.e+]*" "$scratch/compact" | cut -d: -f2; } # of all members of this name, in order
rising() { awk 'NR > 1 && $1 < before {bad = 1} {before = $1} END {exit bad || NR < 2}'; }

# --- space: sizes that can be counted
expect 0 space --scene tests/data/t1/blur.t1.json --device cpu --json
compact
holds '"size":72,'
raw=$(numbers raw_size)
expect 0 space --scene ball --device cpu --grid 40x30x20 --fix plan=fused --fix storage=f32,f64 --fix alpha=1,2,4 --json
compact
holds '"name":"plan","type":"name","values":["fused"],"default":"fused","fixed":true'
holds '"name":"storage","type":"name","values":["f32","f64"],"default":"f32","fixed":false'
holds '"name":"alpha","type":"integer","values":[1,2,4],"default":1,"fixed":false'
two=$(numbers size)
expect 0 space --scene ball --device cpu --grid 40x30x20 --fix plan=fused --fix storage=f32 --fix alpha=1,2,4 --json
compact
one=$(numbers size)
[ "$two" -gt "$one" ] || complain "a second value of storage leaves $two configs of $one"
expect 0 space --scene ball --device cpu --grid 40x30x20 --fix plan=fused --fix storage=f32 --fix alpha=1,2,4
shows "$one valid configs"
grep -q '^alpha  *integer  *1 2 4 ' "$out" || complain "the table does not list alpha's values"
grep -q '^plan  *name  *fused (fixed)  *fused  *baseline  *paper$' "$out" || complain "the table does not say what is fixed, and the presets"
expect 0 space --scene ball --device cpu --grid 40x30x20 --fix plan=fused # 2^14 is the last below 24000 nodes
grep -q '^alpha  *integer  .* 16384 (15 values) ' "$out" || complain "--grid does not reach the space"
expect 0 space --scene cavity2d --system d2q9 --device cpu --grid 64x32x1
shows "system d2q9"
expect 2 space --scene cavity2d --system kinetic --device cpu
expect 2 space --scene cavity2d --system d2q8 --device cpu
says d2q9
expect 2 space --scene ball --device cpu --fix plan=fast
expect 2 space --scene ball --device cpu --fix paln=fused
says plan
[ "$raw" -ge 72 ] || complain "fewer combinations than configs"

# --- predict: for a GPU that is not here
small="--fix storage=f32 --fix streaming=two_grids --fix layout=soa --fix block_x=64 --fix block_y=1,2 --fix sample_order=morton --fix march=0
    --fix sample_block_length=1 --fix segment_length=128 --fix force_sum=float --fix register_cap=0"
read -r -d '' -a small <<<"$small"
few=(--grid 40x30x20 --fix "plan=fused,moments" "${small[@]}")
expect 0 predict --scene ball --bandwidth 4242 "${few[@]}" --top 3 --json
compact
holds '"name":"aGPU"'
[ "$(numbers predicted_us | wc -l)" -eq 3 ] || complain "--top 3 shows $(numbers predicted_us | wc -l)"
numbers predicted_us | rising || complain "the ranking is not one"
first=$(numbers predicted_us | head -n 1)
[ "$(grep -o '"storage":"[a-z0-9]*"' "$scratch/compact" | sort -u)" = '"storage":"f32"' ] || complain "--fix storage=f32 is not heeded"
configs=$(numbers configs)
expect 0 predict --scene ball --bandwidth 4242 "${few[@]}" --top 1
shows "copies 4242 GB/s (measured)"
shows "$configs of $configs configs predicted"
shows "40x30x20"
expect 0 predict --scene ball --bandwidth 424.2 "${few[@]}" --top 1 --json
compact
slow=$(numbers predicted_us)
awk -v a="$first" -v b="$slow" 'BEGIN {exit !(b > 1.5 * a && b < 10.01 * a)}' || complain "a tenth of the bandwidth takes $slow us, all of it $first us"
expect 0 predict --scene ball --bandwidth 4242 "${few[@]}" --top 1 --samples-per-cell 3
few_samples=$(grep -o '[0-9]* samples,' "$out" | head -n 1 | cut -d' ' -f1)
expect 0 predict --scene ball --bandwidth 4242 "${few[@]}" --top 1 --samples-per-cell 12
many_samples=$(grep -o '[0-9]* samples,' "$out" | head -n 1 | cut -d' ' -f1)
awk -v a="$few_samples" -v b="$many_samples" 'BEGIN {exit !(b > 3 * a && b < 5 * a)}' || complain "$few_samples and $many_samples samples of 3 and 12 a cell"
expect 2 predict --scene ball --bandwidth 4242 --device cpu
expect 2 predict --scene ball --bandwidth 0
expect 2 predict --scene ball --top 0
expect 2 predict
says "--scene"

# A config is described by its differences from the default, with its own values.
expect 0 predict --scene cavity2d --bandwidth 4242 --grid 64x64x1 --fix layout=aos --fix plan=temporal --fix threads=32 --top 1
grep -q '^ *default with .*layout=aos .*plan=temporal .*threads=32' "$out" || complain "the config is not told in its own values"

# --- beside what was measured
landscape=results/landscapes/h200-ball-160x80x80.json.gz
expect 0 predict --landscape $landscape --top 4 --fix plan=fused "${small[@]}" --json
compact
holds '"name":"NVIDIAH200"'
fastest=$(sed 's/.*"fastest":\[//; s/"rank_correlation".*//' "$scratch/compact")
[ "$(grep -o '"measured_us"' <<<"$fastest" | wc -l)" -eq 4 ] || complain "not the four fastest are shown"
grep -o '"measured_us":[0-9.e+]*' <<<"$fastest" | cut -d: -f2 | rising || complain "the fastest are not in the order of their times"
place=$(grep -o '"predicted_place":[0-9]*' <<<"$fastest" | head -n 1 | cut -d: -f2)
holds "\"best_measured_place\":$place"
awk -v m="$(numbers measured)" -v c="$(numbers rank_correlation)" -v k="$(numbers rank_correlation_calibrated)" -v e="$(numbers median_error_calibrated)" \
    'BEGIN {exit !(m > 50 && c > 0.5 && c <= 1 && k > 0.5 && k <= 1 && e > 0 && e < 0.5)}' || complain "agreement with the landscape"
correlation=$(awk -v c="$(numbers rank_correlation)" 'BEGIN {printf "%.3f", c}')
measured=$(numbers measured)
expect 0 predict --landscape $landscape --top 1 --fix plan=fused "${small[@]}"
shows "$measured configs were measured"
shows "rank correlation $correlation, the fastest has place $place "
expect 2 predict --landscape "$scratch/none.json"
# A landscape says its system, which need not be the first that runs its scene.
expect 0 predict --landscape results/measured/h200-survey-ball-160x96x80.json.gz --top 1
shows "rank correlation 0.9"

# --- learned from somebody else's kernel, whose T1 file is not here
landscape=results/landscapes/h200-matmul-1024x768x1.json.gz
expect 0 predict --landscape $landscape --top 3 --json
compact
holds '"name":"NVIDIAH200"'
awk -v l="$(numbers learned_from)" -v m="$(numbers measured | tail -n 1)" -v c="$(numbers rank_correlation)" \
    'BEGIN {exit !(l == 50 && m == 861 && c > 0.8 && c <= 1)}' || complain "50 of a kernel's configs do not tell of the others"
expect 0 predict --landscape $landscape --top 1 --first 100
shows "learned from the first 100 of 861"
echo '{"device_name": "X", "kernel_name": "k", "tune_params_keys": ["a"], "tune_params": {"a": [1, 2, 3, 4]}, "cache": {
    "1": {"a": 1, "time": 8.0}, "2": {"a": 2, "time": 4.0}, "3": {"a": 3, "time": 3.0}, "4": {"a": 4, "time": 2.0}}}' >"$scratch/foreign.json"
expect 0 predict --landscape "$scratch/foreign.json" --first 3
shows "foreign on X: there is no cost model; learned from the first 3 of 4"
finish
