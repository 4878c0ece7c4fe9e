#!/bin/bash
# Tests tuning by several processes under mpirun. The first one leads, and only it stores the results. The best config
# runs on all processes and gives one device's files. A compiler that fails on one of them fails the config without a
# wait. A process that stops or does not end ends all, and --resume continues. KFTUNE: the program; KFTUNE_SCRATCH: a
# folder to write into. Skipped where there is no mpirun.
. "$(dirname "$0")/ranks.bash"
skip_without_mpi
make_other_host

mpi_tune() { # RANKS NAME SCENE OPTION...: NAME.json and NAME.db
    local ranks=$1 name=$2 scene=$3
    shift 3
    timeout 240 mpirun -n "$ranks" ${apart:+env LD_PRELOAD="$apart"} "$kftune" tune --scene "$scene" --devices "${devices:-cpu:1}" --effort 0.01 --rounds 1 \
        --store "$name.db" --out "$name.json" "$@" >"$name.out" 2>&1
}
states() { # NAME: how many results of the search there are of each state
    "$kftune" store show --store "$1.db" --limit 0 --json | grep -oE '"state":[[:space:]]*"[a-z_]+"' | sort | uniq -c
}
one_run() { # NAME
    [ "$("$kftune" store list --store "$1.db" --json | grep -c '"uuid"')" -eq 1 ] || fail "$1: not one run is in the store"
    [ "$(grep -c '^best ' "$1.out")" -eq 1 ] || fail "$1: the best is not said once: $(cat "$1.out")"
}

# On one host planes are read in place. The space's own presets baseline and paper run in one process and are invalid
# here.
mpi_tune 2 pair ball --grid 40x24x24 --budget 5evals || fail "two processes: $(tail -n 3 pair.out)"
one_run pair
grep -q '2 x ' pair.out || fail "it does not say that two devices were tuned"
mpi 2 pair pair-two --devices cpu:1 --steps 10 --every 10 --picture none
run pair pair-one --device cpu:1 --steps 10 --every 10 --picture none
same pair-one pair-two 000010

# In two dimensions there are three processes that report different hosts.
apart=$PWD/other-host.so
mpi_tune 3 flat cylinder2d --grid 64x32x1 --system d2q9 --budget 7evals || fail "three hosts: $(tail -n 3 flat.out)"
one_run flat
mpi 3 flat flat-three --devices cpu:1 --steps 10 --every 10 --picture none
apart=
run flat flat-one --device cpu:1 --steps 10 --every 10 --picture none
same flat-one flat-three 000010

# The second process's compiler fails for one layout. Its configs end as compile errors of both, and the others are
# measured.
cat >failing-compiler <<'END'
#!/bin/sh
for word; do
    [ "$word" = -DKF_LAYOUT=1 ] && { echo "kernel.c:1: error: not with this compiler" >&2; exit 1; }
done
exec cc "$@"
END
chmod +x failing-compiler
options=(tune --scene cavity2d --system d2q9 --grid 32x32x1 --devices cpu:1 --fix plan=pull --fix layout=soa,csoa --fix storage=f32 --budget 8evals
    --effort 0.01 --rounds 1 --store half.db --out half.json)
timeout 240 mpirun -n 1 "$kftune" "${options[@]}" : -n 1 env XDG_CACHE_HOME="$PWD/other-cache" KFTUNE_CC="$PWD/failing-compiler" "$kftune" "${options[@]}" \
    >half.out 2>&1 || fail "a compiler that fails on one: $(tail -n 3 half.out)"
states half | grep -q compile || fail "no config ended as one that does not compile: $(states half)"
states half | grep -q ok || fail "none was measured: $(states half)"
"$kftune" store show --store half.db --limit 0 --json | grep -q 'rank 1 of 2 on .*not with this compiler' ||
    fail "it does not say on whom: $("$kftune" store show --store half.db --limit 0 | tail -n 5)"

# What only a single process can do is refused, once.
for option in '--share search' '--counters basic' --take-turns '--objective energy'; do
    # shellcheck disable=SC2086
    devices=cpu:1,cpu:1 mpi_tune 2 refused ball --grid 40x24x24 $option && fail "$option is not refused"
    [ "$(grep -c "kftune: .*option '${option%% *}'" refused.out)" -eq 1 ] || fail "$option: $(cat refused.out)"
done
mpi_tune 2 refused ball --grid 40x24x24 --fix nothing=1 --budget 3evals && fail "an unknown parameter is not refused"
[ "$(grep -c 'kftune: ' refused.out)" -eq 1 ] || fail "an unknown parameter: $(cat refused.out)"

# One process is stopped. All end with a line, and the run continues from the store.
mpirun -n 2 "$kftune" tune --scene ball --grid 40x24x24 --devices cpu:1 --effort 0.01 --rounds 1 --budget 9evals --seed 5 --store stopped.db --out stopped.json \
    --verbose >stopped.out 2>&1 &
mpirun=$!
until grep -q 'preset:paper' stopped.out; do
    kill -0 $mpirun 2>/dev/null || fail "before it was stopped: $(tail -n 3 stopped.out)"
    sleep 0.1
done
rank=$(ps -o pid= --ppid $mpirun | sed -n 2p | tr -d ' ')
kill -STOP "$rank"
wait $mpirun && fail "one is stopped, and mpirun ends with 0"
grep -q "process $rank) is stopped; the run ends here: what was measured is in the store, and the same command with --resume continues" stopped.out ||
    fail "one is stopped: $(tail -n 5 stopped.out)"
mpi_tune 2 stopped ball --grid 40x24x24 --budget 9evals --seed 5 --resume || fail "it does not carry on: $(tail -n 3 stopped.out)"
grep -q 'continuing run .* with [3-9] configs measured' stopped.out || fail "it begins anew: $(head -n 5 stopped.out)"

program=$(dirname "$kftune")/tests/test_world
if [ -x "$program" ]; then
    timeout 300 mpirun -n 3 "$program" >unit.out 2>&1 || fail "test_world as three processes: $(grep -v '^---' unit.out | tail -n 12)"
    timeout 300 mpirun -n 2 "$program" hang >hang.out 2>&1
    [ $? -ne 124 ] || fail "what waits for ever is waited for"
    grep -q 'rank 0 of 2 on .*: what waits for ever does not end; the run ends here: the test is over' hang.out || fail "what waits for ever: $(cat hang.out)"
fi
echo "ranks-tune.sh: several processes tune together"
