#!/bin/bash
# Tests store, replay and plot with a landscape of six configs whose times are known. These numbers must be shown,
# exported, merged, pruned and replayed. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=tests/e2e/preamble.bash
. tests/e2e/preamble.bash
store=$scratch/s.db
compact() { tr -d ' \n\t' <"$out" >"$scratch/compact"; }
holds() { grep -qF -- "$1" "$scratch/compact" || complain "--json does not hold $1"; }
# lines NUMBER PATTERN: exactly this many lines of stdout match.
lines() { [ "$(grep -c -- "$2" "$out")" -eq "$1" ] || complain "not $1 lines like: $2"; }

entry() { printf '"%s,%s": {"x": %s, "y": %s, %s, "timestamp": "2024-03-05 06:07:08"}' "$1" "$2" "$1" "$2" "$3"; }
timed() { printf '"time": %s, "times": [%s], "compile_time": 250' "$1" "$2"; }
{
    printf '{"device_name": "Toy", "kernel_name": "toy", "problem_size": [40, 30], "tune_params_keys": ["x", "y"],'
    printf '"tune_params": {"x": [1, 2, 4], "y": [true, false]}, "objective": "time", "cache": {'
    entry 1 true "$(timed 1 1,1,1)"
    printf ','
    entry 2 true "$(timed 0.9 0.8,1,0.9)"
    printf ','
    entry 4 true "$(timed 0.5 0.5,0.5,0.5)"
    printf ','
    entry 1 false "$(timed 2 2,2,2)"
    printf ','
    entry 2 false '"time": "CompilationFailedConfig"'
    printf ','
    entry 4 false "$(timed 0.51 0.51,0.51,0.51)"
    printf '}}\n'
} >"$scratch/toy.json"

# --- import, list, show
expect 2 store list --store "$store"
[ ! -e "$store" ] || complain "a list made a store"
expect 2 store import --store "$store"
expect 0 store import "$scratch/toy.json" --store "$store"
shows "6 results are run 1 of $store"
expect 0 store import "$scratch/toy.json" --store "$store" --json
compact
holds '"run":2,"results":6'
expect 0 store list --store "$store"
lines 3 .
lines 1 '^ *1  2024-03-05 06:07:08  imported  *toy  *6  *5  *500 us  *-  .*40.*30.* Toy$'
expect 0 store list --store "$store" --json
compact
holds '"results":6,"ok":5,"best_us":500,'
holds '"started":"2024-03-05T06:07:08.000000Z"'
expect 0 store show --run 1 --store "$store"
shows "system toy"
# Configs are sorted by time, those without one at the end. ± is half of the interval in percent of the time.
order=$(awk '/^ *number/ {on = 1; next} on && NF {print $1 ":" $2}' "$out" | tr '\n' ' ')
[ "$order" = "2:ok 5:ok 1:ok 0:ok 3:ok 4:compile " ] || complain "store show orders results as $order"
lines 1 '^ *1  ok  *900 us  *11.11 %'
lines 1 '^ *2  ok  *500 us  *0.00 %'
shows "CompilationFailedConfig"
expect 0 store show --run 1 --limit 2 --store "$store"
shows "and 4 more"
lines 2 '  ok  '
expect 0 store show --run 1 --limit 6 --store "$store"
lines 0 'more'
expect 0 store show --run 1 --limit 0 --store "$store"
lines 5 '  ok  '
expect 0 store show --store "$store" --json
compact
holds '"sequence":2,"role":"import","state":"ok","time_us":500,"ci_us":[500,500],"samples":3'
holds '"time_us":900,"ci_us":[800,1000],"samples":3'
holds '"state":"compile","reason":"CompilationFailedConfig","time_us":null,"ci_us":[]'
holds '"parameters":{"x":4,"y":true}'
grep -q '"run":2,"uuid":"[0-9a-f-]*"' "$scratch/compact" || complain "the newest run is not shown"
uuid=$(sed 's/.*"run":2,"uuid":"\([0-9a-f]*\).*/\1/' "$scratch/compact")
expect 0 store show --run "$uuid" --store "$store"
shows "run 2"
expect 2 store show --run 3 --store "$store"
expect 2 store show --limit x --store "$store"
# An option that an action does not use is refused, not ignored.
expect 2 store list --older-than 5 --store "$store"
says "store list: does not use '--older-than'"
# An action with an output form of its own has no JSON, and says so instead of printing its form under --json.
expect 2 store export --format csv --run 1 --store "$store" --json
says "option '--json': an export to stdout has its own format; give --out FILE, too"
expect 2 store schema --json
says "option '--json': a schema is SQL"
expect 2 completion bash --json
says "option '--json': a completion is a shell's script"
expect 2 store show --format csv --store "$store"
expect 2 store export --limit 2 --format csv --store "$store"
expect 2 store check journal --store "$store"
says "a store is named with --store"
expect 2 plot kernels --evaluations 5 --store "$store" --out "$scratch/k.svg"
says "plot of a run: does not use '--evaluations'"
expect 2 plot scaling --run 1 --out "$scratch/k.svg"
expect 2 plot history --strategy random --out "$scratch/k.svg"
expect 2 nightly list --junit "$scratch/j.xml" --store "$store"
says "nightly list: does not use '--junit'"
expect 2 nightly --reference . --suite quick --store "$store"
says "nightly run: does not use '--reference'"
expect 2 nightly lst --store "$store"
says "there are: run, list, show, pin, compare, import, measure (did you mean 'list'?)"
expect 2 bench --suite step --devices cpu,cpu
says "--devices is for the suite scaling"

# --- export: a file contains what is printed
for format in csv t4 kernel-tuner github-benchmark landscape; do
    expect 0 store export --format $format --run 1 --store "$store"
    cp "$out" "$scratch/printed"
    expect 0 store export --format $format --run 1 --store "$store" --out "$scratch/file" --json
    cmp -s "$scratch/printed" "$scratch/file" || complain "--out differs from stdout for $format"
    compact
    holds "\"format\":\"$format\",\"run\":1,\"out\":\"$scratch/file\""
done
expect 0 store export --format csv --run 1 --store "$store"
awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) column[$i] = i}
    $(column["sequence"]) == "1" && $(column["time_us"]) == 900 && $(column["ci_low_us"]) == 800 && $(column["ci_high_us"]) == 1000 &&
        $(column["q1_us"]) == 850 && $(column["q3_us"]) == 950 && $(column["minimum_us"]) == 800 && $(column["maximum_us"]) == 1000 &&
        $(column["samples"]) == 3 && $(column["compile_s"]) == 0.25 && $(column["x"]) == 2 && $(column["y"]) == "true" {good++}
    $(column["sequence"]) == "4" && $(column["state"]) == "compile" && $(column["time_us"]) == "" && $(column["samples"]) == 0 {good++}
    END {exit !(good == 2 && NR == 7)}' "$out" || complain "the CSV's columns are not the results"
expect 0 store export --format github-benchmark --run 1 --store "$store"
compact
grep -q '"name":"toy/toy/40x30[x1]*/Toy/best","unit":"us","value":500,"range":"±0"' "$scratch/compact" || complain "the best is not 500 us"
expect 2 store export --store "$store"
says csv
expect 2 store export --format cvs --store "$store"
says "'csv'"
expect 2 store export --format junit --store "$store"

# --- merge: what another store has is taken over, once
expect 0 store import "$scratch/toy.json" --store "$scratch/other.db"
expect 0 store import "$scratch/other.db" --store "$store"
shows "1 stores: 1 runs with 6 results are new"
mkdir "$scratch/folder" && cp "$scratch/other.db" "$scratch/folder/a.db"
expect 0 store import "$scratch/toy.json" --store "$scratch/folder/b.db"
expect 0 store import "$scratch/folder" --store "$store" --json
compact
holds '"stores":2,"runs":1,"results":6'
expect 0 store list --store "$store" --json
compact
[ "$(grep -o '"uuid"' "$scratch/compact" | wc -l)" -eq 4 ] || complain "four runs should be there"
mkdir "$scratch/empty"
expect 2 store import "$scratch/empty" --store "$store"
expect 0 store check --store "$store"
expect 2 store lst --store "$store"
says "'list'"
expect 2 store list extra --store "$store"
expect 2 store --store "$store"
expect 0 store schema
shows "CREATE TABLE"

# --- prune
expect 2 store prune --store "$store"
expect 2 store prune --run 1 --older-than 3 --store "$store"
expect 0 store prune --run 1 --store "$store"
shows "6 results"
expect 2 store show --run 1 --store "$store"
expect 0 store prune --older-than 100000 --store "$store" --json
compact
holds '"removed":0'
expect 0 store prune --older-than 1 --store "$store" --json
compact
holds '"removed":18'

# --- replay: with all six configs every search finds the best, 2 % below the second
expect 0 replay --landscape "$scratch/toy.json" --strategy random --evaluations 6 --repeats 4 --seed 7 --json
compact
holds '"landscape":"toy"'
holds '"strategy":"random","evaluations":6,"repeats":4,"seed":7,"configs":6,"correct":5,"optimum":500,"unit":"us"'
holds '"parameters":{"x":4,"y":true}'
holds '"median_over_optimum":1.8,"share_within_5_percent":0.4'
holds '"regret_mean":0,"regret_median":0,"regret_q1":0,"regret_q3":0'
holds '{"regret":0.05,"reached":4,'
holds '{"regret":0.01,"reached":4,'
[ "$(grep -o '{"evaluations":[0-9]*,"mean"' "$scratch/compact" | wc -l)" -eq 6 ] || complain "the curve has not six points"
# In the order of the space, in microseconds: 2000, 1000, one that does not compile, 900, 510, 500. Each of the first
# two took 0.25 s to compile. The third one's time is unknown.
expect 0 replay --landscape "$scratch/toy.json" --strategy enumerate --evaluations 6 --repeats 1 --json
compact
regrets=$(grep -o '"median":[0-9.e-]*' "$scratch/compact" | awk -F: '{printf "%.4f ", $2}')
[ "$regrets" = "3.0000 1.0000 1.0000 0.8000 0.0200 0.0000 " ] || complain "replay finds $regrets"
holds '"within":[{"regret":0.05,"reached":1,"evaluations":5},{"regret":0.01,"reached":1,"evaluations":6}]'
[ "$(grep -o '"seconds":[0-9.]*' "$scratch/compact" | tr '\n' ' ')" = '"seconds":0.25 "seconds":0.5 ' ] || complain "replay counts other seconds"
expect 0 replay --landscape "$scratch/toy.json" --strategy enumerate --evaluations 6 --repeats 1
shows "6 configs, 5 correct, measured on Toy"
lines 1 '^optimum  *500 us: x=4 y=true'
lines 1 '^spread  *the median takes 1.80 times as long; 40.00 % are within 5 %'
marks=$(awk '/^ *evaluations/ {on = 1; next} on && !NF {exit} on {print $1 ":" $2 ":" $4}' "$out" | tr '\n' ' ')
[ "$marks" = "1:300.00:300.00 2:100.00:100.00 5:2.00:2.00 6:0.00:0.00 " ] || complain "the table shows $marks"
lines 1 '^within 5 %: 1 of 1 searches, half of all after 5 evaluations'
lines 1 '^within 1 %: 1 of 1 searches, half of all after 6 evaluations'
expect 2 replay --strategy random
says "--landscape"
expect 2 replay --landscape "$scratch/toy.json" --evaluations 0
expect 2 replay --landscape "$scratch/toy.json" --repeats 0
expect 2 replay --landscape "$scratch/toy.json" --strategy rndom
says "random"

# --- plot: requests that are refused before anything is written
expect 2 plot
expect 2 plot kernles --out "$scratch/k.svg"
says "kernels"
expect 2 plot kernels
says "--out"
expect 2 plot kernels --out "$scratch/k.jpeg"
expect 2 plot kernels --landscape "$scratch/toy.json" --out "$scratch/k.svg"
expect 2 plot history --out "$scratch/k.svg" --store "$store"
expect 2 plot convergence --landscape "$scratch/toy.json" --evaluations 1 --out "$scratch/k.svg"
[ ! -e "$scratch/k.svg" ] || complain "a picture was written by a plot that was refused"
if command -v gnuplot >/dev/null; then
    expect 0 plot convergence --landscape "$scratch/toy.json" --strategy random --strategy enumerate --evaluations 6 --repeats 2 \
        --out "$scratch/c.svg" --json
    compact
    holds '"kind":"convergence","landscape":"toy","strategies":["random","enumerate"]'
    for name in random enumerate; do grep -qF "$name" "$scratch/c.svg" || complain "the picture has no curve of $name"; done
fi
finish
