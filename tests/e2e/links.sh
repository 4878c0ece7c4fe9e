#!/bin/bash
# Tests that links between the documents have a target.
cd "$(dirname "$0")/../.." || exit 3
scratch=${KFTUNE_SCRATCH:-$(mktemp -d)}
command -v python3 >/dev/null || { echo "links.sh: needs python3 (Debian: python3): skipped"; exit 77; }
python3 tests/e2e/links-check.py ./*.md docs/*.md results/log/*.md results/measured/*.md || exit 1
for target in none.md '#none'; do
    echo "[there]($target)" >"$scratch/astray.md"
    python3 tests/e2e/links-check.py "$scratch/astray.md" >/dev/null && { echo "links.sh: a link to $target passes"; exit 1; }
done
printf '![a][one]\n\n[one]: links.sh [two]: links.sh\n' >"$scratch/astray.md"
python3 tests/e2e/links-check.py "$scratch/astray.md" >/dev/null && { echo "links.sh: a reference that is defined nowhere passes"; exit 1; }
echo '`solver/none.c`' >"$scratch/astray.md"
python3 tests/e2e/links-check.py "$scratch/astray.md" >/dev/null && { echo "links.sh: a path that is not there passes"; exit 1; }
exit 0
