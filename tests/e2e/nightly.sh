#!/bin/bash
# Tests nights from the command line on the cpu: the shipped suite, a planted regression, bisecting it, the report.
# KFTUNE: the program, with tests/nightly_trials beside it; KFTUNE_SCRATCH: a folder to write into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
trials=$(dirname "$kftune")/tests/nightly_trials # kftune with planted regressions
data=$(realpath "${KFTUNE_DATA:-$(dirname "$kftune")}")
# shellcheck source=tests/e2e/quick-compiler.bash
. "$(dirname "$0")/quick-compiler.bash"
cd "$scratch" || exit 3

run() { # EXPECTED_STATUS ARGUMENTS...
    local expected=$1 status
    shift
    "$program" "$@" >"$out" 2>"$err" </dev/null
    status=$?
    [ "$status" -eq "$expected" ] || complain "'kftune $*': status $status, expected $expected"
}
program=$kftune

# One thread is disturbed least by other work on the machine.
run 0 nightly --suite quick --device cpu:1 --store shipped.db --quiet
has "$out" "3 NODATA"
has "$out" "first night"

echo '{"suite": "small", "seconds": 0.05, "device": "cpu:1", "benchmarks": [{"name": "ball", "scene": "ball",
    "grid": [16, 12, 12], "samples_per_cell": 2}]}' >plain.json
# A data folder plants a busy loop in each step, several times as long as the step, so that no noise hides it.
plant() { # FOLDER ROUNDS
    mkdir -p "$1/scene"
    cp -rL "$data/kernels" "$1/kernels"
    ln -sfn "$data"/{variants,metrics} "$1/"
    ln -sfn "$data/scene/library" "$1/scene/library"
    echo "$2" >"$1/kernels/planted"
}
plant slow 2000000
program=$trials
run 0 nightly --suite plain.json --store n.db --label v1 --quiet
run 0 nightly --suite plain.json --store n.db --label v1 --quiet
has "$out" "1 SAME"
has "$out" "same code, config and machine as night 1"
run 0 nightly pin --store n.db --night 1
KFTUNE_DATA=$scratch/slow run 1 nightly --suite plain.json --store n.db --label bad --junit n.xml --report n.md --quiet
has "$out" "1 SLOW"
has "$out" "kernel planted_busy_loop"
has "$err" "1 of 1 benchmarks failed in this night"
has n.xml '<failure message="SLOW'
has n.xml 'failures="1"'
has n.md "**SLOW**"
run 0 nightly list --store n.db
has "$out" "1 SLOW"
run 0 nightly show --store n.db --night 3 --json
has "$out" '"verdict":	"SLOW"'
run 0 plot history --store n.db --out history.svg
run 0 report --store n.db --out report.html
has report.html "planted_busy_loop"
grep -q '<script\|https\?://' report.html && complain "the report refers to something else"
if command -v chromium >/dev/null; then
    chromium --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/chromium" --screenshot="$scratch/report.png" \
        --window-size=390,1200 "file://$scratch/report.html" >"$scratch/chromium.log" 2>&1
    [ -s report.png ] || complain "chromium cannot show the report"
    chromium --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/chromium" --dump-dom \
        "file://$scratch/report.html" >dom.html 2>>"$scratch/chromium.log"
    has dom.html 'class="v SLOW"'
fi

program=$kftune

# Bad input gives status 2 and one line, and leaves the store unchanged.
before=$(cksum <n.db)
run 2 nightly --suite missing.json --store n.db
run 2 nightly --store n.db
run 2 nightly show --store n.db --night 99
run 2 nightly compere --store n.db
has "$err" "did you mean 'compare'"
echo '{"suite": "s", "benchmarks": [{"name": "a", "scene": "ball", "colour": 1}]}' >bad.json
run 2 nightly --suite bad.json --store n.db
[ "$before" = "$(cksum <n.db)" ] || complain "bad input changed the store"

echo '{"suite": "s", "benchmarks": [{"name": "a", "scene": "no-such-scene"}]}' >bad.json
run 2 nightly --suite bad.json --store other.db
has "$err" "nothing could be measured"

# Bisecting: each commit's program plants the number in its file. The third of five commits made it slow, and the fourth
# cannot be built.
if command -v git >/dev/null; then
    git init -q repository
    cat >repository/build.sh <<'BUILD'
[ ! -f broken ] || exit 1
mkdir -p build
cp -r "$DATA"/* .
cp planted kernels/planted
ln -sf "$PROGRAM" build/kftune
BUILD
    printf 'build\nkernels\nvariants\nmetrics\nscene\n' >repository/.gitignore
    commit() {
        echo "$1" >repository/planted
        git -C repository add -A
        git -C repository -c user.name=test -c user.email=test@example.org commit -q --allow-empty -m "$2"
    }
    commit 0 "Begin"
    commit 1 "Change nothing"
    commit 2000000 "Make it slow"
    touch repository/broken
    commit 2000000 "Break the build"
    rm repository/broken
    commit 2000000 "Mend the build"
    plant plain 0
    export PROGRAM=$trials DATA=$scratch/plain KFTUNE=$kftune SUITE=$scratch/plain.json STORE=$scratch/bisect.db
    mkdir good
    (cd good && echo 0 >planted && sh ../repository/build.sh)
    run 0 nightly compare --suite plain.json --store bisect.db --reference good --candidate good
    has "$out" "same: program and data files"
    # Other files are measured. The change to be found is a half, so that other work on the machine is not mistaken for
    # it.
    cp -r good alike
    echo 1 >alike/kernels/planted
    run 0 nightly compare --suite plain.json --store bisect.db --reference good --candidate alike --change 50 --json
    has "$out" '"identical":	false'
    has "$out" '"finding":	"same"'
    run 2 nightly compare --suite plain.json --store bisect.db --reference nowhere --candidate good
    (cd repository && git bisect start HEAD HEAD~4 && git bisect run sh -c 'sh build.sh || exit 125
        "$KFTUNE" nightly compare --suite "$SUITE" --store "$STORE" --reference ../good --change 50
        status=$?; [ $status -le 1 ] || status=125; exit $status') >"$out" 2>"$err" </dev/null
    has "$out" "is the first bad commit"
    has "$out" "Make it slow"
    has "$out" "slower: "
fi

# The files in ci/ that a user copies are tested with this program and this folder, as far as possible without their
# services. The jobs that they start are started, and the files that they read are read.
ci=$data/ci
if [ -d "$ci" ]; then
    # The program is put in last, because its own path may end in build/kftune.
    here() { sed -e "s|/usr/local/bin/kftune|@kftune@|; s|build/kftune|@kftune@|; s|--suite [^ ]*|--suite $scratch/plain.json|; s|%h|$scratch|g; s|@kftune@|$kftune|g"; }
    example() { # NAME COMMAND
        [ -n "$2" ] || complain "ci/$1 has nothing to run"
        HOME=$scratch GITHUB_SHA=abc CI_COMMIT_SHORT_SHA=abd GITHUB_STEP_SUMMARY=$scratch/summary.md bash -c "$2" >"$out" 2>"$err" </dev/null || complain "ci/$1 fails: $2"
    }
    example kftune-nightly.service "$(sed -n 's/^ExecStart=//p' "$ci/kftune-nightly.service" | here)"
    mkdir -p solver
    example crontab "$(sed -n '/^[0-9]/s/^\([^ ]* \)\{5\}//p' "$ci/crontab" | here)"
    [ -s "$out" ] && complain "the cron line is not silent"
    example github.yml "$(awk '/run: \|/ { inside = 1; next } inside && /^      - / { exit } inside' "$ci/github.yml" | here)"
    has summary.md "# Night 3 of small"
    grep -q '<testsuites' night.xml || complain "the CI job wrote no JUnit file"
    grep -q '"unit":' night.json || complain "the CI job wrote no times"
    rm night.xml
    example gitlab.yml "$(sed -n '/^    - .*kftune nightly/s/^    - //p' "$ci/gitlab.yml" | here)"
    grep -q '<testsuites' night.xml || complain "GitLab's job wrote no JUnit file"
    # srun comes with a cluster. The job that it would start is started here.
    srun() { shift && "$@"; }
    export -f srun
    example slurm.sh "$(here <"$ci/slurm.sh")"
    [ -s "$out" ] && complain "the Slurm job is not silent"
    bash -n "$ci/slurm.sh" || complain "ci/slurm.sh is no script"
    # This is the suite that they name, with programs that print known times. Without the suite cron mails the one line.
    mkdir -p solver/build solver/cases && cp "$ci/nightly.json" solver/ && echo case >solver/cases/cavity.inp
    printf '#!/bin/sh\necho "time per step: 12.5 ms"\n' >solver/build/solver
    printf '#!/bin/sh\ncat <<E\n{"benchmarks": [{"name": "BM_sort/1024", "real_time": 29.5, "time_unit": "us"}]}\nE\n' >solver/build/bench
    chmod +x solver/build/*
    "$kftune" nightly --suite solver/nightly.json --store ours.db --device cpu:1 --quiet >"$out" 2>"$err" || complain "ci/nightly.json"
    has "$out" "12.5 ms"
    has "$out" "29.5 us"
    for line in "$(sed -n '/^[0-9]/s/^\([^ ]* \)\{5\}//p' "$ci/crontab" | sed "s|/usr/local/bin/kftune|$kftune|; s|nightly.json|gone.json|")"; do
        HOME=$scratch bash -c "$line" >"$out" 2>"$err" </dev/null
        [ ! -s "$out" ] || complain "the cron line shows an old report where there was no night"
        has "$err" "gone.json"
    done
    grep -qi '^Nice=-' "$ci/kftune-nightly.service" && complain "a user's service cannot be made more important"
    if command -v systemd-analyze >/dev/null; then
        here <"$ci/kftune-nightly.service" >kftune-nightly.service
        cp "$ci/kftune-nightly.timer" .
        XDG_RUNTIME_DIR=$scratch systemd-analyze verify --user ./kftune-nightly.timer >"$out" 2>"$err" || complain "systemd does not take the timer"
    fi
    if command -v python3 >/dev/null && python3 -c 'import yaml' 2>/dev/null; then
        python3 -c 'import sys, yaml
assert yaml.safe_load(open(sys.argv[1]))["jobs"]["nightly"]["steps"]
assert yaml.safe_load(open(sys.argv[2]))["nightly"]["script"]' "$ci/github.yml" "$ci/gitlab.yml" || complain "a CI file is no YAML"
    fi
fi

finish
