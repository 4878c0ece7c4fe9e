#!/bin/bash
# Tests that every command in a document is a command of the program with options that it has, and that the documents'
# examples are read. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
cd "$(dirname "$0")/../.." || exit 3
kftune=$(realpath "${KFTUNE:?KFTUNE must name the program}")
scratch=${KFTUNE_SCRATCH:-$(mktemp -d)}
command -v python3 >/dev/null || { echo "documented.sh: needs python3 (Debian: python3): skipped"; exit 77; }
python3 tests/e2e/documented-check.py "$kftune" README.md docs/*.md || exit 1
for wrong in 'kftune tune --no-such-option' 'kftune nosuch --scene ball'; do
    { cat docs/hour.md docs/scene-format.md docs/run.md docs/nightly.md docs/store.md docs/plots.md docs/counters.md docs/gallery.md; echo "\`$wrong\`"; } >"$scratch/page.md"
    python3 tests/e2e/documented-check.py "$kftune" "$scratch/page.md" >"$scratch/out"
    grep -qF "'$wrong'" "$scratch/out" || { echo "documented.sh: '$wrong' passes"; exit 1; }
done
# shellcheck disable=SC2016
printf '```sh\nkftune tune --scene car.obj --length 4.2m\nkftune run --config car.kftune.json\n```\n' >"$scratch/page.md"
python3 tests/e2e/documented-check.py "$kftune" "$scratch/page.md" >"$scratch/out"
grep -q 'its options in its name' "$scratch/out" || { echo "documented.sh: a config that nothing wrote passes"; exit 1; }
# The example of docs/t1.md is a problem that kftune reads.
awk '/^```json$/ { inside = 1; next } /^```$/ { inside = 0 } inside' docs/t1.md >"$scratch/scale.t1.json"
awk '/^```cuda$/ { inside = 1; next } /^```$/ { inside = 0 } inside' docs/t1.md >"$scratch/scale.cu"
"$kftune" space --scene "$scratch/scale.t1.json" --device cpu >"$scratch/out" 2>&1
grep -q "88 valid configs" "$scratch/out" || { cat "$scratch/out"; echo "documented.sh: the example of docs/t1.md is not read"; exit 1; }
exit 0
