#!/bin/bash
# A suite that is interrupted prints what it has measured, and says what it has not. KFTUNE: the program; KFTUNE_SCRATCH: a folder
# to write into.
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=tests/e2e/preamble.bash
. tests/e2e/preamble.bash

# The second timing goes on for longer than anybody waits.
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
finish
