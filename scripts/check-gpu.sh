#!/bin/bash
# Runs the tests that need a GPU. usage: scripts/check-gpu.sh BUILD
set -u
build=${1:?usage: scripts/check-gpu.sh BUILD}
# "cuda:N" lines of `kftune list devices` are GPUs that can be used.
if ! "$build/kftune" list devices 2>/dev/null | grep -q 'cuda:[0-9]'; then
    echo "No usable GPU here; the tests that need one were not run. 'kftune doctor' says why."
    exit 0
fi
KFTUNE=$(realpath "$build/kftune") exec bash "$(dirname "$0")/gpu/check.sh" "$build/check-gpu"
