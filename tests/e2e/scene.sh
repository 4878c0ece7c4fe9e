#!/bin/bash
# Tests `kftune scene`: a mesh is placed by options or by a guess, written as a scene file, and run without a store.
# KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
# shellcheck source=tests/e2e/quick-compiler.bash
. "$(dirname "$0")/quick-compiler.bash"
cd "$scratch" || exit 3
export XDG_DATA_HOME=$scratch/data

expect 0 scene ahmed
shows "128x48x48 nodes"
shows "Reynolds number 1e+04"
shows "no wall model"
shows "warning: the grid cannot resolve this Reynolds number"
[ -s ahmed.scene.png ] || complain "no picture"
rm -f ahmed.scene.png
expect 0 scene ahmed --grid 64x24x24 --picture none
[ ! -e none ] && [ ! -e ahmed.scene.png ] || complain "scene --picture none made a picture"
expect 0 scene ahmed --json
for key in reynolds blockage frontal_area_m2 y_plus flow_through_s warnings; do
    grep -q "\"$key\"" out || complain "--json has no $key"
done

# A scene without a flow is described by its system.
expect 0 scene column
shows "3200 particles"
shows "system sph"
expect 0 scene column --json
grep -q '"neighbours"' out || complain "--json has no facts"

# A wedge stands on y-, is longer along z, and looks the same from left and right. Its front cannot be guessed.
cat >wedge.obj <<'END'
v 0 0 0
v 1 0 0
v 1 0 3
v 0 0 3
v 0.5 1.9 0.3
v 0.5 1.9 1.2
f 1 2 3
f 1 3 4
f 1 5 2
f 4 3 6
f 1 4 6
f 1 6 5
f 2 5 6
f 2 6 3
END
expect 2 scene wedge.obj
says "--wind"
expect 0 scene wedge.obj --wind -z --length 420cm --speed 108km/h --reynolds 500 --grid 48x24x24 --write car.scene.json
shows "30 m/s, Reynolds number 500 with 4.2 m"
[ -s car.scene.json ] || complain "no scene file was written"
# A scene that kftune made and nobody changed is replaced by another one. A changed one stays.
expect 0 scene wedge.obj --wind z --write way.scene.json
expect 0 scene wedge.obj --wind z --speed 20 --write way.scene.json
says "replaced"
sed -i '0,/"speed":\t20/s//"speed":\t25/' way.scene.json
expect 2 scene wedge.obj --wind z --write way.scene.json
says "exists with other content"
says "flow.speed is 25 and 10"
grep -q 'speed.*25' way.scene.json || complain "a refused --write wrote"
# A refused scene is not written and leaves the existing file, although nobody changed that one.
expect 2 scene wedge.obj --wind z --reynolds 9e8 --grid 16x8x8 --write refused.scene.json
says "refused.scene.json: flow: Reynolds number 9e+08 needs"
[ ! -e refused.scene.json ] || complain "a scene was refused and written"
expect 0 scene wedge.obj --wind z --write kept.scene.json
cp kept.scene.json before
expect 2 scene wedge.obj --wind z --reynolds 9e8 --grid 16x8x8 --write kept.scene.json
cmp -s kept.scene.json before || complain "a refused scene replaced another one"
# A picture is a scene like others: options change it, it is written, its run keeps it, and its runs are compared.
python3 - <<'PY'
import struct, zlib
def chunk(name, data): return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
def pixel(i, j): return (0, 255, 0) if i == 0 else (255, 0, 0) if i == 29 else (0, 0, 0) if 10 <= i < 14 and 5 <= j < 9 else (255, 255, 255)
rows = b"".join(b"\0" + b"".join(bytes(pixel(i, j)) for i in range(30)) for j in range(14))
open("mask.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 30, 14, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
PY
expect 0 scene mask.png --write mask.scene.json --json
whole=$(grep scene_hash "$out")
expect 0 scene mask.scene.json --json
[ "$(grep scene_hash "$out")" = "$whole" ] || complain "the scene of a picture is another one once it is written"
expect 0 scene mask.png --reynolds 40 --speed 2
shows "2 m/s, Reynolds number 40 with 0.0035 m"
shows "flow-through 600 steps"
expect 0 run --scene mask.png --device cpu:1 --flow-throughs 0.1 --picture none --output mask-run
expect 0 run --scene mask-run/scene.json --device cpu:1 --steps 5 --restart mask-run/checkpoint_000060.kfc --picture none --output mask-run
expect 1 compare mask-run mask-run --pictures mask-pictures
expect 2 scene mask.png --length 3
says "mask.png: option '--length' places a mesh"
# A disagreement between road and wind is reported. --speed changes both, and reports what somebody had changed.
expect 0 scene way.scene.json
shows "the road moves at 20 m/s and the wind at 25 m/s"
expect 0 scene way.scene.json --speed 30
says "flow.speed: was changed by hand, to 25; is now 30"
grep -q "the road moves" out && complain "--speed leaves the road behind"
expect 2 scene wedge.obj --wind -z --up -z
says "same axis"
expect 2 scene wedge.obj --wind w
says "is not an axis"
expect 2 scene wedge.obj --length 3furlongs
# Options change a written scene, and the tunnel stays. In other scenes they change the flow.
expect 0 scene car.scene.json --yaw 10 --speed 40
shows "car-speed40-yaw10: 48x24x24 nodes"
shows "40 m/s, Reynolds number 500"
says "in the tunnel that was made for 0"
expect 0 scene ball --speed 2 --reynolds 100
shows "2 m/s, Reynolds number 100"
expect 2 scene ball --cells 20
says "option '--cells' places a mesh"
expect 0 scene car.scene.json --yaw 10 --write turned.scene.json
expect 0 scene turned.scene.json
shows "front at zero yaw"
# Nothing is written without a request.
rm -f ./*.scene.png
before=$(ls)
expect 0 scene wedge.obj --wind z --json
[ "$(ls)" = "$before" ] || complain "scene --json left a file that nobody asked for"
expect 2 scene missing.obj
says "missing.obj: no such file;"
expect 2 scene

# Nothing was ever tuned here, and there is no store. The default runs, verified. The run keeps its scene, and writes
# nothing outside its folder.
expect 0 run --scene wedge.obj --wind -z --reynolds 500 --grid 32x16x16 --samples-per-cell 10 --device cpu:1 --steps 4 --picture none --output first
says "running the default config, verified"
shows "(not tuned)"
[ ! -e wedge.scene.json ] || complain "a scene file lies beside the run"
expect 0 run --scene first/scene.json --device cpu:1 --steps 4 --picture none --output second
cmp -s first/forces.csv second/forces.csv || complain "a placed mesh and the scene file written for it differ"
# Variants write into folders of their own.
for yaw in 0 5; do expect 0 run --scene first/scene.json --yaw $yaw --device cpu:1 --steps 2 --picture none; done
says "'kftune tune --scene first/scene.json' with the same options"
[ -s first-yaw0-run/run.json ] && [ -s first-yaw5-run/run.json ] || complain "two angles have not two folders"
cp first/scene.json wedge.scene.json
expect 0 predict --scene wedge.obj --wind -z --reynolds 500 --grid 32x16x16 --samples-per-cell 10 --bandwidth 4242 --fix plan=fused --top 1
shows "32x16x16 nodes"
# Wrong options are refused before a config is chosen.
expect 2 run --scene wedge.scene.json --device cpu:1 --steps many --output fourth
says "not a whole number"
grep -q "never tuned" err && complain "a config was chosen for a run that is refused"
# The command to continue includes the placement of the mesh and the fixed values.
expect 0 run --scene wedge.obj --wind -z --reynolds 500 --grid 32x16x16 --samples-per-cell 10 --fix storage=f64 --device cpu:1 --steps 4 --picture none --output third
resume=$(sed -n 's/^  go on *kftune //p' out)
[ -n "$resume" ] || complain "a run whose drag has not settled does not say how to go on"
expect 0 $resume
shows "step 4 to 8"

# A run is as long as the flow requires, and its drag has an interval.
expect 0 run --scene wedge.scene.json --device cpu:1 --flow-throughs 0.5 --output half
shows "320 on"
shows "NOT settled"
shows "measured front"
# A run that got further is not overwritten by accident, and its files are not listed as another run's.
expect 2 run --scene wedge.scene.json --device cpu:1 --steps 40 --output half
says "half: holds a run of 320 steps, more than these"
grep -q '^320,' half/forces.csv || complain "a refused run wrote over a longer one"
expect 0 run --scene wedge.scene.json --device cpu:1 --steps 40 --output half --force --picture pressure,surface
grep -q 000040 half/fields.vtkhdf.series || complain "the series lacks the run's last file"
grep -q 000320 half/fields.vtkhdf.series && complain "the series lists another run's file"
shows "picture    half/pressure_000040.png"
shows "picture    half/surface_000040.png"
expect 0 run --scene wedge.scene.json --device cpu:1 --time 20ms --output short --json
for key in coefficients interval_95 settled reference_area_m2 flow_throughs simulated_s; do
    grep -q "\"$key\"" out || complain "run --json has no $key"
done
expect 2 run --scene wedge.scene.json --device cpu:1 --time 2s --steps 5 --output unborn
says "give one of them"
expect 2 run --scene wedge.scene.json --device cpu:1 --until tired --output unborn
expect 0 run --scene ball --grid 32x16x16 --samples-per-cell 10 --device cpu:1 --until settled --output settled
shows "settled: means over step"
[ -s settled/forces.png ] || complain "no chart of the forces"
[ ! -e unborn ] || complain "a refused run left a folder behind"

# These are files for ParaView.
expect 0 run --scene wedge.scene.json --device cpu:1 --steps 60 --every 30 --picture-every 15 --mean-from 0.02 --output files \
    --fields velocity,pressure,vorticity,q,solid,surface
[ "$(awk '/^  (fields|picture|chart|forces|checkpoint) / { print $1 }' out | uniq | tr '\n' ' ')" = "fields picture chart forces checkpoint " ] ||
    complain "what was written is named in another order"
for file in fields_000060 surface_000060 mean_000060; do shows "fields     files/$file.vtkhdf"; done
for file in fields_000030 surface_000060 mean_000060; do
    [ -s "files/$file.vtkhdf" ] || complain "files/$file.vtkhdf is missing"
done
for step in 15 30 45 60; do
    [ -s "files/speed_$(printf %06d $step).png" ] || complain "no picture of step $step"
done
grep -q '"surface_000060.vtkhdf", "time":' files/surface.vtkhdf.series || complain "no series of the surface"
expect 2 run --scene wedge.scene.json --device cpu:1 --steps 2 --fields heat --output unborn

finish
