#!/bin/bash
# Tests that `make test T=name` runs that one test, by any of its names, and refuses other names. `make -n` shows what
# would run, because a run inside a run of tests would remove its folders. KFTUNE: the program, in the folder of the
# build.
cd "$(dirname "$0")/../.." || exit 3
build=$(dirname "$(realpath "${KFTUNE:?KFTUNE must name the program}")")
if [ ! -f Makefile ] || ! command -v make >/dev/null; then
    echo "one-test.sh: needs make and the Makefile: skipped"
    exit 77
fi
build=$(realpath --relative-to=. "$build")
failures=0
complain() {
    echo "one-test.sh: $*"
    failures=$((failures + 1))
}
one() { # T WHAT: the only thing that run-tests.sh is given
    local given
    given=$(MAKEFLAGS='' timeout 60 make -n BUILD="$build" test T="$1" 2>/dev/null | sed -n 's/.*scripts\/run-tests\.sh [^ ]* //p')
    [ "$given" = "$2" ] || complain "T=$1 runs '$given', not '$2'"
}
refused() { # T
    local said status
    said=$(MAKEFLAGS='' timeout 60 make BUILD="$build" test T="$1" 2>&1)
    status=$?
    [ $status = 2 ] || complain "T=$1: status $status"
    case $said in *"make test: say which, as in make test T=file"*" text "*" run "*) ;; *) complain "T=$1: says $said" ;; esac
}
one text "$build/tests/test_text"
one test_text "$build/tests/test_text"
one run tests/e2e/run.sh
one run.sh tests/e2e/run.sh
refused nonesuch
refused ''
refused tex
refused '*'
refused '%'
refused 'text run'
[ $failures = 0 ] && echo "one-test.sh: passed"
exit $failures
