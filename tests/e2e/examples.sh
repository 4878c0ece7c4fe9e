#!/bin/bash
# Tests that the complete scene at the beginning of each system's page can be read, described and run. KFTUNE: the
# program; KFTUNE_SCRATCH: a folder to write into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
# shellcheck source=tests/e2e/quick-compiler.bash
. "$(dirname "$0")/quick-compiler.bash"
pages=$(realpath "$(dirname "$0")/../../docs")
cd "$scratch" || exit 3
export XDG_DATA_HOME=$scratch/data
while read -r page system; do
    # Takes the first JSON block that is an object of a whole scene.
    awk '/^```json$/ { text = ""; inside = 1; next } /^```$/ { if (inside && text ~ /^{/) { printf "%s", text; exit } inside = 0 }
        inside { text = text $0 "\n" }' "$pages/$page.md" >"$page.json"
    grep -q '"description"' "$page.json" || complain "docs/$page.md has no complete scene with a description"
    expect 0 scene "$page.json"
    expect 0 run --scene "$page.json" --device cpu --steps 2 --output "$page-run"
    grep -q "\"system\":[[:space:]]*\"$system\"" "$page-run/run.json" || complain "docs/$page.md: its scene is not of $system"
done <<'END'
sph sph
stable-fluids stable_fluids
incompressible incompressible
d2q9 d2q9
nested kinetic
END
# Several solids have a table each, which continues with its checkpoint, and the program names them.
sed 's/"acm_mrt", "rates": "adaptive_2020"/"bgk"/; s/"samples_per_cell": 25/"samples_per_cell": 4/' "$pages/../scene/library/wheels.json" \
    >wheels.json # compiles sooner
expect 0 run --scene wheels.json --grid 96x48x36 --device cpu --steps 2 --every 1 --output wheels-run --picture none --fields none
for solid in body front_left front_right rear_left rear_right; do
    [ "$(wc -l <"wheels-run/forces_$solid.csv")" = 3 ] || complain "forces_$solid.csv has not two rows"
    grep -q "forces_$solid.csv" "$out" || complain "the run does not name forces_$solid.csv"
done
expect 0 run --scene wheels-run/scene.json --device cpu --steps 1 --output wheels-run --picture none --fields none \
    --restart wheels-run/checkpoint_000002.kfc
[ "$(wc -l <wheels-run/forces_rear_left.csv)" = 4 ] || complain "a restarted run does not go on with forces_rear_left.csv"
head -n 1 wheels-run/forces_body.csv | grep -q axis_torque && complain "a body at rest has no axis"
head -n 1 wheels-run/forces_rear_left.csv | grep -q 'axis_torque_m5_s2,power_m5_s3$' || complain "a wheel has no torque about its axis"
# A scene that runs only on one device says so to a team, and not that no config fits.
expect 2 run --scene wheels.json --devices cpu,cpu --steps 1 --output team-run
grep -q 'run on one device, not on 2' "$err" || complain "wheels on a team: $(cat "$err")"
# Scenes of particles may have the former name of "description".
sed 's/"description"/"comment"/' sph.json >former.json
expect 0 scene former.json
finish
