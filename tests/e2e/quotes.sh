#!/bin/bash
# Tests that the figures in the documents are those of results/measured, and that a wrong one is noticed.
cd "$(dirname "$0")/../.." || exit 3
scratch=${KFTUNE_SCRATCH:-$(mktemp -d)}
command -v python3 >/dev/null || { echo "quotes.sh: needs python3 (Debian: python3): skipped"; exit 77; }
python3 tests/e2e/quotes-check.py tests/data/quotes.txt || exit 1
while read -r wrong; do # of each kind of expression one that does not hold
    echo "$wrong" >"$scratch/wrong.txt"
    python3 tests/e2e/quotes-check.py "$scratch/wrong.txt" >/dev/null && { echo "quotes.sh: a wrong figure passes: $wrong"; exit 1; }
done <<'END'
docs/results.md :: over `paper` | 5.63 x | :: h200-step.json :: over_baseline
docs/results.md :: over `paper` | 5.63 x | :: h200-drag.json :: /ahmed/0/drag
docs/results.md :: over `paper` | 5.63 x | :: h200-nights.md :: =
docs/results.md :: over `paper` | 5.63 x | :: h200-nights.md :: ~
docs/results.md :: over `paper` | 5.57 x | :: h200-step.json :: over_paper
docs/results.md :: over `paper` | 5.63 x | :: h200-step.json :: no_such_figure
END
exit 0
