#!/bin/bash
# Runs the tests that need a GPU. usage: scripts/check-gpu.sh BUILD TEST...
set -u
build=${1:?usage: scripts/check-gpu.sh BUILD TEST...}
shift
# "cuda:N" lines of `kftune list devices` are GPUs that can be used.
if ! "$build/kftune" list devices 2>/dev/null | grep -q 'cuda:[0-9]'; then
    echo "No usable GPU here; the tests that need one were not run. 'kftune doctor' says why."
    exit 0
fi
if [ $# -eq 0 ]; then
    echo "There is no test in tests/gpu."
    exit 1
fi
KFTUNE_TEST_LIMIT=${KFTUNE_TEST_LIMIT:-600} exec bash "$(dirname "$0")/run-tests.sh" "$build" "$@"
