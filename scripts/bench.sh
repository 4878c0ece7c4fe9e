#!/bin/sh
# Runs fixed comparisons, one suite after the other. Fails if a suite misses a promised value.
# usage: BUILD=build scripts/bench.sh [SUITE...]
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- toelke
for suite in "$@"; do
    "${BUILD:-build}/kftune" bench --suite "$suite" ${DEVICE:+--device "$DEVICE"}
done
