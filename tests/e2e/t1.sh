#!/bin/bash
# Tests tuning of a kernel that is not kftune's, from its T1 file, on the cpu to the end, and what is refused. KFTUNE:
# the program; KFTUNE_SCRATCH: a folder to write into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
problems=$(cd "$(dirname "$0")/../data/t1" && pwd)
cd "$scratch" || exit 3

# tells STATUS TEXT ARGUMENT...: runs kftune, compares the exit status and looks for the text.
tells() {
    local expected=$1 text=$2 status
    shift 2
    "$kftune" "$@" >"$out" 2>"$err" </dev/null
    status=$?
    [ "$status" -eq "$expected" ] || complain "kftune $*: status $status, expected $expected"
    cat "$out" "$err" | grep -qF -- "$text" || complain "kftune $*: does not say: $text"
}

tune=(tune --device cpu --store t1.db --effort 0.05)
tells 0 '72 valid configs' space --scene "$problems/blur.t1.json" --device cpu
# A default that is none of its parameter's values is repaired with a message, also where there is no kernel yet.
sed 's/"Default": [0-9][0-9]*/"Default": -7/; s/blur\.cu/nowhere.cu/' "$problems/blur.t1.json" >mended.t1.json
tells 0 '72 valid configs' space --scene mended.t1.json --device cpu
grep -q 'is -7, which is none of its values; in its place' "$err" || complain "space does not say what was mended"
tells 0 'verified: deviates from the reference by' "${tune[@]}" --scene "$problems/blur.t1.json" --fix block_x=32 --fix rows=1,8 --budget 12evals
grep -q ' 6 wrong_result' "$out" || complain "the 6 wrong configs were not found out"
grep -q '^best ' "$out" && ! grep -q '^best .*shortcut=true' "$out" || complain "the best config is wrong"
grep -q '"shortcut":.*false' blur.kftune.json || complain "blur.kftune.json was not written"

# With the user's metrics the config with the highest value wins, values follow from the time in the store, and two
# goals have a front.
goals=(tune --device cpu --effort 0.05 --store goals.db --out goals.json --scene "$problems/blur.t1.json" --fix block_x=32,64 --fix rows=1,2
    --fix shortcut=false --fix block_y=1 --budget 7evals --rounds 0 --metric 'work=block_x*rows' --metric 'gflops=18*width*height/time/1e9')
tells 0 '(in max:work)' "${goals[@]}" --objective max:work
grep -q '^metrics   work 128$' "$out" && grep -q '"block_x":.*64' goals.json || complain "the most work did not win"
tells 0 '(in max:gflops,work)' "${goals[@]}" --objective max:gflops,work
grep -q '^front ' "$out" || complain "two goals have no front"
tells 0 'run,sequence' store export --store goals.db --format csv
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $4 == "ok" { n++; off = 18 * 301 * 203 / $at["time_us"] / 1e3 / $at["gflops"] - 1
        if (off > 1e-6 || off < -1e-6 || $at["work"] != $at["block_x"] * $at["rows"] || $at["spread"] != "0") bad++ }
    END { exit n < 4 || bad > 0 }' "$out" || complain "metrics in the CSV are wrong"
! command -v gnuplot >/dev/null || tells 0 'front.svg' plot front --store goals.db --out front.svg
tells 2 "option '--metric': f: column 8: unknown name 'block_z'" "${goals[@]}" --metric 'f=time * block_z'
tells 2 "option '--metric': f: column 3" "${goals[@]}" --metric 'f=2*'
tells 2 "option '--objective': unknown 'worc' (did you mean 'work'?)" "${goals[@]}" --objective max:worc
tells 2 'it is not a positive number for the presets' "${goals[@]}" --metric 'none=time*0' --objective none

# Plain C is compared with a reference kernel. Configs that omit the seams between tiles are wrong, those with one tile
# per row are not.
tells 0 'verified: deviates from the reference by' "${tune[@]}" --scene "$problems/sums.t1.json" --fix rows=8 --budget 13evals
grep -q ' 4 wrong_result' "$out" || complain "the 4 wrong configs of plain C were not found out"
# A config of a kernel cannot be run with `kftune run`.
tells 2 'compile the kernel with -Dblock_x=' run --config blur.kftune.json
grep -q '^#define block_x 32' blur.kftune.h || complain "blur.kftune.h lacks the best config's parameters"
# A kernel that compiles with no config, or a wrong name, is reported at once. Nothing is stored, and the status is 2.
sed 's/"KernelName": "sums"/"KernelName": "sum"/' "$problems/sums.t1.json" >sum.t1.json
cp "$problems/sums.c" "$problems/sums.reference.cu" .
tells 2 'KernelName: "sum" is no kernel of' tune --device cpu --store none.db --scene sum.t1.json --budget 500evals
grep -q 'before any config was tried' "$err" || complain "a hopeless run went on"
# Where an input is shorter than what the kernel reads, both are reported.
sed 's/"FillValue": 1.0, "Size": "ProblemSize\[0\] \* ProblemSize\[1\]"/"FillValue": 1.0, "Size": 61000/' "$problems/sums.t1.json" >short.t1.json
tells 2 "'in' is too short: its Size is 61000, and the kernel reads value 61102" tune --device cpu --store none.db --scene short.t1.json --budget 5evals
tells 0 'kftune_landscape' store export --store t1.db --format landscape
# Caches for other tuners have the kernel's own name, and are imported again as this system's.
tells 0 '"kernel_name":"sums"' store export --store t1.db --format kernel-tuner
"$kftune" store export --store t1.db --format kernel-tuner --out sums.json >/dev/null && "$kftune" store import sums.json --store back.db >/dev/null
tells 0 '"kernel_name":"sums"' store export --store back.db --format t4
grep -q ',t1,' <("$kftune" store export --store back.db --format csv) || complain "a cache that comes back is of another system"
tells 3 'needs a GPU' "${tune[@]}" --scene "$problems/stencil.t1.json" --budget 2evals
tells 2 "'--scene FILE|NAME' is missing" "${tune[@]}"
tells 2 'nowhere.t1.json' "${tune[@]}" --scene nowhere.t1.json
# Candidates take the place of a problem's kernel: a right one, one that computes nothing after its first launch, one
# that does not compile, and one that takes its input for whole numbers.
mkdir -p candidates
cp "$problems/sums.c" candidates/a.c
sed 's/const float \*in, int width, int height) {/const float *in, int width, int height) { static int done; if (done++) return;/' "$problems/sums.c" >candidates/b.c
echo 'void sums(float *out, const float *in, int width, int height) { out[0] = nothing; }' >candidates/c.c
echo 'void sums(float *out, const int *in, int width, int height) { out[0] = in[0]; }' >candidates/d.c
tells 1 '3 of 4 candidates are refused' judge candidates --problem "$problems/sums.t1.json" --device cpu
grep -q 'a.c: right, .* times as fast' "$out" || complain "judge refuses an honest candidate"
grep -q 'b.c: refused (' "$out" && grep -q 'c.c: refused (compile)' "$out" &&
    grep -q "d.c: refused (invalid): .*: in is a Vector of float, .* has 'const int \*in' there" "$out" || complain "judge does not refuse b.c, c.c and d.c"
tells 0 'right' judge candidates/a.c --problem "$problems/sums.t1.json" --device cpu
tells 2 'name the candidates' judge candidates/a.c --device cpu
tells 2 'is not there' judge candidates/z.c --problem "$problems/sums.t1.json" --device cpu
grep -q '^    gf ' <("$kftune" judge candidates/a.c --problem "$problems/sums.t1.json" --device cpu --metric 'gf=width*height/time/1e9' 2>&1) || complain "judge has no metrics"
# A portable problem takes a candidate in C too.
tells 0 'right' judge "$problems/blur.cu" --problem "$problems/blur.t1.json" --device cpu
# Without a cost model the measured configs predict the others.
tells 0 'learned from the first 3 of ' predict --device cpu --store t1.db --scene "$problems/blur.t1.json" --first 3
tells 2 'give measurements with --store or --landscape' predict --device cpu --scene "$problems/blur.t1.json"
# Another size makes another problem. Only sizes that the file has can be set.
tells 0 'verified: deviates from the reference by' "${tune[@]}" --scene "$problems/blur.t1.json" --grid 200x90x1 --fix block_x=32 --fix rows=1 --budget 2evals
tells 2 "'--grid'" "${tune[@]}" --scene "$problems/blur.t1.json" --grid 8x8x8

finish
