#!/bin/bash
# Tests the referee (docs/gate.md) on a GPU: planted cheats, published kernels, honest kernels, and its cost.
# usage: scripts/gpu/referee.sh FOLDER [DEVICE]. FOLDER gets referee.txt, what each run printed, and refused.csv: each config that got no time.
# FETCHED: a folder with other projects' kernels, which are never committed: hub/kernels (the benchmark hub) and bat/batbench/benchmarks (BAT); left out
# where it is not there. BEFORE: a program without the referee, in a separate bundle, to compare times with. SECONDS_EACH: of a run (40; the
# hub's convolution has 60). AT_ONCE: processes beside each other where times do not matter (4). PARTS: of "cheats hub bat honest landscapes
# presets cost objectives".
set -u
folder=${1:?usage: scripts/gpu/referee.sh FOLDER [DEVICE]} device=${2:-cuda:0}
fetched=${FETCHED:-.gpu/fetched} before=${BEFORE:-} seconds=${SECONDS_EACH:-40} at_once=${AT_ONCE:-4}
fetched=$(realpath -m "$fetched") before=${before:+$(realpath "$before")}
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
# published NAME FILE ARGUMENT...: a T1 file whose name does not say that it is one.
published() {
    local budget=$seconds name=$1 file=$2
    shift 2
    [ "$name" != hub-convolution_milo ] || budget=60
    run "$name" --system t1 --scene "$file" --budget "${budget}s" "$@"
}
# several PART: runs lines of NAME ARGUMENT..., some at a time, each with a store of its own.
several() {
    local name line
    while read -r name line; do
        while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
        # shellcheck disable=SC2086 # The line is split into arguments.
        (store=$folder/$1-$name.db && run "$1-$name" --rounds 0 --take-turns $line </dev/null) &
    done
    wait
    for name in "$folder/$1"-*.err; do
        name=$(basename "$name" .err) && tell "$1, ${name#"$1"-}: $(outcome "$name")"
    done
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
wants() { [[ " ${PARTS:-cheats hub bat honest landscapes presets cost objectives} " == *" $1 "* ]]; }

# Each is measured in full, because tuning would skip a slow cheat before its second launch.
if wants cheats; then
    "$kftune" landscape --device "$device" --store "$store" --scene tests/data/t1/cheats.t1.json >"$folder/cheats.txt" 2>"$folder/cheats.err"
    "$kftune" store export --store "$store" --format csv >"$folder/cheats.csv" 2>/dev/null
    refused=$(grep -c ',wrong_result,' "$folder/cheats.csv") honest=$(grep -c ',ok,' "$folder/cheats.csv")
    tell "cheats: $refused of 16 refused, $honest ok"
    [ "$refused" = 16 ] && [ "$honest" = 1 ] || failures=$((failures + 1))
fi
if wants hub && [ -d "$fetched/hub/kernels" ]; then
    for name in convolution_milo hotspot_milo dedispersion_milo gemm_milo; do
        published "hub-$name" "$fetched/hub/kernels/$name.json"
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
        published "hub-$name" "$fetched/hub/kernels/$name.json"
        tell "hub, $name: $(outcome "hub-$name")"
    done
fi
if wants bat && [ -d "$fetched/bat/batbench/benchmarks" ]; then
    for name in convolution GEMM hotspot MD5Hash nbody pnpoly TRIAD; do
        published "bat-$name" "$fetched/bat/batbench/benchmarks/$name/$name-CAFF.json"
        tell "bat, $name: $(outcome "bat-$name")"
    done
    # As for the hub. nbody's two layouts have inputs of their own, so that each is tuned alone.
    python3 - "$fetched/bat/batbench/benchmarks" <<'P'
import json, sys
d = sys.argv[1] + "/"
t = json.load(open(d + "TRIAD/TRIAD-CAFF.json"))
t["KernelSpecification"]["CompilerOptions"] += ["-DPRECSION", "-DPRECISION=64"]
json.dump(t, open(d + "TRIAD/TRIAD-mended.json", "w"))
p = json.load(open(d + "pnpoly/pnpoly-CAFF.json"))
a = p["KernelSpecification"]["Arguments"]
a[0].update(AccessType="WriteOnly", Output=1)
a[2].update(Name="d_vertices", Type="float2", Size=600, AccessType="ReadOnly", MemType="Constant")
del a[2]["Output"]
json.dump(p, open(d + "pnpoly/pnpoly-mended.json", "w"))
P
    for name in TRIAD pnpoly; do
        published "bat-$name-mended" "$fetched/bat/batbench/benchmarks/$name/$name-mended.json"
        tell "bat, $name mended: $(outcome "bat-$name-mended")"
    done
    for soa in 0 1; do
        published "bat-nbody-$soa" "$fetched/bat/batbench/benchmarks/nbody/nbody-CAFF.json" --fix "USE_SOA=$soa"
        tell "bat, nbody with USE_SOA=$soa: $(outcome "bat-nbody-$soa")"
    done
fi
if wants honest; then
    for scene in convolution dedispersion logsumexp matmul nbody star transpose stencil blur; do
        honest=() # of those that have a parameter that makes them wrong
        case $scene in stencil) honest=(--fix loses_edge=0) ;; blur) honest=(--fix shortcut=false) ;; esac
        run "honest-$scene" --scene "tests/data/t1/$scene.t1.json" --strategy random --budget 40evals --rounds 0 "${honest[@]}"
        tell "honest, $scene: $(outcome "honest-$scene")"
    done
fi
# The best config of each committed landscape of an H200, alone in its space beside the presets. Of a landscape whose space had other
# parameters, only what the space still has is fixed.
if wants landscapes; then
    python3 - "$kftune" "$device" ${LANDSCAPES:-results/landscapes/h200-*.json.gz} <<'P' >"$folder/landscapes.txt"
import gzip, json, os, subprocess, sys
spaces = {}
def space(scene, grid):
    if scene not in spaces:
        told = subprocess.run([sys.argv[1], "space", "--device", sys.argv[2], "--scene", scene, "--grid", grid, "--json"], capture_output=True)
        spaces[scene] = {p["name"]: p["values"] for p in json.loads(told.stdout)["space"]["parameters"]}
    return spaces[scene]
for path in sys.argv[3:]:
    if not os.path.exists(path): continue
    landscape = json.load(gzip.open(path))
    values = landscape["parameters"]
    column = len(values)
    best = min((r for r in landscape["results"] if isinstance(r[column], (int, float))), key=lambda r: r[column])
    name, grid = os.path.basename(path)[:-8].split("-")[1:3]
    scene = "tests/data/t1/%s.t1.json" % name
    if not os.path.exists(scene): scene = name
    known = space(scene, grid)
    chosen = {k: values[k][best[i]] for i, k in enumerate(values)}
    text = lambda v: str(v).lower() if isinstance(v, bool) else str(v)
    fixes = " ".join("--fix %s=%s" % (k, text(v)) for k, v in chosen.items() if v in known.get(k, []))
    print(name + "-" + grid, "--scene", scene, "--grid", grid, "--budget 2evals", fixes)
P
    several landscapes <"$folder/landscapes.txt"
fi
if wants presets; then
    for scene in ball ahmed vortices cavity2d cylinder_array2d decay jet plume dam_break_2d particles_bingham; do
        echo "$scene --scene $scene --budget 4evals"
    done >"$folder/presets.txt"
    several presets <"$folder/presets.txt"
fi
# Energy, power and counters in the user's metrics, and a front of time and energy (docs/objectives.md).
if wants objectives; then
    metrics=(--counters standard --metric watts=power --metric edp_again=energy*time)
    run objectives-matmul --scene tests/data/t1/matmul.t1.json --budget "${seconds}s" "${metrics[@]}" --metric hits=l2_hit_rate --objective time,energy
    run objectives-ball --scene ball --budget "${seconds}s" "${metrics[@]}" --metric moved=dram_bytes/time/1e9 --objective max:watts
    "$kftune" plot front --store "$store" --out "$folder/front.svg" --run "$("$kftune" store list --store "$store" --json |
        python3 -c 'import json, sys; print(next(r["run"] for r in json.load(sys.stdin)["runs"] if r["scene"] == "matmul"))')" >/dev/null || failures=$((failures + 1))
    python3 - "$folder" <<'P' | tee -a "$table"
import json, sys
for name, counted in (("matmul", "hits"), ("ball", "moved")):
    try:
        told = json.load(open("%s/objectives-%s.json" % (sys.argv[1], name)))
        m, best = told["best"]["metrics"], told["best"]
        good = 10 < m["watts"] < 3000 and abs(m["edp_again"] / (best["energy_j"] * best["time_us"] * 1e-6) - 1) < 1e-9 and m[counted] > 0
        good = good and (name == "ball" or len(told["front"]) > 0)
        print("objectives, %s: %s, %d on the front, %s" % (name, told["objective"], len(told["front"]), m), "" if good else "WRONG")
    except Exception as fault:
        print("objectives, %s: WRONG: %s" % (name, fault))
P
    grep -q '^objectives.*WRONG' "$table" && failures=$((failures + 1))
fi
if wants cost; then
    for program in "$kftune" ${before:+"$before"}; do
        data=$KFTUNE_DATA name=cost
        [ "$program" = "$kftune" ] || data=$(dirname "$program") name=cost-before
        # The second of two runs has everything compiled.
        for _ in first second; do
            KFTUNE_DATA=$data "$program" tune --device "$device" --store "$folder/$name.db" --out "$folder/$name.kftune.json" --json --scene tests/data/t1/convolution.t1.json \
                --strategy random --seed 5 --budget 60evals --rounds 0 >"$folder/$name.json" 2>"$folder/$name.err"
        done
        tell "$name: $(python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); s=r["seconds"]; n=r["evaluations"]; print("%.1f ms a config verified, %.1f ms measured, %.2f s in all, of %d" % (1e3*s["verifying"]/n, 1e3*s["measuring"]/n, s["total"], n))' "$folder/$name.json")"
    done
fi
# Honest configs, none of which may be refused.
if wants honest || wants landscapes || wants presets; then
    sums=$(python3 - "$folder"/honest-*.json "$folder"/landscapes-*.json "$folder"/presets-*.json <<'P'
import json, sys
sums = {}
for path in sys.argv[1:]:
    try: states = json.load(open(path))["states"]
    except (OSError, ValueError, KeyError): continue
    for name, count in states.items(): sums[name] = sums.get(name, 0) + count
print(", ".join("%d %s" % (n, s) for s, n in sums.items() if n))
P
    )
    tell "honest configs in all: $sums"
fi
python3 - "$folder"/*.db <<'P' >"$folder/refused.csv"
import csv, sqlite3, sys
out = csv.writer(sys.stdout)
for path in sys.argv[1:]:
    out.writerows(sqlite3.connect(path).execute(
        "SELECT p.name, r.role, r.state, count(*), r.reason, min(c.json) FROM result r JOIN run ON run.id = r.run JOIN problem p ON p.id = run.problem "
        "JOIN config c ON c.id = r.config WHERE r.state <> 'ok' GROUP BY run.id, r.role, r.state, substr(r.reason, 1, 60)"))
P
[ "$failures" -eq 0 ]
