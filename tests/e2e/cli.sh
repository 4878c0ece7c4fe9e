#!/bin/bash
# Tests the command line's contract: help with an example, suggestions, exit statuses, stdout for results only. KFTUNE:
# the program; KFTUNE_SCRATCH: a folder to write into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"

# Expects an error: one line on stderr with TEXT, and nothing on stdout.
says() {
    grep -qF -- "$1" "$err" || complain "stderr does not say: $1"
    [ "$(grep -n '^kftune: ' "$err" | cut -d: -f1)" = "$(wc -l <"$err")" ] || complain "an error should be one line, the last"
    [ ! -s "$out" ] || complain "an error should leave stdout empty"
}

expect 0 --version
grep -q '^kftune [0-9]' "$out" || complain "--version prints no version"
expect 0 --help
[ ! -s "$err" ] || complain "--help writes to stderr"

# The commands are exactly those that --help lists. Those of the contract must be among them.
commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' "$out")
for command in tune run scene space predict validate bench roofs replay nightly store plot report doctor list demo completion; do
    grep -qx "$command" <<<"$commands" || complain "--help does not list $command"
done
for command in $commands; do
    expect 0 "$command" --help
    grep -q "kftune $command" "$out" || complain "$command --help has no synopsis"
    sed -n '/^Example/,$p' "$out" | grep -q 'kftune ' || complain "$command --help has no example"
    cp "$out" "$scratch/help"
    expect 0 help "$command"
    cmp -s "$out" "$scratch/help" || complain "help $command and $command --help differ"
done

expect 2
expect 2 tnue --scene ahmed
says "tune"
expect 2 xyzzy
says "--help"
expect 2 tune --scnee ahmed
says "--scene"
expect 2 --scene ahmed --budjet 60s
says "--budget"
expect 2 tune --scene
says "--scene"
expect 2 run
says "--config"
expect 2 run --config "$scratch/missing.kftune.json"
says "missing.kftune.json"
expect 2 tune --scene "$scratch/missing.obj"
says "missing.obj"
expect 2 tune --scene ahmed --grid 96x48x
says "--grid"
# An argument in the wrong place is named by its kind.
expect 2 scene "$scratch"
says "is a folder"
echo '{"domain": {"cells": [8, 8, 8]}}' >"$scratch/flow.json"
expect 2 run --config "$scratch/flow.json"
says "a scene is run with --scene"
touch "$scratch/flow.obj"
expect 2 run --config "$scratch/flow.obj"
says "is a mesh; run it with --scene"
expect 2 nightly --suite nosuch --store "$scratch/nights.db"
says "'quick' is a shipped one"
# Metrics that need counters cannot lead a search, because only the best configs are counted.
expect 2 tune --scene cavity2d --grid 32x32x1 --device cpu:1 --budget 1evals --store "$scratch/counted.db" --counters instructions --metric 'work=instructions/1e6' --objective work
says "'work' needs hardware counters"
# Numbers are decimal wherever one is read. A limit on open files is reported by its name.
for words in "--slice y=0x1" "--range 0x0:0x2" "--range speed=0:0x2" "--picture surface --camera 0x10,20" "--time 0x2s" "--steps 0x10" "--every 0x2"; do
    # shellcheck disable=SC2086 # words
    expect 2 run --scene ball --device cpu --output "$scratch/hex" $words
done
for words in "--speed 0x10" "--length 0x1p1m" "--cells 0x10" "--yaw infinity"; do
    # shellcheck disable=SC2086 # words
    expect 2 scene "$KFTUNE_DATA/tests/data/cases/one-slash.obj" --up z --wind +x $words
    says "is not a number"
done
# The needs of a large scene are reported before the scene is built, or the scene is only counted, which takes no time.
sed 's/"spacing": 1/"spacing": 0.1/' "$KFTUNE_DATA/scene/library/pool.json" >"$scratch/pool.json"
sed -e 's/\[96, 48, 48\]/[960, 480, 480]/' "$KFTUNE_DATA/scene/library/ball.json" >"$scratch/fine.json"
sed 's/"solid": {"shape": "ball", "radius": 0.05/"solid": {"boundary": "links", "shape": "ball", "radius": 0.15/' "$scratch/fine.json" >"$scratch/linked.json"
for words in "ball --grid 1290x1290x1290" "ball --samples-per-cell 1000" "$scratch/fine.json" "$scratch/pool.json" "$scratch/linked.json"; do
    rm -f "$scratch/large.png"
    # shellcheck disable=SC2086 # words
    "$kftune" scene $words --picture "$scratch/large.png" >"$out" 2>"$err" &
    large=$!
    while kill -0 $large 2>/dev/null && ! grep -q 'minutes$' "$err"; do sleep 0.05; done
    kill -INT $large 2>/dev/null && kill -INT $large 2>/dev/null
    wait $large
    [ "$words" != "$scratch/linked.json" ] || grep -q 'which this command does not cut$' "$err" || complain "scene $words cuts the links"
    grep -qE 'which this command does not (place|cut)$' "$err" && continue
    grep -q 'may take minutes$' "$err" || complain "scene $words does not say what it needs"
    [ ! -s "$scratch/large.png" ] || complain "scene $words says what it needs only afterwards"
done
for limit in -n -Sn; do # also where a process might raise it
    (ulimit $limit 12 && "$kftune" list systems) >"$out" 2>"$err"
    [ $? -eq 3 ] || complain "12 open files should be too few"
    says "may open 12 files here, and kftune needs at least 32: ulimit -n"
done

for option in "store export --out -" "tune --scene ball --out -" "run --scene ball --output=-" "report --out -" "nightly --suite - --store x.db" "scene ball --picture -"; do
    expect 2 $option
    says "'-' stands for no stream"
done
expect 2 tune --scene ahmed --budget soon
says "--budget"
expect 2 tune --scene ahmed --device cudda
says "cudda"
expect 0 predict --scene ahmed
grep -q 'predicted' "$out" || complain "predict prints no predictions"
expect 0 predict --landscape results/landscapes/h200-ball-160x80x80.json.gz --top 1
grep -q '^rank correlation 0' "$out" || complain "predict --landscape does not compare"

# A wrong value is refused before any file is read, because a mesh may take a minute. The files of each command do not
# exist. Values that name a file, an item of a list, or a text of the user's are checked later.
reading() {
    case $1 in
        scene) echo scene "$scratch/none.obj" ;;
        judge) echo judge "$scratch/none.cu" --problem "$scratch/none.t1.json" ;;
        bench) echo bench --suite "$scratch/none.json" ;;
        replay) echo replay --landscape "$scratch/none.json" --strategy random ;;
        plot) echo plot convergence --landscape "$scratch/none.json" --strategy random --out "$scratch/none.svg" ;;
        compare) echo compare "$scratch/none-1" "$scratch/none-2" ;;
        validate) echo validate --case none ;;
        store) echo store show --store "$scratch/none.db" ;;
        nightly) echo nightly compare --suite "$scratch/none.json" --reference . --benchmark none ;;
        roofs | report) echo "$1" --store "$scratch/none/none.db" ;;
        demo) echo demo --output "$scratch/none/demo" ;;
        *) echo "$1" --scene "$scratch/none.obj" ;;
    esac
}
checked=0
for command in $commands; do
    "$kftune" "$command" --help | grep -oE '^ +--[a-z-]+ [^ ]+' >"$scratch/values"
    while read -r option value; do
        case $value in FILE* | NAME | "NAME|FILE" | DIR | FOLDER | ID | TEXT | COMMIT | SET) continue ;; esac
        for wrong in 1z:e3 =; do
            # shellcheck disable=SC2046 # words
            expect 2 $(reading "$command") "$option" "$wrong"
            checked=$((checked + 1))
            grep -qE -- "^kftune: .*($option|device \"$wrong\")" "$err" || complain "$command refuses $option $wrong late: $(tail -1 "$err")"
        done
    done <"$scratch/values"
done
[ $checked -gt 200 ] || complain "only $checked wrong values were tried"
for words in "--steps 1e3" "--flow-throughs abc" "--grid 10x" "--speed 20,abc" "--yaw 0:9:z" "--yaw 0,400" "--grids 24,1e9" "--seeds 1,x" "--speed 20,30 --length 3q"; do
    # shellcheck disable=SC2086 # words
    expect 2 run --scene "$scratch/none.obj" $words
    grep -q "^kftune: option '--" "$err" || complain "run refuses $words late: $(tail -1 "$err")"
done

for what in systems scenes strategies devices; do
    expect 0 list "$what"
    [ -s "$out" ] || complain "list $what prints nothing"
done
expect 0 validate --list
[ -s "$out" ] || complain "validate --list prints nothing"
expect 0 validate --list --json
grep -q '"cases"' "$out" && grep -q '"name":[[:space:]]*"poiseuille' "$out" || complain "validate --list --json lists no cases"
for command in space predict tune bench; do
    expect 2 $command --scene ball --samples-per-cell 0.5
    expect 2 $command --scene ball --samples-per-cell 1001
done
expect 0 list scenes
grep -q ahmed "$out" || complain "list scenes does not know ahmed"
expect 2 list scense
says "scenes"

# Wherever JSON describes the device, it is the same object.
for command in "doctor" "space --scene ball --device cpu" "predict --scene ball --device cpu"; do
    # shellcheck disable=SC2086
    expect 0 $command --json
    tr -d ' \n\t' <"$out" | grep -q '"device":{"name":"[^"]*","backend":"[^"]*","spec":' || complain "$command --json: device is no object"
done

expect 0 doctor
grep -q cpu "$out" || complain "doctor does not speak of the cpu"

# Of three imported series two became slower, and both are counted.
awk 'BEGIN { print "machine,time,value"; for (i = 0; i < 40; i++) for (m = 0; m < 3; m++) print "m" m "," i "," (m && i > 34 ? 110 : 100) + i % 3 / 10 }' >"$scratch/series.csv"
expect 1 nightly import "$scratch/series.csv"
grep -qF '2 of 3 series became slower' "$err" || complain "two of three slower series are counted as: $(cat "$err")"

# A full disk must not look like success.
if [ -w /dev/full ]; then
    "$kftune" --help >/dev/full 2>"$err"
    [ $? -eq 3 ] || complain "--help into a full disk should have status 3"
fi

finish
