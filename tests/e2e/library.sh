#!/bin/bash
# Tests libkftune as its users have it: installed, found by pkg-config, used from C and from Python. It exports only its
# interface, and survives misuse. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
cd "$(dirname "$0")/../.." || exit 3
build=$(dirname "$kftune") # where one test at a time calls make

flock "$build" make install BUILD="$build" DESTDIR="$scratch/root" PREFIX=/opt/kftune >"$scratch/log" 2>"$scratch/err" || complain "make install failed"
top=$scratch/root/opt/kftune
library=$top/lib/libkftune.so.0
export PKG_CONFIG_PATH=$top/lib/pkgconfig LD_LIBRARY_PATH=$top/lib
unset KFTUNE_DATA # found from the library

# Only what the header declares is exported.
nm -D --defined-only "$library" | sed 's/.* //' | sort >"$scratch/shown"
grep -o '\bkftune_[a-z_]*(' "$top/include/kftune.h" | tr -d '(' | sort -u >"$scratch/declared"
comm -3 "$scratch/shown" <(comm -12 "$scratch/shown" "$scratch/declared") | grep . && complain "shows more than its header declares"
[ "$(wc -l <"$scratch/shown")" -ge 15 ] || complain "shows too little"
objdump -p "$library" | grep -q 'SONAME *libkftune.so.0$' || complain "has another soname"
[ "$(pkg-config --modversion kftune)" = "$("$kftune" --version | cut -d ' ' -f 2)" ] || complain "pkg-config says another version"
echo '#include <kftune.h>' >"$scratch/header.cc"
for compiler in "gcc -std=c99 -pedantic -x c" "gcc -std=c++11 -pedantic -x c++"; do
    # shellcheck disable=SC2046,SC2086
    $compiler -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags kftune) "$scratch/header.cc" 2>"$scratch/err" || complain "kftune.h: $compiler"
done

build_one() { # NAME SOURCE
    # shellcheck disable=SC2046
    gcc -O2 -Wall -Wextra -o "$scratch/$1" "$2" $(pkg-config --cflags --libs kftune) -lm -lpthread 2>"$scratch/err" || complain "$2 does not build"
}

# The C example tunes its own function and finds it again in the store.
build_one blocked "$top/share/doc/kftune/examples/blocked.c"
"$scratch/blocked" "$scratch/c.db" >"$scratch/out" 2>"$scratch/err" || complain "the C example fails"
grep -q '^block=[0-9]* columns_first=[01]: [0-9.]* us$' "$scratch/out" || complain "the C example finds nothing"
grep -q '^known: {.*"block":.*of this problem' "$scratch/out" || complain "the C example does not find it again"
[ ! -s "$scratch/err" ] || complain "the library prints"
"$kftune" store list --store "$scratch/c.db" | grep -q 'transpose-256' || complain "the program cannot read the library's store"

# The command line on the library's page works as written.
line=$(sed -n 's/^\(cc blocked\.c .* tuned\.db\).*/\1/p' docs/library.md)
[ -n "$line" ] || complain "docs/library.md has no line that builds the example"
mkdir "$scratch/page" && cp "$top/share/doc/kftune/examples/blocked.c" "$scratch/page"
(cd "$scratch/page" && sh -ec "$line") >"$scratch/out" 2>"$scratch/err" || complain "docs/library.md: '$line' fails"

# From Python a T1 kernel and a Python function are tuned.
if command -v python3 >/dev/null; then
    python3 "$top/share/doc/kftune/examples/scene.py" "$scratch/py.db" tests/data/t1/blur.t1.json >"$scratch/out" 2>"$scratch/err" || complain "the Python example fails"
    [ "$(grep -c '^[0-9.]* us ' "$scratch/out")" -eq 4 ] || complain "the Python example finds too little"
    grep -q '"chunk":[ ]*1000' "$scratch/out" || complain "Python's own function is not tuned"
    mkdir "$scratch/python"
    PYTHONPATH=$top/lib/python3/dist-packages python3 tests/e2e/python-tune.py "$kftune" "$scratch/python" >"$scratch/err" 2>&1 || complain "kftune.py fails"
    grep '^python-tune.py: no numpy' "$scratch/err"
else
    echo "library.sh: no python3 here: its example is skipped"
fi

build_one misuse tests/e2e/library-misuse.c
"$scratch/misuse" "$scratch/misuse.db" >"$scratch/out" 2>"$scratch/err" || complain "misuse"
[ ! -s "$scratch/out" ] || complain "the library prints on stdout"
[ "$(wc -l <"$scratch/err")" -le 1 ] || complain "the library prints on stderr"

# Functions that do not do their work get no time when they let the referee check them.
build_one referee tests/e2e/library-referee.c
"$scratch/referee" "$scratch/referee.db" >"$scratch/out" 2>"$scratch/err" || complain "the referee of functions"
"$kftune" store export --store "$scratch/referee.db" --format csv >"$scratch/referee.csv" 2>"$scratch/err" || complain "the referee's results"
refused() { # HOW TEXT: that config is wrong, for that reason
    grep ",$1\$" "$scratch/referee.csv" | grep -q "wrong_result,.*$2" || complain "how=$1 is not refused: $2"
}
refused 1 'another seed'
refused 2 'another seed'
refused 3 'result deviates from the reference: result [^;]*,'
refused 4 'after it was timed'
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $4 == "ok" { n[$at["how"]]++; if (($at["how"] == 5) != ($at["spread"] > 0)) bad++ }
    END { exit !n[0] || !n[5] || !n[6] || bad }' "$scratch/referee.csv" || complain "spreads of functions"

finish
