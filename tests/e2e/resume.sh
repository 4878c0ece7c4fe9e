#!/bin/bash
# Kills runs at random moments and resumes them. Stored results stay as they were, nothing is measured twice, and the
# search has the sequence of the uninterrupted run. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into;
# KFTUNE_KILL_TRIALS: runs that are killed, several times each (2).
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
trials=${KFTUNE_KILL_TRIALS:-2}
. "$(dirname "$0")/quick-compiler.bash"
cd "$scratch" || exit 3
evaluations=12
# The searched parameters change no kernel, so that the compiler takes no time.
scene=(--scene ball --grid 16x12x12 --device cpu:1 --fix plan=fused --fix layout=soa --fix storage=f32
    --fix collision_form=factorised --fix segment_length=16 --fix boundary_kernels=1
    --effort 0.01 --budget ${evaluations}evals --out best.json)

# table STORE FILE: writes every result of the run except the final, which is played again as a whole.
# The header has the names of the parameters only when there are results.
table() {
    "$kftune" store export --store "$1" --format csv --out all.csv >/dev/null 2>&1 || return
    tail -n +2 all.csv | grep -v ',final,' >"$2"
    [ -s "$2" ] && hash_column=$(head -n 1 all.csv | tr ',' '\n' | grep -nx hash | cut -d: -f1)
    return 0
}
# sequence FILE: prints the measured configs in their order. The hash names the config.
sequence() { awk -F, -v hash="$hash_column" '{ print $2, $3, $hash }' "$1"; }
state() { "$kftune" store list --store "$1" 2>/dev/null | awk 'NR == 2 { print $4 }'; }
runs() { "$kftune" store list --store "$1" 2>/dev/null | awk 'NR > 1' | wc -l; }

# tune STORE STRATEGY ROUNDS [OPTION]...: runs in the background, as process $tuner.
tune() {
    local store=$1 strategy=$2 rounds=$3
    shift 3
    "$kftune" "${scene[@]}" --store "$store" --strategy "$strategy" --rounds "$rounds" --seed 5 "$@" >out 2>err </dev/null &
    tuner=$!
}

# This is the uninterrupted run, whose sequence does not depend on times, and its duration.
tune whole.db random 1 && wait "$tuner" || { complain "the uninterrupted run failed"; exit 1; }
rm -f whole.db*
start=$(date +%s%N)
tune whole.db random 1 && wait "$tuner" || complain "the uninterrupted run failed"
milliseconds=$((($(date +%s%N) - start) / 1000000))
table whole.db whole.csv
sequence whole.csv >whole.txt
[ "$(wc -l <whole.txt)" -eq $evaluations ] || complain "the uninterrupted run has $(wc -l <whole.txt) results"

# finished_after_kills STORE STRATEGY: kills until the run is finished. Stored results must stay, byte for byte.
finished_after_kills() {
    local store=$1 strategy=$2 kills=0 resume=()
    rm -f "$store"*
    : >before.csv
    while :; do
        tune "$store" "$strategy" 1 "${resume[@]}"
        resume=(--resume)
        # After some kills it may end, because a slow machine would otherwise never finish.
        if [ "$kills" -lt 4 ]; then
            sleep "$(awk -v most=$((milliseconds)) -v seed=$RANDOM$RANDOM 'BEGIN { srand(seed); printf "%.3f", rand() * most / 1000 }')"
            kill -9 "$tuner" 2>/dev/null
        fi
        wait "$tuner" 2>/dev/null
        local status=$?
        [ "$status" -eq 0 ] || [ "$status" -eq 137 ] || { complain "$strategy: status $status after $kills kills" && return; }
        grep -q 'another way' err && complain "$strategy: the search took another way after $kills kills"
        # Nothing may be stored yet when the first kill comes early.
        if table "$store" after.csv; then
            head -c "$(stat -c %s before.csv)" after.csv | cmp -s - before.csv || complain "$strategy: kill $kills changed what was stored"
            mv after.csv before.csv
        fi
        [ "$status" -eq 0 ] && break
        [ "$(state "$store")" = finished ] && break # killed after its end
        kills=$((kills + 1))
    done
    [ "$(runs "$store")" -eq 1 ] || complain "$strategy: $(runs "$store") runs instead of one"
    table "$store" final.csv
    sequence final.csv >final.txt
    awk '$1 != NR - 1 { exit 1 }' final.txt || complain "$strategy: the sequence has a gap"
    grep ',final,' all.csv | cut -d, -f"$hash_column" | sort | uniq -d | grep -q . && complain "$strategy: a final is there twice"
    killed=$((killed + kills))
}

killed=0
for trial in $(seq "$trials"); do
    finished_after_kills killed.db random
    cmp -s final.txt whole.txt || complain "trial $trial: the sequence of a killed run differs from the uninterrupted one's"
    [ $((trial % 3)) -eq 1 ] || continue # a strategy that learns: the same promise
    finished_after_kills learning.db model
    [ "$(wc -l <final.txt)" -eq $evaluations ] || complain "model: $(wc -l <final.txt) results"
    cut -d' ' -f3 final.txt | sort | uniq -d | grep -q . && complain "model: a config was measured twice"
done

# The kill comes in the final, when the whole search is stored. The strategy, which learns from times, proposes all of
# it again.
for attempt in 1 2 3 4 5; do
    rm -f late.db*
    tune late.db model 5
    until [ "$("$kftune" store list --store late.db 2>/dev/null | awk 'NR == 2 { print $6 }')" = $evaluations ] ||
        ! kill -0 "$tuner" 2>/dev/null; do
        sleep 0.02
    done
    kill -9 "$tuner" 2>/dev/null
    wait "$tuner" 2>/dev/null
    [ "$(state late.db)" = finished ] || break
done
table late.db before.csv
tune late.db model 1 --resume
wait "$tuner" || complain "the run killed in its final did not end"
grep -qF "with $evaluations configs measured" err || complain "the run was not carried on with all its configs"
grep -q 'another way' err && complain "the strategy did not propose again what it had proposed"
table late.db after.csv
cmp -s before.csv after.csv || complain "the search was measured again"
[ "$(grep -c ',final,' all.csv)" -ge 2 ] || complain "the final was not played"
[ "$(awk -F, 'NR > 1 { print $2 }' all.csv | sort -n | uniq -d | wc -l)" -eq 0 ] || complain "a sequence number is there twice"

echo "resume.sh: passed, $killed kills, an uninterrupted run takes $milliseconds ms"
finish
