#!/bin/bash
# Tests JSON that the program prints, that it writes and that is shipped, with docs/schemas. KFTUNE: the program;
# KFTUNE_SCRATCH: a folder to write into. Skipped without Python's jsonschema.
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=tests/e2e/preamble.bash
. tests/e2e/preamble.bash
# shellcheck source=tests/e2e/quick-compiler.bash
. tests/e2e/quick-compiler.bash
for python in python3 /usr/bin/python3 ''; do
    [ -z "$python" ] || ! "$python" -W ignore -c 'import jsonschema' 2>/dev/null || break
done
if [ -z "$python" ]; then
    echo "schemas.sh: Python has no jsonschema here (Debian: python3-jsonschema): skipped"
    exit 77
fi
# A single Python checks all of it at the end.
checks=0
check() { # holds|fails SCHEMA FILE...: of files that change later a copy
    local what=$1 schema=$2 file copy
    shift 2
    for file; do
        copy=$scratch/check-$((++checks))-$(basename "$file")
        cp "$file" "$copy" || complain "$file is not there"
        echo "$what $schema $copy" >>"$scratch/checks"
    done
}
holds() { check holds "$@"; }
prints() { # SCHEMA ARGUMENT...: what kftune prints with --json
    local schema=$1
    shift
    expect 0 "$@" --json
    holds "$schema" "$out"
}
refuses() { # SCHEMA JSON: as the program does
    echo "$2" >"$scratch/wrong.json"
    check fails "$1" "$scratch/wrong.json"
}
[ "$(find docs/schemas -name '*.schema.json' | wc -l)" -ge 20 ] || complain "docs/schemas is not whole"

# These files are shipped.
holds space variants/*.json
holds scene scene/library/*.json
holds nightly-suite suites/quick.json suites/gpu.json ci/nightly.json
holds bench-suite suites/step.json suites/small-grids.json suites/toelke.json suites/kinetic-paper.json suites/incompressible.json
holds t1 tests/data/t1/*.json
holds landscape results/landscapes/h200-ball-160x80x80.json.gz
holds output-bench results/measured/h200-step.json
holds output-validate results/measured/h200-validate.json
holds output-roofs results/measured/h200-roofs.json
while read -r page schema; do # the example that a page begins with
    awk '/^```json$/ { count++; next } /^```$/ && count == 1 { exit } count == 1' "docs/$page.md" >"$scratch/$page.json"
    holds "$schema" "$scratch/$page.json"
done <<'END'
scene-format scene
space-format space
nightly nightly-suite
suites bench-suite
nested scene
END
refuses nightly-suite '{"suite": "s", "benchmarks": [{"name": "a", "scene": "ball", "nodes": 3}]}'
refuses nightly-suite '{"suite": "s", "benchmarks": [{"name": "a", "command": ["true"], "time": {"unit": "s"}}]}'
refuses nightly-suite '{"suite": "s", "processes": 4, "benchmarks": [{"name": "a", "scene": "ball"}]}'
refuses scene '{"domain": {"cells": [1, 2, 3]}, "flow": {}, "slid": {}}'
refuses space '{"system": "x", "format": 2, "parameters": [{"name": "a", "type": "integer"}], "presets": {"baseline": {}, "paper": {}}}'
refuses best-config '{"format": 3}'
bench() { # SOLVE: what a figure says of a pressure solve
    echo '{"kftune": "0.2.0", "command": "bench", "device": {"name": "n", "backend": "cpu"}, "suite": "s", "figures": [{"name": "solve",' \
        "\"value\": 1, \"unit\": \"ms\", \"spread\": null, \"floor\": 0.5, \"share\": 0.5, \"solve\": $1}]}"
}
bench '{"iterations": 3, "bytes": 9, "least_bytes": 4, "share": 0.5, "least_share": 0.2}' >"$scratch/bench.json"
holds output-bench "$scratch/bench.json"
refuses output-bench "$(bench '{"iterations": 3, "bytes": 9, "share": 0.5}')"

# This is printed. A kernel is tuned and a plane flow is run, because both compile in a moment.
store=$scratch/s.db
prints output-tune tune --scene tests/data/t1/blur.t1.json --device cpu --budget 2evals --rounds 0 --store "$store" --out "$scratch/b.kftune.json"
holds best-config "$scratch/b.kftune.json"
prints output-store store list --store "$store"
prints output-store store show --store "$store"
prints output-store store export --store "$store" --format landscape --out "$scratch/l.json"
holds landscape "$scratch/l.json"
prints output-store store export --store "$store" --format github-benchmark --out "$scratch/g.json"
holds github-benchmark "$scratch/g.json"
prints output-store store import "$scratch/l.json" --store "$scratch/other.db"
cp tests/data/t1/sums.c "$scratch/candidate.c"
prints output-judge judge "$scratch/candidate.c" --problem tests/data/t1/sums.t1.json --device cpu
prints output-landscape landscape --scene tests/data/t1/blur.t1.json --device cpu --configs 2 --shard 0/2 --journal "$scratch/shards"
prints output-store store import "$scratch/shards" --store "$scratch/other.db"
(cd "$scratch" && "$kftune" store check --store other.db --json >check.json) # a shard is missing: status 1
holds output-store "$scratch/check.json"
prints output-store store prune --older-than 1000 --store "$store"
prints output-report report --store "$store" --out "$scratch/r.html"
! command -v gnuplot >/dev/null || prints output-plot plot kernels --store "$store" --out "$scratch/k.svg"
prints output-scene scene ball --picture "$scratch/ball.png"
prints output-scene scene ball --devices cpu,cpu --picture "$scratch/ball.png"
prints output-scene scene column
prints output-scene scene "$scratch/nested.json" --picture none
prints output-plan plan --scene ball --drag-within 60% --grid 32x16x16 --device cpu
prints output-space space --scene ball --device cpu
prints output-predict predict --scene ball --device cpu --top 2
prints output-predict predict --landscape results/landscapes/h200-nbody-6000x1x1.json.gz --top 2
prints output-replay replay --landscape results/landscapes/h200-ball-160x80x80.json.gz --strategy random --evaluations 5 --repeats 2
prints output-validate validate --list
prints output-run run --scene cylinder2d --device cpu:1 --steps 2 --output "$scratch/run"
holds output-run "$scratch/run/run.json"
prints output-run-sweep run --scene ball --grid 32x16x16 --seeds 1,2 --device cpu:1 --fix plan=fused --steps 2 --output "$scratch/sweep"
holds output-run-sweep "$scratch/sweep/sweep.json"
expect 1 compare "$scratch/sweep/seed1" "$scratch/sweep/seed2" --floor 1% --json # neither has settled
holds output-compare "$out"
prints output-doctor doctor
for what in systems scenes strategies metrics devices; do prints output-list list $what; done
echo '{"suite": "s", "benchmarks": [{"name": "a", "command": ["sleep", "0.01"], "warm_up": 0, "repeats": 1}]}' >"$scratch/suite.json"
holds nightly-suite "$scratch/suite.json"
prints output-nightly nightly --suite "$scratch/suite.json" --store "$scratch/n.db" --github "$scratch/n.json"
holds github-benchmark "$scratch/n.json"
prints output-nightly nightly show --store "$scratch/n.db"
prints output-nightly-list nightly list --store "$scratch/n.db"
printf 'time,value\n1,2\n2,2.01\n' >"$scratch/series.csv"
prints output-nightly-import nightly import "$scratch/series.csv"
[ "$(wc -l <"$scratch/checks")" -ge 70 ] || complain "only $(wc -l <"$scratch/checks") files are checked"
"$python" -W ignore tests/e2e/schema-check.py <"$scratch/checks" 2>"$err" || complain "a file and its schema differ"
finish
