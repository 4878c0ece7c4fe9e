#!/bin/bash
# Kills `kftune nightly` at random moments, with real processes that measure on the cpu. The store opens, nothing is
# lost or doubled, no process outlives its driver, and the next night completes. KFTUNE: the program; KFTUNE_SCRATCH: a
# folder to write into; KFTUNE_KILLS: how often (4).
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
kills=${KFTUNE_KILLS:-4}
cd "$scratch" || exit 3
# A unique name, by which leftovers of this test alone are found.
cp "$kftune" ./kftune-to-kill
export KFTUNE_DATA=${KFTUNE_DATA:-$(dirname "$kftune")}
echo '{"suite": "small", "seconds": 0.02, "device": "cpu:1", "benchmarks": [
    {"name": "ball", "scene": "ball", "grid": [16, 12, 12], "samples_per_cell": 2}]}' >suite.json

night() { ./kftune-to-kill nightly --suite suite.json --store n.db --quiet >out 2>err </dev/null; }
stored() { # how many processes a store has; the program's own list where there is no sqlite3
    if command -v sqlite3 >/dev/null; then
        sqlite3 n.db 'SELECT count(*) FROM nightly'
    else
        "$kftune" nightly list --store n.db --json | grep -c '"night"'
    fi
}

night || complain "the first night fails" # it compiles
start=$(date +%s%N)
night || complain "the second night fails"
whole=$((($(date +%s%N) - start) / 1000000 + 1))
RANDOM=17
before=$(stored)
killed=0
for i in $(seq $((10 * kills))); do
    [ $killed -lt "$kills" ] || break
    night &
    driver=$!
    sleep "$(awk -v most="$whole" -v r=$RANDOM 'BEGIN { printf "%.3f", most / 1000 * r / 32768 }')"
    pkill -KILL -P $driver kftune-to-kill 2>/dev/null # the shell's child is the program
    wait $driver 2>/dev/null
    [ $? -ne 137 ] || killed=$((killed + 1)) # else it was done before
    "$kftune" nightly list --store n.db >list 2>err || complain "the store does not open after kill $i"
    now=$(stored)
    [ "$now" -ge "$before" ] || complain "after kill $i there are $now processes, before it $before"
    before=$now
done
sleep 1
[ -z "$(pgrep -f "$scratch/kftune-to-kill" || true)" ] || complain "processes outlive the driver: $(pgrep -af "$scratch/kftune-to-kill" | head -n 3)"

night || complain "the night after the kills fails"
"$kftune" nightly list --store n.db --json >list.json || complain "the nights cannot be listed"
grep -q '"state":[[:space:]]*"running"' list.json && complain "a night still says that it runs"
if command -v sqlite3 >/dev/null; then
    ask() { sqlite3 n.db "$1"; }
    [ "$(ask 'PRAGMA integrity_check')" = ok ] || complain "the store is damaged"
    [ "$(ask 'SELECT count(*) FROM nightly')" = "$(ask 'SELECT count(*) FROM result')" ] || complain "processes and results differ in number"
    [ "$(ask "SELECT count(*) FROM (SELECT 1 FROM nightly GROUP BY night, benchmark, arm HAVING max(ordinal) + 1 <> count(*))")" = 0 ] ||
        complain "a process is lost or doubled"
    [ "$(ask "SELECT count(*) FROM night n WHERE state = 'finished' AND ((SELECT count(*) FROM nightly WHERE night = n.id AND arm = 'night') <> 5
        OR (SELECT count(*) FROM verdict WHERE night = n.id) <> 1)")" = 0 ] || complain "a finished night lacks processes or verdicts"
fi
[ $killed -eq "$kills" ] || complain "only $killed of $kills were killed"
echo "kill.sh: $killed kills, $(stored) processes stored in $(grep -c '"night":' list.json) nights, $failures failures"
finish
