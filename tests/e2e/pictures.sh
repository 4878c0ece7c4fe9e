#!/bin/bash
# Tests pictures of a run: fields, planes, ranges, the pressure on a surface, and a film that ffmpeg makes by the
# printed command. Files for ParaView are read by VTK's own reader where it is installed. KFTUNE: the program;
# KFTUNE_SCRATCH: a folder to write into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
cd "$scratch" || exit 3
export XDG_DATA_HOME=$scratch/data
run() { "$kftune" run --scene ball --grid 32x24x24 --device cpu --checkpoints 0 --quiet "$@" >"$out" 2>"$err" </dev/null; }

run --output drawn --steps 48 --every 48 --picture pressure,vorticity,surface --slice z=0.2m --range pressure=-2:1 --range vorticity=-500:500 \
    --camera 120,30,1.5 --film --film-every 12 --mean-from 0 --fields velocity,pressure,q,solid,surface || complain "a run with pictures failed"
for file in pressure_000048 vorticity_000048 surface_000048 mean_pressure_000048 film_00001 film_00004; do
    [ -s drawn/$file.png ] || complain "drawn/$file.png is missing"
done
[ ! -e drawn/speed_000048.png ] || complain "the speed was drawn though nobody asked for it"
film=$(sed -n 's/^ *film *4 frames; //p' "$out")
[ -n "$film" ] || complain "the film's command is not printed"
if command -v ffmpeg >/dev/null; then
    eval "$film" </dev/null >ffmpeg.log 2>&1 || complain "ffmpeg does not take the frames: $film"
    [ -s drawn/film.mp4 ] || complain "ffmpeg made no film"
else
    echo "pictures.sh: skipped the film, ffmpeg is not installed"
fi
run --output smoke --steps 8 --every 8 --smoke --smoke-size 64x48 --film || complain "a film of smoke failed"
[ -s smoke/film_00008.png ] || complain "a short film has a frame a step"

refused() { # MESSAGE OPTION...
    local message=$1 status
    shift
    run --output refused --steps 1 "$@"
    status=$?
    { [ $status -eq 2 ] && grep -qF -- "$message" "$err"; } || complain "status $status of: $*"
    [ ! -e refused ] || complain "a refused run left a folder: $*"
}
refused "'colour' is none of speed" --picture speed,colour
refused "must be x, y or z" --slice w
refused "must be x, y or z" --slice y=1km
refused "the domain is from 0 to" --slice y=99m
refused "must be LOW:HIGH" --range 5:1
refused "must be LOW:HIGH" --range 1
refused "--picture has no pressure" --range pressure=0:1
refused "must be AZIMUTH,ELEVATION" --camera 10
refused "must be AZIMUTH,ELEVATION" --camera 10,20,
refused "no film without --film" --film-every 3
# Options of pictures that the run does not draw.
refused "option '--slice': --picture has no slice" --picture surface --slice y
refused "option '--slice': --picture has no slice" --picture none --slice y
refused "option '--range': --picture has nothing to colour" --picture none --range 0:1
refused "option '--camera': looks at a solid or at smoke" --camera 10,20
refused "option '--camera': looks at a solid or at smoke" --picture speed --camera 10,20
refused "option '--picture-every': --picture has nothing to draw" --picture none --picture-every 2

python=$(command -v python3)
if [ -n "$python" ] && "$python" -c 'from vtkmodules.vtkIOHDF import vtkHDFReader' 2>/dev/null; then
    "$kftune" run --scene cavity2d --grid 32x24x1 --device cpu:1 --steps 2 --picture none --output flat >"$out" 2>"$err" || complain "a plane does not run"
    "$python" - drawn/fields_000048.vtkhdf drawn/surface_000048.vtkhdf flat/fields_000002.vtkhdf <<'PYTHON' || complain "VTK does not read the files"
import sys
from vtkmodules.vtkCommonCore import vtkVersion
from vtkmodules.vtkIOHDF import vtkHDFReader
def read(path):
    reader = vtkHDFReader()
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutputDataObject(0)
fields = read(sys.argv[1])
names = {fields.GetPointData().GetArrayName(i) for i in range(fields.GetPointData().GetNumberOfArrays())}
assert fields.GetDimensions() == (32, 24, 24), fields.GetDimensions()
assert {"velocity", "pressure_coefficient", "q_criterion", "solid"} <= names, names
version = vtkVersion()
if (version.GetVTKMajorVersion(), version.GetVTKMinorVersion()) < (9, 3):
    print("pictures.sh: skipped the surface, VTK", version.GetVTKVersion(), "reads no PolyData and no planes")
    sys.exit()
flat = read(sys.argv[3])
velocity = flat.GetPointData().GetArray("velocity")
assert flat.GetDimensions() == (32, 24, 1) and velocity.GetNumberOfTuples() == 32 * 24, flat.GetDimensions()
assert velocity.GetTuple(31 * 24)[0] != 0.0 and velocity.GetTuple(0)[2] == 0.0
surface = read(sys.argv[2])
names = {surface.GetPointData().GetArrayName(i) for i in range(surface.GetPointData().GetNumberOfArrays())}
assert surface.GetNumberOfPoints() > 0 and surface.GetNumberOfCells() > 0
assert {"pressure_coefficient", "wall_shear", "y_plus"} <= names, names
PYTHON
else
    echo "pictures.sh: skipped reading with VTK, python3-vtk9 is not installed"
fi
finish
