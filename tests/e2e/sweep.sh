#!/bin/bash
# Tests several runs by one command, and comparisons of runs. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write
# into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
# shellcheck disable=SC2034 # quick-compiler.bash reads it
kernel_level=-O2
# shellcheck source=tests/e2e/quick-compiler.bash
. "$(dirname "$0")/quick-compiler.bash"
cd "$scratch" || exit 3
export XDG_DATA_HOME=$scratch/data
page=$(dirname "$0")/../data/cases
cp "$page/ball.obj" . || exit 3
few=(--device cpu --fix plan=fused --picture none --fields none --every 100000)
small=(--wind x --up z --road no --cells 6 --reynolds 50)

# An option with a list or a range is a sweep, which has a folder for each value, all with the same tunnel, and a table
# of all.
expect 0 run --scene ball.obj "${small[@]}" --yaw -20:20:20 "${few[@]}" --steps 40
[ "$(grep -c 'fewer than 16' err)" = 1 ] || complain "runs that differ in their yaw alone warn of the same several times"
for yaw in -20 0 20; do
    [ -s "ball-sweep/yaw$yaw/run.json" ] || complain "yaw $yaw has no folder"
    grep -q "^$yaw  " out || complain "the table has no line of yaw $yaw"
done
[ "$(wc -l <ball-sweep/sweep.csv)" = 4 ] || complain "sweep.csv has not a line a value"
[ -s ball-sweep/sweep.png ] && [ -s ball-sweep/sweep.json ] || complain "the sweep has no chart or no JSON"
[ "$(grep -h -A3 '"cells":' ball-sweep/yaw*/scene.json | grep '\[' | sort -u | wc -l)" = 1 ] || complain "the tunnels of three angles differ"
# Nothing was drawn, and no field was written, as requested.
[ -z "$(find ball-sweep -name 'speed_*' -o -name 'fields*')" ] || complain "--picture none or --fields none left a file"

# A finished run is left alone. The others continue to their end.
before=$(stat -c %Y.%i ball-sweep/yaw0/forces.csv)
sed -i 's/"finished"/"interrupted"/' ball-sweep/yaw20/run.json
expect 0 run --scene ball.obj "${small[@]}" --yaw -20:20:20 "${few[@]}" --steps 60 --resume
says "ball-sweep/yaw0: had finished after 40 of the 60 steps that are asked for now"
[ "$(stat -c %Y.%i ball-sweep/yaw0/forces.csv)" = "$before" ] || complain "a run that had finished was run again"
[ "$(tail -n 1 ball-sweep/yaw20/forces.csv | cut -d, -f1)" = 60 ] || complain "the interrupted run did not go on to step 60"

# Another sweep does not replace the table of this one, over another quantity or over other values of the same.
before=$(sha256sum ball-sweep/sweep.*)
expect 2 run --scene ball.obj "${small[@]}" --speed 5,10 "${few[@]}" --steps 3
says "ball-sweep: holds the table of a sweep over the yaw in degrees; give a new folder with --output, or --force"
expect 2 run --scene ball.obj "${small[@]}" --yaw 0,20,40 "${few[@]}" --steps 3
says "ball-sweep: holds a table with the yaw in degrees -20, which is not among these values"
[ "$(sha256sum ball-sweep/sweep.*)" = "$before" ] || complain "a refused sweep changes the table of another"
# Two scenes of one name are told apart by their folders. Speeds are in metres a second, whatever they were given in.
mkdir one two && cp ball.obj one && cp ball.obj two
expect 0 run --scene one/ball.obj,two/ball.obj "${small[@]}" "${few[@]}" --steps 2 --output namesakes
[ -s namesakes/one-ball/run.json ] && [ -s namesakes/two-ball/run.json ] || complain "two scenes of one name have not two folders"
expect 2 run --scene one/ball.obj,two/../one/ball.obj "${small[@]}" "${few[@]}" --steps 2 --output alike
says "would both be run in alike/one-ball; rename one"
expect 2 run --scene ball --speed 36km/h,10 "${few[@]}" --steps 2 --output twice
says "option '--speed': 10 is given twice"

# A sweep is over speeds, grids, meshes or seeds.
expect 0 run --scene ball-sweep/yaw0/scene.json --speed 5,10 "${few[@]}" --steps 3 --output speeds --json
holds='"sweep":[[:space:]]*"speed in m/s"'
grep -q "$holds" out || complain "--json does not say what changes"
says "option '--speed': the Reynolds number is the same at every speed, and so are all coefficients"
expect 0 run --scene ball-sweep/yaw0/scene.json --speed 5,10 --viscosity 0.2 "${few[@]}" --steps 3 --output fluid
grep -q "the same at every speed" err && complain "speeds of one fluid are said to have one Reynolds number"
expect 0 run --scene ball --grids 4,6 "${few[@]}" --steps 3 --output grids
grep -q '"grid":[[:space:]]*\[38, 19, 19\]\|"size_x":[[:space:]]*32' grids/cells4/run.json || complain "4 cells along the ball are no grid of 32 nodes"
awk '/^v / { print "v", 1.1 * $2, $3, $4; next } { print }' ball.obj >other.obj
expect 0 run --scene ball.obj,other.obj "${small[@]}" "${few[@]}" --steps 3 --output meshes
[ -s meshes/ball/run.json ] && [ -s meshes/other/run.json ] || complain "two meshes have not two folders"
[ "$(grep -h '"cell_size"' meshes/*/scene.json | sort -u | wc -l)" = 1 ] || complain "two meshes are not in one tunnel"
expect 0 run --scene ball --grid 32x16x16 --reynolds 20 --seeds 1:3:1 "${few[@]}" --steps 3 --output seeds
shows "seeds: drag"
# A solid by links has no samples, so a seed has no effect: it is refused, rather than a scatter of 0.
sed 's/"shape":/"boundary": "links", "shape":/' "$KFTUNE_DATA/scene/library/ball.json" >links.json
expect 2 run --scene links.json --grid 32x16x16 --seeds 1,2 "${few[@]}" --steps 2 --output fixed
says "all runs would be the same"
[ "$(grep -l '"reynolds":[[:space:]]*20,' seeds/*/run.json | wc -l)" = 3 ] || complain "--seeds forgets --reynolds"
[ "$(grep -h '"scene_hash"' seeds/*/run.json | sort -u | wc -l)" = 3 ] || complain "three seeds are not three scenes"

# Each device runs its own values, beside the other. Its second run begins in the flow of its first. Their means leave
# out a flow-through for this, and the drag is the same as in a run that begins by itself.
quick=(--scene ball --grid 32x16x16 --reynolds 20 --fix plan=fused --picture none --fields none --flow-throughs 3)
expect 0 run "${quick[@]}" --seeds 1:4:1 --devices cpu:1,cpu:1 --output beside
says "seed of the samples 3: run 3 of 4"
shows "2 of 4 runs began in the settled flow of a neighbour"
for seed in 1 3; do
    grep -q '"begun_in":[[:space:]]*""' beside/seed$seed/run.json || complain "seed $seed began in a neighbour's flow"
    grep -q "\"begun_in\":[[:space:]]*\"beside/seed$seed\"" beside/seed$((seed + 1))/run.json ||
        complain "seed $((seed + 1)) did not begin in the flow of seed $seed"
done
expect 0 run "${quick[@]}" --seeds 1:2:1 --start scene --device cpu:1 --output apart
grep -q '"begun_in":[[:space:]]*"[^"]' apart/*/run.json && complain "--start scene began in a neighbour's flow"
cmp -s <(cut -d, -f1-10 apart/seed1/forces.csv) <(cut -d, -f1-10 beside/seed1/forces.csv) ||
    complain "a run beside another differs from one alone"
python3 - beside apart <<'END' || complain "a neighbour's flow is in the mean, or the transient of one is"
import json, sys
runs = [json.load(open(f"{folder}/seed2/run.json"))["coefficients"] for folder in sys.argv[1:]]
assert runs[0]["from_step"] >= runs[0]["to_step"] / 3
assert all(run["settled"] for run in runs)
assert abs(runs[0]["drag"]["mean"] / runs[1]["drag"]["mean"] - 1) < 2e-3
END
# These sweeps are refused.
expect 2 run "${quick[@]}" --seeds 1,2 --start rest --output unborn
says "use neighbour or scene"
expect 2 run "${quick[@]}" --seeds 1,2 --devices cpu,cpu,cpu --devices-each 2 --output unborn
says "no whole number of teams of 2"
expect 2 run --scene ball --start scene --output unborn
says "is of a sweep"
expect 2 run --scene ball.obj "${small[@]}" --yaw 5:1:1 --output unborn
says "'5:1:1' is no range"
expect 2 run --scene ball.obj "${small[@]}" --seeds 1:1000000000:1 --output unborn
says "more than 64 values"
expect 2 run --scene ball.obj "${small[@]}" --yaw 1,2 --speed 3,4 --output unborn
says "a sweep varies one quantity"
expect 2 run --scene ball.obj "${small[@]}" --yaw "1,$(printf '%0512d' 20)" --output unborn
says "contains an empty or infinite value" # not 2, which is what 511 characters of it are
expect 2 run --scene ball.obj "${small[@]}" --yaw 1,,2 --output unborn
expect 2 run --scene ball.obj "${small[@]}" --yaw 1,1 --output unborn
says "is given twice"
expect 2 run --scene ball.obj "${small[@]}" --yaw 5,5.0 --output unborn
says "5.0 is given twice"
# A range includes both its ends. One whose steps miss the second is refused, whatever it sweeps.
for range in '--yaw 0:10:3' '--yaw 10:-10:-3' '--yaw 0:1:2' '--speed 10:20.5:1' '--reynolds 100:1000:400' '--grids 8:13:2' '--seeds 1:6:2'; do
    # shellcheck disable=SC2086
    expect 2 run --scene ball.obj $range --output unborn
    says "does not reach"
done
for range in 0:1:0.1 0:0.3:0.1 1:0:-0.001; do
    expect 2 run --scene ball.obj "${small[@]}" --yaw $range --film --output unborn
    grep -q 'does not reach' "$err" && complain "$range is refused for a rounding error"
done
expect 2 run --scene ball.obj "${small[@]}" --yaw -100:100:1 --output unborn
expect 2 run --scene ball.obj "${small[@]}" --yaw 1,2 --film --output unborn
expect 2 run --scene ball --grids 4,many --output unborn
expect 2 run --scene ball.obj "${small[@]}" --grids 6,8 --output unborn
says "each run has the cells that --grids says; leave --cells out"
expect 2 run --scene ball --grid 24x16x16 --grids 6,8 --output unborn
says "each run has the cells that --grids says; leave --grid out"
expect 2 run --scene ball --resume --output unborn
[ ! -e unborn ] || complain "a refused sweep left a folder behind"

# Runs are compared. A run equals itself, and where one has not settled the difference is unknown.
expect 0 run --scene ball --grid 32x16x16 --reynolds 20 "${few[@]}" --flow-throughs 2 --output settled
expect 0 compare settled settled
shows "cannot be told apart"
expect 0 run --scene ball --grid 32x16x16 --reynolds 60 "${few[@]}" --flow-throughs 2 --output other
expect 1 compare settled other --floor 1%
shows "drag differs by -"
"$kftune" compare settled other --floor 1% >/dev/full 2>"$err"
[ $? -eq 3 ] || complain "an answer of status 1 is lost on a full disk without a word"
says "cannot write to standard output"
shows "scenes: flow.reynolds is 20 and 60"
shows "Reynolds number: 20 in a, 60 in b"
expect 0 compare settled other # on 4 cells the samples' places make nearly all
shows "below the floor of 96 %"
expect 1 compare settled seeds/seed1 --json
grep -q '"drag_is":[[:space:]]*"not known"' out || complain "a drag that has not settled is judged"
expect 2 compare settled
expect 2 compare settled nowhere
says "nowhere/run.json"
finish
