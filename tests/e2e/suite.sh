#!/bin/bash
# Tests that an interrupted suite prints what it has measured and names the rest. Searches are replayed on the
# landscapes of two folders. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=tests/e2e/preamble.bash
. tests/e2e/preamble.bash

# The second timing takes longer than the test waits.
cat >"$scratch/two.json" <<'JSON'
{"suite": "two", "description": "two plane flows", "promise": "every config passes the gate",
 "scenes": [{"name": "small", "scene": "cavity2d", "grid": [64, 64, 1]}, {"name": "large", "scene": "cavity2d", "grid": [512, 512, 1]}],
 "timings": [{"name": "short", "scene": "small", "seconds": 0.1}, {"name": "long", "scene": "large", "seconds": 60, "samples": 10000}],
 "figures": [{"name": "first", "kind": "step", "of": "short"}, {"name": "second", "kind": "step", "of": "long"}]}
JSON
"$kftune" bench --suite "$scratch/two.json" --device cpu --json >"$out" 2>"$err" </dev/null &
child=$!
while kill -0 "$child" 2>"$scratch/gone" && ! grep -q 's  short .*us a step' "$err"; do sleep 0.1; done
kill -TERM "$child"
wait "$child"
status=$?
[ "$status" -eq 130 ] || complain "an interrupted suite ends with status $status"
says "interrupted after 1 figures"
value() { sed -n "/\"name\":[[:space:]]*\"$1\"/,/\"value\"/s/.*\"value\":[[:space:]]*\([^,]*\),/\1/p" "$out" | head -n 1; }
[[ $(value first) =~ ^[1-9] ]] || complain "what was measured is lost: $(value first)"
[ "$(value second)" = null ] || complain "what was not measured has the value $(value second)"
shows "not measured: interrupted"

# There is one landscape among the shared ones and two of the program's own, each folder in the order of its names.
own=$scratch/own shared=$scratch/shared
mkdir -p "$own/results/landscapes" "$shared/landscapes"
for folder in kernels metrics scene suites variants; do ln -s "$PWD/$folder" "$own/$folder"; done
landscape=tests/data/landscape-of-random-configs.json.gz
for copy in "$shared/landscapes/z" "$own/results/landscapes/n" "$own/results/landscapes/m"; do cp "$landscape" "$copy.json.gz"; done
KFTUNE_DATA=$own KFTUNE_SHARED=$shared "$kftune" bench --suite search --device cpu >"$out" 2>"$err" </dev/null
status=$?
[ "$status" -le 1 ] || complain "searches on three landscapes end with status $status"
names=$(sed -n 's/^\(.*\) cost model rank .*/\1/p' "$out" | tr '\n' ' ')
[ "$names" = "z m n " ] || complain "landscapes of two folders: $names"
finish
