#!/bin/bash
# Measures what a law of the wall must reach: a Markdown table with a row for each figure, its goal and its result.
# From a bundle or a built source tree; builds nothing. Parts on an H200: channels (12 turbulent channels with k17, about 200 s),
# bodies (plate, square cylinder, spheres, Ahmed body on 127 cells, about 330 s), fine (Ahmed body on 255 cells in nested boxes, 25
# and 35 degrees, 130 s), square (of bodies, 45 s), slants (Ahmed body on 64 cells by slant angle, and in two tunnels, 140 s). A cpu takes tiny grids, which only show that
# everything runs.
# usage: scripts/gpu/wall-table.sh FOLDER channels|bodies|fine|square|slants [DEVICE]; BUDGET (seconds, 480), RATES (of all bodies, k17) and
# CASES (of channels, wall_channels_k17), LAYERS (of all laws: resolved or modelled), ANGLES and THROUGHS (of fine, 35 25
# and 2.6 flow-throughs) may be set. What does not fit into the time is left out, with a message; a run or a case
# that the time limit ends is kept with its last values.
# Leaves in FOLDER: PART.md (the table), run-*.json, forces-*.csv, wall-*.csv, speed-*.png, PART.log. Status 1 when a run failed or
# something was left out; a row outside of its bounds is none.
set -u
folder=${1:?usage: scripts/gpu/wall-table.sh FOLDER channels|bodies|fine|square|slants [DEVICE]}
part=${2:?usage: scripts/gpu/wall-table.sh FOLDER channels|bodies|fine|square|slants [DEVICE]}
device=${3:-cuda:0}
budget=${BUDGET:-480} rates=${RATES:-k17}
scripts=$(cd "$(dirname "$0")" && pwd)
. "$scripts/budget.sh"
case $device in
cuda*) quick='' shrink=1 through=1 ;;
*) quick=--quick shrink=${SHRINK:-4} through=4 ;; # grids so many times coarser, runs so many times shorter
esac
log=$folder/$part.log table=$folder/$part.md
: >"$log"
bad=0

# row CASE MUST LOW HIGH GOT [HALF]: a figure, and whether it lies within what must be.
row() {
    awk -v name="$1" -v must="$2" -v low="$3" -v high="$4" -v got="$5" -v half="${6:-}" 'BEGIN {
        if (got == "" || got == "null" || got ~ /nan/) { printf "| %s | %s | - | - |\n", name, must; exit }
        printf "| %s | %s | %.4g%s | %s |\n", name, must, got, half == "" ? "" : sprintf(" +- %.2g", half),
            (low == "" ? "" : (got + 0 >= low + 0 && got + 0 <= high + 0) ? "yes" : "no") }' >>"$table"
}
# value KEY FILE: the first number or word of that name in --json's output. of NAME KEY FILE: of one of its coefficients.
value() { grep -m1 "\"$1\":" "$2" 2>/dev/null | sed 's/^[^:]*:[[:space:]]*//; s/,$//'; }
of() { awk -v name="\"$1\":" -v key="\"$2\":" '$1 == name { inside = 1 } inside && $1 == key { sub(/^[^:]*:[ \t]*/, ""); sub(/,$/, ""); print; exit }' "$3"; }
# half FILE: of the interval of the mean drag.
half() { of drag interval_95 "$1" | tr -d '[]' | awk -F, 'NF == 2 { print ($2 - $1) / 2 }'; }
# column NAME FILE: the mean of a table's column over its later half.
column() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { value[++rows] = $at }
        END { if (at && rows > 1) { for (i = int(rows / 2) + 1; i <= rows; i++) sum += value[i]; print sum / (rows - int(rows / 2)) } }' "$2" 2>/dev/null
}
# strouhal FILE SPEED LENGTH: the strongest frequency of the side force over the later two thirds, from 0.05 to 0.4.
strouhal() {
    awk -F, -v speed="$2" -v size="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "side_coefficient") at = i; next }
        { time[++rows] = $2 * speed / size; side[rows] = $at }
        END {
            first = int(rows / 3) + 1; n = rows - first + 1; pi = atan2(0, -1)
            if (!at || n < 50) exit
            for (i = first; i <= rows; i++) mean += side[i] / n
            for (s = 0.05; s <= 0.4; s += 0.0005) {
                re = im = 0
                for (i = first; i <= rows; i++) {
                    a = (side[i] - mean) * (1 - cos(2 * pi * (i - first) / n)); b = 2 * pi * s * time[i]; re += a * cos(b); im += a * sin(b)
                }
                if (re * re + im * im > most) { most = re * re + im * im; best = s }
            }
            print best
        }' "$1" 2>/dev/null
}
# rank_correlation FILE: of its two columns; equal values share a rank.
rank_correlation() {
    awk '{ one[NR] = $1; other[NR] = $2 }
        function rank(list, i,   j, of) { for (j = 1; j <= NR; j++) of += (list[j] < list[i]) + 0.5 * (list[j] == list[i]); return of }
        END {
            for (i = 1; i <= NR; i++) { a = rank(one, i) - NR / 2; b = rank(other, i) - NR / 2; ab += a * b; aa += a * a; bb += b * b }
            if (NR > 2 && aa * bb > 0) print ab / sqrt(aa * bb)
        }' "$1"
}
# run NAME GRID FLOW_THROUGHS: of $work/NAME.json; leaves $folder/run-NAME.json, forces-NAME.csv and wall-NAME.csv. Status 1 when
# nothing came of it.
run() {
    local json=$folder/run-$1.json grid
    if [ "$(left)" -le 15 ]; then
        echo "wall-table.sh: no time is left for $1" >&2
        bad=1
        return 1
    fi
    grid=$(awk -v shrink="$shrink" -F x '{ printf "%dx%dx%d", $1 / shrink, $2 / shrink, $3 / shrink }' <<<"$2")
    timeout -s INT -k 8 "$(left)" "$kftune" run --scene "$work/$1.json" --grid "$grid" --device "$device" \
        --flow-throughs "$(awk "BEGIN { print $3 / $through }")" --mean-from "$(awk "BEGIN { print 0.85 * $3 / $through }")" \
        --every 1000000000 --checkpoints 0 --fields none --output "$work/$1" --json >"$json" 2>>"$log"
    cp "$work/$1/forces.csv" "$folder/forces-$1.csv" 2>>"$log"
    [ ! -f "$work/$1/wall.csv" ] || cp "$work/$1/wall.csv" "$folder/wall-$1.csv"
    for picture in speed mean_speed; do # the mean's, where there is one
        find "$work/$1" -name "${picture}_*.png" -exec cp {} "$folder/speed-$1.png" \; 2>>"$log"
    done
    case $(value state "$json") in *finished* | *interrupted*) return ;; esac
    row "$1" '' '' '' '' # a run that blew up has no figure
    echo "wall-table.sh: $1: $(tail -n 1 "$log")" >&2
    bad=1
    return 1
}
# checks CASE: of kftune validate, as rows.
checks() {
    timeout -s INT -k 8 "$(left)" "$kftune" validate --device "$device" --case "$1" $quick --json >"$folder/$1.json" 2>>"$log" ||
        echo "wall-table.sh: $1: $(tail -n 1 "$log")" >&2
    awk -v OFS=' | ' '{ key = $1; gsub(/[":,]/, "", key); text = $0; sub(/^[^:]*:[ \t]*"?/, "", text); sub(/"?,?$/, "", text) }
        key == "quantity" { quantity = text } key == "expected" { expected = text } key == "measured" { measured = text }
        key == "bound" { bound = text }
        key == "pass" { printf "| %s | %.4g +- %.3g %% | %.4g | %s |\n", quantity, expected, 100 * bound, measured, text == "true" ? "yes" : "no" }' \
        "$folder/$1.json" >"$work/$1.rows"
    [ -s "$work/$1.rows" ] || bad=1
    cat "$work/$1.rows" >>"$table"
}
# model LAW: the rest of a scene's model.
model() { [ "$1" = law ] && echo ", \"wall\": \"law\", \"layers\": \"${LAYERS:-resolved}\""; }
# square LAW: a square cylinder in the experiment's tunnel (blockage 7 %), 20 cells.
square() {
    local name=square-$1
    awk -f "$scripts/bodies.awk" -v body=bar -v a=4 /dev/null >"$work/bar.obj"
    cat >"$work/$name.json" <<EOF
{"solid": {"mesh": "bar.obj", "boundary": "links", "position": [6, 7, 2]}, "domain": {"cells": [400, 280, 80], "size": [20, 14, 4]},
 "boundaries": {"xmin": "inflow", "xmax": "outflow", "ymin": "free_slip", "ymax": "free_slip", "zmin": "periodic", "zmax": "periodic"},
 "flow": {"speed": 1, "reynolds": 22000, "reference_length": 1, "reference_area": 4, "lattice_speed": 0.08, "disturbance": 0.02},
 "model": {"collision": "acm_mrt", "rates": "$rates"$(model "$1")}}
EOF
    run "$name" 400x280x80 11 || return
    row "square cylinder, Re 22,000, 20 cells, $1, $rates: Cd" '2.1 +- 0.15' 1.95 2.25 "$(of drag mean "$folder/run-$name.json")" "$(half "$folder/run-$name.json")"
    row "the same: St" '0.132 +- 0.006' 0.126 0.138 "$(strouhal "$folder/forces-$name.csv" 1 1)"
}
# sphere REYNOLDS LAW CD CELLS FLOW_THROUGHS: so many cells a diameter in a tunnel 7 wide; the drag is corrected for the tunnel.
sphere() {
    local name=sphere-$1-$2 grid="$((12 * $4))x$((7 * $4))x$((7 * $4))"
    cat >"$work/$name.json" <<EOF
{"solid": {"shape": "ball", "radius": 0.5, "boundary": "links", "position": [3.5, 3.51, 3.49]}, "domain": {"cells": [${grid//x/, }], "size": [12, 7, 7]},
 "boundaries": {"xmin": "inflow", "xmax": "outflow", "ymin": "free_slip", "ymax": "free_slip", "zmin": "free_slip", "zmax": "free_slip"},
 "flow": {"speed": 1, "reynolds": $1, "reference_length": 1, "lattice_speed": 0.08},
 "model": {"collision": "acm_mrt", "rates": "$rates"$(model "$2")}}
EOF
    run "$name" "$grid" "$5" || return
    row "sphere, Re $1, $4 cells, $2: Cd, corrected" "$3 +- 10 %" "$(awk "BEGIN { print 0.9 * $3 }")" "$(awk "BEGIN { print 1.1 * $3 }")" \
        "$(value corrected "$folder/run-$name.json")" "$(half "$folder/run-$name.json")"
}
# ahmed DEGREES LAW GRID CELLS FLOW_THROUGHS MUST LOW HIGH [WHERE CHANGE]: without stilts on its road, at the experiment's Reynolds
# number; WHERE names what CHANGE, an edit of sed, makes of the scene.
ahmed() {
    local name=ahmed-$1-$2-$4${9:+-${9// /-}}
    sed -e "s/\"slant_angle\": 25,/\"slant_angle\": $1, \"boundary\": \"links\",/; s/\"reynolds\": *[0-9.e+]*/\"reynolds\": 4290000/
        s/\"lattice_speed\": *[0-9.]*/\"lattice_speed\": 0.08/; s/\"rates\": *\"[a-z0-9_]*\"/\"rates\": \"$rates\"$(model "$2")/" \
        ${10:+-e "${10}"} scene/library/ahmed_no_stilts.json >"$work/$name.json"
    run "$name" "$3" "$5" || return
    row "Ahmed body${9:+ $9}, $1 degrees, no stilts, $4 cells, $2, $rates: Cd" "$6" "$7" "$8" "$(of drag mean "$folder/run-$name.json")" "$(half "$folder/run-$name.json")"
    row 'the same, corrected for the tunnel' "$6" "$7" "$8" "$(value corrected "$folder/run-$name.json")"
    [ "$2" != law ] || row "the same: friction's part of it" '0.04 to 0.06' '' '' "$(column friction_drag_coefficient "$folder/wall-$name.csv")"
    [ "$2" != law ] || row "the same: pressure on the front" 'below 0.06' -0.06 0.06 "$(column front_pressure_drag_coefficient "$folder/wall-$name.csv")"
}
# What makes the shipped tunnel twice as wide and high, with twice the distance to the inflow: a blockage of 1 %.
wide='s/4.2, 1.575, 1.575/6.3, 3.15, 3.15/; s/128, 48, 48/192, 96, 96/; s/1.05, 0.7875, 0/2.1, 1.575, 0/'
printf '| case | must | got | reached |\n| --- | --- | ---: | --- |\n' >"$table"
case $part in
channels)
    for case in ${CASES:-wall_channels_k17}; do checks "$case"; done
    ;;
bodies)
    checks wall_plate
    ahmed 35 law 512x192x192 127 6 '0.26 to 0.28, +- 15 %' 0.23 0.31
    ahmed 25 law 512x192x192 127 6 '0.285 to 0.299, +- 25 %' 0.219 0.365
    square none
    sphere 10000 none 0.40 36 5
    sphere 3700 none 0.394 24 12
    ahmed 25 none 512x192x192 127 5 '' '' ''
    ;;
square) square none ;;
fine)
    for angle in ${ANGLES:-35 25}; do
        case $angle in 35) bounds='0.26 to 0.28, +- 15 %:0.23:0.31' ;; *) bounds='0.285 to 0.299, +- 25 %:0.219:0.365' ;; esac
        IFS=: read -r must low high <<<"$bounds"
        ahmed "$angle" law 192x96x96 255 "${THROUGHS:-2.6}" "$must" "$low" "$high" 'in a tunnel twice as wide' \
            "$wide; s/\"sampling\"/\"refine\": {\"around\": \"body\", \"levels\": 3}, &/"
    done
    ;;
slants)
    # Ahmed, Ramm and Faltin 1984 as later papers quote their curve; 35 degrees: the middle of what tunnels give.
    : >"$work/pairs"
    for pair in 12.5:0.230 5:0.231 0:0.250 35:0.27 25:0.285 30:0.378; do
        ahmed "${pair%:*}" law 256x96x96 64 5 "${pair#*:} in the experiment" '' ''
        got=$(of drag mean "$folder/run-ahmed-${pair%:*}-law-64.json")
        [ -z "$got" ] || echo "${pair#*:} $got" >>"$work/pairs"
    done
    row 'rank correlation over the slant angles' '0.8' 0.8 1 "$(rank_correlation "$work/pairs")"
    ahmed 35 law 384x192x192 64 4 '' '' '' 'in a tunnel twice as wide' "$wide"
    ahmed 35 law 256x96x96 64 5 '' '' '' 'in mid-tunnel' 's/0.7875, 0\]/0.7875, 0.6]/; s/"zmin": {[^}]*}/"zmin": "free_slip"/'
    rates=adaptive_2020
    ahmed 35 law 256x96x96 64 5 '' '' '' "by $rates"
    ;;
*) echo "wall-table.sh: PART is channels, bodies, fine, square or slants, not $part" >&2 && exit 2 ;;
esac
cat "$folder/$part.md"
exit $bad
