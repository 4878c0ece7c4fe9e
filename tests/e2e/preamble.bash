# Shared by tests of the command line, which source it. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into. The
# output of the last `expect` is in $out and $err.
set -u
kftune=${KFTUNE:?KFTUNE must name the program}
scratch=$(realpath "${KFTUNE_SCRATCH:-$(mktemp -d)}")
out=$scratch/out err=$scratch/err
failures=0

complain() {
    echo "$(basename "$0"): $*"
    [ ! -s "$out" ] || sed 's/^/    stdout: /' "$out" | head -n 5
    [ ! -s "$err" ] || sed 's/^/    stderr: /' "$err" | tail -n 5
    failures=$((failures + 1))
}
# expect STATUS ARGUMENT...: runs kftune and compares the exit status.
expect() {
    local expected=$1 status
    shift
    "$kftune" "$@" >"$out" 2>"$err" </dev/null
    status=$?
    [ "$status" -eq "$expected" ] || complain "kftune $*: status $status, expected $expected"
}
says() { grep -qF -- "$1" "$err" || complain "stderr does not say: $1"; }
shows() { grep -qF -- "$1" "$out" || complain "stdout does not show: $1"; }
finish() {
    [ "$failures" -eq 0 ] && echo "$(basename "$0"): all promises kept"
    [ "$failures" -eq 0 ]
}
