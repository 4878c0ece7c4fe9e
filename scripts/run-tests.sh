#!/bin/bash
# Runs test programs at the same time, then those that need a GPU one by one, and sums their results.
# usage: scripts/run-tests.sh BUILD PROGRAM... [--alone PROGRAM...]
# A program is a cmocka program, whose own counts are used, or a script (*.sh), which is one test: exit status 0 is
# a pass, 77 a skip. What it prints is shown as a whole when it ends, and why it failed once more at the end. The last
# line is 'N passed, N failed, N skipped'; the exit status is 0 only if there were tests and none failed.
# A program whose tests all passed is not run again until something changes that its result can depend on
# (scripts/test-inputs.sh). It is listed and counted separately. Programs that failed, skipped a test or ran alone always run again.
# KFTUNE_TEST_AGAIN=1: all run. KFTUNE_TEST_LIMIT: seconds a program may take (default 900). KFTUNE_TEST_JOBS: how many run
# at a time (default: two more than there are processors, because some wait). KFTUNE_TEST_CACHE: the folder of compiled kernels (default:
# BUILD/test-cache), which is kept.
set -um

build=$(realpath -m "${1:?usage: scripts/run-tests.sh BUILD PROGRAM... [--alone PROGRAM...]}")
shift
root=$(realpath "$(dirname "$0")/..")
limit=${KFTUNE_TEST_LIMIT:-900}
processors=$(nproc)
jobs=${KFTUNE_TEST_JOBS:-$((processors + 2))}
passed=0 failed=0 skipped=0 unchanged=0 unchanged_tests=0
failures=()
kept=()           # "name hash tests" of what passed whole
declare -A works=() # of the programs that run, by process id

# Tests must neither see nor touch the user's own caches and store. The cache of compiled kernels stays from run to
# run: its keys are hashes of source, headers, defines, compiler and flags, so stale entries are never used.
home=$build/test-home
logs=$build/test-logs
records=$build/test-passed
rm -rf "$home"
mkdir -p "$home/tmp" "$logs" "$records"
export XDG_CACHE_HOME=${KFTUNE_TEST_CACHE:-$build/test-cache} TMPDIR=$home/tmp
mkdir -p "$XDG_CACHE_HOME"
export KFTUNE_DATA=$root KFTUNE=$build/kftune KFTUNE_SHARED=${KFTUNE_SHARED:-$root/../shared}
cd "$root" || exit 3
inputs=$("$root/scripts/test-inputs.sh" "$build")
# Interrupted: timeout, the child of each job, ends its program.
trap 'for job in "${!works[@]}"; do pkill -TERM -P "$job"; done; exit 130' INT TERM

# cmocka's closing line of one kind, '[  PASSED  ] 4 test(s).', as a number.
count() { sed -n "s/^\[  $1 *\] \(tests: \)\{0,1\}\([0-9][0-9]*\) test(s).*/\2/p" "$2" | tail -n 1; }

# Seconds of processor time of this shell's children so far. A subshell would only know its own.
used_cpu() { # FILE
    times >"$1"
    cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s += 60 * t[1] + t[2] } printf "%d", s }' "$1")
}

# Runs in a subshell. It leaves log, end (status, seconds, seconds of processor time), scratch and data in the folder WORK.
run_one() { # PROGRAM WORK
    local begin=$SECONDS status
    KFTUNE_SCRATCH=$2/scratch XDG_DATA_HOME=$2/data timeout -k 10 "$limit" "$1" </dev/null >"$2/log" 2>&1
    status=$?
    used_cpu "$2/times"
    echo "$status $((SECONDS - begin)) $cpu" >"$2/end"
}

# Of a program and all its inputs; nothing where they cannot be named.
hash_of() { # PROGRAM
    local line=1
    [ -n "$inputs" ] || return 0
    case $1 in *.sh) line=2 ;; esac
    { sed -n ${line}p <<<"$inputs"; realpath "$1"; cat "$1"; } | sha256sum | cut -c 1-64
}

# Whether it passed with the same inputs; if so it is counted.
is_unchanged() { # PROGRAM HASH
    local name hash='' tests
    name=$(basename "$1")
    [ -z "${KFTUNE_TEST_AGAIN:-}" ] && [ -n "$2" ] && [ -f "$records/$name" ] || return 1
    read -r hash tests <"$records/$name"
    [ "$hash" = "$2" ] || return 1
    echo "== $name: unchanged since it passed"
    unchanged=$((unchanged + 1)) unchanged_tests=$((unchanged_tests + tests))
}

# Records what passed, unless an input was changed while the tests ran.
keep_passes() {
    local one name record
    [ ${#kept[@]} -gt 0 ] && [ "$inputs" = "$("$root/scripts/test-inputs.sh" "$build")" ] || return 0
    for one in "${kept[@]}"; do
        read -r name record <<<"$one"
        echo "$record" >"$records/$name"
    done
}

begin_one() { # PROGRAM HASH
    local program work
    program=$(realpath "$1")
    work=$(mktemp -d "$TMPDIR/$(basename "$1").XXXXXX")
    mkdir "$work/scratch" "$work/data"
    echo "$2" >"$work/hash"
    rm -f "$records/$(basename "$1")"
    run_one "$program" "$work" &
    works[$!]=$work
}

# Waits until a running program ends, prints its output and counts its results.
finish_one() {
    local job work name log hash status=unknown seconds=? cpu=? # when it was killed
    wait -n -p job
    work=${works[$job]} log=${works[$job]}/log
    unset "works[$job]"
    name=$(basename "${work%.*}")
    [ ! -f "$work/end" ] || read -r status seconds cpu <"$work/end"
    read -r hash <"$work/hash"
    echo "== $name"
    cat "$log"
    cp "$log" "$logs/$name.log"
    # 77 is the usual way to say "skipped"; 124 and 137 come from timeout.
    case $name in
    *.sh)
        case $status in
        0)
            passed=$((passed + 1))
            # A script prints a line for each part that it leaves out.
            [ -z "$hash" ] || grep -qi skipped "$log" || kept+=("$name $hash 1")
            ;;
        77) skipped=$((skipped + 1)) ;;
        *) failed=$((failed + 1)) failures+=("$name: status $status") ;;
        esac
        ;;
    *)
        local p f s
        p=$(count PASSED "$log") f=$(count FAILED "$log") s=$(count SKIPPED "$log")
        passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0})) skipped=$((skipped + ${s:-0}))
        if [ "${f:-0}" -gt 0 ]; then
            failures+=("$name: $f")
        elif [ "$status" != 0 ] || [ -z "$p" ]; then
            # It crashed, ran out of time, leaked, or ended before cmocka could count.
            failed=$((failed + 1)) failures+=("$name: ended with status $status")
        elif [ -n "$hash" ] && [ "${s:-0}" = 0 ]; then
            kept+=("$name $hash $p")
        fi
        ;;
    esac
    echo "== $name: status $status, $seconds s, $cpu s of processor time"
    echo
}

finish_until() { # at most so many run
    while [ ${#works[@]} -gt "$1" ]; do finish_one; done
}

alone=
for program in "$@"; do
    if [ "$program" = --alone ]; then
        jobs=1 alone=yes
    elif [ -x "$program" ]; then
        # Programs that run alone depend on a GPU and its driver, which have no hash.
        hash=''
        [ -n "$alone" ] || hash=$(hash_of "$program")
        is_unchanged "$program" "$hash" && continue
        finish_until $((jobs - 1))
        begin_one "$program" "$hash"
    else
        echo "== $program: not an executable file"
        failed=$((failed + 1)) failures+=("$program: cannot be run")
    fi
done
finish_until 0
keep_passes

for failure in ${failures[@]+"${failures[@]}"}; do
    echo "FAILED $failure"
    # The reasons are repeated here, because a program's output may be far above, or cut off.
    log=$logs/${failure%%: *}.log
    [ ! -f "$log" ] || { grep -E '^\[ *(ERROR|  FAILED)|: error:|Error|Failure' "$log" || tail -n 10 "$log"; } | head -n 15 | sed 's/^/    /'
done
[ "$unchanged" -eq 0 ] || echo "$unchanged programs with $unchanged_tests tests are unchanged since they passed, and did not run (KFTUNE_TEST_AGAIN=1: all run)"
[ $((passed + failed + unchanged)) -gt 0 ] || echo "FAILED: no test ran"
used_cpu "$home/times"
echo "$SECONDS s, $cpu s of processor time"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + unchanged)) -gt 0 ]
