#!/bin/bash
# The cuda backend's tests, none of them skipped: kernels, graphs, events, large copies, faults.
set -eu
cd "$(dirname "$0")/../.."
program=
for candidate in "$(dirname "${KFTUNE:-build/kftune}")/tests/test_backend_gpu" tests/unit/test_backend_gpu; do
    if [ -x "$candidate" ]; then program=$candidate; break; fi
done
if [ -z "$program" ]; then
    echo "test_backend_gpu is not built: 'make tests' builds it" >&2
    exit 1
fi
output=$("$program" 2>&1) || { echo "$output"; exit 1; }
echo "$output"
if grep -q 'SKIPPED' <<<"$output"; then
    echo "tests were skipped although there should be a GPU" >&2
    exit 1
fi
