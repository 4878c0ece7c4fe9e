#!/bin/bash
# The complete scene that each system's page begins with is read, described and run.
# KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
pages=$(realpath "$(dirname "$0")/../../docs")
cd "$scratch" || exit 3
export XDG_DATA_HOME=$scratch/data
while read -r page system; do
    # The first JSON block that is an object of a whole scene.
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
# The former name of "description" in scenes of particles is still read.
sed 's/"description"/"comment"/' sph.json >former.json
expect 0 scene former.json
finish
