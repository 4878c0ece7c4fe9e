#!/bin/bash
# Kills `kftune tune` while it compiles. No compiler outlives it, and the next start removes what they left in the
# cache. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into; KFTUNE_KILLS: how often (4).
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
kills=${KFTUNE_KILLS:-4}
# shellcheck source=tests/e2e/quick-compiler.bash
. "$(dirname "$0")/quick-compiler.bash"
cd "$scratch" || exit 3
export KFTUNE_DATA=${KFTUNE_DATA:-$(dirname "$kftune")} XDG_CACHE_HOME=$scratch/cache TMPDIR=$scratch/tmp
mkdir -p "$TMPDIR"
# All descendants of a run have this in their environment.
export KFTUNE_TEST_MARK=$$-$RANDOM-$RANDOM
alive() {
    local file
    for file in $(grep -slE "KFTUNE_TEST_MARK=$KFTUNE_TEST_MARK" /proc/[0-9]*/environ); do
        tr '\0' ' ' 2>/dev/null <"${file%environ}cmdline" | cut -c1-60 | grep -v -e ^grep -e kill-tune.sh -e ^sleep -e '^tr ' -e ^cut
    done 2>/dev/null
}
compiling=0
for i in $(seq "$kills"); do
    rm -rf cache/kftune/kernels/*.so
    "$kftune" tune --scene ball --grid 16x12x12 --samples-per-cell 2 --device cpu:1 --budget 3evals --store t.db --out t.json \
        >out 2>err </dev/null &
    driver=$!
    for _ in $(seq 100); do # until a compiler is at work
        sleep 0.1
        alive | grep -q cc1 && break
    done
    sleep "0.$((RANDOM % 5))"
    alive | grep -q cc1 && compiling=$((compiling + 1))
    kill -KILL $driver
    wait $driver 2>/dev/null
    sleep 0.5
    left=$(alive)
    [ -z "$left" ] || complain "kill $i: processes outlive it: $(head -n 2 <<<"$left")"
    sleep 0.5
done
[ "$compiling" -gt 0 ] || complain "no compiler was ever at work"
[ -z "$(ls "$TMPDIR")" ] || complain "compilers left $(ls "$TMPDIR" | wc -l) temporary files"
"$kftune" tune --scene ball --grid 16x12x12 --samples-per-cell 2 --device cpu:1 --budget 3evals --store t.db --out t.json \
    >out 2>err </dev/null || complain "the run after the kills fails"
left=$(find cache/kftune/kernels -name 'temporary-*' | wc -l)
[ "$left" -eq 0 ] || complain "$left temporary files are left in the cache"
finish
