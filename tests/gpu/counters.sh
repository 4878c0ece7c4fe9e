#!/bin/bash
# Counters against arithmetic, none of the tests skipped.
set -eu
cd "$(dirname "$0")/../.."
program=
for candidate in "$(dirname "${KFTUNE:-build/kftune}")/tests/test_cupti_gpu" tests/unit/test_cupti_gpu; do
    if [ -x "$candidate" ]; then program=$candidate; break; fi
done
if [ -z "$program" ]; then
    echo "test_cupti_gpu is not built: 'make tests' builds it" >&2
    exit 1
fi
output=$("$program" 2>&1) || { echo "$output"; exit 1; }
echo "$output"
if grep -q 'SKIPPED' <<<"$output"; then
    echo "tests were skipped although there should be a GPU" >&2
    exit 1
fi
