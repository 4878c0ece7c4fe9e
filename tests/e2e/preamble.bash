# Shared by tests of the command line, which source it. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into. The
# output of the last `expect` is in $out and $err.
set -u
kftune=$(realpath "${KFTUNE:?KFTUNE must name the program}")
scratch=$(realpath "${KFTUNE_SCRATCH:-$(mktemp -d)}")
out=$scratch/out err=$scratch/err
run_check=$(realpath "$(dirname "${BASH_SOURCE[0]}")")/run-check.py
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
has() { grep -qF -- "$2" "$1" || complain "$(basename "$1") lacks: $2"; } # FILE TEXT
shows() { grep -qF -- "$1" "$out" || complain "stdout does not show: $1"; }
# Whatever was tested, the numbers of each run agree with each other.
finish() {
    local folders
    mapfile -t folders < <(find "$scratch" -name run.json -printf '%h\n' 2>/dev/null)
    if [ ${#folders[@]} -gt 0 ] && command -v python3 >/dev/null; then
        python3 "$run_check" "${folders[@]}" >"$out" 2>"$err" || complain "a run's numbers do not agree"
    fi
    [ "$failures" -eq 0 ] && echo "$(basename "$0"): all promises kept"
    [ "$failures" -eq 0 ]
}
