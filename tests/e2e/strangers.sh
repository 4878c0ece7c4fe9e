#!/bin/bash
# Tests the input of a stranger who reads no manual: files that are not what their names say, and scenes with
# contradictory keys. Each is refused with one line that says what, where and what to do, and nothing is written.
# KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
root=$(realpath "$(dirname "$0")/../..")
# shellcheck source=tests/e2e/preamble.bash
. "$root/tests/e2e/preamble.bash"
# shellcheck source=tests/e2e/quick-compiler.bash
. "$root/tests/e2e/quick-compiler.bash"
mkdir -p "$scratch/work" && cd "$scratch/work" || exit 3

# refused TEXT ARGUMENT...: expects status 2 and one line that contains TEXT.
refused() {
    local text=$1
    shift
    expect 2 "$@"
    says "$text"
    [ "$(wc -l <"$err")" -eq 1 ] || complain "kftune $*: says more than a line"
    [ ! -s "$out" ] || complain "kftune $*: prints a result"
}

# `scene` and `run` agree: a scene that its system cannot compute is refused by both, with the same words.
flow='"domain": {"cells": [32, 16, 16], "size": [0.8, 0.4, 0.4]}, "flow": {"speed": 1, "reynolds": 100}, "incompressible": {}'
ball='"shape": "ball", "radius": 0.03, "position": [0.2, 0.2, 0.2]'
other='"shape": "ball", "radius": 0.03, "position": [0.4, 0.2, 0.2]'
echo "{$flow, \"solids\": [{\"name\": \"a\", $ball}, {\"name\": \"b\", $other}]}" >two.json
echo "{$flow, \"refine\": \"body\", \"solid\": {$ball}}" >nested.json
echo "{$flow, \"solid\": {$ball, \"boundary\": \"links\"}}" >links.json
echo "{$flow, \"solid\": {$ball, \"motion\": {\"free\": true, \"density\": 2}}}" >free.json
for scene in two nested links free; do
    refused "$scene.json: incompressible" scene $scene.json
    cp "$err" said
    refused "" run --scene $scene.json --steps 1 --device cpu:1
    cmp -s "$err" said || complain "$scene.json: scene and run refuse it with other words"
done

# A length is in other units than metres, and in some scenes nothing moves.
tunnel='"domain": {"cells": [32, 16, 16], "size": [0.8, 0.4, 0.4]}, "flow": {"speed": 1, "reynolds": 1e6}'
echo "{$tunnel, \"solid\": {$ball, \"boundary\": \"links\"}, \"model\": {\"wall\": \"law\", \"trip\": 5}}" >trip.json
refused "trip.json: model.trip: 5 m behind the solid's front is behind its end, because it is 0.06 m long" scene trip.json
sed -i 's/"trip": 5/"trip": 0.005/' trip.json
expect 0 scene trip.json --picture none
sed 's/\[0.8, 0.4, 0.4\]/[800, 400, 400]/; s/\[0.2, 0.2, 0.2\]/[300, 200, 200]/' trip.json | sed 's/1e6/100/; s/, "boundary": "links"//; s/, "model": {.*}$/}/' >big.json
expect 0 scene big.json --picture none
shows 'the whole solid is smaller than a cell: its longest side is 0.06 m, a cell 25 m'
sed 's/\[300, 200, 200\]/[300, 200, 0.04]/' big.json >low.json
refused 'low.json: no sample of the solid lies inside the domain: its longest side is 0.06 m, a cell 25 m' scene low.json --picture none
rm low.json
rest='"xmin": "periodic", "xmax": "periodic", "ymin": "wall", "ymax": "wall", "zmin": "wall", "zmax": "wall"'
sed "s/^{/{\"boundaries\": {$rest}, /" big.json >still.json
expect 0 scene still.json --picture none
shows 'nothing moves: there is no inflow'
sed -i 's/"speed": 1/"speed": 1, "initial_velocity": [1, 0, 0]/' still.json
expect 0 scene still.json --picture none
grep -q 'nothing moves' "$out" && complain "a fluid that moves is said to rest"
rm trip.json big.json still.json
touch car.3mf
refused "car.3mf: neither a scene file (.json) nor a mesh (.obj, .stl, .ply, .gltf, .glb)" scene car.3mf
refused "car.3mf: is neither a mesh (.obj, .stl, .ply, .gltf, .glb), a mask (.png) nor a scene file" scene car.3mf --yaw 5
rm car.3mf

# Without a solid none is mentioned.
rest='"xmin": "periodic", "xmax": "periodic", "ymin": "wall", "ymax": "wall", "zmin": "periodic", "zmax": "periodic"'
echo "{\"domain\": {\"cells\": [16, 8, 1], \"size\": [2, 1, 0.125]}, \"boundaries\": {$rest}, \"flow\": {\"speed\": 1, \"reynolds\": 10, \"reference_length\": 1, \"initial_velocity\": [1, 0, 0]}}" >channel.json
expect 0 scene channel.json --picture none
grep -q 'along the solid' "$out" && complain "a channel without a solid is said to have one"
rm channel.json

# Some options do not apply to a scene, and another speed leaves some values unchanged.
for command in 'scene' 'run --device cpu:1 --scene'; do
    for scene in dam_break_2d plume; do
        # shellcheck disable=SC2086
        refused 'change scenes with a "speed" in "flow", and this one has none' $command $scene --yaw 5
    done
done
refused "option '--write': plume is no mesh, and no option changes it" scene plume --write plume.json
refused "option '--yaw' turns a solid, and this scene has none" scene cylinder2d --yaw 5
expect 0 scene spinning_torus --speed 3 --picture none
says 'speed: solid.motion stays as in the file, whatever the speed'
expect 0 scene wheels --speed 50 --picture none
says 'speed: the solids that turn do so 2 times as fast'
expect 0 scene wheels --speed 25 --picture none
grep -q 'times as fast' "$err" && complain "wheels that turn as before are said to turn faster"
expect 0 scene ball --speed 3 --picture none
grep -q 'whatever the speed' "$err" && complain "a ball at rest is said to keep its motion"

# What has no effect in a scene is refused as an option, and reported as a key: samples of a solid without any, and a
# seed that draws nothing, with which all runs of a sweep would be one.
links='"domain": {"cells": [24, 16, 16], "cell_size": 0.05}, "flow": {"speed": 1, "reynolds": 100}'
links="{$links, \"solid\": {\"shape\": \"ball\", \"radius\": 0.15, \"position\": [0.4, 0.4, 0.4], \"boundary\": \"links\"}"
echo "$links}" >links.json
echo "$links, \"sampling\": {\"samples_per_cell\": 40}}" >sampled.json
for command in 'scene --picture none' 'space --scene' 'run --steps 1 --device cpu:1 --scene'; do
    # shellcheck disable=SC2086
    refused "links.json: its solid acts by links and has no samples: leave --samples-per-cell out" $command links.json --samples-per-cell 40
    # shellcheck disable=SC2086
    refused "cavity2d: it has no solid with samples on its surface: leave --samples-per-cell out" $command cavity2d --samples-per-cell 40
done
expect 0 scene sampled.json --picture none
says 'sampling.samples_per_cell: changes nothing, because a solid by links has no samples'
expect 0 scene links.json --picture none
grep -q 'changes nothing' "$err" && complain "a number of samples that nobody gave is said to change nothing"
for scene in links.json cavity2d plume dam_break_2d; do
    refused "option '--seeds': a seed draws the samples of an immersed solid and a flow's disturbance, and $scene has neither" \
        run --scene $scene --seeds 1,2 --steps 1 --device cpu:1
done
expect 0 space --scene ball --system incompressible --grid 32x16x16 --samples-per-cell 40
says 'incompressible: the solid is its mesh, so --samples-per-cell changes nothing'
rm links.json sampled.json

# Numbers have units in the forms that people write. Some are no numbers here.
printf 'v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nv 1 0.5 0.5\nf 1 4 3 2\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n' >roof.obj
roof=(scene roof.obj --up z --wind +x --road no --cells 6 --reynolds 100 --picture none)
expect 0 "${roof[@]}" --speed '108 km/h' --length 10ft --yaw 90deg --blockage '3 %'
shows "flow         30 m/s"
shows "solid        1.524 x 3.048 x"
expect 0 "${roof[@]}" --speed 10kn --length '48 in'
shows "flow         5.144 m/s"
shows "solid        1.219 x"
for given in "--speed|30knots|has the unit 'knots'; known are m/s, km/h, mph, kn" '--speed|30,5|decimals begin with a point' \
    '--speed|fast|is not a number, alone or in m/s' '--speed|0|is outside 1e-06 to 1e+06' \
    '--blockage|5|is outside 0.0001 to 0.25; is it 5%?' '--blockage|150%|is outside 0.01% to 25%' '--yaw|270|is outside -180 to 180' \
    '--samples-per-cell|2,5|decimals begin with a point'; do
    IFS='|' read -r option value said <<<"$given"
    refused "$said" "${roof[@]}" "$option" "$value"
done
refused "as in 'kftune scene roof.obj' or 'kftune --scene roof.obj'" roof.obj
# An error in a file that options change is reported with the file's own name, not that of the scene that kftune keeps.
# A mesh other than the scene's is refused, with options or without.
rough=(--scene roof.obj --up z --wind +x --road no --cells 6)
kept() { find "${XDG_DATA_HOME:-$HOME/.local/share}/kftune" -mindepth 2 2>/dev/null | sort | sha256sum; }
before=$(kept)
refused "roof.obj: flow: Reynolds number 1e+09 needs" run "${rough[@]}" --reynolds 1e9 --steps 1 --device cpu:1 --quiet
[ "$(kept)" = "$before" ] || complain "a scene that options make and that is refused is kept"
# A scene that was kept earlier stays, whatever is refused.
expect 0 space "${rough[@]}" --reynolds 100 --quiet
before=$(kept)
refused "roof.obj" run "${rough[@]}" --reynolds 100 --system d2q9 --steps 1 --device cpu:1 --quiet
[ "$(kept)" = "$before" ] || complain "a scene that is kept is gone when another system refuses it"
# A store is created only for a successful import, not for one that is refused at its beginning or at its end.
echo '{"a": 1}' >no.json
cp "$root/tests/data/landscape-of-random-configs.json.gz" good.json.gz
for files in no.json 'good.json.gz no.json'; do
    # shellcheck disable=SC2086
    expect 2 store import $files --store new.db
    [ -z "$(find . -name 'new.db*')" ] || complain "a store is left by the refused import of $files"
done
expect 0 store import good.json.gz --store new.db
cp new.db same.db
expect 2 store import no.json --store new.db
cmp -s new.db same.db || complain "a refused import changes a store"
rm new.db same.db no.json good.json.gz
expect 0 "${roof[@]}" --write kept.json
sed -i 's/"mesh":/"mesh_hash": "00", "mesh":/' kept.json
for yaw in '' '--yaw 5'; do
    # shellcheck disable=SC2086
    refused "roof.obj is not the mesh from which this scene was made" scene kept.json --quiet $yaw
done
# Outputs have the ending of their format. Nothing is written under another.
refused "'x.txt' must end in .json" "${roof[@]}" --write x.txt
refused "'x.jpg' must end in .png" "${roof[@]/none/x.jpg}"
refused "'x.pdf' must end in .html" report --out x.pdf
rm roof.obj kept.json

# More threads than processors are slower than as many. This is reported once.
expect 0 space --scene ball --device cpu:4000
[ "$(grep -c 'cpu:4000 has more threads than' "$err")" -eq 1 ] || complain "threads without a processor are not told once"
expect 0 space --scene ball --device cpu:1
grep -q 'more threads' "$err" && complain "one thread is called too many"

# Two probes of one name would be one file. Means that begin after the end would be empty.
ball=(run --scene ball --grid 16x16x16 --samples-per-cell 1 --device cpu:1 --steps 2 --quiet)
refused "option '--probe': two are called 'a'" "${ball[@]}" --probe a=0,0,0 --probe a=1L,0,0
refused "99 flow-throughs are " "${ball[@]}" --mean-from 99
expect 0 run --scene ball --grid 24x12x12 --device cpu:1 --steps 2 --mean-from 0 --film --film-every 5 --output meanless
says "option '--mean-from': no mean fields will be written: fields are added every"
says "option '--film-every': no frame will be drawn: there is one every 5 steps, and the run ends after 2"
rm -r meanless

# A title without room for the whole name shows that there is more of it.
long=a-name-of-thirty-two-characters-
cp "$root/scene/library/ball.json" "${long:0:32}.json"
cp "$root/scene/library/ball.json" "${long:0:32}x.json"
for name in "${long:0:32}" "${long:0:32}x"; do
    expect 0 run --scene "$name.json" --grid 16x16x16 --samples-per-cell 1 --device cpu:1 --steps 1 --fields none --quiet --output "$name-run"
done
[ -s "${long:0:32}x-run/speed_000001.png" ] || complain "no picture is drawn"
cmp -s "${long:0:32}-run/speed_000001.png" "${long:0:32}x-run/speed_000001.png" && complain "a title is cut without a sign"
rm -r "${long:0:32}"*

# JSON that is no scene is named by its kind.
for other in '{"asset": {}}|is a glTF mesh' '{"format": 4, "config": {}}|is a config' '{"command": "run", "config": {}}|is an answer of kftune' \
    '{"benchmarks": []}|is a suite' '{"cache": {}}|is a cache of Kernel Tuner'; do
    echo "${other%|*}" >other.json
    refused "other.json: ${other#*|}" run --scene other.json
done
rm other.json

# These files are no meshes, whatever their names say.
kind() { # TEXT CONTENT
    for name in car.obj car.stl; do
        printf "$2" >$name
        refused "$name: $1" scene $name
    done
}
kind 'is a pointer of Git LFS' 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n'
kind 'is a web page (HTML)' '\n<!DOCTYPE html><html><body>404</body></html>'
kind 'is a zip archive; unpack it' 'PK\003\004 and more'
kind 'is compressed (gzip)' '\037\213\010 and more'
kind 'is text in UTF-16' '\377\376v\000 \0001\000'
kind 'is a STEP file' 'ISO-10303-21;\nHEADER;\n'
rm -f car.obj car.stl

# A motion that somebody wrote into a scene of a mesh also stays, and a line says so.
roof_scene=(scene roof.obj --up z --wind +x --road no --cells 6 --reynolds 100 --picture none)
printf 'v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nv 1 0.5 0.5\nf 1 4 3 2\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n' >roof.obj
expect 0 "${roof_scene[@]}" --write roof.scene.json
sed -i 's/"anchor":/"motion": {"axis": [0, 0, 1], "angular_velocity": 3}, "anchor":/' roof.scene.json
expect 0 scene roof.scene.json --speed 20 --picture none
says 'speed: solid.motion stays as in the file, whatever the speed'
expect 0 scene roof.scene.json --reynolds 200 --picture none
grep -q 'whatever the speed' "$err" && complain "a speed that stays is said to change"
# An option overrides the file, even where it repeats the placement and the file was changed by hand since.
rm roof.scene.json
expect 0 "${roof_scene[@]}" --speed 30 --length 4m --write roof.scene.json
mv roof.scene.json placed.json
edited() { # PYTHON OPTION VALUE SHOWN: what the scene s is with the option after that edit of its file
    python3 -c 'import json, sys
s = json.load(open("placed.json"))
exec(sys.argv[1])
json.dump(s, open("roof.scene.json", "w"))' "$1"
    expect 0 scene roof.scene.json --picture none "$2" "$3"
    shows "$4"
    says "was changed by hand, to"
}
edited 's["flow"]["speed"] = 35' --speed 30 'flow         30 m/s'
edited 'del s["flow"]["reynolds"]; s["flow"]["viscosity"] = 2' --reynolds 100 'Reynolds number 100 with'
edited 'del s["flow"]["reynolds"]; s["flow"]["viscosity"] = 2' --viscosity 3 'viscosity 3 m^2/s'
edited 's["solid"]["scale"] = 0.5' --length 4m 'solid        4 x 2 x'
edited 's["domain"]["cell_size"] = 0.5' --cells 6 '6 cells a length'
edited 's["solid"]["yaw"] = 30' --yaw 0 'solid        4 x 2 x'
# The ground under a building stays at rest in a faster wind, and no line about the road contradicts this.
rm roof.scene.json
expect 0 scene roof.obj --up z --wind +x --road yes --cells 6 --reynolds 100 --speed 30 --picture none --write roof.scene.json
sed -i 's/"velocity":\t\[30, 0, 0\]/"velocity": [0, 0, 0]/' roof.scene.json
expect 0 scene roof.scene.json --speed 60 --picture none --write faster.scene.json
grep -q '"velocity":	\[0, 0, 0\]' faster.scene.json || complain "the ground moves with the wind"
grep -q 'by hand\|a road' "$err" && complain "a road is spoken of, or a change of it"
# A scene of a mesh that somebody turned into several solids is changed like any other.
python3 -c '
import json
scene = json.load(open("roof.scene.json"))
scene["solids"] = [dict(scene.pop("solid"), name="roof")]
json.dump(scene, open("roof.scene.json", "w"))'
expect 0 scene roof.scene.json --speed 60 --picture none
shows 'flow         60 m/s'
refused "option '--cells' places a mesh, and this scene was not made of one" scene roof.scene.json --cells 8 --picture none
rm -f roof.obj roof.scene.json faster.scene.json placed.json

# Rounding errors around 0 are printed as 0.
printf 'v %s\n' '0 -900 200' '4200 -900 200' '4200 900 200' '0 900 200' '0 -900 800' '4200 -900 800' '4200 900 800' '0 900 800' >body.obj
printf 'f %s\n' '1 4 3 2' '5 6 7 8' '1 2 6 5' '2 3 7 6' '3 4 8 7' '4 1 5 8' >>body.obj
expect 0 scene body.obj --wind +x --up z --road yes --length 4.2m --cells 24 --reynolds 20000 --picture none
shows 'parts thinner than 4 cells'
grep -E '[0-9]e-1[0-9]' "$out" && complain "a place of the road is said to be off it by a rounding"
rm -f body.obj

# Counts have every digit.
echo '{"ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Type": "int", "Values": [1, 2]}]},
    "KernelSpecification": {"Language": "C", "KernelName": "f", "KernelFile": "f.c", "ProblemSize": 16777219, "Arguments": [
    {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 16777219}]}}' >f.t1.json
echo 'void f(float *out) { out[0] = a; }' >f.c
expect 0 scene f.t1.json
shows 'element_count          16777219 elements'
rm -f f.t1.json f.c

left=$(ls | grep -vE '^(two|nested|links|free).json$|^said$')
[ -z "$left" ] || complain "refusals left files: $left"
finish
