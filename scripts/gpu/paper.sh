#!/bin/bash
# The paper's evaluation beside kftune's on a GPU: the suite kinetic-paper, or the pictures of the scenes of its Table 3 and of its
# Figure 17. From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/paper.sh tables|pictures|whole|team FOLDER [DEVICE]
# tables: FOLDER gets tables.json, small.json, large.json and figure10.json, each a part of the suite with a time limit of its
# own (large: the three scenes of 250 to 340 million nodes), and their logs. PARTS may name some of them.
# pictures: SCENE-smoke_STEP.png and SCENE.json (what kftune run says) of each scene, and 17-MODEL.png. SHARE is the part of Table
# 3's grid along each axis (2: a half, the default; the two small scenes are always whole, with all of the table's steps); STEPS how many.
# SCENES may name some of them, 17 for the figure; GRID and SIZE say how many nodes and pixels instead (1600x900), PICTURES how
# many of the four are kept, the last ones, CAR a mesh of which the car is made instead: ../shared/meshes/beetle.obj; LIMIT the seconds that a scene may take:
# pictures drawn by then are kept.
# whole: the scenes of Table 3 that SCENES names at its full grids for all of its steps, without smoke: SCENE.json says how long they took.
# In 16 bits, or what FIX says ("storage=f32"). A scene is killed after LIMIT seconds; SCENE.log and
# SCENE/forces.csv show how far it came.
# team: Figure 24's car at full size on a team, DEVICE such as cuda:0-3: STEPS of its 26,300 steps (a tenth), car.json says how long.
# With DEVICE cpu the same on small grids, to see that it works.
set -u
what=${1:?usage: scripts/gpu/paper.sh tables|pictures|whole|team FOLDER [DEVICE]}
folder=${2:?usage: scripts/gpu/paper.sh tables|pictures|whole|team FOLDER [DEVICE]}
device=${3:-cuda:0}
. "$(dirname "$0")/program.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_DATA_HOME=$work # no store: every scene runs with the default config
failed=0

part() { # NAME SECONDS PATTERN
    case " ${PARTS:-tables small large figure10} " in *" $1 "*) ;; *) return ;; esac
    # The suite with these figures alone; a figure is a line of its file.
    awk -v wanted="$3" -v seconds=$(($2 - 6)) '
        /"seconds": 240/ { sub(/240/, seconds) }
        /"kind"/ { name = $0; sub(/.*{"name": "/, "", name); sub(/".*/, "", name); if (name !~ wanted) next
                   sub(/,$/, ""); printf "%s%s", comma, $0; comma = ",\n"; next }
        { if (comma != "") { print ""; comma = "" } print }' suites/kinetic-paper.json >"$work/kinetic-paper.json"
    timeout -s INT -k 3 "$2" "$kftune" bench --suite "$work/kinetic-paper.json" --device "$device" --json \
        >"$folder/$1.json" 2>"$folder/$1.log" || failed=1
    echo "$1: $SECONDS s"
    awk -f scripts/gpu/figures.awk "$folder/$1.json"
}

# The scene of a car on its road with the mesh of another one, which looks along +z in its file and has y up.
car_of() { # MESH
    awk -v mesh="$(realpath "$1")" '
        /^  "solid"/ { print "  \"solid\": {\"mesh\": \"" mesh "\", \"length\": 4.1, \"anchor\": \"bottom\", \"position\": [5.0, 3.0, 0],"
                       print "    \"rotation\": [{\"axis\": [1, 0, 0], \"degrees\": 90}, {\"axis\": [0, 0, 1], \"degrees\": -90}]},"; next }
        { print }' scene/library/car.json
}

picture() { # SCENE NX NY NZ STEPS CAMERA
    local scene=$1 grid=$2x$3x$4 steps=$5 picture
    case " ${SCENES:-$1} " in *" $1 "*) ;; *) return ;; esac
    case $device in cuda*) ;; *) grid=$(($2 / 10))x$(($3 / 10))x$(($4 / 10)) steps=200 ;; esac
    grid=${GRID:-$grid} steps=${STEPS:-$steps}
    if [ "$1" = car ] && [ -n "${CAR:-}" ]; then
        scene=$work/car.json
        car_of "$CAR" >"$scene"
    fi
    timeout -s KILL "${LIMIT:-600}" "$kftune" run --scene "$scene" --grid "$grid" --device "$device" --steps "$steps" --every "$steps" --smoke --smoke-every $((steps / 4)) \
        --smoke-size "${SIZE:-1600x900}" --camera "$6" --checkpoints 0 --fields pressure --output "$work/$1" --json >"$folder/$1.json" 2>"$folder/$1.log" || failed=1
    for picture in "$work/$1"/smoke_*.png; do echo "$picture"; done | tail -n "${PICTURES:-4}" |
        while read -r picture; do [ ! -e "$picture" ] || cp "$picture" "$folder/$1-${picture##*/}"; done
    rm -f "$work/$1"/*.vtkhdf
    echo "$1: $SECONDS s"
}

whole() { # SCENE NX NY NZ STEPS
    local grid=$2x$3x$4 steps=$5 fixed=${FIX:-storage=f16 nodes_per_thread=2 alpha=64 block_x=16 block_y=4} fixes=()
    case " ${SCENES:-$1} " in *" $1 "*) ;; *) return ;; esac
    case $device in cuda*) ;; *) grid=$(($2 / 20))x$(($3 / 20))x$(($4 / 20)) steps=40 fixed=storage=f16 ;; esac
    for fix in $fixed; do fixes+=(--fix "$fix"); done
    timeout -s KILL "${LIMIT:-600}" "$kftune" run --scene "$1" --grid "$grid" --device "$device" --steps "${STEPS:-$steps}" --every "${STEPS:-$steps}" \
        --accuracy 3% "${fixes[@]}" --checkpoints 0 --fields surface --output "$folder/$1" --force --json >"$folder/$1.json" 2>"$folder/$1.log" || failed=1
    rm -f "$folder/$1"/*.vtkhdf*
    tail -n 1 "$folder/$1.log"
    echo "$1: $SECONDS s"
}

# The jet of Figure 17: the shipped ball with another model and Reynolds number, 50 cells across at 0.1 cells a step, between
# periodic faces; RM-MRT blows up at a viscosity of 1e-4 soon after this step.
figure17() { # NAME MODEL REYNOLDS
    local grid=400x200x200 steps=1300
    case " ${SCENES:-17} " in *" 17 "*) ;; *) return ;; esac
    case $device in cuda*) ;; *) grid=40x20x20 steps=200 ;; esac
    sed "s/\"reynolds\": 1000/\"reynolds\": $3/; s/\"lattice_speed\": 0.05/\"lattice_speed\": 0.1/; s/\"collision\": \"acm_mrt\", \"rates\": \"adaptive_2020\"/$2/; s/free_slip/periodic/g" \
        scene/library/ball.json >"$work/$1.json"
    "$kftune" run --scene "$work/$1.json" --grid "$grid" --samples-per-cell 10 --device "$device" --steps "$steps" --every "$steps" --picture speed \
        --range speed=0:1.5 --checkpoints 0 --fields pressure --output "$work/17-$1" --json >"$folder/17-$1.json" 2>"$folder/17-$1.log" || failed=1
    cp "$work/17-$1"/speed_*.png "$folder/17-$1.png"
    echo "figure 17, $1: $SECONDS s"
}

case $what in
tables)
    part tables 45 '^(table_1|figure_1[1-9]|figures_11|section)'
    part small 30 '^table_3_figure_23'
    part large 120 '^table_3_figure_(1|24|25)(_|$)'
    part figure10 45 '^figure_10'
    ;;
pictures)
    share=${SHARE:-2}
    picture architecture $((1200 / share)) $((840 / share)) $((250 / share)) 6000 48,21,2.0
    picture car $((2240 / share)) $((480 / share)) $((320 / share)) 6800 54,14,1.25
    picture aircraft $((2100 / share)) $((600 / share)) $((240 / share)) 6900 138,24,1.3
    picture vortices 400 400 200 20000 60,40,0.6
    picture spinning_torus 400 400 200 25600 60,18,1.0
    figure17 acm '"collision": "acm_mrt", "rates": "adaptive_2020"' 50000
    figure17 rm '"collision": "rm_mrt"' 50000
    figure17 rm-cited '"collision": "rm_mrt", "rates": "suga_2015"' 50000
    figure17 bgk '"collision": "bgk"' 2500
    ;;
whole)
    whole vortices 400 400 200 20000
    whole spinning_torus 400 400 200 25600
    whole car 2240 480 320 26300
    whole aircraft 2100 600 240 41500
    whole architecture 1200 840 250 76600
    ;;
team)
    grid=2240x480x320 steps=${STEPS:-2630}
    case $device in cuda*) ;; *) grid=70x15x10 steps=40 ;; esac
    "$kftune" run --scene car --grid "$grid" --devices "$device" --steps "$steps" --every "$steps" --checkpoints 0 --fields surface \
        --output "$work/car" --json >"$folder/car.json" 2>"$folder/car.log" || failed=1
    tail -n 1 "$folder/car.log"
    ;;
*)
    echo "scripts/gpu/paper.sh: $what: tables, pictures, whole or team" >&2
    exit 2
    ;;
esac
exit $failed
