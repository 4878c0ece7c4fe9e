#!/bin/bash
# Makes a folder that runs on another x86-64 Linux machine. usage: scripts/bundle.sh BUILD FOLDER DATA...
# BUILD was built with BUNDLE=yes, so that its programs look for libraries in lib/ beside them.
set -euo pipefail
build=${1:?usage: scripts/bundle.sh BUILD FOLDER DATA...}
bundle=${2:?usage: scripts/bundle.sh BUILD FOLDER DATA...}
shift 2
root=$(realpath "$(dirname "$0")/..")
cd "$root"

rm -rf "$bundle"
mkdir -p "$bundle/lib" "$bundle/tests/unit"
strip -o "$bundle/kftune" "$build/kftune"
for file in "$@"; do install -D -m 644 "$file" "$bundle/$file"; done

# The text in pictures; without it they use a coarse font of their own.
font=/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
[ ! -f "$font" ] || install -D -m 644 "$font" "$bundle/fonts/DejaVuSans.ttf"

# Unit tests that exercise a GPU where there is one, the scripts that need one, and what runs them.
for test in "$build"/tests/test_*{backend,collision,cuda,cupti,d2q9,incompressible,kinetic,measure,moments,ordering,stable_fluids,worker}*; do
    [ ! -x "$test" ] || strip -o "$bundle/tests/unit/$(basename "$test")" "$test"
done
for script in tests/data/t1/* tests/e2e/*.sh tests/e2e/*.bash scripts/[cg]pu/*.sh scripts/gpu/*.awk scripts/run-tests.sh scripts/test-inputs.sh; do
    [ ! -f "$script" ] || install -D "$script" "$bundle/$script"
done

bash scripts/libraries.sh "$bundle/lib" "$bundle/kftune" "$bundle"/tests/unit/*

cat >"$bundle/README" <<'TEXT'
kftune, ready to run: ./kftune doctor, then ./kftune --scene ahmed.
It needs x86-64 Linux with a C library at least as new as Debian 12's (glibc 2.36). The cuda backend needs NVIDIA's
driver and the NVRTC library; the cpu backend needs gcc on the PATH.
TEXT
echo "$bundle: $(du -sm "$bundle" | cut -f1) MiB, $(find "$bundle/lib" -type f | wc -l) libraries"
