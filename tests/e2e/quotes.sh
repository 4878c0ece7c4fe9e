#!/bin/bash
# The figures that documents quote are those of results/measured, and a wrong one is noticed.
cd "$(dirname "$0")/../.." || exit 3
scratch=${KFTUNE_SCRATCH:-$(mktemp -d)}
command -v python3 >/dev/null || { echo "quotes.sh: needs python3 (Debian: python3): skipped"; exit 77; }
python3 tests/e2e/quotes-check.py tests/data/quotes.txt || exit 1
echo 'docs/results.md :: over `paper` | 5.57 x | :: h200-step.json :: over_baseline' >"$scratch/wrong.txt"
if python3 tests/e2e/quotes-check.py "$scratch/wrong.txt" >/dev/null; then
    echo "quotes.sh: a wrong figure passes"
    exit 1
fi
