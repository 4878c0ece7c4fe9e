#!/bin/bash
# Prints two hashes of everything on which a test's result can depend: one for programs (tests/unit), then one for scripts.
# A test that has passed passes again while this hash and that of its file are the same (scripts/run-tests.sh).
# Prints nothing where the inputs cannot be named: outside of a git work tree, or without a list of installed packages.
# usage: scripts/test-inputs.sh BUILD
# What counts: files that git lists or would list, with their modes; what was built; the environment; limits; installed
# packages, Python's modules, compilers and tools in PATH; kernel, processor, GPU; KFTUNE_SHARED. Speed has no hash, so
# tests that measure times always run.
set -u
export LC_ALL=C
build=$(realpath -m "${1:?usage: scripts/test-inputs.sh BUILD}")
cd "$(dirname "$0")/.." || exit 3
[ "$(git rev-parse --show-cdup 2>/dev/null || echo none)" = "" ] || exit 0
packages=$(dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n' 2>/dev/null) || exit 0

# Content and mode of each file; one that git lists and that is gone counts as gone.
files() { xargs -0 -r sh -c 'stat -c "%A %n" "$@"; sha256sum "$@"' files 2>&1; }
tree() { git ls-files -z --cached --others --exclude-standard "$@"; }

# Variables of a terminal, a shell or make do not affect a test.
environment() {
    env -0 | sort -z | tr '\n\0' ' \n' | grep -vE \
        '^(_|PWD|OLDPWD|SHLVL|TERM|COLORTERM|COLUMNS|LINES|WINDOWID|LS_COLORS|SHELL_SESSION_ID|(SSH|TMUX|XDG_SESSION|GPG)[A-Z_]*|MAKE[A-Z_]*|MFLAGS|TMPDIR|XDG_CACHE_HOME|KFTUNE_TEST_(CACHE|JOBS|LIMIT|AGAIN))='
    ulimit -a
    umask
    id
}
machine() {
    local tool
    uname -srvm
    nproc
    grep -E '^(model name|flags|microcode)' /proc/cpuinfo | sort -u
    cat /proc/driver/nvidia/version /proc/driver/nvidia/gpus/*/information 2>/dev/null
    for tool in cc gcc clang c++ python3 mpirun mpicc nvcc gnuplot git; do
        command -v "$tool" && "$tool" --version 2>&1 | head -n 1
    done
    python3 -c 'import os, sys; [print(p, sorted(os.listdir(p))) for p in sys.path if os.path.isdir(p)]' 2>&1
    echo "$packages"
    [ ! -d "${KFTUNE_SHARED:-../shared}" ] || find "${KFTUNE_SHARED:-../shared}" -printf '%P %s %T@\n' | sort
}
common=$({ environment; machine; printf '%s\0' "$build/kftune" "$build/libkftune_whole.so" "$build/config.mk" | files; } | sha256sum)
built() { find "$build/tests" -maxdepth 1 -type f "$@" -print0 2>/dev/null | sort -z | files; }

# A program of tests/unit is compiled from its source. It reads neither scripts of tests nor logs.
{ echo "$common"; built ! -name 'test_*'; tree ':!tests/unit/' ':!tests/e2e/' ':!tests/fuzz/' ':!tests/mutants/' ':!results/log/' ':!CHANGELOG.md' | files; } | sha256sum | cut -c 1-64
{ echo "$common"; built; tree | files; } | sha256sum | cut -c 1-64
