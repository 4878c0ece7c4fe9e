#!/bin/bash
# Runs every fuzz target for some seconds, from a corpus of the files that the project itself has.
# usage: scripts/fuzz.sh BUILD SECONDS [TARGET...]; the corpora grow in BUILD/corpus, findings are kept in BUILD/findings.
# KFTUNE_TEST_JOBS: how many run at a time (default: one for each processor).
set -u
jobs=${KFTUNE_TEST_JOBS:-$(nproc)}
build=${1:?usage: scripts/fuzz.sh BUILD SECONDS [TARGET...]} seconds=${2:?}
shift 2
root=$(realpath "$(dirname "$0")/..")
build=$(realpath "$build")
export TMPDIR=$build/tmp XDG_CACHE_HOME=$build/home XDG_DATA_HOME=$build/home KFTUNE_DATA=$root
export LSAN_OPTIONS=suppressions=$root/tests/sanitizers/leaks.supp:print_suppressions=0 # leaks inside of libraries
mkdir -p "$TMPDIR" "$build/home" "$build/findings"
cd "$root" || exit 3

# seed TARGET FILE...: files up to 64 KiB.
seed() {
    local folder=$build/corpus/$1 file
    shift
    mkdir -p "$folder"
    for file in "$@"; do
        [ -f "$file" ] && [ "$(stat -c %s "$file")" -le 65536 ] && cp "$file" "$folder/$(basename "$file")"
    done
}
# A mesh's format is its first byte.
seed_mesh() { # NUMBER NAME, the file on stdin
    mkdir -p "$build/corpus/mesh" "$build/corpus/mesh_import"
    { printf "\\x0$1" && cat; } >"$build/corpus/mesh/$2"
    cp "$build/corpus/mesh/$2" "$build/corpus/mesh_import/$2"
}
seed space variants/*.json tests/data/kinetic.space.json
seed scene scene/library/*.json
seed fluid scene/library/{plume,plume3d,jet,decay,kolmogorov,stress}.json
seed particles scene/library/{slump,column,pool,dam_break_2d}.json
seed t1 tests/data/t1/*.json scene/library/*/*.t1.json
seed suite suites/*.json
seed metric_set metrics/*.txt
seed landscape results/landscapes/*.json.gz
seed expression tests/data/expression.txt
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' | seed_mesh 0 obj
printf 'solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n' | seed_mesh 1 stl
printf 'ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n' | seed_mesh 2 ply
printf '{"asset":{"version":"2.0"},"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],"bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36,"uri":"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}],"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"nodes":[{"mesh":0}],"scenes":[{"nodes":[0]}],"scene":0}' | seed_mesh 3 gltf
printf '\x00ncols 3\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 2\nNODATA_value -9\n1 2 3\n4 -9 6\n' >"$TMPDIR/terrain" && seed terrain "$TMPDIR/terrain"
{ printf '\x00' && cat tests/data/t1/cheats.cu; } >"$TMPDIR/signature" && seed signature "$TMPDIR/signature"
printf 'time,x,y,u,v\n0,0.5,0.5,1,0\n0.1,0.2,0.8,0,-1\n' >"$TMPDIR/pushes" && seed pushes "$TMPDIR/pushes"
printf '{"examine": true, "verify": true, "least_samples": 8, "incumbent": [1, 2], "config": {"plan": "pull", "block_x": 64}}' >"$TMPDIR/job" && seed job "$TMPDIR/job"
printf '{"state": "ok", "reason": ""}' >"$TMPDIR/measurement" && seed measurement "$TMPDIR/measurement"
printf 'caf\xc3\xa9 \x1b[31m\xe2\x82\xac' >"$TMPDIR/clean" && seed clean "$TMPDIR/clean"
printf '\x02\x01\x00\x08\x08\x08\x00\x02\x02\x00\x08\x01\x00' >"$TMPDIR/parcel" && seed parcel "$TMPDIR/parcel"
cat >"$TMPDIR/run_folder" <<'END'
{"kftune": "0.2.0", "scene": "ball", "scene_hash": "abc", "state": "running", "last_step": 40, "seconds": 1.5, "columns_refer_to": {"reference_area": 0.5},
 "coefficients": {"settled": true, "reference_area_m2": 0.5, "wind_axes": {"drag": {"mean": 0.31, "half_of_interval_95": 0.002}}, "open_stream": {"drag": {"raw": 0.3}}}}
END
seed run_folder "$TMPDIR/run_folder" docs/schemas/run.schema.json
printf '\x01step,time_s,drag,lift,side\n10,0.1,0.3,0.1,0\n20,0.2,nan,0.1,0\n30,0.3,0.31,-0.1,1e-3\n' >"$TMPDIR/table" && seed table "$TMPDIR/table"
{ printf '{"device": {"name": "2 x H200"}, "figures": [{"name": "weak 400^3, f32", "note": "alone 3.4980 to 3.5021 ms", "share": 0.97}]}' && printf '\x00{"roofs": [{"name": "link_0_1_copy", "value": 250}, {"name": "link_0_1_order", "value": 3.5}]}'; } >"$TMPDIR/scaling"
seed scaling "$TMPDIR/scaling"
for ((c = 0; c < 24; c++)); do
    { printf "\\x$(printf %02x $c)" && printf -- '--scene\nball\n--grid=32x24x24\n--budget\n20s-device\n--steps\n10\n--camera\n90,10,2\n--slice\ny=0.4m\n--range\npressure=-1:1\n--probe\nwake=2L,0,0.5L\n--metric\nx=1e-3*time_us\n--wind\n-z\n--device\ncpu:0-3'; } >"$TMPDIR/command-$c" && seed command "$TMPDIR/command-$c"
done

# A description and its state, eight bytes; a mask is any picture.
checkpoint_header='{"system":"kinetic","scene":"ball","scene_hash":"0","config_hash":"0","collision":"bgk","storage":"f32","smoke_hash":"-","nodes":[8,4,4],"step":3,"state_bytes":8,"smoke_bytes":0}'
printf 'kftune-checkpoint 2 %064d\n%-938s\n%s' 0 "$checkpoint_header" 12345678 >"$TMPDIR/checkpoint" && seed checkpoint "$TMPDIR/checkpoint"
seed mask docs/images/*.png
sed -n '/^```json/,/^```/{/^```/!p}' docs/best-config.md >"$TMPDIR/best_config" && seed best_config "$TMPDIR/best_config"
if command -v sqlite3 >/dev/null; then
    rm -f "$TMPDIR/store"
    { echo 'PRAGMA page_size=512;' && cat tests/data/store-version-1.sql; } | sqlite3 "$TMPDIR/store" >/dev/null && seed store "$TMPDIR/store"
    { printf '\x7f' && cat "$TMPDIR/store"; } >"$TMPDIR/journal" && seed journal "$TMPDIR/journal"
fi

[ $# -gt 0 ] || set -- $(cd "$build/fuzz" && ls)
# The number of inputs in a log: the last one, also if several processes followed each other.
inputs() { sed -n 's/^stat::number_of_executed_units: *//p; s/^#\([0-9]*\): cov.*/\1/p' "$build/$1.log" | tail -n 1; }
fuzz_one() { # TARGET
    local limits=(-timeout=180 -rss_limit_mb=3072) status artifact
    # Crashes, lack of memory and hanging of assimp happen in a child of the program, so they are no findings, and fuzzing continues.
    # Its leaks lie behind operator new, where only slow unwinding sees it.
    if [ "$1" = mesh_import ]; then
        limits=(-fork=1 -ignore_crashes=1 -ignore_ooms=1 -ignore_timeouts=1 -timeout=20 -rss_limit_mb=2048)
        local -x ASAN_OPTIONS=fast_unwind_on_malloc=0
    fi
    "$build/fuzz/fuzz_$1" -max_total_time="$seconds" "${limits[@]}" -print_final_stats=1 \
        -artifact_prefix="$build/findings/$1-" "$build/corpus/$1" >"$build/$1.log" 2>&1
    status=$?
    if [ "$1" = mesh_import ] && [ -n "$(inputs "$1")" ]; then
        status=0
        for artifact in "$build/findings/$1"-*; do
            [ -f "$artifact" ] || continue
            timeout 60 "$build/fuzz/fuzz_$1" "$artifact" 2>&1 | grep '^SUMMARY' | grep -vE 'ssimp|out-of-memory|timeout' >>"$build/$1.log" && status=1
        done
    fi
    echo $status >"$build/$1.status"
}
for target in "$@"; do
    target=${target#fuzz_}
    mkdir -p "$build/corpus/$target"
    while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do wait -n; done
    fuzz_one "$target" &
done
wait
found=0
for target in "$@"; do
    target=${target#fuzz_}
    if [ "$(cat "$build/$target.status")" = 0 ]; then
        echo "fuzz_$target: $(inputs "$target") inputs in $seconds s, no finding"
    else
        echo "fuzz_$target: FOUND something: see $build/$target.log and $build/findings"
        found=$((found + 1))
    fi
done
[ "$found" -eq 0 ]
