#!/bin/bash
# Documents read as they should: lines of at most 120 columns, short sentences, neither dates nor commits. KFTUNE_SCRATCH: a folder to write into.
cd "$(dirname "$0")/../.." || exit 3
scratch=${KFTUNE_SCRATCH:-$(mktemp -d)}
command -v python3 >/dev/null || { echo "prose.sh: needs python3 (Debian: python3): skipped"; exit 77; }
python3 tests/e2e/prose-check.py 40 README.md docs/*.md || exit 1
{
    printf 'A line that goes on%.0s' {1..8}
    printf '\n\nOn 2026-01-01 it was so.\n\nAt commit 0123abc too.\n\n'
    printf 'word %.0s' {1..20}
    printf '\n'
    printf 'word %.0s' {1..21}
    printf '\n'
} >"$scratch/page.md"
python3 tests/e2e/prose-check.py 0 "$scratch/page.md" >"$scratch/said"
grep -q "4 complaints" "$scratch/said" || { cat "$scratch/said"; echo "prose.sh: a bad page passes"; exit 1; }
exit 0
