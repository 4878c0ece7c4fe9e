#!/bin/bash
# Tests how documents and comments read: lines of at most 120 columns, short sentences, no dates or commits; comments
# that are sentences, with at least one before each longer function. KFTUNE_SCRATCH: a folder to write into.
cd "$(dirname "$0")/../.." || exit 3
scratch=${KFTUNE_SCRATCH:-$(mktemp -d)}
command -v python3 >/dev/null || { echo "prose.sh: needs python3 (Debian: python3): skipped"; exit 77; }
python3 tests/e2e/prose-check.py 10 README.md docs/*.md || exit 1
find base cost_model harness kernels plots results scene solver -name '*.[ch]' -o -name '*.cu' | sort |
    xargs python3 tests/e2e/comments-check.py 30 30 || exit 1
# A test's function may be without a comment, because its name says what it tests.
find tests -name '*.[ch]' -not -path 'tests/data/*' | sort | xargs python3 tests/e2e/comments-check.py 60 9999 || exit 1
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
{
    printf '/* What it is for. */\nint one;\n/* of no use at all */\nint two;\n/* "3 MB", a size */\nint three;\n/* Counts the lines. */\nstatic void counted(void) {\n'
    printf '    ;\n%.0s' {1..15}
    printf '}\n\nstatic void long_one(void) {\n'
    printf '    ;\n%.0s' {1..15}
    printf '}\n'
} >"$scratch/silent.c"
python3 tests/e2e/comments-check.py 0 0 "$scratch/silent.c" >"$scratch/said"
for words in "silent.c:1: What" "silent.c:3: of no use" "silent.c:5: \"3 MB" "comments: 3 begin" "comments: 1 are functions"; do
    grep -q "$words" "$scratch/said" || { cat "$scratch/said"; echo "prose.sh: fragments or a silent function pass ($words)"; exit 1; }
done
exit 0
