#!/bin/sh
# `kftune demo` of the program that was just built. usage: BUILD=build scripts/demo.sh
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
rm -rf "$build/demo"
"$build/kftune" demo --output "$build/demo"
