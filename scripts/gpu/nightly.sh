#!/bin/bash
# Records nights of a device and planted regressions, measures how often the detector finds them, and runs real nights with one.
# From a built source tree (make all tests); builds nothing.
# usage: scripts/gpu/nightly.sh FOLDER [DEVICE [NIGHTS [PROCESSES]]]
#   NIGHTS: recorded, of five fresh processes each (20); PROCESSES: with each planted percentage (6)
# BUDGET: seconds for all (150); fewer nights are recorded where a process takes too long. SCENE, GRID ("[x, y, z]"), KFTUNE.
# Leaves in FOLDER: nights.json (for tests/data/ and `nightly_trials rates`), rates.txt, rates.json, night.md, night.xml,
# report.html, nightly.db.gz, log.txt. Status 0 when the planted 5 % was SLOW the same night and nothing else was.
set -u
out=${1:?usage: scripts/gpu/nightly.sh FOLDER [DEVICE [NIGHTS [PROCESSES]]]}
device=${2:-cuda:0}
nights=${3:-20}
processes=${4:-6}
budget=${BUDGET:-150}
mkdir -p "$out" || exit 2
out=$(realpath "$out")
cd "$(dirname "$0")/../.."
kftune=${KFTUNE:-build/tests/nightly_trials} # kftune with planted regressions
[ -x "$kftune" ] || { echo "$kftune is not built: make tests" >&2; exit 1; }
export KFTUNE_DATA=${KFTUNE_DATA:-$PWD}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
store=$work/nightly.db
log=$out/log.txt
: >"$log"
failures=0
fail() { echo "nightly.sh: $*" | tee -a "$log"; failures=$((failures + 1)); }

# One benchmark, so that many nights fit. Few samples of the surface: making them takes longer than measuring.
case $device in
cuda*) grid=${GRID:-[320, 160, 160]} ;;
*) grid=${GRID:-[24, 24, 24]} ;;
esac
cat >"$work/suite.json" <<JSON
{"suite": "planted", "processes": 5, "seconds": 0.1, "device": "$device", "benchmarks": [
  {"name": "ball", "scene": "${SCENE:-ball}", "grid": $grid, "samples_per_cell": 3, "config": {"preset": "default"}}]}
JSON
begin=$SECONDS
# The first process compiles. The next one shows the time of a process.
"$kftune" record --suite "$work/suite.json" --store "$work/first.db" --nights 1 --out "$work/first.json" \
    --quiet >>"$log" 2>&1 || fail "no night: $(tail -n 1 "$log")"
start=$(date +%s%N)
"$kftune" record --suite "$work/suite.json" --store "$work/first.db" --nights 1 --out "$work/first.json" --quiet >>"$log" 2>&1
each=$((($(date +%s%N) - start) / 5000000 + 1)) # milliseconds
# Besides the recorded nights: planted ones with their calibration, four real nights, two of them compared with eight against eight.
others=$((5 * processes + 4 + 20 + 32))
most=$(((1000 * (budget - (SECONDS - begin)) / each - others) / 5))
[ "$nights" -le "$most" ] || nights=$((most > 5 ? most : 5))
echo "a process takes $each ms: $nights nights are recorded"

# 1. The noise, and processes with 1, 2, 3 and 5 % planted, in turns; then what the detector makes of them.
"$kftune" record --suite "$work/suite.json" --store "$store" --nights "$nights" --planted 1,2,3,5 \
    --processes "$processes" --out "$out/nights.json" --quiet 2>>"$log" || fail "recording failed"
echo "recorded in $((SECONDS - begin)) s"
"$kftune" rates --recorded "$out/nights.json" --nights 200 --trials 40 | tee "$out/rates.txt"
"$kftune" rates --recorded "$out/nights.json" --nights 200 --trials 40 --json >"$out/rates.json"

# 2. Real nights, end to end: two unchanged ones, one with 5 % planted, one without it again.
verdict() { sed -n 's/^[[:space:]]*"verdict":[[:space:]]*"\([A-Z]*\)".*/\1/p' "$1" | head -n 1; }
night() { # NUMBER DATA LABEL EXPECTED...
    local number=$1 data=$2 label=$3 status found
    shift 3
    KFTUNE_DATA=$data "$kftune" nightly --suite "$work/suite.json" --store "$store" --label "$label" --json --quiet --junit "$work/night-$number.xml" \
        --report "$work/night-$number.md" >"$work/night-$number.json" 2>>"$log"
    status=$?
    found=$(verdict "$work/night-$number.json")
    echo "night $number: ${found:-none}, status $status ($label)"
    case " $* " in *" $found:$status "*) ;; *) fail "night $number: $found with status $status, expected $*" ;; esac
}
rounds=$(awk -F'[:,]' '/"step_us"/ { step = $2 } /"planted_round_us"/ { round = $2 } /"planted_launch_us"/ { launch = $2 }
    END { if (round > 0) printf "%d", (0.05 * step - launch) / round }' "$out/nights.json")
mkdir -p "$work/planted/scene"
cp -rL "$KFTUNE_DATA/kernels" "$work/planted/kernels"
ln -s "$KFTUNE_DATA"/{variants,metrics} "$work/planted/"
ln -s "$KFTUNE_DATA/scene/library" "$work/planted/scene/library"
echo "${rounds:-10000}" >"$work/planted/kernels/planted"
night 1 "$KFTUNE_DATA" "unchanged" NODATA:0
night 2 "$KFTUNE_DATA" "unchanged" SAME:0
night 3 "$work/planted" "5 % planted" SLOW:1
night 4 "$KFTUNE_DATA" "planted taken out" FAST:0 SAME:0
cp "$work/night-3.md" "$out/night.md"
cp "$work/night-3.xml" "$out/night.xml"
"$kftune" nightly list --store "$store" | tee -a "$log"
"$kftune" report --store "$store" --out "$out/report.html" >>"$log" 2>&1 || fail "no report"
gzip -9c "$store" >"$out/nightly.db.gz"
echo "$((SECONDS - begin)) s, $failures failures"
[ "$failures" = 0 ]
