#!/bin/bash
# Tests that a fault of the machine ends a tuning run with status 3 and is never stored as a config's: a cache that
# cannot be written, a full disk, a compiler that disappears. A production run on such a disk, or with a limit on file
# sizes, also ends with status 3 and a message, not with a signal. KFTUNE: the program; KFTUNE_SCRATCH: a folder to
# write into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
# shellcheck source=tests/e2e/quick-compiler.bash
. "$(dirname "$0")/quick-compiler.bash"
cd "$scratch" || exit 3
export KFTUNE_DATA=${KFTUNE_DATA:-$(dirname "$kftune")} XDG_CACHE_HOME=$scratch/cache
tune() { # STORE OPTIONS...
    local store=$1
    shift
    "$kftune" tune --scene ball --grid 16x12x12 --samples-per-cell 2 --device cpu:1 --budget 3evals --strategy random --effort 0.01 --rounds 0 \
        --store "$store" --out best.json "$@" >out 2>err </dev/null
}
stored() { "$kftune" store export --store "$1" --format csv 2>/dev/null | tail -n +2; }
expect_fault() { # STATUS STORE WHAT WORDS...: the last line has the words, and the store no result that blames a config
    local status=$1 store=$2 what=$3 word
    shift 3
    [ "$status" -eq 3 ] || complain "$what: status $status instead of 3"
    for word in "$@"; do
        tail -n 1 err | grep -q -e "$word" || complain "$what: the last line does not say '$word'"
    done
    [ ! -e best.json ] || complain "$what: a best config is written"
    if [ -e "$store" ] && stored "$store" | grep -E ',(invalid|compile|crash)(,|$)' >bad; then
        complain "$what: $(wc -l <bad) results blame configs"
    fi
}

XDG_CACHE_HOME=/proc tune proc.db
expect_fault $? proc.db "/proc as cache" /proc/kftune XDG_CACHE_HOME
[ ! -e proc.db ] || [ -z "$(stored proc.db)" ] || complain "/proc as cache: results are stored"

# The disk becomes full after some kernels.
mkdir small
cat >full.sh <<'END'
mount -t tmpfs -o size=400k none "$1" && shift && exec "$@"
END
if unshare -rm true 2>/dev/null; then
    in_small_disk() { XDG_CACHE_HOME=$scratch/small unshare -rm bash full.sh "$scratch/small" "$@"; }
    in_small_disk true || complain "no small disk"
    kftune_of_test=$kftune
    kftune=in_small_disk_tune
    in_small_disk_tune() { in_small_disk "$kftune_of_test" "$@"; }
    tune full.db --verbose
    expect_fault $? full.db "a full disk" "No space left" "$scratch/small"
    kftune=$kftune_of_test
    # With room again the run continues, and every config is measured.
    tune full.db --resume || complain "the run does not go on when there is room"
    stored full.db | grep -qE ',(invalid|compile|crash)(,|$)' && complain "configs are blamed after resuming"
    rm -f best.json
else
    echo "machine-faults.sh: no small disk to be had here: that part is left out"
fi

# The outputs of a run do not fit, from a few places on. The status is 3, with the reason, and run.json says that the
# run failed.
long_run() { # FOLDER COMMAND...
    local folder=$1
    shift
    "$@" "$kftune" run --scene cavity2d --system d2q9 --device cpu:1 --grid 64x64x1 --fix plan=pull --steps 60 --every 20 --checkpoints 9 \
        --output "$folder" >out 2>err </dev/null
}
expect_failed_run() { # STATUS FOLDER WHAT REASON
    [ "$1" -eq 3 ] || complain "$3: status $1 instead of 3"
    tail -n 1 err | grep -q "$4" || complain "$3: the last line does not say '$4'"
    [ -z "$(find "$2" -name '*tmp*')" ] || complain "$3: $(find "$2" -name '*tmp*') stays"
}
limited() { # BLOCKS COMMAND...: of 1024 bytes, in a file
    (ulimit -f "$1" && shift && exec "$@")
}
long_run whole env || complain "the run does not work"
for blocks in 90 30 4; do
    XDG_CACHE_HOME=$scratch/cache long_run limited limited "$blocks"
    expect_failed_run $? limited "files of $blocks KiB" "File too large"
    grep -q '"failed"' limited/run.json || complain "files of $blocks KiB: run.json does not say that it failed"
    rm -rf limited
done
if unshare -rm true 2>/dev/null; then
    for room in 150 400 600; do
        cat >full-run.sh <<END
mount -t tmpfs -o size=${room}k none "\$1" && folder=\$1 && shift && "\$@"
status=\$?
cp -r "\$folder" seen
exit \$status
END
        long_run small/r unshare -rm bash full-run.sh "$scratch/small"
        expect_failed_run $? seen "a disk of $room kB" "No space left\|are free there"
        grep -q '"failed"' seen/r/run.json || complain "a disk of $room kB: run.json does not say that it failed"
        rm -rf seen
    done
fi

# The compiler disappears, or its disk is full, during the run.
for way in 'exec /nonexistent/compiler "$@"' 'echo "as: out.o: No space left on device" >&2; exit 1' 'kill -XFSZ $$'; do
    rm -rf cache count cc.db
    : >count
    cat >cc <<END
#!/bin/bash
case "\$*" in
*--version* | *-dM*) exec ${KFTUNE_CC:-cc} "\$@" ;;
esac
echo >>count.new
[ \$(wc -l <count.new) -le 2 ] && exec ${KFTUNE_CC:-cc} "\$@"
$way
END
    sed -i "s,count.new,$scratch/count,g" cc
    chmod +x cc
    KFTUNE_CC=$scratch/cc tune cc.db
    expect_fault $? cc.db "a compiler that ends with: $way" "$scratch/cc"
done

# Public cases 24, 31, 32: folders of a container. The cache is mounted noexec, or the home and the working folder are
# read-only.
cat >places.sh <<'END'
here=$1 kftune=$2
mkdir -p "$here/noexec" "$here/ro"
mount -t tmpfs -o noexec none "$here/noexec" && mount -t tmpfs none "$here/ro" && mount -o remount,ro "$here/ro" || exit 77
try() { # STATUS WORD ARGUMENT...
    local status=$1 word=$2
    shift 2
    "$kftune" "$@" >"$here/out" 2>"$here/err" </dev/null
    local got=$?
    [ $got -eq "$status" ] && grep -qF -e "$word" "$here/err" "$here/out" || echo "$*: status $got, not $status with '$word': $(tail -n 1 "$here/err")"
}
XDG_CACHE_HOME=$here/noexec try 3 "mounted noexec; set XDG_CACHE_HOME" run --scene ball --grid 16x12x12 --steps 1 --output "$here/r"
XDG_CACHE_HOME=$here/noexec try 3 "set XDG_CACHE_HOME to a folder that is not mounted noexec" doctor
HOME=$here/ro XDG_DATA_HOME= try 3 "set XDG_DATA_HOME to a folder that can be written, or give --store" store list
HOME=$here/ro XDG_DATA_HOME= try 3 "or give --store" nightly --suite quick
HOME=$here/ro XDG_CACHE_HOME= try 3 "set XDG_CACHE_HOME to" run --scene ball --grid 16x12x12 --steps 1 --output "$here/r"
cd "$here/ro" || exit 3
try 0 "Reynolds number" scene ball
try 3 "name another place (--out, --output, --picture" scene ball --picture x.png
try 3 "--output" run --scene ball --grid 16x12x12 --steps 1
# Programs are started with /dev/null.
unset KFTUNE_CC
mount -t tmpfs none /dev || exit 77
cd "$here" || exit 3
"$kftune" run --scene ball --grid 16x12x12 --steps 1 --output "$here/r" >"$here/out" 2>"$here/err"
got=$?
[ $got -eq 3 ] && grep -qF "/dev/null cannot be opened here" "$here/err" || echo "without /dev/null: status $got, $(tail -n 1 "$here/err")"
XDG_CACHE_HOME=$here/fresh "$kftune" doctor >"$here/out" 2>&1
grep -q '^missing *cpu backend .*/dev/null cannot be opened here' "$here/out" || echo "doctor without /dev/null: $(grep cpu "$here/out")"
! grep -q 'apt-get install gcc' "$here/out" || echo "doctor without /dev/null wants a compiler installed"
END
if unshare -rm true 2>/dev/null; then
    unshare -rm bash places.sh "$scratch/places" "$kftune" >told 2>&1
    case $? in
    77) echo "machine-faults.sh: no file systems to be mounted here: that part is left out" ;;
    *) [ ! -s told ] || complain "$(cat told)" ;;
    esac
fi

finish
