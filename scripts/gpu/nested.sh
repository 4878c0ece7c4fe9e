#!/bin/bash
# Nested grids on a GPU. PARTS=cases: their tests against the reference, then the validation cases nested, nested_flows and nested_drag with each plan.
# PARTS=scene: the Ahmed body in nested grids, from a scene file, against the finest cells everywhere: drag, wall time, updates a second,
# and each kernel's share of a step by level (share-*.txt). RUNS and SHARES name the grids of both: uniform nested outer.
# PARTS=table: the Ahmed body's drag over cells a length, in two boxes of a tenth of the nodes and in fine cells everywhere (table.md).
# PARTS=hour: the time to the drag at 522 cells a length, by the steps a second of a short run there (hour.md); OUTER=ones: with such rates.
# PARTS=car: a car in three grids, slices of speed and vorticity, and a picture of its boxes.
# PARTS=team: the Ahmed body in nested grids on one device and on those of TEAM (cuda:0-1): the same forces, and steps a second (team.md).
# PARTS=moving: a ball that sinks and a torus that tumbles in a box, beside fine cells everywhere (moving.md).
# From a bundle or a built source tree; builds nothing; each part some eight minutes (at most 540 s: BUDGET).
# usage: scripts/gpu/nested.sh FOLDER [DEVICE]; PARTS (cases), GRID (of the coarsest level), LEVELS, FLOW_THROUGHS may be set.
# Leaves in FOLDER: nested.json (what the program printed, one JSON object a line) and log.txt (seconds of each case too); of a scene
# scene.md, the table it prints, and pictures.
# Status 1 when a test or a check failed, time ended a case, or the two drags differ by more than 2 %.
set -u
folder=${1:?usage: scripts/gpu/nested.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
budget=${BUDGET:-540}
. "$(dirname "$0")/budget.sh"
bad=0
case $device in
cuda*) grid=${GRID:-128x48x48} levels=${LEVELS:-2} through=${FLOW_THROUGHS:-6} ;;
*) grid=${GRID:-24x12x12} levels=${LEVELS:-1} through=${FLOW_THROUGHS:-1} ;;
esac
: >"$folder/nested.json"
: >"$folder/log.txt"

# value KEY FILE: the first number of that name in --json's output.
value() { grep -m1 "\"$1\":" "$2" | sed 's/^[^:]*:[[:space:]]*//; s/,$//'; }
# mean FILE: of the drag.
mean() { awk '$1 == "\"drag\":" { inside = 1 } inside && $1 == "\"mean\":" { sub(/^[^:]*:[ \t]*/, ""); sub(/,$/, ""); print; exit }' "$1"; }

# place NAME SCENE GRID TIMES [REFINE [SED]]: $work/NAME.json is the library's SCENE with rates k17 on TIMES as many cells along each axis as
# GRID has, with REFINE as its boxes and changed by SED.
place() {
    local x y z
    IFS=x read -r x y z <<<"$3"
    sed "s/\"cells\": *\[[^]]*\]/\"cells\": [$(($4 * x)), $(($4 * y)), $(($4 * z))]/; s/\"rates\": *\"[a-z0-9_]*\"/\"rates\": \"k17\"/
        ${5:+s/^{/{\"refine\": $5,/}; ${6:-}" "scene/library/$2.json" >"$work/$1.json"
}
body="{\"around\": \"body\", \"levels\": $levels}"
ones='s/"rates": "k17"/&, "outer_rates": "ones"/' # of all levels but the finest, which then hold moments on a GPU

# ahmed NAME: runs $work/NAME.json, and its row.
ahmed() {
    local name=$1 json=$work/$1.out start=$SECONDS
    timeout -s INT -k 8 "$(left)" "$kftune" run --scene "$work/$name.json" --device "$device" --flow-throughs "$through" \
        --every 1000000000 --fields none --checkpoints 0 --output "$work/$name" --json >"$json" 2>>"$folder/log.txt" ||
        { bad=1 && echo "FAILED $name: $(tail -n 1 "$folder/log.txt")"; }
    cat "$json" >>"$folder/nested.json"
    find "$work/$name" -name 'speed_*.png' -exec cp {} "$folder/$name.png" \;
    echo "| $name | $(mean "$json") | $(value seconds "$json") | $(value steps_per_second "$json") | $(value mlups "$json") | $((SECONDS - start)) |" \
        >>"$folder/scene.md"
    echo "$name $(mean "$json")" >>"$work/drags"
}

# share NAME: each kernel's share of a step of $work/NAME.json, and that of what crosses between levels.
share() {
    local table=$folder/share-$1.txt
    timeout -s INT -k 8 "$(left)" "$kftune" tune --scene "$work/$1.json" --device "$device" --budget 1evals --presets default --rounds 0 \
        --store "$work/share.db" --out "$work/share.kftune.json" >"$table" 2>>"$folder/log.txt" || bad=1
    awk -v name="$1" '$1 == "refine" || $1 == "coarsen" { sum += $3; rows++ }
        END { if (!rows) exit 1; printf "%s: between levels %.1f %% of a step (must be 8, aim 4)\n", name, sum }' "$table" || bad=1
}

# The same flow three times: nested grids around the body, those with rates of 1 on the outer levels, and cells of the finest level everywhere.
scene() {
    local name
    echo "| grids | drag | seconds of steps | steps a second | million updates a second | seconds in all |
| --- | ---: | ---: | ---: | ---: | ---: |" >"$folder/scene.md"
    : >"$work/drags"
    place nested ahmed "$grid" 1 "$body"
    place outer ahmed "$grid" 1 "$body" "$ones"
    place uniform ahmed "$grid" $((1 << levels))
    "$kftune" scene "$work/nested.json" --picture "$folder/boxes.png" | tee -a "$folder/log.txt"
    for name in ${SHARES-nested outer}; do share "$name"; done
    for name in ${RUNS:-uniform nested outer}; do ahmed "$name"; done
    cat "$folder/scene.md"
    awk -F '|' '$2 ~ /uniform/ && $6 > 0 { uniform = $6 } $2 !~ /uniform/ && $6 > 0 && uniform {
        printf "%s: %.0f %% of the uniform grid'"'"'s updates a second (must be 85, aim 93)\n", $2, 100 * $6 / uniform }' "$folder/scene.md"
    awk '$1 == "uniform" { uniform = $2 } $1 != "uniform" && uniform {
        off = $2 / uniform - 1
        printf "%s: drag off by %.2f %%\n", $1, 100 * off
        wrong += off > 0.02 || off < -0.02 } END { exit wrong > 0 }' "$work/drags" || bad=1
}

# run NAME DEVICE_OPTION...: the scene $work/NAME.json for $through flow-throughs or as the options say; prints JSON to $work/NAME.out.
run() {
    local name=$1
    shift
    timeout -s INT -k 8 "$(left)" "$kftune" run --scene "$work/$name.json" --device "$device" --every 1000000000 --fields none \
        --checkpoints 0 --output "$work/$name" --json "$@" >"$work/$name.out" 2>>"$folder/log.txt" ||
        { bad=1 && echo "FAILED $name: $(tail -n 1 "$folder/log.txt")"; }
    cat "$work/$name.out" >>"$folder/nested.json"
}
# nodes NAME: of all levels together.
nodes() { "$kftune" scene "$work/$1.json" --picture none | sed -n 's/^  together *\([0-9.e+]*\) nodes, .*/\1/p; s/^[a-z0-9]*: \([0-9x]*\) nodes, .*/\1/p' | tail -n 1; }

# The drag in two boxes that leave the body half a height of room, over that in the finest cells everywhere. UNIFORM names the grids that
# have the second.
table() {
    local x boxes='[{"box": {"low": [0.55, 0.3, 0], "high": [3.1, 1.275, 0.8]}}, {"box": {"low": [0.8, 0.46, 0], "high": [2.5, 1.115, 0.52]}}]'
    echo "| cells a length | nodes in boxes | drag | seconds | nodes everywhere | drag | seconds | drags differ by |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |" >"$folder/table.md"
    for grid in ${GRIDS:-64x24x24 128x48x48 256x96x96}; do
        x=${grid%%x*}
        place "boxes$x" ahmed "$grid" 1 "$boxes"
        place "fine$x" ahmed "$grid" 4
        run "boxes$x" --flow-throughs "$through" --picture none
        : >"$work/fine$x.out"
        case " ${UNIFORM-64x24x24 128x48x48} " in *" $grid "*) run "fine$x" --flow-throughs "$through" --picture none ;; esac
        awk -v cells="$((127 * x / 128))" -v boxes="$(nodes "boxes$x")" -v fine="$(nodes "fine$x")" \
            -v a="$(mean "$work/boxes$x.out")" -v ta="$(value seconds "$work/boxes$x.out")" \
            -v b="$(mean "$work/fine$x.out")" -v tb="$(value seconds "$work/fine$x.out")" 'BEGIN {
                printf "| %d | %s | %.4f | %.1f | %s |", cells, boxes, a, ta, fine
                if (b > 0) printf " %.4f | %.1f | %.2f %% |\n", b, tb, 100 * (a / b - 1); else print " | | |" }' >>"$folder/table.md"
    done
    cat "$folder/table.md"
}

# A car with its boxes drawn and its wake in the finest cells.
car() {
    cat >"$work/car.json" <<'END'
{
  "solid": {"shape": "car", "anchor": "bottom", "position": [5, 4, 0]},
  "domain": {"cells": [160, 64, 40], "size": [20, 8, 5]},
  "boundaries": {
    "xmin": "inflow", "xmax": "outflow", "ymin": "free_slip", "ymax": "free_slip",
    "zmin": {"type": "wall", "velocity": [30, 0, 0], "specular_share": 0.5}, "zmax": "free_slip"
  },
  "flow": {"speed": 30, "reynolds": 20000, "lattice_speed": 0.08},
  "refine": [{"box": {"low": [1.5, 1.5, 0], "high": [17, 6.5, 3.5]}}, {"box": {"low": [2.25, 2.5, 0], "high": [14.5, 5.5, 2.25]}}]
}
END
    "$kftune" scene "$work/car.json" --picture "$folder/car-boxes.png" | tee -a "$folder/log.txt"
    run car --flow-throughs "${CAR_THROUGHS:-2}" --picture speed,vorticity --slice y
    find "$work/car" -name '*.png' -exec cp {} "$folder" \;
}

# compare NAME STEPS TABLE COLUMN UNIT: the last value of a table's column after so many steps in a box and twice as many everywhere.
compare() {
    local name=$1 steps=$2 table=$3 column=$4 in_box everywhere
    run "$name" --steps "$steps" --picture none
    run "${name}_fine" --steps "$((2 * steps))" --picture none
    in_box=$(last "$work/$name/$table" "$column")
    everywhere=$(last "$work/${name}_fine/$table" "$column")
    awk -v name="$name" -v column="$column" -v a="$in_box" -v b="$everywhere" 'BEGIN {
        off = a / b - 1; printf "| %s | %s | %s | %s | %.3f %% |\n", name, column, a, b, 100 * off
        exit !(b != 0 && off < 0.005 && off > -0.005) }' >>"$folder/moving.md" || bad=1
}
# last FILE COLUMN: of a CSV file.
last() { awk -F , -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) place = i } END { print $place }' "$1"; }

moving() {
    local f=1
    case $device in cuda*) f=2 ;; esac
    local one='{"around": "body", "levels": 1}' slow='s/"reynolds": *[0-9]*/"reynolds": 200/'
    echo "| flow | quantity | in a box | fine cells everywhere | differ by |
| --- | --- | ---: | ---: | ---: |" >"$folder/moving.md"
    place ball settling 25x25x40 $f "$one"
    place ball_fine settling 25x25x40 $((2 * f))
    place torus spinning_torus 32x32x16 $f "$one" "$slow"
    place torus_fine spinning_torus 32x32x16 $((2 * f)) "" "$slow"
    compare ball $((250 * f)) motion.csv velocity_z_m_s
    compare torus $((120 * f)) forces.csv drag_coefficient
    cat "$folder/moving.md"
}
# One plan on one device and on several, whose forces are the same bytes.
team() {
    local name value values="plan=fused force_sum=fixed"
    case $device in cuda*) values="plan=fused solid_block=128 band_chain=false boundary_rows_apart=false overlap=false" ;; esac
    place one ahmed "$grid" 1 "$body"
    cp "$work/one.json" "$work/team.json"
    echo "| devices | steps a second | million updates a second |
| --- | ---: | ---: |" >"$folder/team.md"
    for name in one team; do
        local devices=$device same=()
        [ $name = one ] || devices=${TEAM:-cuda:0-1}
        for value in $values; do same+=(--fix "$value"); done
        timeout -s INT -k 8 "$(left)" "$kftune" run --scene "$work/$name.json" --devices "$devices" --steps "${TEAM_STEPS:-2000}" \
            --every 500 --fields none --picture none --checkpoints 0 "${same[@]}" --output "$work/$name" --json \
            >"$work/$name.out" 2>>"$folder/log.txt" || { bad=1 && echo "FAILED $name: $(tail -n 1 "$folder/log.txt")"; }
        echo "| $devices | $(value steps_per_second "$work/$name.out") | $(value mlups "$work/$name.out") |" >>"$folder/team.md"
    done
    cat "$folder/team.md"
    cmp "$work/one/forces.csv" "$work/team/forces.csv" && echo "the forces are the same bytes" || bad=1
}

# The time to the drag on HOUR_GRID, where a run of HOUR_STEPS steps gives the steps a second and what comes before the first one. Until the
# drag has settled it takes as many flow-throughs as on GRID.
hour() {
    local start wall rates=
    [ "${OUTER:-}" != ones ] || rates=$ones
    place settles ahmed "$grid" 1 "$body" "$rates"
    run settles --until settled --picture none
    place large ahmed "${HOUR_GRID:-528x198x198}" 1 "$body" "$rates"
    "$kftune" scene "$work/large.json" --picture none >"$work/large.txt" 2>/dev/null
    start=$SECONDS
    run large --steps "${HOUR_STEPS:-200}" --picture none
    wall=$((SECONDS - start))
    awk -v throughs="$(value flow_throughs "$work/settles.out")" -v rate="$(value steps_per_second "$work/large.out")" \
        -v seconds="$(value seconds "$work/large.out")" -v wall="$wall" '
        / cells a length,/ && $1 == "solid" { for (i = 1; i < NF; i++) if ($i == "cells") cells = $(i - 1) }
        $1 == "together" { nodes = $2 }
        $1 == "memory" { memory = $3 " " $4 }
        $1 == "flow-through" { steps = $2 }
        END {
            if (throughs * rate * steps == 0) exit 1
            minutes = (wall - seconds + throughs * steps / rate) / 60
            print "| cells a length | nodes | memory | host, s | steps a second | s a flow-through | until settled | to the drag, min |"
            print "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
            printf "| %s | %s | %s | %.1f | %.2f | %.0f | %.2f | %.1f |\n", cells, nodes, memory, wall - seconds, rate, steps / rate,
                throughs, minutes
            printf "to the drag: %.0f min (must be below 60, aim 30)\n", minutes
            exit minutes >= 60
        }' "$work/large.txt" >"$folder/hour.md" || bad=1
    cat "$folder/hour.md"
}
case " ${PARTS:-cases} " in *' scene '*) scene ;; esac
case " ${PARTS:-cases} " in *' hour '*) hour ;; esac
case " ${PARTS:-cases} " in *' team '*) team ;; esac
case " ${PARTS:-cases} " in *' table '*) table ;; esac
case " ${PARTS:-cases} " in *' car '*) car ;; esac
case " ${PARTS:-cases} " in *' moving '*) moving ;; esac
case " ${PARTS:-cases} " in *' cases '*) ;; *) exit $bad ;; esac

for name in test_nested_plans test_nested_items test_nested_moving test_nested; do
    for program in "$(dirname "$kftune")/tests/$name" "build/tests/$name"; do [ ! -x "$program" ] || break; done
    KFTUNE_TEST_DEVICE=$device timeout -k 8 "$(left)" "$program" >>"$folder/log.txt" 2>&1 || { bad=1 && echo "FAILED $name"; }
done

# check CASE VALUE...: the case with these values fixed.
check() {
    local case=$1 fixed=() value start=$SECONDS
    shift
    for value in "$@"; do fixed+=(--fix "$value"); done
    timeout -s INT -k 8 "$(left)" "$kftune" validate --device "$device" --case "$case" "${fixed[@]}" --json \
        >"$work/out.json" 2>>"$folder/log.txt" || { bad=1 && echo "FAILED $case $*"; }
    cat "$work/out.json" >>"$folder/nested.json"
    echo "$case $*: $((SECONDS - start)) s" | tee -a "$folder/log.txt"
}
check nested plan=fused
check nested plan=moments
check nested_flows plan=fused
check nested_drag plan=moments
check nested_drag plan=fused
check nested_drag plan=moments storage=f16
exit $bad
