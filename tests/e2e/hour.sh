#!/bin/bash
# Runs every command of docs/hour.md as written there, on a car made of boxes, but on the cpu, with fewer cells and a
# smaller budget. KFTUNE: the program; KFTUNE_DATA: the folder that holds docs/; KFTUNE_SCRATCH: a folder to write into.
set -u
kftune=${KFTUNE:?KFTUNE must name the program}
page=$(dirname "$0")/../../docs/hour.md
page=$(realpath "$page")
scratch=${KFTUNE_SCRATCH:-$(mktemp -d)}
# shellcheck source=tests/e2e/quick-compiler.bash
. "$(dirname "$0")/quick-compiler.bash"
cd "$scratch" || exit 3
export XDG_DATA_HOME=$scratch/data
failures=0

# box X0 X1 Y0 Y1 Z0 Z1: writes eight corners, and twelve triangles that face outwards.
corners=0
box() {
    local x y z
    for z in "$5" "$6"; do for y in "$3" "$4"; do for x in "$1" "$2"; do echo "v $x $y $z"; done; done; done
    for face in "1 3 4 2" "5 6 8 7" "1 2 6 5" "3 7 8 4" "1 5 7 3" "2 4 8 6"; do
        set -- $face
        echo "f $((corners + $1)) $((corners + $2)) $((corners + $3)) $((corners + $4))"
    done
    corners=$((corners + 8))
}
{
    box 0 4.2 0 1.7 0.3 0.9   # the body
    box 1.7 4.0 0.1 1.6 0.9 1.4 # the cabin, behind the middle
    for x in 0.4 3.2; do
        box $x "$(awk "BEGIN { print $x + 0.6 }")" 0.0 0.25 0 0.3
        box $x "$(awk "BEGIN { print $x + 0.6 }")" 1.45 1.7 0 0.3
    done
} >car.obj
{
    cat car.obj
    box 3.8 4.2 0.1 1.6 1.45 1.5 # the spoiler
} >car-spoiler.obj

count=0
while read -r line; do
    small=$(sed -e 's/--cells 64/--cells 12 --blockage 25%/; s/--cells 96/--cells 14 --blockage 25%/; s/--budget 60s/--budget 1evals --fix plan=fused --effort 0.05 --rounds 1 --device cpu/' \
        -e 's/--yaw -10:10:5/--yaw -10:10:10 --device cpu/; s/--grids 32,48,64/--grids 8,10,12 --device cpu/' \
        -e 's/--until settled/--until settled --flow-throughs 0.5/; s/--smoke --film/--smoke --film --film-every 10 --smoke-size 160x90/' \
        -e 's/--flow-throughs 1 --smoke/--steps 20 --smoke/; s/--flow-throughs 1 --picture/--steps 20 --picture/; s/--scene car96.scene.json/& --device cpu/' <<<"$line")
    # shellcheck disable=SC2086
    "$kftune" ${small#kftune } >out 2>err </dev/null
    status=$?
    # A drag that has not settled in such a short run is no failure, and neither is what doctor finds missing here.
    case $status:$line in
    0:* | 1:*doctor* | 3:*doctor* | 1:*compare*) ;;
    *)
        echo "hour.sh: $small: status $status"
        tail -n 5 err | sed 's/^/    /'
        failures=$((failures + 1))
        ;;
    esac
    count=$((count + 1))
done < <(awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$page")

[ "$count" -ge 15 ] || { echo "hour.sh: only $count commands found in $page"; failures=$((failures + 1)); }
for file in car.scene.png car64.scene.json car64.kftune.json car64-run/run.json car64-run/forces.png car96-run/forces.csv car64-smoke/film_00002.png car64-pictures/surface_000020.png car64-pictures/pressure_000020.png \
    car.html car-yaws/sweep.png car-yaws/yaw10/scene.json car-spoiler-run/run.json car-grids/sweep.csv; do
    [ -s "$file" ] || { echo "hour.sh: $file is missing"; failures=$((failures + 1)); }
done
# The tuned config is found without being named.
"$kftune" predict --scene car64.scene.json --device cpu --top 1 >out 2>err || { echo "hour.sh: predict: $(tail -n 1 err)"; failures=$((failures + 1)); }
grep -q "configs were measured; the fastest" out || { echo "hour.sh: predict does not look into the store"; failures=$((failures + 1)); }
[ "$failures" -eq 0 ] || exit 1
echo "hour.sh: $count commands of the page run"
