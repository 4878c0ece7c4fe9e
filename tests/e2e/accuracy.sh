#!/bin/bash
# Tests that accuracy/drag-prior.json is what its script learns from the committed rows, and that the committed tables
# of coverage are what the script makes of theirs, with nine of ten flows inside. A plan is carried out, and the run
# reports how accurate it was.
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=tests/e2e/preamble.bash
. tests/e2e/preamble.bash
# shellcheck source=tests/e2e/quick-compiler.bash
. tests/e2e/quick-compiler.bash
scripts/drag-prior.py accuracy/learnt.csv >"$scratch/prior.json" || complain "drag-prior.py fails"
cmp -s "$scratch/prior.json" accuracy/drag-prior.json || complain "accuracy/drag-prior.json is not what drag-prior.py makes of learnt.csv"

mkdir -p "$scratch/coverage"
for where in cpu:8 h200:24; do
    name=${where%:*}-coverage
    cp "results/measured/$name.csv" "$scratch/coverage/rows.csv"
    FLOWS=none CELLS=${where#*:} KFTUNE=$kftune scripts/gpu/coverage.sh "$scratch/coverage" cpu >"$out" 2>"$err" || complain "$name: fewer than nine of ten flows are inside"
    grep -q ' are inside (' "$out" || complain "$name: nothing is counted"
    while read -r line; do
        grep -qF -- "$line" "results/measured/$name.md" || complain "results/measured/$name.md lacks: $line"
    done < <(grep -E '^\||inside' "$scratch/coverage/coverage.md")
    tr '\n' ' ' <docs/accuracy.md | grep -qF "$(grep -o '^[0-9]* of [0-9]* are inside' "$scratch/coverage/coverage.md")" || complain "docs/accuracy.md has another count than $name"
done
sed 's/^\(sphere-100,[^,]*,[^,]*\),[^,]*/\1,9.9/' results/measured/cpu-coverage.csv >"$scratch/coverage/rows.csv"
FLOWS=none KFTUNE=$kftune scripts/gpu/coverage.sh "$scratch/coverage" cpu >"$out" 2>"$err"
grep -q '^| sphere-100 .*| no |$' "$out" || complain "a drag of 9.9 is inside"

expect 1 plan --scene spinning_torus --grid 36x36x18 --drag-within 80% --device cpu
grep -q 'cannot be promised' "$out" || complain "a drag is promised whose tunnel has no rule"
shows "tunnel     not known: no published rule"
grep -q '^  foretold     +- [0-9.]* % or more of the drag' "$out" || complain "an interval whose parts are not known is called whole"
# A grid of whole cells that is slightly too coarse is refined. Where no grid is fine enough, the plan gives the reason.
printf 'v %s\n' '0 0 0' '3 0 0' '3 2 0' '0 2 0' '0 0 1' '3 0 1' '3 2 1' '0 2 1' >"$scratch/box.obj"
printf 'f %s\n' '1 4 3 2' '5 6 7 8' '1 2 6 5' '2 3 7 6' '3 4 8 7' '4 1 5 8' >>"$scratch/box.obj"
expect 0 plan --scene "$scratch/box.obj" --up z --wind +x --road yes --reynolds 300 --drag-within 16% --cells 9 --device cpu
says "the plan chooses how many cells there are along the solid; --cells has no effect"
expect 1 plan --scene ball --drag-within 3% --device cpu
shows "why not      the tunnel alone takes more"
expect 1 plan --scene ball --drag-within 6.5% --device cpu
shows "why not      no flow with an answer has more than"
expect 0 plan --scene ball --drag-within 80% --device cpu
grep -q '^  time .*store' "$out" || complain "plan does not say what its time is from"
command=$(sed -n 's/^  run it  *kftune //p' "$out")
# shellcheck disable=SC2086
expect 0 $command --steps 20 --picture none --fields none --checkpoints 0 --output "$scratch/planned"
grep -q '^  planned  .*it took 20 steps' "$out" || complain "the run does not say how true the plan was"
# The line's numbers are those of run.json: as planned, and as they came.
python3 -c '
import json, re, sys
plan = json.load(open(sys.argv[1] + "/run.json"))["plan"]
units = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}
line = re.search(r"planned +(\d+) steps, (\S+) (\w+), drag within (\S+) %; it took (\d+) steps, (\S+) (\w+),", open(sys.argv[2]).read())
steps, time, unit, within, came, took, its = line.groups()
near = lambda a, b: abs(a / b - 1) < 0.01
assert near(float(steps), plan["steps"]) and near(float(time) * units[unit], plan["seconds"]), (line[0], plan)
assert int(came) == plan["came_steps"] and near(float(took) * units[its], plan["came_seconds"]), (line[0], plan)
' "$scratch/planned" "$out" 2>"$err" || complain "the plan is printed with other numbers than in run.json"
grep -q 'statistics not known' "$out" || complain "a flow that has not settled has statistics"
grep -q '"came_steps":[[:space:]]*20' "$scratch/planned/run.json" || complain "run.json does not say how true the plan was"
expect 2 plan --scene cavity2d --device cpu
finish
