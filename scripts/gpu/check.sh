#!/bin/bash
# The tests that need a GPU, from a bundle or a built source tree; builds nothing; at most two minutes.
# usage: scripts/gpu/check.sh FOLDER [DEVICE]     (DEVICE cpu: the same programs there; those that need a GPU skip)
# Leaves in FOLDER: check.md (a table; results/measured/h200-check.md is one) and check.log (all that the tests printed).
# Status 1 when a test fails, is not built, runs out of time, or is skipped although DEVICE is a GPU.
set -u
folder=${1:?usage: scripts/gpu/check.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
budget=115 # seconds; checks have the rest when they begin
. "$(dirname "$0")/program.sh"
export KFTUNE_TEST_DEVICE=$device
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Separate caches and stores, because the kernels must be compiled here.
check() { # PROGRAM
    local program='' candidate begin=$SECONDS
    for candidate in "$(dirname "$kftune")/tests/$1" "tests/unit/$1" "build/tests/$1"; do
        [ -x "$candidate" ] && program=$candidate && break
    done
    mkdir -p "$work/$1"
    if [ -z "$program" ]; then
        echo "$1 is not built: 'make tests' builds it" >"$work/$1.log"
        echo "127 0" >"$work/$1.end"
        return
    fi
    XDG_CACHE_HOME=$work/$1 XDG_DATA_HOME=$work/$1 TMPDIR=$work/$1 KFTUNE_SCRATCH=$work/$1 \
        timeout -k 5 $((begin < budget ? budget - begin : 1)) "$program" </dev/null >"$work/$1.log" 2>&1
    echo "$? $((SECONDS - begin))" >"$work/$1.end"
}

# Counters run first and alone, because they count all work of the device. test_d2q9 mostly compiles, so it runs with the others.
check test_cupti_gpu
check test_d2q9 &
check test_backend_gpu
check test_backend_gpu_graphs
check test_worker
wait

programs='test_backend_gpu test_backend_gpu_graphs test_worker test_cupti_gpu test_d2q9'
what() {
    case $1 in
    test_backend_gpu) echo "the cuda backend: launches, large copies, too little memory, an illegal address" ;;
    test_backend_gpu_graphs) echo "the cuda backend: events, graphs, lanes" ;;
    test_worker) echo "planted faults, each measured between good configs: wrong, NaN, out of bounds, illegal address, endless, too much shared memory, leaks, crashes" ;;
    test_cupti_gpu) echo "counters against arithmetic: axpy, copy, strides 1 to 32, half warps" ;;
    test_d2q9) echo "every plan of d2q9 against the reference" ;;
    esac
}
named() { # KIND PROGRAM: its tests that ended so: OK, FAILED, SKIPPED
    sed -n "s/^\[ *$1 *\] \([a-z][a-z0-9_]*\)\$/\1/p" "$work/$2.log" | sort -u
}
bad=0 skips=0
{
    echo "# The tests that need a GPU"
    echo
    echo "\`make check-gpu\` ($("$kftune" --version | head -n 1)) on $("$kftune" list devices | sed -n "s/^$device *//p"), $(date -u +%F)."
    echo
    echo "| program | what it tests | passed | failed | skipped | seconds |"
    echo "| --- | --- | ---: | ---: | ---: | ---: |"
    for program in $programs; do
        read -r status seconds <"$work/$program.end"
        passed=$(named OK "$program" | wc -l) skipped=$(named SKIPPED "$program" | wc -l)
        failed=$(named FAILED "$program" | wc -l)
        skips=$((skips + skipped)) note=''
        case $status in
        124 | 137) note=', **out of time**' ;;
        127) note=', **not built**' ;;
        0) ;;
        *) [ "$failed" -gt 0 ] || note=", **status $status**" ;;
        esac
        [ "$status" = 0 ] && { [ "$skipped" = 0 ] || [ "${device#cuda}" = "$device" ]; } || bad=1
        echo "| \`$program\` | $(what "$program") | $passed | $failed$note | $skipped | $seconds |"
    done
    echo
    for program in $programs; do
        echo "\`$program\`: $({
            named OK "$program"
            named FAILED "$program" | sed 's/.*/**& failed**/'
            named SKIPPED "$program" | sed 's/$/ (skipped)/'
        } | paste -sd, - | sed 's/,/, /g')."
        echo
    done
    case $bad,$skips in
    0,0) echo "All passed, in $SECONDS s." ;;
    0,*) echo "None failed, $skips were skipped, in $SECONDS s." ;;
    *) echo "**Not all passed**, in $SECONDS s." ;;
    esac
} >"$folder/check.md"
for program in $programs; do
    echo "== $program"
    cat "$work/$program.log"
done >"$folder/check.log"
sed -n '/^| program/,/^$/p; $p' "$folder/check.md"
grep -hE '^\[ *(ERROR|FAILED|LINE) *\]|^ERROR' "$folder/check.log" | sort -u | head -n 30
exit $bad
