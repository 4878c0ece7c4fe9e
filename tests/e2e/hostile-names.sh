#!/bin/bash
# Tests that names chosen by others reach no terminal as commands, no spreadsheet as formulas, and JSON only as UTF-8.
# Scenes with long names do not overwrite each other's results. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write
# into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
# shellcheck source=tests/e2e/quick-compiler.bash
. "$(dirname "$0")/quick-compiler.bash"
cd "$scratch" || exit 3
export KFTUNE_DATA=${KFTUNE_DATA:-$(dirname "$kftune")}
commands() { LC_ALL=C grep -nP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$@"; }
is_utf8() { iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1; }

name=$(printf 'e\033[31mvil\033]0;x\007\342\200\256\377')
cp "$KFTUNE_DATA/scene/library/ball.json" "$name.json"
for arguments in "space --scene" "space --json --scene" "predict --device cpu --scene"; do
    "$kftune" $arguments "$name.json" >out 2>err
    commands out err && complain "control characters come out of '$arguments'"
    is_utf8 out || complain "what '$arguments' prints is no UTF-8"
done
"$kftune" tune --scene "$(printf 'no\033[2Jthing')" >out 2>err
commands err && complain "control characters in an error"

# The names are in a store.
cat >evil.json <<'END'
{"schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds"}, "results": [
 {"timestamp": "2026-01-01T00:00:00Z", "configuration": {"=HYPERLINK(1)": "@SUM(1)"},
  "times": {"runtimes": [1.0, 2.0]}, "invalidity": "correct", "correctness": 1}]}
END
if "$kftune" store import evil.json --store evil.db >out 2>err; then
    for format in csv t4 kernel-tuner; do
        "$kftune" store export --format $format --store evil.db --out "export.$format" >out 2>err || continue
        commands out "export.$format" && complain "control characters in the export $format"
    done
    grep -qE "(^|,)\"?[=@+]" export.csv && complain "a formula in the CSV: $(cat export.csv)"
    "$kftune" store show --store evil.db >out 2>&1
    commands out && complain "control characters in what a store holds"
fi

# Two names agree in their first 127 bytes.
long=$(printf 'x%.0s' $(seq 140))
for end in a b; do
    cp "$KFTUNE_DATA/scene/library/ball.json" "$long$end.json"
    "$kftune" tune --scene "$long$end.json" --grid 16x12x12 --samples-per-cell 2 --device cpu:1 --budget 1evals --effort 0.01 --rounds 0 --store l.db >out 2>err ||
        complain "a scene with a long name cannot be tuned: $(tail -n 1 err)"
done
[ "$(ls ./*.kftune.json | wc -l)" = 2 ] || complain "two scenes with long names left $(ls ./*.kftune.json | wc -l) results"
finish
