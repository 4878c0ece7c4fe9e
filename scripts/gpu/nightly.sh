#!/bin/bash
# Records a device's noise and planted regressions, then plays real nights with one, in a few minutes.
# usage: scripts/gpu/nightly.sh FOLDER [DEVICE [NIGHTS [PROCESSES]]]   (KFTUNE: the program; default: ./kftune, build/kftune)
# Writes into FOLDER: nights.json (for `kftune nightly rates`, and tests/data), rates.json, night-*.json, night.md, night.xml,
# history.txt, nightly.db and report.html. Status 0 when the planted 5 % was SLOW the same night and nothing else was.
set -u
out=${1:?usage: scripts/gpu/nightly.sh FOLDER [DEVICE [NIGHTS [PROCESSES]]]}
device=${2:-cuda:0}
nights=${3:-20}
processes=${4:-8}
budget=${BUDGET:-230} # seconds; fewer nights are recorded where that is needed
root=$(cd "$(dirname "$0")/../.." && pwd)
kftune=${KFTUNE:-}
for candidate in "$root/kftune" "$root/build/kftune"; do
    [ -n "$kftune" ] || { [ -x "$candidate" ] && kftune=$candidate; }
done
[ -x "${kftune:-}" ] || { echo "nightly.sh: no kftune; set KFTUNE" >&2; exit 3; }
export KFTUNE_DATA=${KFTUNE_DATA:-$root}
mkdir -p "$out" || exit 3
out=$(cd "$out" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
store=$scratch/nightly.db
failures=0
fail() { echo "nightly.sh: $*" >&2; failures=$((failures + 1)); }

# One benchmark, so that twenty nights fit; its size by the device.
grid='[256, 128, 128]'
[ "${device#cpu}" = "$device" ] || grid='[24, 24, 24]'
suite() { # FILE PLANTED_ROUNDS
    cat >"$1" <<JSON
{"suite": "planted", "processes": 5, "seconds": 0.1, "device": "$device", "benchmarks": [
  {"name": "ball", "scene": "ball", "grid": $grid, "config": {"preset": "default"}, "planted_rounds": $2}]}
JSON
}
suite "$scratch/suite.json" 0
begin=$SECONDS
# What a process costs, the first one's compiling apart.
"$kftune" nightly --suite "$scratch/suite.json" --store "$scratch/first.db" --quiet >/dev/null 2>"$scratch/err" || fail "no night: $(tail -n 1 "$scratch/err")"
start=$(date +%s%N)
"$kftune" nightly --suite "$scratch/suite.json" --store "$scratch/first.db" --quiet >/dev/null 2>&1
each=$((($(date +%s%N) - start) / 5000000)) # milliseconds
most=$(((budget - (SECONDS - begin)) * 1000 / (each + 1) - 5 * processes - 42))
[ $((5 * nights)) -le "$most" ] || nights=$((most > 25 ? most / 5 : 5))
echo "a process takes $each ms: $nights nights"

# 1. The noise: nights of five fresh processes, then processes with 1, 2, 3 and 5 % planted, in turns.
"$kftune" nightly record --suite "$scratch/suite.json" --store "$store" --nights "$nights" --planted 1,2,3,5 \
    --processes "$processes" --out "$out/nights.json" --quiet || fail "recording failed"
echo "recorded in $((SECONDS - begin)) s"
"$kftune" nightly rates --recorded "$out/nights.json" --nights 200 --trials 40 | tee "$out/rates.txt"
"$kftune" nightly rates --recorded "$out/nights.json" --nights 200 --trials 40 --json >"$out/rates.json"

# 2. Real nights, end to end: two unchanged ones, one with 5 % planted, one without it again.
verdict() { sed -n 's/^[[:space:]]*"verdict":[[:space:]]*"\([A-Z]*\)".*/\1/p' "$1" | head -n 1; }
night() { # NAME SUITE LABEL EXPECTED...
    local name=$1 file=$2 label=$3 status found
    shift 3
    "$kftune" nightly --suite "$file" --store "$store" --label "$label" --json --quiet --junit "$out/night.xml" \
        --report "$out/night-$name.md" >"$out/night-$name.json" 2>"$scratch/err"
    status=$?
    found=$(verdict "$out/night-$name.json")
    echo "night $name: ${found:-none}, status $status"
    case " $* " in *" $found:$status "*) ;; *) fail "night $name: $found with status $status, expected $*"; sed 's/^/    /' "$scratch/err" >&2 ;; esac
}
rounds=$(awk -F'[:,]' '/"step_us"/ && !step { step = $2 } /"planted_round_us"/ && !round { round = $2 }
    END { if (round > 0) printf "%d", 0.05 * step / round }' "$out/nights.json")
[ -n "$rounds" ] || rounds=10000
suite "$scratch/planted.json" "$rounds"
night 1 "$scratch/suite.json" "unchanged" NODATA:0
night 2 "$scratch/suite.json" "unchanged" SAME:0
night 3 "$scratch/planted.json" "about 5 % planted" SLOW:1
night 4 "$scratch/suite.json" "planted taken out" FAST:0 SAME:0
cp "$out/night-3.md" "$out/night.md" 2>/dev/null
"$kftune" nightly list --store "$store" | tee "$out/history.txt"
"$kftune" report --store "$store" --out "$out/report.html" >/dev/null 2>&1 || fail "no report"
cp "$store" "$out/nightly.db" 2>/dev/null

echo
grep -h '"benchmark"\|"verdict"\|"change"\|"p"\|"kernel"' "$out/night-3.json" 2>/dev/null | sed 's/^[[:space:]]*/  /'
echo "nightly.sh: $((SECONDS - begin)) s, $failures failures"
[ "$failures" -eq 0 ]
