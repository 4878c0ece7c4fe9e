#!/bin/sh
# Tunes the Ahmed body on the cpu and runs 200 steps with the best configuration. usage: BUILD=build scripts/demo.sh
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
kftune=$build/kftune
demo=$build/demo
rm -rf "$demo"
mkdir -p "$demo"

echo "== tune: the fastest correct way to run this scene on this machine"
"$kftune" tune --scene ahmed --device cpu --grid 96x48x48 --budget 90s \
    --store "$demo/kftune.db" --out "$demo/ahmed.kftune.json" >"$demo/tune.txt"
cat "$demo/tune.txt"

echo "== run: 200 steps with it"
"$kftune" run --config "$demo/ahmed.kftune.json" --steps 200 --output "$demo/run" >"$demo/run.txt"
cat "$demo/run.txt"

picture=$(find "$demo/run" -name '*.png' | sort | tail -n 1)
if [ -z "$picture" ]; then
    echo "demo: the run wrote no picture into $demo/run" >&2
    exit 1
fi
echo
echo "== the best configuration, and its gain over baseline"
sed '/^$/,$d' "$demo/tune.txt" # up to the table of kernels, which was shown above
echo "configuration: $demo/ahmed.kftune.json"
echo "picture:       $picture"
