#!/bin/bash
# Tests which tests scripts/run-tests.sh runs again, in a work tree of its own, with programs that record that they ran.
set -u
root=$(realpath "$(dirname "$0")/../..")
cd "${KFTUNE_SCRATCH:-$(mktemp -d)}" || exit 3
fail() { echo "unchanged.sh: $*" >&2; sed 's/^/    /' run.txt >&2; exit 1; }
command -v git >/dev/null && command -v dpkg-query >/dev/null || { echo "unchanged.sh: skipped, git or dpkg-query is missing"; exit 77; }
unset KFTUNE_TEST_AGAIN KFTUNE_TEST_CACHE KFTUNE_SHARED
mkdir -p tree/scripts tree/tests/unit tree/tests/e2e tree/build/tests
touch run.txt
ran=$PWD/ran
export ran
cd tree || exit 3
cp "$root/scripts/run-tests.sh" "$root/scripts/test-inputs.sh" scripts/
program() { # FILE LINES...: says that it ran, then runs the lines
    local file=$1
    shift
    printf '#!/bin/bash\nbasename "$0" >>"$ran"\n%s\n' "$*" >"$file"
    chmod +x "$file"
}
cmocka() { echo "echo '[  PASSED  ] $1 test(s).'; echo '[  SKIPPED ] $2 test(s).'"; }
program build/kftune true
program build/tests/test_whole "$(cmocka 3 0)"
program build/tests/test_part "$(cmocka 2 1)"
program build/tests/test_bad 'echo "[  PASSED  ] 1 test(s)."; echo "[  FAILED  ] 1 test(s)."; exit 1'
program build/tests/test_crash 'echo "[  PASSED  ] 1 test(s)."; exit 9'
program build/tests/test_alone "$(cmocka 1 0)"
program tests/e2e/good.sh true
program tests/e2e/part.sh 'echo "good.sh: a part is skipped"'
program tests/e2e/skip.sh 'exit 77'
program tests/e2e/bad.sh 'exit 1'
echo data >data.txt
echo page >CHANGELOG.md
echo /build/ >.gitignore
git init -q . && git add . || exit 3

programs=(build/tests/test_{whole,part,bad,crash} tests/e2e/*.sh --alone build/tests/test_alone)
# Runs them, and compares the sorted names of those that ran with the other words.
runs() { # WHEN NAME...
    local when=$1 names
    shift
    : >"$ran"
    bash scripts/run-tests.sh build "${programs[@]}" >../run.txt 2>&1
    status=$?
    names=$(sort "$ran" | tr '\n' ' ')
    [ "$names" = "$(printf '%s\n' "$@" | grep . | sort | tr '\n' ' ')" ] || { cd ..; fail "$when: these ran: $names"; }
}
said() { grep -qxF -- "$1" ../run.txt || { cd ..; fail "it does not say: $1"; }; }
always=(test_part test_bad test_crash test_alone part.sh skip.sh bad.sh)

runs "at first" test_whole good.sh "${always[@]}"
said "10 passed, 3 failed, 2 skipped"
runs "again" "${always[@]}"
said "== test_whole: unchanged since it passed"
said "2 programs with 4 tests are unchanged since they passed, and did not run (KFTUNE_TEST_AGAIN=1: all run)"
said "6 passed, 3 failed, 2 skipped"
export KFTUNE_TEST_AGAIN=1
runs "when all are asked for" test_whole good.sh "${always[@]}"
unset KFTUNE_TEST_AGAIN
# The following is without those that always run.
programs=(build/tests/test_whole tests/e2e/good.sh)
echo other >data.txt
runs "with other data" test_whole good.sh
chmod +x data.txt
runs "with another mode" test_whole good.sh
echo other >CHANGELOG.md
runs "with another diary, which scripts read" good.sh
export SOME_VARIABLE=1
runs "with another environment" test_whole good.sh
echo '# other' >>build/tests/test_whole
runs "with another program, which scripts may run" test_whole good.sh
echo '# other' >>build/kftune
echo new >new.txt
runs "with another kftune and a new file" test_whole good.sh
# A pass from before a failure does not count.
program tests/e2e/good.sh '[ ! -e ../spoilt ]'
touch ../spoilt
runs "spoilt" good.sh
rm ../spoilt
runs "mended" good.sh
# When an input changes while the tests run, it is unknown which version they saw.
program tests/e2e/good.sh '[ ! -e ../writes ] || echo written >data.txt'
touch ../writes
echo third >data.txt
runs "while an input changes" good.sh test_whole
rm ../writes
echo third >data.txt
runs "when it is as at first" good.sh test_whole
runs "only what is unchanged"
[ "$status" = 0 ] || { cd ..; fail "nothing changed, and the status is $status"; }
said "0 passed, 0 failed, 0 skipped"
# Outside of a work tree the inputs cannot be named.
rm -rf .git
runs "without git" test_whole good.sh
echo "unchanged.sh: passed"
