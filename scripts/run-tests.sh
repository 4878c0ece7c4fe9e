#!/bin/bash
# Runs test programs one after the other and sums their results. usage: scripts/run-tests.sh BUILD PROGRAM...
# A program is a cmocka program, whose own counts are used, or a script (*.sh), which is one test: exit status 0 is
# a pass, 77 a skip. The last line is 'N passed, N failed, N skipped'; the exit status is 0 only if something ran
# and nothing failed. KFTUNE_TEST_LIMIT: seconds a program may take (default 1200).
set -u

build=$(realpath -m "${1:?usage: scripts/run-tests.sh BUILD PROGRAM...}")
shift
root=$(realpath "$(dirname "$0")/..")
limit=${KFTUNE_TEST_LIMIT:-1200}
passed=0 failed=0 skipped=0
failures=()

# Tests must neither see nor touch the user's own caches and store.
home=$build/test-home
rm -rf "$home"
mkdir -p "$home/cache" "$home/data" "$home/tmp" "$build/test-logs"
export XDG_CACHE_HOME=$home/cache XDG_DATA_HOME=$home/data TMPDIR=$home/tmp
export KFTUNE_DATA=$root KFTUNE=$build/kftune KFTUNE_SHARED=${KFTUNE_SHARED:-$root/../shared}
cd "$root" || exit 3

# cmocka's closing line of one kind, '[  PASSED  ] 4 test(s).', as a number.
count() { sed -n "s/^\[  $1 *\] \(tests: \)\{0,1\}\([0-9][0-9]*\) test(s).*/\2/p" "$2" | tail -n 1; }

# Seconds of processor time of all that has run so far. A subshell would only tell its own.
used_cpu() {
    times >"$home/times"
    cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s += 60 * t[1] + t[2] } printf "%d", s }' "$home/times")
}

run_one() {
    local program=$1 name log status start before
    name=$(basename "$program")
    log=$build/test-logs/$name.log
    echo "== $name"
    start=$SECONDS
    used_cpu
    before=$cpu
    KFTUNE_SCRATCH=$(mktemp -d "$TMPDIR/$name.XXXXXX") timeout -k 10 "$limit" "$program" </dev/null 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    # 77 is the usual way to say "skipped"; 124 and 137 come from timeout.
    case $program in
    *.sh)
        case $status in
        0) passed=$((passed + 1)) ;;
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
        elif [ "$status" -ne 0 ] || [ -z "$p" ]; then
            # It crashed, ran out of time, leaked, or ended before cmocka could count.
            failed=$((failed + 1)) failures+=("$name: ended with status $status")
        fi
        ;;
    esac
    used_cpu
    echo "== $name: status $status, $((SECONDS - start)) s, $((cpu - before)) s of processor time"
    echo
}

for program in "$@"; do
    if [ -x "$program" ]; then
        run_one "$(realpath "$program")"
    else
        echo "== $program: not an executable file"
        failed=$((failed + 1)) failures+=("$program: cannot be run")
    fi
done

for failure in ${failures[@]+"${failures[@]}"}; do echo "FAILED $failure"; done
[ $((passed + failed)) -gt 0 ] || echo "FAILED: no test ran"
used_cpu
echo "$SECONDS s, $cpu s of processor time"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
