#!/bin/bash
# Tests processes under mpirun of which one fails: at a call to its device, without memory, without messages, by a
# kernel that ends it, by Ctrl-C. All end the config, or the run, within 10 s with that process's message. What it was
# measuring is in the store, and --resume continues after it. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write
# into. KFTUNE_TEST_ALL: every call. Skipped where there is no mpirun.
. "$(dirname "$0")/ranks.bash"
skip_without_mpi
make_other_host
program=$(dirname "$kftune")/tests/test_ranks
[ -x "$program" ] || { echo "ranks-fail.sh: skipped, $program is not built"; exit 77; }
all=${KFTUNE_TEST_ALL:-}

ranks() { # RANKS WORD...
    local ranks=$1
    shift
    timeout 600 mpirun -n "$ranks" ${apart:+env LD_PRELOAD="$apart"} "$program" "$@" >ranks.out 2>&1 ||
        fail "$* as $ranks processes: $(grep -E 'rank|kftune' ranks.out | head -n 5)"
}
# Each of many calls fails in each process, with planes read in place, copied, and sent, on one host and on several.
ranks 3 fail kinetic direct
grep -q 'kinetic, direct: [1-9][0-9]* failures' ranks.out || fail "no call failed: $(cat ranks.out)"
ranks 2 fail kinetic copies
ranks 3 fail d2q9 direct
apart=$PWD/other-host.so
ranks 3 fail kinetic host
# The processes are always at different places of their work.
ranks 4 scatter kinetic host "${all:+200}${all:-12}"
apart=
ranks 3 scatter d2q9 direct "${all:+200}${all:-40}"
[ -z "$all" ] || ranks 8 scatter kinetic copies 200

# Messages from foreign processes have no effect on them.
ranks 3 parcels 60
ranks 2 marks

# A process without memory says so, and so do the others.
for number in 1 10 60 ${all:+2 3 5 15 20 30 45 90 120 180}; do
    timeout 300 mpirun -n 3 "$program" memory kinetic direct "$number" >memory.out 2>&1
    status=$?
    [ $status -ne 0 ] && [ $status -ne 124 ] || fail "without memory for allocation $number it ends with $status"
    grep -q 'rank 1 of 3 on .*: out of memory: .* bytes cannot be allocated' memory.out || fail "without memory: $(grep kftune: memory.out)"
done

tune=(tune --scene cavity2d --system d2q9 --grid 32x32x1 --devices cpu:1 --fix plan=pull --fix storage=f32 --effort 0.01 --rounds 0)
results() { # NAME STATE: how many there are
    "$kftune" store show --store "$1.db" --limit 0 --json | grep -cE "\"state\":[[:space:]]*\"$2\""
}

# A process whose messages MPI does not take ends the run. This is the machine's fault, not a config's.
mpicc -O1 -fPIC -shared -w -DKF_FAILING_SHIM -I "$here/../.." -o failing-shim.so "$here/../tools/failing_shim.c" || fail "failing_shim.c cannot be compiled"
for number in 5 25 70 ${all:+1 2 3 10 15 20 30 40 50 60 80}; do
    rm -f lost.db*
    timeout 300 mpirun -n 1 "$kftune" "${tune[@]}" --budget 3evals --store lost.db --out lost.json : \
        -n 1 env KFTUNE_MPI_SHIM="$PWD/failing-shim.so" KFTUNE_TEST_MESSAGE="$number" "$kftune" "${tune[@]}" --budget 3evals --store lost.db --out lost.json \
        >lost.out 2>&1
    status=$?
    [ $status -ne 0 ] && [ $status -ne 124 ] || fail "without messages from number $number on it ends with $status"
    grep -q 'MPI takes no message' lost.out || fail "message $number: it does not say why: $(grep kftune: lost.out)"
done

# A process that never joins the others ends the run, too, although no watchdog runs yet.
cc -O1 -fPIC -shared -o fast-clock.so "$here/fast-clock.c" || fail "fast-clock.c cannot be compiled"
timeout 100 mpirun -n 1 env LD_PRELOAD="$PWD/fast-clock.so" "$kftune" "${tune[@]}" --budget 3evals --store late.db --out late.json : -n 1 sleep 90 >late.out 2>&1
status=$?
[ $status -eq 3 ] || fail "a process that does not begin MPI, and it ends with $status"
grep -q 'do not come together within 180 s' late.out || fail "a process that does not begin MPI: $(grep kftune: late.out)"

# A kernel that ends the second process ends the run. Each continued run gets past one more such config.
cat >ending-compiler <<'END'
#!/bin/sh
for word; do
    case $word in -DKF_LAYOUT=1) set -- "$@" -include "$(dirname "$0")/ends.h"; break ;; esac
done
exec cc "$@"
END
chmod +x ending-compiler
cat >ends.h <<'END'
#include <signal.h>
__attribute__((constructor)) static void end(void) { raise(SIGSEGV); }
END
carry_on() { # OPTION...
    timeout 200 mpirun -n 1 "$kftune" "${tune[@]}" --budget 6evals --store ended.db --out ended.json "$@" : \
        -n 1 env XDG_CACHE_HOME="$PWD/other-cache" KFTUNE_CC="$PWD/ending-compiler" "$kftune" "${tune[@]}" --budget 6evals --store ended.db --out ended.json "$@" \
        >ended.out 2>&1
}
runs=0 before=0
until carry_on ${before:+--resume}; do
    crashed=$(results ended crash)
    [ "$crashed" -gt "$before" ] || fail "run $runs does not get past the config that ends a process: $(grep kftune: ended.out)"
    before=$crashed runs=$((runs + 1))
    [ "$runs" -le 8 ] || fail "$runs runs, and it does not end"
done
[ "$runs" -gt 0 ] || fail "no config ended a process"
"$kftune" store show --store ended.db --limit 0 --json | grep -q 'the run ended while this config was measured' || fail "the store does not say why"
[ "$(results ended ok)" -gt 0 ] || fail "no config was measured"

# After Ctrl-C at any time nothing is lost, and the run can continue.
for pause in 0.4 0.9 1.6; do
    mpirun -n 2 "$kftune" "${tune[@]}" --budget 40evals --seed 3 --store broken.db --out broken.json --resume >broken.out 2>&1 &
    mpirun=$!
    sleep "$pause"
    kill -INT $mpirun
    wait $mpirun
    [ ! -f broken.db ] || "$kftune" store check --store broken.db >check.out 2>&1 || fail "after Ctrl-C the store is not whole: $(cat check.out)"
done
timeout 200 mpirun -n 2 "$kftune" "${tune[@]}" --budget 8evals --seed 3 --store broken.db --out broken.json --resume >broken.out 2>&1 ||
    fail "after Ctrl-C it does not carry on: $(tail -n 3 broken.out)"
[ "$(results broken compile)" -eq 0 ] || fail "Ctrl-C is a compile error in the store"

# A signal to any process, as batch systems send it, ends the tuning of all like Ctrl-C.
mpirun -n 2 "$kftune" "${tune[@]}" --budget 2000evals --store one.db --out one.json >one.out 2>&1 &
mpirun=$!
for ((looks = 0; looks < 600 && $(results one ok 2>/dev/null) == 0; looks++)); do
    kill -0 $mpirun 2>/dev/null || fail "it ended before the signal: $(tail -n 3 one.out)"
    sleep 0.1
done
kill -TERM "$(ps -o pid= --ppid $mpirun | sed -n 2p | tr -d ' ')"
wait $mpirun
[ $? -eq 130 ] || fail "a signal to the second process does not interrupt the tuning: $(tail -n 3 one.out)"
grep -q 'interrupted after' one.out || fail "a signal to the second process: it does not say so"

# A signal from outside is not the fault of a kernel. It ends the first process, and so the run, even where kernels' own
# faults in partial buffers are caught.
mpirun -n 2 "$kftune" tune --scene ball --system kinetic --grid 24x16x24 --devices cpu:1 --fix plan=fused --fix boundary_kernels=0 --fix transfer=copies --effort 0.01 --rounds 0 \
    --budget 200evals --store sent.db --out sent.json >sent.out 2>&1 &
mpirun=$!
for ((looks = 0; looks < 600 && $(results sent ok 2>/dev/null) < 3; looks++)); do
    kill -0 $mpirun 2>/dev/null || fail "it ended before the signal: $(tail -n 3 sent.out)"
    sleep 0.1
done
kill -SEGV "$(ps -o pid= --ppid $mpirun | sed -n 2p | tr -d ' ')"
wait $mpirun
[ $? -eq 139 ] || fail "a SIGSEGV that is sent to a process does not end it: $(tail -n 3 sent.out)"
grep -q 'rank 1 of 2 on .* was killed' sent.out || fail "a SIGSEGV to the second process: it does not say so"
echo "ranks-fail.sh: whatever fails on one, all end with its words, and --resume gets past it"
