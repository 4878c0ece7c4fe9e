#!/bin/bash
# Tests nights of programs that are not kftune's: a solver that prints its time, as text and as JSON, or is timed as a
# whole; T1 kernels; instructions where times are too noisy. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write
# into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
root=$(realpath "$(dirname "$0")/../..")
cd "$scratch" || exit 3
unset GITHUB_SHA CI_COMMIT_SHA
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
night() { # STATUS SUITE STORE ARGUMENTS...
    local expected=$1 suite=$2 store=$3 status
    shift 3
    "$kftune" nightly --suite "$suite" --store "$store" --device cpu:1 --quiet "$@" >out 2>err </dev/null
    status=$?
    [ "$status" -eq "$expected" ] || complain "night of $suite: status $status, expected $expected"
}

# The solver of another team in its own repository. It waits instead of computing, so that a loaded machine does not
# change the result.
mkdir -p team/bin
cat >team/solver.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    usleep(1000 * WAIT_MS);
    clock_gettime(CLOCK_MONOTONIC, &b);
    double ms = 1e3 * (b.tv_sec - a.tv_sec) + 1e-6 * (b.tv_nsec - a.tv_nsec);
    printf("case %s, threads %s\n", argc > 1 ? argv[1] : "", getenv("SOLVER_THREADS"));
    printf("time per step: %.3f ms\n{\"timing\": {\"step\": %.6f}}\n", ms, 1e-3 * ms);
    return argc > 2 ? atoi(argv[2]) : 0;
}
C
build() { cc -O1 -DWAIT_MS="$1" -o team/bin/solver team/solver.c && echo "$1" >team/VERSION; }
commit() { git -C team add -A && git -C team commit -qm "$1"; }
git -C team init -q
cat >team/suite.json <<'JSON'
{"suite": "solver", "benchmarks": [
  {"name": "printed", "kind": "command", "command": ["bin/solver", "cavity"], "environment": {"SOLVER_THREADS": "2"},
   "time": {"printed": "time per step:", "unit": "ms"}, "warm_up": 0, "repeats": 1, "timeout": 20},
  {"name": "json", "command": ["bin/solver", "channel"], "time": {"json": "timing.step", "unit": "s"}, "warm_up": 0, "repeats": 1},
  {"name": "wall", "command": ["./solver"], "folder": "bin", "time": "wall", "warm_up": 1, "repeats": 2}]}
JSON
build 20 && commit first
first=$(git -C team describe --always)
night 0 team/suite.json n.db
has out "3 NODATA"
night 0 team/suite.json n.db
has out "3 SAME"
has out "same code, config and machine as night 1 ($first)"
build 66 && commit slower
night 1 team/suite.json n.db --report n.md --junit n.xml --github n.json
has out "3 SLOW"
has out "$(git -C team describe --always)"
has out "next to night 2 ($first)"
grep -qE 'printed +[0-9.]+ ms +\+[0-9.]+ ms \(\+[0-9.]+ %\)' out || complain "no numbers that a person reads"
has n.md "**SLOW**"
has n.json '"name":	"json"'
python3 -c '
import json
entries = {e["name"]: e for e in json.load(open("n.json"))}
assert all(60000 < entries[n]["value"] < 1e6 and entries[n]["unit"] == "us" for n in ("printed", "json", "wall")), entries
assert all(e["range"].startswith("± ") and "SLOW" in e["extra"] for e in entries.values()), entries' 2>err || complain "the export to github-benchmark is wrong"
if command -v gnuplot >/dev/null; then
    "$kftune" plot history --store n.db --benchmark printed --out history.svg >out 2>err || complain "no history is drawn"
    for text in "$first" "$(git -C team describe --always)" ">SLOW<" "> 0<"; do grep -qF -- "$text" history.svg || complain "the history does not show $text"; done
fi
# A series that ends is reported with the reason, and a missing benchmark by its name. Neither looks like a night
# without a regression.
mkdir series
printf '#!/bin/sh\necho "took: 5 ms"\n' >series/solver && chmod +x series/solver
series() { # NAME ARGUMENT: a suite of one benchmark
    echo '{"suite": "series", "benchmarks": [{"name": "'"$1"'", "kind": "command", "command": ["./solver", "'"$2"'"],
        "time": {"printed": "took:", "unit": "ms"}, "warm_up": 0, "repeats": 1}]}' >series/suite.json
}
series first a && night 0 series/suite.json s.db
series first b && night 0 series/suite.json s.db
has out "because this differs from night 1: the benchmark's 'command', 'environment' or 'time' in the suite"
"$kftune" nightly --suite series/suite.json --store s.db --device cpu:2 --quiet >out 2>err || complain "the third night failed"
has out "this differs from night 2: multiprocessors or threads '1', now '2'"
grep -qF "'command'" out && complain "a command that is the same is said to differ"
series second b && night 0 series/suite.json s.db --report s.md
for file in out s.md; do has $file "Not measured tonight, but in night 3: first."; done
"$kftune" nightly show --store s.db --json >out 2>err
has out '"absent":	["first"]'
"$kftune" nightly show --store s.db --night 3 >out 2>err
grep -qF "Not measured" out && complain "a night that has all is said to lack some"
# The earlier program is the one that ran beside the new one, not another run of the new one.
find n.db.commands -path '*bin/solver' | wc -l | grep -qx 4 || complain "the copies of both solvers are not kept"

# A benchmark that fails, hangs, prints no time or cannot be found fails the night with its reason.
cat >team/bad.json <<'JSON'
{"suite": "bad", "benchmarks": [
  {"name": "fails", "command": ["bin/solver", "x", "3"], "warm_up": 0, "repeats": 1},
  {"name": "hangs", "command": ["sleep", "60"], "timeout": 0.2, "warm_up": 0, "repeats": 1},
  {"name": "silent", "command": ["bin/solver"], "time": {"printed": "seconds:", "unit": "s"}, "warm_up": 0, "repeats": 1},
  {"name": "missing", "command": ["no-such-program-here"], "warm_up": 0, "repeats": 1}]}
JSON
night 1 team/bad.json bad.db
has out "4 WRONG"
has out "ended with status 3"
has out "not done within 0.2 s"
has out "prints no positive number after 'seconds:'"
has out "cannot be started"
echo '{"suite": "s", "benchmarks": [{"name": "a", "command": ["true"], "time": {"unit": "s"}}]}' >wrong.json
night 2 wrong.json bad.db
has err "benchmarks[0].time: must be \"wall\""
# A failed build affects only its benchmark: the night continues, and JUnit is written.
cat >team/built.json <<'JSON'
{"suite": "built", "benchmarks": [
  {"name": "at 50%", "command": ["bin/missing"], "warm_up": 0, "repeats": 1},
  {"name": "there", "command": ["bin/solver"], "warm_up": 0, "repeats": 1}]}
JSON
night 1 team/built.json bad.db --junit built.xml
has out "1 NODATA, 1 WRONG"
has out "missing: No such file"
grep -q '<testcase.*at 50%' built.xml || complain "JUnit is not written when a program is missing"

# Kept files are found by any spelling of their path. The copy is what runs on the next night.
for spelling in '"command": ["./prog"], "keep": ["prog"]' "\"command\": [\"$PWD/kept/prog\"], \"keep\": [\"prog\"]" \
    '"command": ["../kept/./prog"], "keep": ["./prog"]' '"command": ["./linked"], "keep": ["prog"]' \
    '"command": ["sh", "-c", "exec $0", "./prog"], "keep": ["prog"]' '"command": ["env", "P=./prog", "sh", "-c", "exec $P"], "keep": ["."]' \
    '"command": ["sh", "-c", "PATH=$WAY:$PATH exec prog"], "environment": {"WAY": "/nowhere:."}, "keep": ["."]'; do
    rm -rf kept kept.db* && mkdir kept && ln -s prog kept/linked
    echo "{\"suite\": \"kept\", \"benchmarks\": [{\"name\": \"p\", $spelling, \"time\": {\"printed\": \"time:\", \"unit\": \"ms\"}, \"warm_up\": 0, \"repeats\": 1}]}" >kept/suite.json
    prog() { printf '#!/bin/sh\nsleep 0.05\necho "time: %s"\n' "$1" >kept/prog && chmod +x kept/prog; }
    prog 10.0
    night 0 kept/suite.json kept.db
    prog 13.0
    night 1 kept/suite.json kept.db
    grep -q '1 SLOW' out || complain "a slow program passes: $spelling"
    has out "(+30 %)"
done
# With a pin the night fails until the pin moves. The hash is the program's, and JUnit's time is that of its runs.
"$kftune" nightly pin --store kept.db --night 1 >out 2>err || complain "a night cannot be pinned"
night 1 kept/suite.json kept.db --junit kept.xml --json
grep -q '"verdict":[[:space:]]*"DRIFT"' out || complain "a pinned night lets the slow program pass"
python3 - <<'PY' 2>err || complain "JUnit or JSON do not tell of the watched program"
import json, re, subprocess, hashlib
found = json.load(open("out"))["verdicts"][0]
assert re.fullmatch("[0-9a-f]{64}", found["program"]), found
xml = open("kept.xml").read()
assert found["program"] in xml, xml
seconds = float(re.search(r'<testcase[^>]* time="([0-9.]+)"', xml).group(1))
assert seconds >= 0.05, seconds # a run sleeps 0.05 s; what it prints is 0.013 s
PY
# Without named files to keep, any change would pass.
echo '{"suite": "s", "benchmarks": [{"name": "a", "command": ["./prog"], "keep": ["prog", "suite.json"]}]}' >kept/wrong.json
night 2 kept/wrong.json kept.db
has err "names 'suite.json'"
echo '{"suite": "s", "benchmarks": [{"name": "a", "command": ["true"], "keep": ["../kept/prog"]}]}' >kept/wrong.json
night 2 kept/wrong.json kept.db
has err "must lie below the working folder"

# Numbers in the forms that people print are read correctly, or make that benchmark alone WRONG.
mkdir printed
cat >printed/suite.json <<'JSON'
{"suite": "printed", "benchmarks": [
  {"name": "commas", "command": ["echo", "time per step: 1,234.5 ms"], "time": {"printed": "time per step:", "unit": "ms"}, "warm_up": 0, "repeats": 1},
  {"name": "rust", "command": ["echo", "bench: 1,234 ns/iter"], "time": {"printed": "bench:", "unit": "ns", "comma": "thousands"}, "warm_up": 0, "repeats": 1},
  {"name": "colours", "command": ["printf", "time: \\033[32m12.5\\033[0m ms\\n"], "time": {"printed": "time:", "unit": "s"}, "warm_up": 0, "repeats": 1},
  {"name": "negative", "command": ["echo", "time per step: -3 ms"], "time": {"printed": "time per step:", "unit": "ms"}, "warm_up": 0, "repeats": 1},
  {"name": "unclear", "command": ["echo", "time per step: 1,234 ms"], "time": {"printed": "time per step:", "unit": "ms"}, "warm_up": 0, "repeats": 1},
  {"name": "google", "command": ["cat", "google-benchmark.json"], "time": {"json": "benchmarks[name=BM_sort/1024_median].real_time", "unit": "ns"}, "warm_up": 0, "repeats": 1},
  {"name": "nvbench", "command": ["cat", "nvbench.json"],
   "time": {"json": "benchmarks[name=copy].states.1.summaries[tag=nv/cold/time/gpu/mean].data.0.value", "unit": "s"}, "warm_up": 0, "repeats": 1},
  {"name": "hyperfine", "command": ["cp", "hyperfine.json", "written.json"], "time": {"json": "results.0.median", "unit": "s", "file": "written.json"}, "warm_up": 0, "repeats": 2},
  {"name": "pytest", "command": ["cat", "pytest-benchmark.json"], "time": {"json": "benchmarks[name=test_sort[1000]].stats.median", "unit": "s"}, "warm_up": 0, "repeats": 1},
  {"name": "stale", "command": ["true"], "time": {"json": "results.0.median", "unit": "s", "file": "hyperfine-old.json"}, "warm_up": 0, "repeats": 1}]}
JSON
cp "$root"/tests/data/benchmarks/*.json printed/ && cp printed/hyperfine.json printed/hyperfine-old.json
night 1 printed/suite.json printed.db --json
python3 - <<'PY' 2>err || complain "times that other programs tell are not read rightly"
import json
found = {v["benchmark"]: v for v in json.load(open("out"))["verdicts"]}
right = {"commas": 1234500, "rust": 1.234, "colours": 12500, "google": 29.434748358868386, "nvbench": 50.625, "hyperfine": 18759.5828,
         "pytest": 1e6 * json.load(open("printed/pytest-benchmark.json"))["benchmarks"][1]["stats"]["median"]}
for name, us in right.items():
    assert found[name]["verdict"] == "NODATA" and abs(found[name]["time_us"] / us - 1) < 1e-5, found[name]
for name, why in {"negative": "but -3", "unclear": "comma", "stale": "not written by this run"}.items():
    assert found[name]["verdict"] == "WRONG" and why in found[name]["reason"], found[name]
PY

# Times vary by half, and instructions grow by a fifth, which counting them finds.
cat >noisy.c <<'C'
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    static volatile unsigned sum;
    for (unsigned i = 0; i < ROUNDS; i++) sum += i;
    usleep(5000 + (unsigned)getpid() * 7919u % 20000);
    return 0;
}
C
echo '{"suite": "noisy", "benchmarks": [{"name": "noisy", "command": ["./noisy"], "warm_up": 0, "repeats": 1, "instructions": true}]}' >noisy.json
cc -O1 -DROUNDS=1000000u -o noisy noisy.c
night 0 noisy.json noisy.db
cc -O1 -DROUNDS=1200000u -o noisy noisy.c
if command -v valgrind >/dev/null; then
    # Only the first process of a night counts, in a run of its own.
    printf '#!/bin/sh\necho run >>runs\n' >counted && chmod +x counted
    job="{\"build\": \"b\", \"command\": {\"command\": [\"./counted\"], \"folder\": \"$PWD\", \"warm_up\": 0, \"repeats\": 1, \"instructions\": true}}"
    "$kftune" nightly measure --job "$job" --verify >out 2>err || complain "the first process of a night fails"
    has out '"metric":"instructions_'
    [ "$(wc -l <runs)" -eq 2 ] || complain "the first process of a night ran its command $(wc -l <runs) times"
    "$kftune" nightly measure --job "$job" >out 2>err || complain "a later process of a night fails"
    has out '"counters":[]'
    [ "$(wc -l <runs)" -eq 3 ] || complain "a later process of a night did not run its command once"
    night 1 noisy.json noisy.db
    has out "times are too noisy"
    grep -qE '(19|20|2[0-9])[.0-9]* % more instructions than night 1' out || complain "instructions do not tell the planted fifth"
    # Their axis is drawn even without a change point.
    if command -v gnuplot >/dev/null; then
        "$kftune" plot history --store noisy.db --out noisy.svg >out 2>err || complain "no history is drawn of two nights with instructions"
        has noisy.svg "instructions"
    fi
else
    echo "command.sh: no valgrind here: instructions are skipped"
fi

# Two files of another library are compared: slower, the same where a change is excluded, or open.
python3 - "$root/tests/data/benchmarks" <<'PY'
import json, sys
def scaled(value, by):
    if isinstance(value, dict):
        return {k: [x * by for x in v] if k in ("times", "data") and v and isinstance(v[0], float) else v * by if k == "real_time" else scaled(v, by) for k, v in value.items()}
    return [scaled(v, by) for v in value] if isinstance(value, list) else value
for name in ("google-benchmark", "hyperfine", "pytest-benchmark"):
    json.dump(scaled(json.load(open(f"{sys.argv[1]}/{name}.json")), 1.3), open(f"{name}-slow.json", "w"))
json.dump({"results": [{"command": "a", "times": [1 + 1e-4 * (i % 3) for i in range(12)]}, {"command": "gone", "times": [1.0]}]}, open("steady.json", "w"))
json.dump([{"name": "a", "value": 1000 + 0.1 * (i % 4), "unit": "ms"} for i in range(12)], open("list.json", "w"))
PY
compare() { # STATUS OLD NEW WORDS...
    local expected=$1 old=$2 new=$3
    shift 3
    "$kftune" nightly compare "$old" "$new" >out 2>err </dev/null
    [ $? -eq "$expected" ] || complain "compare $old $new does not end with status $expected"
    for words in "$@"; do has out "$words"; done
}
b=$root/tests/data/benchmarks
compare 1 "$b/google-benchmark.json" google-benchmark-slow.json "SLOW       BM_sort/1024 " "29.4 us     38.3 us   +30.00 %"
compare 1 "$b/hyperfine.json" hyperfine-slow.json "SLOW       sleep 0.02 " "+30.00 %"
compare 0 hyperfine-slow.json "$b/hyperfine.json" "FAST       sleep 0.02 "
compare 0 "$b/google-benchmark.json" "$b/google-benchmark.json" "AMBIGUOUS  BM_sort/1024 " "none is excluded"
compare 0 "$b/pytest-benchmark.json" pytest-benchmark-slow.json "AMBIGUOUS  test_x.py::test_sort[100] "
compare 0 "$b/nvbench.json" "$b/nvbench.json" "AMBIGUOUS  copy Device=0 Elements=1048576 " "1 and 1 samples; 5 of each"
compare 0 steady.json list.json "SAME       a " "NODATA     gone" "only in the old file"
compare 2 steady.json "$root/results/measured/h200-roofs.json"
has err "is no file of times"
compare 2 steady.json missing.json

# A benchmark is a kernel of the user's.
echo "{\"suite\": \"kernels\", \"seconds\": 0.05, \"benchmarks\": [{\"name\": \"blur\", \"kind\": \"t1\", \"scene\": \"$root/tests/data/t1/blur.t1.json\"}]}" >kernels.json
night 0 kernels.json kernels.db
has out "1 NODATA"
has out "first night"

finish
