#!/bin/bash
# Tests production runs with the real program: what they write, restarts bit for bit, Ctrl-C, refusals. KFTUNE: the
# program; KFTUNE_SCRATCH: a folder to write into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
# shellcheck source=tests/e2e/quick-compiler.bash
. "$(dirname "$0")/quick-compiler.bash"
cd "$scratch" || exit 3

expect 0 tune --scene ball --device cpu:1 --grid 40x20x20 --fix plan=fused --fix force_sum=fixed \
    --budget 1evals --effort 0.01 --rounds 1 --store ball.db --out ball.kftune.json
[ -s ball.kftune.json ] || { echo "run.sh: no configuration to run with"; exit 1; }

expect 0 run --config ball.kftune.json --steps 30 --every 10 --output whole --json
for file in fields_000010.vtkhdf speed_000010.png fields_000030.vtkhdf speed_000030.png checkpoint_000030.kfc forces.csv run.json; do
    [ -s "whole/$file" ] || complain "whole/$file is missing"
done
for key in kftune command device steps seconds steps_per_second updates_per_second update mlups outputs records; do
    grep -q "\"$key\"" out || complain "--json has no $key"
done
[ "$(cut -d, -f1 whole/forces.csv | tail -n +2)" = "$(seq 30)" ] || complain "forces.csv does not have every step, at 10 steps an output"
cmp -s out whole/run.json || complain "run.json is not what --json printed"

# Runs and their difference are drawn. Runs on different grids cannot be subtracted.
expect 0 run --scene ball --grid 40x20x20 --speed 2 --device cpu:1 --steps 3 --every 3 --output fast --quiet
# The force in newtons follows from the coefficient, the area and the speed.
python3 -c '
import json, re
c = json.load(open("fast/run.json"))["coefficients"]
force = c["open_stream_drag"]["corrected"] * 0.5 * c["speed_m_s"] ** 2 * c["reference_area_m2"]
printed, newtons = map(float, re.search(r"that is (\S+) m\^4/s\^2 .*: (\S+) N in air of 1.2", open("out").read()).groups())
assert abs(printed / force - 1) < 1e-3 and abs(newtons / (1.2 * force) - 1) < 1e-3, (printed, newtons, force)' 2>err ||
    complain "the force in newtons is not that of the coefficient"
expect 0 run --scene ball --grid 32x16x16 --device cpu:1 --steps 2 --every 2 --picture none --output coarse --quiet
expect 0 run --scene ball --grid 32x16x16 --device cpu:1 --steps 2 --every 2 --picture none --output unkept --fields none --quiet
"$kftune" compare whole fast --pictures drawn >out 2>err
for file in speed_a speed_b speed_b-a pressure_a pressure_b pressure_b-a; do [ -s drawn/$file.png ] || complain "compare draws no $file.png"; done
expect 2 compare whole coarse --pictures drawn-not
says "only flows on the same grid can be subtracted"
expect 2 compare whole unkept --pictures drawn-not
says "unkept keeps no fields"
[ ! -e drawn-not ] || complain "a refused comparison draws"

# The number of steps is odd, because two grids swap roles. Files contain no time of day, so equal results are equal
# bytes.
expect 0 run --config ball.kftune.json --steps 13 --every 10 --output parts --quiet
expect 0 run --config ball.kftune.json --steps 17 --every 10 --output parts --restart parts/checkpoint_000013.kfc --quiet
for file in fields_000030.vtkhdf speed_000030.png checkpoint_000030.kfc; do
    cmp "whole/$file" "parts/$file" || complain "restarted run differs in $file"
done

# Half the reference area halves both the row of forces.csv and the last lines. Without any the reason is printed.
expect 0 run --config ball.kftune.json --steps 10 --every 10 --picture none --output area --area 0.02 --json
grep -q '"reference_area_m2":	0.02,' out || complain "--area is not the area of reference"
halved() { paste -d, <(sed -n 11p whole/forces.csv) <(tail -1 area/forces.csv) | awk -F, -v n="$(head -1 whole/forces.csv | tr , '\n' | grep -c .)" \
    '{ a = $3 / $(n + 3); f = $6 / $(n + 6); exit !(a > 2.5 && a < 2.6 && f == 1) }'; } # 0.02 over the ball's pi / 400
halved || complain "forces.csv does not refer to --area"
expect 0 run --scene vortices --grid 24x24x24 --steps 1 --device cpu:1 --picture none --output none
grep -q 'no drag coefficient: the solid shows no front' out || complain "nothing says why there is no drag coefficient"
expect 0 run --scene vortices --grid 24x24x24 --steps 1 --device cpu:1 --picture none --output given --area 0.02
grep -q 'with area 0.02 m^2 (given)' out || complain "--area is ignored where no stream comes in"
expect 2 run --scene column --steps 1 --area 1 --output unborn
says "no solid with force coefficients"

# Rows with another area are not appended to those of the first, with or without --force. In another folder they are
# allowed.
cp area/forces.csv area.csv
for force in '' --force; do
    expect 2 run --config ball.kftune.json --steps 5 --output area --area 0.01 --restart area/checkpoint_000010.kfc $force
    says "refer to a reference_area of 0.02 m2, and this run to one of 0.01"
done
cmp -s area/forces.csv area.csv || complain "a restart that was refused changed forces.csv"
expect 0 run --config ball.kftune.json --steps 5 --every 5 --picture none --output area --area 0.02 --restart area/checkpoint_000010.kfc
[ "$(wc -l <area/forces.csv)" -eq 16 ] || complain "forces.csv of a restart with the same area does not go on"
expect 0 run --config ball.kftune.json --steps 1 --picture none --output other --area 0.01 --restart area/checkpoint_000010.kfc

# Rows with other columns are not appended either, and no row is lost for them.
sed -i '1s/lattice_force_x/lattice_force_q/' area/forces.csv && cp area/forces.csv area.csv
expect 2 run --config ball.kftune.json --steps 5 --output area --area 0.02 --restart area/checkpoint_000015.kfc
says "has other columns"
cmp -s area/forces.csv area.csv || complain "a table of other columns was written over"
sed -i "1s/lattice_force_q/lattice_force_x/" area/forces.csv

# A gauge in another place has rows of its own, whatever its name.
gauge() { sed 's/"height": \[0.5\]/"height": ['"$1"']/' "$KFTUNE_DATA/scene/library/dam_break_2d.json"; }
gauge 0.2 >gauge.json
expect 0 run --scene gauge.json --steps 4 --device cpu --output gauge
gauge 0.7 >gauge.json
expect 2 run --scene gauge.json --steps 4 --device cpu --output gauge --restart gauge/checkpoint_000004.kfc
says "refer to a h1_x of 0.2 m, and this run to one of 0.7"

# The same holds with smoke, at a step between two of its moves. Smoke that was not asked for does not exist.
[ ! -e whole/smoke_000030.png ] || complain "smoke without --smoke"
expect 0 run --config ball.kftune.json --steps 30 --every 30 --smoke --smoke-size 320x180 --output smoking
grep -q 'smoking/smoke_\*.png: 1 picture' out || complain "the smoke's pictures are not named"
cmp whole/speed_000030.png smoking/speed_000030.png || complain "the flow feels its smoke"
expect 0 run --config ball.kftune.json --steps 13 --every 30 --smoke --smoke-size 320x180 --output puffs --quiet
expect 0 run --config ball.kftune.json --steps 17 --every 30 --smoke --smoke-size 320x180 --output puffs --restart puffs/checkpoint_000013.kfc --json
# In so few steps none of the tracers leaves, so that there are as many as all emitters give.
python3 -c '
import json
smoke = json.load(open("out"))["smoke"]
moved = 30 - 30 % smoke["steps_a_move"]
given = smoke["tracers_a_step"] * moved
assert given > 100 and -4 < smoke["tracers"] - given <= 0 and smoke["capacity"] > given, smoke' 2>err ||
    complain "--json tells of other tracers than the emitters give"
for file in fields_000030.vtkhdf smoke_000030.png checkpoint_000030.kfc; do
    cmp "smoking/$file" "puffs/$file" || complain "restarted smoke differs in $file"
done
expect 0 run --config ball.kftune.json --steps 17 --every 17 --output clear --restart puffs/checkpoint_000013.kfc --quiet
expect 2 run --config ball.kftune.json --smoke-every 5 --output unborn
says "this option needs --smoke"
expect 2 run --config ball.kftune.json --smoke --smoke-size 1280 --output unborn
says "WIDTHxHEIGHT"

# A run without end in the background gets a signal. (A child of a script in the background ignores SIGINT.)
begin_endless() { # FOLDER COMMAND...
    local folder=$1
    shift
    "$@" run --config ball.kftune.json --steps 1000000 --every 1000000 --device cpu:1 --picture none --fields none --output "$folder" >out 2>err </dev/null &
    child=$!
    # Without rows the run reports on its way that it continues.
    until [ -s "$folder/forces.csv" ] || grep -q 'step [0-9]* of' err || ! kill -0 "$child"; do sleep 0.1; done
}
# Public case 16: Ctrl-C, SIGTERM, a lost connection and warnings from batch systems, which may come repeatedly, lead to
# a checkpoint, the command to continue, and status 130.
for signal in TERM HUP USR1 USR2 XCPU XFSZ; do
    begin_endless broken$signal "$kftune"
    [ $signal != TERM ] || sleep 1
    kill -$signal "$child"
    case $signal in USR? | X*) kill -$signal "$child" 2>/dev/null ;; esac
    wait "$child"
    [ $? -eq 130 ] || complain "a run interrupted by SIG$signal does not end with status 130"
    # The stream passes 40 nodes in 800 steps, so there are at least 64 rows in that time, however rare the outputs are.
    [ $signal != TERM ] || awk -F, 'NR > 1 && $1 != 12 * (NR - 1) { other = 1 } END { exit other || NR < 2 }' broken$signal/forces.csv ||
        complain "forces.csv does not have every twelfth step, but $(cut -d, -f1 broken$signal/forces.csv | tail -n +2 | head -n 4 | xargs)"
    grep -q '"state":[[:space:]]*"interrupted"' broken$signal/run.json || complain "run.json does not say that SIG$signal interrupted"
    resume=$(sed -n 's/.*go on with: kftune //p' err)
    [ -n "$resume" ] || complain "an interrupted run does not say how to go on"
    expect 0 $(printf '%s' "$resume" | sed 's/--steps [0-9]*/--steps 3/; s/--every [0-9]*/--every 3/')
done
# With nohup a lost connection ends nothing, and meanwhile no other run writes into the folder. After a kill the next
# start reports it.
begin_endless killed nohup "$kftune"
kill -HUP "$child"
sleep 1
kill -0 "$child" || complain "SIGHUP ends a run under nohup"
cp err err.endless
expect 2 run --config ball.kftune.json --steps 3 --output killed
says "another kftune run"
expect 1 compare parts killed
grep -q "killed .*, running$" out || complain "compare does not say that a run goes on"
kill -KILL "$child"
wait "$child" 2>/dev/null
expect 1 compare parts killed
grep -q "killed .*, broken off$" out || complain "compare does not say that a run was killed"
cp parts/checkpoint_000013.kfc killed/
expect 0 run --config ball.kftune.json --steps 3 --output killed
says "was killed"
says "--restart killed/checkpoint_000013.kfc"
expect 0 run --config ball.kftune.json --steps 3 --output killed
grep -q "was killed" err && complain "a run that finished counts as killed"

# With a limit on file sizes the first file that does not fit is named, with status 3, and no part of it stays.
(ulimit -f 64 && "$kftune" run --config ball.kftune.json --steps 3 --every 3 --output limited >out 2>err </dev/null)
[ $? -eq 3 ] || complain "a run whose files become too large does not end with status 3"
says "File too large"
[ -z "$(find limited -name '*.part' -o -name '*.tmp')" ] || complain "half a file stays: $(find limited -name '*.part' -o -name '*.tmp')"

expect 2 run --config ball.kftune.json --restart whole/fields_000030.vtkhdf --output unborn
says "not a checkpoint"
mkfifo pipe.kfc
timeout 60 "$kftune" run --config ball.kftune.json --restart pipe.kfc --output unborn >out 2>err </dev/null
[ $? -eq 2 ] || complain "a FIFO is taken for a checkpoint"
says "not a regular file"
# Threads of other operating systems have stacks of 512 KiB, and so have those of this limit. No kind of flow needs
# more.
for scene in "ball 24x12x12" "cylinder2d 64x32x1" "decay 32x32x1" "dam_break_2d 40x40x1" "ball 16x16x16 --system incompressible"; do
    # shellcheck disable=SC2086 # words of the command line
    set -- $scene
    name=$1 grid=$2
    shift 2
    (ulimit -s 512 && "$kftune" run --scene "$name" --grid "$grid" "$@" --store ball.db --device cpu --steps 2 --output small --force >out 2>err </dev/null)
    [ $? -eq 0 ] || complain "$name $* does not run with a stack of 512 KiB"
done
# A scene that does not fit is refused before it is compiled: with an empty cache in seconds, and the cache stays empty.
(ulimit -v 6000000 && XDG_CACHE_HOME=$scratch/empty "$kftune" run --scene ball --grid 512x512x512 --store ball.db --device cpu --output unborn >out 2>err </dev/null)
[ $? -eq 3 ] || complain "a run that does not fit does not end with status 3"
says "out of memory"
[ -z "$(ls empty/kftune/kernels 2>/dev/null)" ] || complain "something was compiled for a run that does not fit"
head -c 5000 whole/checkpoint_000030.kfc >cut.kfc
expect 2 run --config ball.kftune.json --restart cut.kfc --output unborn
says "cut short"
expect 2 run --config ball.kftune.json --scene torus --output unborn
says "tuned for another scene than torus is now: size_x was 40 and is 96"
says "kftune tune --scene torus"
expect 2 run --config ball.kftune.json --cells 20 --output unborn
says "option '--cells' places a mesh"
# Values that do not affect the plan may change. The config is verified, and both values are printed.
expect 0 run --config ball.kftune.json --reynolds 500 --speed 2 --steps 2 --picture none
says "ball.kftune.json: was tuned for another scene (flow.speed is 1 and 2, flow.reynolds is 1000 and 500)"
shows "2 m/s, Reynolds number 500"
[ -s ball-speed2-re500-run/scene.json ] || complain "the run's folder does not say what differs, or holds no scene"
expect 0 run --scene ball-speed2-re500-run/scene.json --store ball.db --device cpu:1 --steps 2 --picture none --output again
[ "$(grep '"scene_hash"' ball-speed2-re500-run/run.json)" = "$(grep '"scene_hash"' again/run.json)" ] ||
    complain "the scene that a run keeps is another"
# The config contains its scene and can be moved alone. A later change of the scene file is reported.
sed 's/"reynolds": 1000/"reynolds": 800/' "$KFTUNE_DATA/scene/library/ball.json" >own.json
expect 0 tune --scene own.json --grid 24x12x12 --device cpu:1 --budget 1evals --effort 0.01 --rounds 0 --fix plan=fused --store own.db
grep -q '"reynolds":[[:space:]]*800' own.kftune.json || complain "the config does not hold its scene"
sed -i 's/"reynolds": 800/"reynolds": 900/' own.json
expect 0 run --config own.kftune.json --steps 2 --picture none
says "own.json was changed since it was tuned (flow.reynolds is 800 and 900)"
shows "Reynolds number 800"
rm own.json
expect 0 run --config own.kftune.json --steps 2 --picture none
# A config of another scene is not overwritten silently.
expect 0 tune --scene ball --grid 24x12x12 --device cpu:1 --budget 1evals --effort 0.01 --rounds 0 --fix plan=fused --store own.db --out own.kftune.json
says "own.kftune.json held the config of another scene; it is own.kftune.json~ now"
grep -q '"reynolds":[[:space:]]*800' own.kftune.json~ || complain "the former config is lost"
mkdir foreign && echo precious >foreign/thesis.tex
expect 2 run --config ball.kftune.json --output foreign
says "holds other files"
expect 2 run --config ball.kftune.json --slice w --output unborn
expect 2 run --output unborn
says "--config FILE is missing"
# What a system or a scene lacks is refused before anything is compiled.
expect 2 run --scene plume --fields q --output unborn
says "option '--fields': the files of stable_fluids"
expect 2 run --scene cavity2d --fields surface --output unborn
says "option '--fields': 'solid' and 'surface' are of a solid with a mesh or a shape, and cavity2d has none: leave them out"
for scene in plume cavity2d; do
    expect 2 run --scene $scene --smoke --output unborn
    says "smoke needs a three-dimensional flow, and $scene is not one"
    grep -q "never tuned" err && complain "a config was chosen for a run that is refused"
done
expect 2 run --scene ball --refine 1 --smoke --output unborn
says "nested grids carry no smoke"
grep -q "never tuned" err && complain "a config was chosen for nested grids whose smoke is refused"
expect 2 run --scene wheels --smoke --output unborn
says "smoke is drawn around one solid"
grep -q "never tuned" err && complain "a config was chosen for several solids whose smoke is refused"

# A mask needs no collision model. Its solid has the forces of any other, whichever way the stream goes.
channel() { # FILE ALONG ACROSS CELLS SIZE VELOCITY
    local x=$2 y=$3
    cat >"$1" <<END
{"mask": {"shape": "disc", "center": [0.2, 0.2], "radius": 0.05},
 "domain": {"cells": [$4], "size": [$5]},
 "boundaries": {"${x}min": {"type": "inflow", "velocity": [$6], "profile": "parabolic"}, "${x}max": "outflow",
  "${y}min": "wall", "${y}max": "wall", "zmin": "periodic", "zmax": "periodic"},
 "flow": {"speed": 1, "reynolds": 40, "reference_length": 0.1}}
END
}
channel along.json x y "110, 20" "2.2, 0.4" "1, 0, 0"
channel across.json y x "20, 110" "0.4, 2.2" "0, 1, 0"
for scene in along across; do
    expect 0 run --scene $scene.json --device cpu:1 --steps 3000 --picture none --fields none --output "$scene-mask"
    shows "reference length times a cell's depth"
    awk -F, 'END { exit !($3 > 3.9 && $3 < 4.1 && $4 < 1e-4 && $4 > -1e-4) }' "$scene-mask/forces.csv" ||
        complain "$scene.json: a cylinder at Reynolds number 40 has no drag near 4, or a lift"
done
expect 0 run --scene along.json --device cpu:1 --until settled --picture none --fields none --output settled-mask
shows "  settled:"
shows "no drag coefficient in an open stream: no published rule without an even inflow"
sed 's/, "profile": "parabolic"//; s/"wall"/"free_slip"/g; s/"cells": \[110, 20\], "size": \[2.2, 0.4\]/"cells": [110, 60], "size": [2.2, 1.2]/' along.json >open.json
expect 0 run --scene open.json --device cpu:1 --until settled --picture none --fields none --output open-mask
shows "(Allen and Vincenti) to"
grep -q "of all solid nodes" "$out" && complain "open.json: a body that touches nothing is said to reach the sides"
sed 's/"center": \[0.2, 0.2\]/"center": [0.2, 0.02]/' along.json >touching.json
expect 0 run --scene touching.json --device cpu:1 --steps 10 --picture none --fields none --output touching-mask
shows "of all solid nodes of the mask, those at the domain's sides"

# A scene that was not tuned runs with the best config of the nearest scene, and says so. A tuned one runs with its own.
expect 0 run --scene concave --grid 32x20x20 --samples-per-cell 10 --store ball.db --device cpu:1 --steps 1 --picture none --output near
says "concave was never tuned"
says "nearest scene known, ball (40x20x20 nodes"
shows "(its config on the scene that was tuned: "
# A scene with fifteen times as many nodes does not use it.
expect 0 run --scene concave --grid 80x50x50 --samples-per-cell 2 --store ball.db --device cpu:1 --steps 1 --picture none --output far
says "nothing like it: running the default config"
expect 0 run --scene ball --grid 40x20x20 --store ball.db --device cpu:1 --steps 1 --picture none --output known
says "ball was tuned before"
for said in "--store ball.db" "--accuracy 1%"; do
    # shellcheck disable=SC2086
    expect 2 run --config ball.kftune.json $said --output unborn
    says "option '${said%% *}': --config already determines this; leave one of them out"
done
# A value of --fix changes the default config, and other values with it where the constraints require it.
expect 0 run --scene ball --grid 40x20x20 --fix storage=f16 --accuracy 3% --device cpu:1 --steps 1 --picture none --output fixed --json
grep -q '"storage":.*"f16"' out || complain "--fix storage=f16 did not run in 16 bits"
expect 2 run --scene ball --grid 40x20x20 --fix storage=f16 --device cpu --output unborn
says "accuracy >= 0.005"
expect 2 run --scene ball --fix storage=f16 --store ball.db --device cpu --output unborn
says "leave one of them out"
expect 2 run --config ball.kftune.json --fix storage=f32 --output unborn
says "leave one of them out"
expect 2 run --scene ball --store empty.db --device cpu --output unborn
[ ! -e unborn ] || complain "a refused run left a folder behind"

expect 0 store show --store ball.db
# The test holds for any config that a busy machine found to be the fastest.
kernels=$(sed -n '/^  kernel /,$p' out | grep -E '^  [a-z_0-9]+ +[0-9.]+ [a-z]*s ')
[ -n "$kernels" ] || complain "no kernels are shown"
grep -qvE ' - +- +-$' <<<"$kernels" && complain "a cpu's kernels have registers"
expect 2 plot roofline --store ball.db --out plot.svg
says "no hardware counters"
expect 2 plot kernels --store ball.db --out plot.gif
expect 0 plot convergence --store ball.db --out plot.svg
[ -s plot.svg ] || complain "no plot was written"

finish
