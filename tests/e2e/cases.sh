#!/bin/bash
# Tests inputs that users of other programs reported as read wrongly, by their numbers in the collection in which they
# were first tried. The program reads each correctly, or refuses it with the reason. The files are in tests/data/cases.
# KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
root=$(realpath "$(dirname "$0")/../..")
# shellcheck source=tests/e2e/preamble.bash
. "$root/tests/e2e/preamble.bash"
cp -r "$root/tests/data/cases/." "$scratch" && cd "$scratch" || exit 3
usual=(--up z --wind +x --road no)
tunnel=("${usual[@]}" --cells 10 --reynolds 100)

# case NUMBER STATUS TEXT ARGUMENT...: both outputs together contain TEXT, an extended regular expression.
tried=" "
case_() {
    local number=$1 status=$2 text=$3 got
    shift 3
    tried="$tried$number "
    "$kftune" "$@" >"$out" 2>"$err" </dev/null
    got=$?
    [ "$got" -eq "$status" ] || complain "case $number: kftune $*: status $got, expected $status"
    cat "$out" "$err" | grep -qE -- "$text" || complain "case $number: kftune $*: does not say: $text"
}
# same NUMBER ONE OTHER: two meshes make the same scene, sample for sample.
same() {
    local hashes
    tried="$tried$1 "
    hashes=$(for mesh in "$2" "$3"; do "$kftune" scene "$mesh" "${tunnel[@]}" --json 2>/dev/null | grep scene_hash; done | sort -u)
    [ "$(grep -c . <<<"$hashes")" -eq 1 ] || complain "case $1: $2 and $3 are not the same scene"
}

case_ 1 0 'terrain: .* from 5\.01961 to 5\.01961 m high' scene height-8bit.json
awk '{ print } /^f/ { print "f", $2, $4, $3 }' ball.obj >ball-double-sided.obj
same 2 ball.obj ball-double-sided.obj
echo '{"solid": {"mesh": "ball-double-sided.obj", "position": [2, 2, 2], "motion": {"free": true, "density": 2, "gravity": [0, 0, -1]}}, "domain": {"cells": [32, 32, 32], "cell_size": 0.125}, "boundaries": {"xmin": "periodic", "xmax": "periodic", "ymin": "periodic", "ymax": "periodic", "zmin": "periodic", "zmax": "periodic"}, "flow": {"speed": 1, "viscosity": 0.01, "reference_length": 1}}' >free.json
case_ 2 0 '8 cells a length' scene free.json
awk '/^v/ { printf "v %.5f %.5f %s\n", 500000 + $2, 5400000 + $3, $4; next } { print }' ball.obj >ball-georeferenced.obj
case_ 3 0 'frontal area 0\.78[0-9]* m' scene ball-georeferenced.obj "${tunnel[@]}"
case_ 4 0 'frontal area 3 m' scene concave-l.obj --up y --wind +z --road no --cells 10 --reynolds 100
case_ 5 0 'solid +2 x 1 x 0\.5 m' scene unused-vertex.ply "${tunnel[@]}"
case_ 6 2 'all of it below the box' run --scene below-zero.json --steps 30 --device cpu
case_ 7 2 'row 1, column 1 has no data' run --scene nodata-default.json --steps 1 --device cpu
case_ 7 2 'row 1, column 1 has no data' run --scene nodata-float.json --steps 1 --device cpu
case_ 8 2 'needs the extension KHR_mesh_quantization' scene quantized.gltf "${usual[@]}"
case_ 8 2 'needs the extension KHR_mesh_quantization' scene quantized-normalized.gltf "${usual[@]}"
case_ 9 0 'NODATA +comma +1\.23 s ' nightly --suite suite-comma.json --store night.db
case_ 10 0 'frontal area 0\.003 m' scene thin-rod.obj "${usual[@]}" --grid 96x48x48 --reynolds 100
case_ 10 0 'frontal area 0\.005098 m' scene thin-rod.obj "${usual[@]}" --grid 96x48x48 --reynolds 100 --yaw 30
case_ 10 0 'frontal area 0\.0224[0-9]* m' scene thin-plate.obj "${usual[@]}" --grid 96x48x48 --reynolds 100 --yaw 89
case_ 10 0 'frontal area 0\.005 m' scene thin-plate.obj "${usual[@]}" --grid 96x48x48 --reynolds 100 --yaw 90
case_ 11 0 '1 of 14 triangles have no area' scene closed-by-sliver.obj "${tunnel[@]}"
! grep -q 'are open' "$out" "$err" || complain "case 11: closed-by-sliver.obj is said to be open"
case_ 11 0 'Reynolds number' scene closed-by-sliver-free.json
for file in tristrips.ply tristrips-restart.ply; do case_ 12 0 'solid +2 x 1 x 0\.5 m, .* frontal area 0\.5 m' scene $file "${tunnel[@]}"; done
for file in empty-slashes.obj one-slash.obj; do case_ 13 0 'frontal area 0\.5 m' scene $file "${tunnel[@]}"; done
for file in trailing-bytes.stl leading-blank-line.stl upper-case.stl solid-trailing-bytes.stl; do case_ 14 0 'frontal area 0\.5 m' scene $file "${tunnel[@]}"; done
case_ 15 0 'frontal area 0\.5 m' scene percent-uri.gltf "${tunnel[@]}"
case_ 17 0 'solid ' scene repeated-corners.obj "${usual[@]}" --cells 16
case_ 18 0 'NODATA +gbench +250 us' nightly --suite suite-gbench.json --store night.db

# A failed row is imported as failed, and the others as measured.
for cache in e20:2 nan:2 null:2 list:2 types:3; do
    case_ 19 0 'run 1 of' store import "cache-${cache%:*}.json" --store "${cache%:*}.db"
    [ "$("$kftune" store export --store "${cache%:*}.db" --format csv 2>/dev/null | grep -c ',ok,')" -eq "${cache#*:}" ] ||
        complain "case 19: cache-${cache%:*}.json does not have ${cache#*:} good results"
done
case_ 20 0 '"1\.0,0,False"' store export --format kernel-tuner --store types.db
case_ 21 0 "its objective is 'GFLOP/s', not the time" store import cache-gflops.json --store gflops.db

printf 'v 0 0 0\nv 1 0 0\nv 1 0 3\nv 0 0 3\nv 0.5 1.9 0.3\nv 0.5 1.9 1.2\nf 1 2 3\nf 1 3 4\nf 1 5 2\nf 4 3 6\nf 1 4 6\nf 1 6 5\nf 2 5 6\nf 2 6 3\n' >wedge.obj
for axis in x y z; do case_ 22 2 "--up $axis: [0-9.]+ high" scene wedge.obj; done
# In no unit of length is 200 x 600 x 300 a car along x.
printf 'v 0 0 0\nv 200 0 0\nv 0 600 0\nv 0 0 300\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' >part.obj
case_ 23 0 'unit: a metre' scene part.obj "${tunnel[@]}"
case_ 26 0 '8000 particles' scene fluid-duplicate-faces.json
case_ 27 2 'from 1505 to 1505 m high, all of it above the box, which goes from 0 to 20 m' scene above-box.json
# Inside the ball there is another one, with its surface facing the middle, which no stream reaches.
awk '/^v/ { print; v[++n] = "v " 0.8 * $2 " " 0.8 * $3 " " 0.8 * $4; next } /^f/ { print; f[++m] = $0 }
    END { for (i = 1; i <= n; i++) print v[i]; for (i = 1; i <= m; i++) { split(f[i], c); print "f", c[2] + n, c[4] + n, c[3] + n } }' ball.obj >ball-hollow.obj
same 28 ball.obj ball-hollow.obj
case_ 29 0 '\+y is up \(as glTF has it\)' scene box-y-up.gltf
case_ 30 1 'WRONG +neg .* prints no positive number' nightly --suite suite-neg.json --store night.db
printf '# heights\nncols 2\nnrows 2\ncellsize 1\n1 2\n3 4\n' >comment.asc
sed 's/nodata-float.asc/comment.asc/' nodata-float.json >comment.json
case_ 33 2 'comment\.asc: ' scene comment.json
! grep -q 'must give ncols' "$out" "$err" || complain "case 33: a comment before the header is called a missing header"
printf 'ncols 21\nnrows 21\ncellsize 1\n' >comma.asc
for _ in $(seq 441); do echo 1,5; done >>comma.asc
sed 's/nodata-float.asc/comma.asc/' nodata-float.json >comma.json
case_ 33 2 'comma\.asc: .*(point|comma)' scene comma.json
cp "$root"/tests/data/t1/blur.* .
sed 's/"Type": "bool", "Values": \[false, true\], "Default": false/"Type": "string", "Values": "['"'float', 'unsigned int'"']", "Default": "float"/' blur.t1.json >names.t1.json
case_ 34 2 "value 2, 'unsigned int', has a blank in it" scene names.t1.json
sed 's/"32 <= block_x \* block_y <= 128"/"block_x \& (block_x - 1) == 0"/' blur.t1.json >bits.t1.json
case_ 34 2 'there are no operators on bits' scene bits.t1.json
! grep -q "write 'and'$" "$err" || complain "case 34: bits are called a condition"
case_ 35 0 'frontal area 0\.5 m' scene cr-only.obj "${tunnel[@]}"
sed 's/"version": *"2.0"/"version": "1.0"/' box-y-up.gltf >old.gltf
case_ 39 2 'is glTF 1\.0' scene old.gltf
sed 's/"height": \[0.5\]/"height": [4.5]/' "$root/scene/library/dam_break_2d.json" >gauge.json
case_ 37 2 'h1 is at 4\.5 m along x, outside the box, which goes from 0 to 4 m' scene gauge.json
case_ 37 2 "'-'" store export --store types.db --out -
for cells in 6 7; do case_ 38 0 'step 0 to 1' run --scene ball.obj "${usual[@]}" --cells $cells --reynolds 100 --steps 1 --device cpu --output "run$cells"; done

[ "$(cat run6/scene.json)" != "$(cat run7/scene.json)" ] || complain "case 38: the second placement has no scene of its own"

# The other cases need special machines. Tests of other files name them by number.
for number in $(seq 40); do
    [[ $tried == *" $number "* ]] || grep -qE "[Pp]ublic cases? ([0-9, and]* )?$number\b" "$root"/tests/e2e/*.sh "$root"/tests/unit/*.c ||
        complain "case $number is tested nowhere"
done
finish
