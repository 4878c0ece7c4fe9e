#!/bin/bash
# Tests tuning of a shipped scene from the command line: what it prints and writes, what Ctrl-C keeps, what --resume
# continues. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
# shellcheck source=tests/e2e/quick-compiler.bash
. "$(dirname "$0")/quick-compiler.bash"
cd "$scratch" || exit 3

scene=(--scene ball --grid 24x16x16 --device cpu:1 --effort 0.05 --rounds 1 --store "$scratch/tune.db"
    --fix plan=fused --fix layout=soa --fix storage=f32)

# A handful of configs is tuned to the end, with JSON.
"$kftune" "${scene[@]}" --budget 4evals --json --quiet >"$out" 2>"$err" </dev/null
status=$?
[ "$status" -eq 0 ] || complain "status $status, expected 0"
for key in kftune command device scene best gain evaluations states ties out config hash time_us ci_us mlups \
    verification_error baseline paper default; do
    has "$out" "\"$key\":"
done
has "$out" '"evaluations":	4'
[ -s ball.kftune.json ] || complain "ball.kftune.json was not written"
[ -s tune.db ] || complain "the store was not written"
grep -v ': warning: ' "$err" && complain "--quiet, and yet there is something on stderr"

# Ctrl-C in the middle gives status 130, the run is kept, and the same command continues it.
"$kftune" "${scene[@]}" --seed 7 --budget 600s --out first.json >"$out" 2>"$err" </dev/null &
tuner=$!
for _ in $(seq 600); do # until the first results are in
    "$kftune" store list --store tune.db 2>/dev/null |
        awk '$4 == "running" && $6 > 0 { found = 1 } END { exit !found }' && break
    kill -0 "$tuner" 2>/dev/null || break
    sleep 0.1
done
sleep 1
kill -INT "$tuner" 2>/dev/null
wait "$tuner"
status=$?
[ "$status" -eq 130 ] || complain "status $status after Ctrl-C, expected 130"
has "$err" "--resume continues"
"$kftune" "${scene[@]}" --seed 7 --budget 5evals --resume --out second.json >"$out" 2>"$err" </dev/null
status=$?
[ "$status" -eq 0 ] || complain "status $status after --resume, expected 0"
has "$err" "continuing run"
has "$out" "before the run was resumed"
has "$out" "over baseline"
[ -s second.json ] || complain "second.json was not written"

# Runs that take turns on a device compile on an eighth of the cores, at least one.
cat >"$scratch/counting-compiler" <<SH
#!/bin/bash
case " \$* " in *" -shared "*) ;; *) exec ${KFTUNE_CC:-cc} "\$@" ;; esac
touch "$scratch/compiling/\$\$" && ls "$scratch/compiling" | wc -l >>"$scratch/together"
sleep 0.3
${KFTUNE_CC:-cc} "\$@"
status=\$?
rm "$scratch/compiling/\$\$"
exit \$status
SH
chmod +x "$scratch/counting-compiler"
mkdir -p "$scratch/compiling" "$scratch/cold"
XDG_CACHE_HOME=$scratch/cold KFTUNE_CC=$scratch/counting-compiler "$kftune" tune --scene cavity2d --grid 32x32x1 --device cpu:1 \
    --budget 4evals --effort 0.05 --rounds 1 --store "$scratch/turns.db" --out turns.json --take-turns >"$out" 2>"$err" </dev/null
status=$?
[ "$status" -eq 0 ] || complain "status $status of a run that takes turns"
most=$(sort -n "$scratch/together" | tail -n 1) allowed=$(($(nproc) < 16 ? 1 : $(nproc) / 8))
[ "${most:-99}" -le "$allowed" ] || complain "a run that takes turns compiles with $most processes, not $allowed"

finish
