#!/bin/sh
# Checks that an installation is complete by trying each feature of the installed program; needs no source tree.
# usage: selftest.sh [--quick] [KFTUNE]; a line for each check, status 1 if one failed. It takes a minute on two cores; --quick: a few
# seconds, without tuning.
set -u
quick=no
if [ "${1:-}" = --quick ]; then
    quick=yes
    shift
fi
kftune=${1:-kftune}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_DATA_HOME="$work/data"
[ "$quick" = yes ] || export XDG_CACHE_HOME="$work/cache"
unset KFTUNE_DATA
failures=0
works() { # WHAT COMMAND...
    what=$1
    shift
    if "$@" >"$work/out" 2>"$work/err"; then
        echo "ok    $what"
    else
        echo "FAIL  $what: $(tail -n 1 "$work/err")"
        failures=$((failures + 1))
    fi
}
cd "$work" || exit 3
works "the program starts" "$kftune" --version
works "the shipped scenes are there" "$kftune" scene ahmed
works "a space is there" "$kftune" space --scene ball --device cpu
works "the compiler makes kernels, and the physics is right" "$kftune" validate --case d2q9-poiseuille --quick --device cpu
if [ "$quick" = no ]; then
    works "a config is measured, verified and run" \
        "$kftune" demo --grid 32x24x24 --budget 3evals --steps 4 --output "$work/demo"
    works "the store can be read" "$kftune" store list --store "$work/demo/kftune.db"
    if command -v gnuplot >/dev/null; then
        works "a picture is drawn" "$kftune" plot kernels --store "$work/demo/kftune.db" --out "$work/kernels.svg"
    fi
fi
works "completion is printed" "$kftune" completion bash
if command -v man >/dev/null && man -w kftune >/dev/null 2>&1; then works "the man pages are there" man -w kftune-tune; fi
[ "$failures" -eq 0 ] && echo "selftest: all is well"
[ "$failures" -eq 0 ]
