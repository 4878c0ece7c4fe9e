#!/bin/bash
# Tests doctor and bench: statuses, cures, JSON. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
export XDG_CACHE_HOME=$scratch/cache XDG_DATA_HOME=$scratch/data

expect 0 doctor
grep -q '^ok  *cpu backend' "$out" || complain "the cpu backend should work where the tests were built"
expect 0 doctor --json
grep -q '"checks"' "$out" || complain "doctor --json has no checks"

# Without compiler and GPU nothing can be tuned, and doctor says what to install.
if ! "$kftune" doctor | grep -q '^ok  *cuda backend'; then
    KFTUNE_CC=/nonexistent/cc expect 3 doctor
    grep -q '^missing  *cpu backend' "$out" || complain "a missing compiler should be called missing"
    grep -q 'apt-get install gcc' "$out" || complain "the cure for a missing compiler is not there"
    grep -q impossible "$err" || complain "doctor should say that tuning is impossible"
fi

# Public case 36: gnuplot runs, but cannot draw what plots need.
mkdir -p "$scratch/old"
cat >"$scratch/old/gnuplot" <<'END'
#!/bin/sh
case "$*" in
*--version*) echo "gnuplot 4.6 patchlevel 6" ;;
*cairo*) printf '\n%s\n    ^\nline 0: unknown or ambiguous terminal type\n' "$*" >&2 && exit 1 ;;
esac
END
chmod +x "$scratch/old/gnuplot"
PATH=$scratch/old:$PATH expect 0 doctor
grep -q "^degraded  *gnuplot  *gnuplot 4.6 patchlevel 6 is too old or lacks cairo: 'set terminal pngcairo': line 0: unknown" "$out" ||
    complain "doctor should see a gnuplot that lacks cairo: $(grep gnuplot "$out")"
grep -q -- '-> apt-get install gnuplot-nox' "$out" || complain "doctor should say how to get a gnuplot that draws"

# A compiler that exists but does not work need not be installed.
printf '#!/bin/sh\necho "cc1 is not here"; exit 1\n' >"$scratch/old/cc"
cp "$scratch/old/cc" "$scratch/old/gcc" && cp "$scratch/old/cc" "$scratch/old/clang" && chmod +x "$scratch"/old/*
PATH=$scratch/old:$PATH "$kftune" doctor >"$out" 2>"$err"
grep -q '^missing  *cpu backend .* does not work: cc1 is not here' "$out" ||
    complain "doctor should say why a compiler does not work: $(grep 'cpu backend' "$out")"

# The folder cannot be made (root may write anywhere, but not below a file).
touch "$scratch/file"
XDG_CACHE_HOME=$scratch/file expect 3 doctor --json
grep -q XDG_CACHE_HOME "$out" || complain "the cure for an unwritable cache is not there"

expect 2 bench
grep -q -- '--suite' "$err" || complain "bench without a suite should ask for one"
expect 2 bench --suite toelk
grep -q toelke "$err" || complain "a wrong suite should suggest the right one"
expect 2 bench --suite toelke --device cpuu
grep -q '"cpu"' "$err" || complain "a wrong device should suggest the right one"

expect 2 bench --suite toelke --device cpu --grid 32x24x24
grep -q 'has one scene' "$err" || complain "--grid belongs to suites of one scene, and the others should say so"
expect 2 bench --suite search --figure memcpy
grep -q 'do nothing for this suite' "$err" || complain "search has no figures to choose from, and should say so"
expect 2 bench --suite quick
grep -q 'kftune nightly' "$err" || complain "a night's suite should say whose it is"
expect 2 bench --suite step --device cpu --figure memcopy
grep -q "did you mean 'memcpy'" "$err" || complain "a wrong figure should suggest the right one"

"$kftune" bench --suite step --device cpu --grid 32x24x24 --samples-per-cell 2 --figure memcpy --json >"$out" 2>"$err"
status=$?
[ "$status" -eq 0 ] || complain "bench: status $status"
[ "$(grep -c '"share"' "$out")" -eq 1 ] || complain "bench should print one figure"

finish
