#!/bin/bash
# What the referee (docs/gate.md) does on a GPU: planted cheats, kernels as others publish them, honest kernels, its cost.
# usage: scripts/gpu/referee.sh FOLDER [DEVICE]. FOLDER gets referee.txt and what each run printed.
# FETCHED: a folder that holds others' kernels, never committed: hub/kernels (the benchmark hub) and bat/batbench/benchmarks (BAT); left out
# where it is not there. BEFORE: a program without the referee, to compare times with. SECONDS_EACH: of a run (40). PARTS: of "cheats hub bat
# honest presets cost".
set -u
folder=${1:?usage: scripts/gpu/referee.sh FOLDER [DEVICE]} device=${2:-cuda:0}
fetched=${FETCHED:-.gpu/fetched} before=${BEFORE:-} seconds=${SECONDS_EACH:-40}
. "$(dirname "$0")/program.sh"
table=$folder/referee.txt store=$folder/referee.db failures=0
: >"$table"
tell() { printf '%s\n' "$*" | tee -a "$table"; }

# run NAME ARGUMENT...: tunes, and leaves what it printed in NAME.json and NAME.err.
run() {
    local name=$1
    shift
    "$kftune" tune --device "$device" --store "$store" --out "$folder/$name.kftune.json" --json "$@" >"$folder/$name.json" 2>"$folder/$name.err"
}
# outcome NAME: states of its configs and the best time, or the last line that it complained with.
outcome() {
    python3 - "$folder/$1.json" "$folder/$1.err" <<'P'
import json, sys
try:
    r = json.load(open(sys.argv[1]))
    best = r["best"]
    print("best %s us," % (best and best["time_us"]), ", ".join("%d %s" % (n, s) for s, n in r["states"].items() if n))
except Exception:
    print(([""] + [l.strip() for l in open(sys.argv[2]) if l.startswith("kftune: ") and "warning" not in l])[-1])
P
}
state() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["states"][sys.argv[2]])' "$folder/$1.json" "$2" 2>/dev/null || echo 0; }
wants() { [[ " ${PARTS:-cheats hub bat honest presets cost} " == *" $1 "* ]]; }

if wants cheats; then
    run cheats --scene tests/data/t1/cheats.t1.json --strategy enumerate --budget 17evals --rounds 0
    tell "cheats: $(state cheats wrong_result) of 16 refused, $(state cheats ok) ok: $(outcome cheats)"
    [ "$(state cheats wrong_result)" = 16 ] && [ "$(state cheats ok)" = 1 ] || failures=$((failures + 1))
    "$kftune" store export --store "$store" --format csv >"$folder/cheats.csv" 2>/dev/null
fi
if wants hub && [ -d "$fetched/hub/kernels" ]; then
    for name in convolution_milo hotspot_milo dedispersion_milo gemm_milo; do
        run "hub-$name" --scene "$fetched/hub/kernels/$name.json" --budget "${seconds}s"
        tell "hub as published, $name: $(outcome "hub-$name")"
    done
    # What their files have wrong, made right: sizes and types of arrays, and gemm's files, launch and arguments.
    python3 - "$fetched/hub/kernels" <<'P'
import json, sys
d = sys.argv[1] + "/"
h = json.load(open(d + "hotspot_milo.json"))
for a in h["KernelSpecification"]["Arguments"][:2]: a["Size"] = "(max(grid_width) + 2 * max(max_tfactor)) * (max(grid_height) + 2 * max(max_tfactor))"
json.dump(h, open(d + "hotspot_mended.json", "w"))
p = json.load(open(d + "dedispersion_milo.json"))
a = p["KernelSpecification"]["Arguments"]
a[0].update(Type="uint8", Size=1536 * 25650, FillValue=255)
a[2].update(Size=1536, FillValue=15.0)
del a[2]["MemType"]
json.dump(p, open(d + "dedispersion_mended.json", "w"))
g = json.load(open(d + "gemm_milo.json"))
k = g["KernelSpecification"]
k["KernelFile"] = ["gemm_milo/common.opencl"] + ["gemm_milo/xgemm_part%d.opencl" % i for i in (1, 2, 3, 4)]
k["LocalSize"] = {"X": "MDIMC", "Y": "NDIMC"}
k["ProblemSize"] = ["2048 * 1", 2048]
k["GridDivX"], k["GridDivY"] = ["MWG"], ["NWG"]
scalar = lambda n, t, v: dict(Name=n, Type=t, MemoryType="Scalar", FillValue=v)
vector = lambda n, acc: dict(Name=n, Type="float", MemoryType="Vector", AccessType=acc, Size=2048 * 2048, FillType="Random", FillValue=1.0)
k["Arguments"] = [scalar("kSizeM", "int32", 2048), scalar("kSizeN", "int32", 2048), scalar("kSizeK", "int32", 2048), scalar("alpha", "float", 1.0),
                  scalar("beta", "float", 0.0), vector("agm", "ReadOnly"), vector("bgm", "ReadOnly"), vector("cgm", "ReadWrite"),
                  scalar("b_offset", "int32", 0), scalar("c_offset", "int32", 0)]
json.dump(g, open(d + "gemm_mended.json", "w"))
P
    for name in hotspot_mended dedispersion_mended gemm_mended; do
        run "hub-$name" --scene "$fetched/hub/kernels/$name.json" --budget "${seconds}s"
        tell "hub, $name: $(outcome "hub-$name")"
    done
fi
if wants bat && [ -d "$fetched/bat/batbench/benchmarks" ]; then
    for name in convolution GEMM hotspot MD5Hash nbody pnpoly TRIAD; do
        run "bat-$name" --scene "$fetched/bat/batbench/benchmarks/$name/$name-CAFF.json" --budget "${seconds}s"
        tell "bat, $name: $(outcome "bat-$name")"
    done
fi
if wants honest; then
    for scene in convolution dedispersion logsumexp matmul nbody star transpose stencil blur; do
        run "honest-$scene" --scene "tests/data/t1/$scene.t1.json" --strategy random --budget 40evals --rounds 0
        tell "honest, $scene: $(outcome "honest-$scene")"
    done
fi
if wants presets; then
    for scene in ahmed cylinder2d plume dam_break_2d ball; do
        run "presets-$scene" --scene "$scene" --budget 3evals --rounds 0
        tell "presets, $scene: $(outcome "presets-$scene")"
    done
fi
if wants cost; then
    for program in "$kftune" ${before:+"$before"}; do
        # The second of two runs has everything compiled.
        for time in first second; do
            "$program" tune --device "$device" --store "$folder/cost.db" --out "$folder/cost.kftune.json" --json --scene tests/data/t1/convolution.t1.json \
                --strategy random --seed 5 --budget 60evals --rounds 0 >"$folder/cost.json" 2>"$folder/cost.err"
        done
        tell "cost, $program: $(python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); s=r["seconds"]; n=r["evaluations"]; print("%.1f ms a config verified, %.1f ms measured, %.2f s in all, of %d" % (1e3*s["verifying"]/n, 1e3*s["measuring"]/n, s["total"], n))' "$folder/cost.json")"
    done
fi
[ "$failures" -eq 0 ]
