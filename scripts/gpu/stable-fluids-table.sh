#!/bin/bash
# What is asked of the stable fluids system (docs/stable-fluids.md, "Measured"), all of it in one run of one commit: the default's
# whole step at each size, an ensemble, three dimensions beside the best of cuFFT's plans, and a particle a cell.
# usage: scripts/gpu/stable-fluids-table.sh FOLDER [DEVICE] [SHRINK]; SHRINK divides all sizes, to try it on a cpu (16). From a built source
# tree or a bundle; builds nothing. Leaves table.json (all of kftune bench) and table.txt. Some 40 seconds on an H200.
set -u
folder=${1:?usage: scripts/gpu/stable-fluids-table.sh FOLDER [DEVICE] [SHRINK]}
device=${2:-cuda:0} shrink=${3:-1}
. "$(dirname "$0")/program.sh"
mkdir -p "$folder"
# A box of long random waves that moves at most about 1.2 cells a step, whatever its size.
scene() { # FILE CELLS N SIMULATIONS PARTICLES AMPLITUDE
    awk -v cells="$2" -v n="$3" -v simulations="$4" -v particles="$5" -v amplitude="$6" 'BEGIN {
        printf "{\"stable_fluids\": {}, \"domain\": {\"cells\": [%s], \"length\": 1, \"simulations\": %d},\n", cells, simulations
        printf " \"flow\": {\"viscosity\": 6.3e-5, \"time_step\": %.9g},\n", 0.09 * 512 / n
        if (particles > 0) printf " \"particles\": {\"count\": %d},\n", particles
        printf " \"initial\": {\"kind\": \"random\", \"amplitude\": %g, \"velocity\": [0.004, -0.002%s]}}\n", amplitude, cells ~ /,.*,/ ? ", 0" : ""
    }' >"$folder/$1.scene.json"
}
scenes= timings= figures=
add() { # NAME SECONDS [AT_MOST]
    scenes+="${scenes:+, }{\"name\": \"$1\", \"scene\": \"$1.scene.json\", \"system\": \"stable_fluids\"}"
    timings+="${timings:+, }{\"name\": \"$1\", \"scene\": \"$1\", \"seconds\": $2}"
    figures+="${figures:+, }{\"name\": \"$1\", \"kind\": \"step\", \"of\": \"$1\"${3:+, \"at_most\": true, \"must\": $3}}"
}
most=(7.1 11.5 24.2 81.6 375 1500) i=0
for size in 256 512 1024 2048 4096 8192; do
    n=$((size / shrink))
    scene "square-$size" "$n, $n" "$n" 1 0 0.026
    add "square-$size" 0.4 "${most[i++]}"
done
figures+=", {\"name\": \"8192 over 4096\", \"kind\": \"ratio\", \"of\": \"square-8192\", \"against\": \"square-4096\", \"at_most\": true, \"must\": 4, \"note\": \"four times as many cells\"}"
n=$((256 / shrink))
scene ensemble "$n, $n" "$n" 16 0 0.026
add ensemble 0.4 27.68 # 16 times 1.73
scene cube "$n, $n, $n" "$n" 1 0 0.026
add cube 0.4
n=$((4096 / shrink))
scene particles "$n, $n" "$n" 1 $((n * n)) 0.00001
scene particles-stretched "$n, $n" "$n" 1 $((n * n)) 0.026
add particles 0.4
add particles-stretched 0.4
timings+=', {"name": "cube, library", "scene": "cube", "preset": "baseline", "with": {"fft": "library"}, "candidates": "library", "seconds": 0.3}'
figures+=', {"name": "cube over library", "kind": "ratio", "of": "cube, library", "against": "cube", "must": 1.3, "aim": 1.7}'
cat >"$folder/table.suite.json" <<JSON
{"suite": "stable-fluids-table", "description": "the default's step of stable fluids, size by size", "promise": "every config passes the gate", "asked_of": "H200",
 "scenes": [$scenes],
 "candidates": {"library": [{"name": "packed", "with": {"plan": "packed"}}, {"name": "batched", "with": {"plan": "batched"}}, {"name": "separate", "with": {"plan": "separate"}},
   {"name": "packed, graph", "gpu_only": true, "with": {"plan": "packed", "graph": true}}, {"name": "batched, graph", "gpu_only": true, "with": {"plan": "batched", "graph": true}},
   {"name": "separate, graph", "gpu_only": true, "with": {"graph": true}}]},
 "timings": [$timings], "figures": [$figures]}
JSON
"$kftune" bench --suite "$folder/table.suite.json" --device "$device" --json >"$folder/table.json" 2>"$folder/table.log"
status=$?
grep -E '^ *[0-9.]+ s ' "$folder/table.log" | tee "$folder/table.txt"
awk -F'"' -v n="$n" '/"kernels":/ { on = 1 } /"tried":/ { on = 0 } /"name":/ { name = $4 }
    on && /"us":/ && name == "particles" { sub(/.*:[ \t]*/, ""); printf "%d particles: %.1f us, %.1f G/s\n", n * n, $0, n * n / $0 / 1000 }' "$folder/table.json" | tee -a "$folder/table.txt"
exit $status
