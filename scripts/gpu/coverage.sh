#!/bin/bash
# Does the interval of a drag contain the truth? Runs the flows of accuracy/flows.txt, whose drag is known, and prints
# flow | published | measured | interval | inside. The part for the grid comes from a prior that was learnt without the flow.
# From a bundle or a built source tree; builds nothing. A cpu runs those that are marked for it (20 minutes on two cores).
# usage: scripts/gpu/coverage.sh FOLDER [DEVICE]; CELLS (across the unit size, even numbers: "8"; "24" on a GPU), FLOWS (names),
# BUDGET (seconds; flows that do not fit are left out, with a message) may be set.
# Leaves in FOLDER: rows.csv (what scripts/drag-prior.py learns from), coverage.md (the table), log.txt. Status 1 when a run
# failed or fewer than nine of ten are inside.
set -u
folder=${1:?usage: scripts/gpu/coverage.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
here=$(cd "$(dirname "$0")" && pwd)
case $device in
cuda*) cells=${CELLS:-24} place='cpu gpu' ;;
*) cells=${CELLS:-8} place=cpu ;;
esac
budget=${BUDGET:-100000}
. "$here/program.sh"
kftune=$(realpath "$kftune")
flows=accuracy/flows.txt
[ -f $flows ] || flows=${KFTUNE_DATA:-.}/accuracy/flows.txt
prior=${flows%flows.txt}drag-prior.json
folder=$(realpath "$folder")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_DATA_HOME=$work # no store: the default config
: >"$folder/log.txt"
rows=$folder/rows.csv
[ -s "$rows" ] || echo 'flow,kind,how,answer,cells,across,y_plus,settled,raw,statistics,corrected,tunnel,seconds' >"$rows"
bad=0 skipped=''

# value KEY FILE: the first number or word of that name in --json's output.
value() { grep -m1 "\"$1\":" "$2" | sed 's/^[^:]*:[[:space:]]*//; s/,$//'; }
# part NAME FILE: half of the interval of that part.
part() { awk -v name="\"$1\":" '$1 == name && /{/ { inside = 1 } inside && /half_of_interval_95/ { sub(/^[^:]*:[ \t]*/, ""); sub(/,$/, ""); print; exit }' "$2"; }

# slab_scene MESH REYNOLDS BLOCKAGE CELLS: a slice of a cylinder that spans the tunnel, between faces with free slip.
slab_scene() {
    awk -v mesh="$1" -v re="$2" -v percent="$3" -v cells="$4" 'BEGIN {
        width = 100 / percent; length_ = 22; deep = 0.5
        printf "{\"solid\": {\"mesh\": \"%s\", \"scale\": 1, \"anchor\": \"center\", \"position\": [8, %g, %g]},\n", mesh, width / 2, deep / 2
        printf "\"domain\": {\"cells\": [%d, %d, %d], \"size\": [%g, %g, %g]},\n", length_ * cells, width * cells, deep * cells + 0.5, length_, width, deep
        print "\"boundaries\": {\"xmin\": \"inflow\", \"xmax\": \"outflow\", \"ymin\": \"free_slip\", \"ymax\": \"free_slip\","
        print "\"zmin\": \"free_slip\", \"zmax\": \"free_slip\"},"
        printf "\"flow\": {\"speed\": 1, \"reynolds\": %s, \"reference_length\": 1, \"lattice_speed\": 0.05},\n", re
        print "\"model\": {\"collision\": \"acm_mrt\", \"rates\": \"adaptive_2020\"}, \"sampling\": {\"samples_per_cell\": 25, \"seed\": 1}}" }'
}

# make_scene BODY A DEGREES REYNOLDS BLOCKAGE CELLS: writes flow.json into the work folder, and says its grid.
make_scene() {
    local along grid base
    if [ "$1" = tube ] || [ "$1" = bar ]; then
        awk -f "$here/bodies.awk" -v body="$1" -v a=0.5 /dev/null >"$work/flow.obj" || return
        slab_scene "$work/flow.obj" "$4" "$5" "$6" >"$work/flow.json"
        return
    fi
    awk -f "$here/bodies.awk" -v body="$1" -v a="$2" -v degrees="$3" /dev/null >"$work/flow.obj" || return
    along=$(awk '/^v/ { if (n++ == 0 || $2 < low) low = $2; if (n == 1 || $2 > high) high = $2 } END { printf "%.9f", high - low }' "$work/flow.obj")
    # The tunnel is rounded to cells of the grid that it is made on, 8 across or more; on all others it is the same.
    base=$(awk -v along="$along" 'BEGIN { k = 1; while (8 * k * along < 4) k++; print 8 * k }')
    rm -f "$work/flow.json"
    (cd "$work" && "$kftune" scene flow.obj --wind x --up z --road no --length "${along}m" --blockage "$5%" --picture none --json \
        --reynolds "$(awk "BEGIN { print $4 * $along }")" --cells "$(awk "BEGIN { print $base * $along }")" --write flow.json >flow.scene) \
        2>>"$folder/log.txt" || return
    grid=$(tr -d ' \n\t' <"$work/flow.json" | sed 's/.*"cells":\[\([0-9,]*\)\].*/\1/')
    echo "--grid $(awk -F, -v scale="$6/$base" 'BEGIN { split(scale, s, "/") } { f = s[1] / s[2]; printf "%dx%dx%d", $1 * f + 0.5, $2 * f + 0.5, $3 * f + 0.5 }' <<<"$grid")"
}

# run_flow NAME KIND BODY A DEGREES REYNOLDS BLOCKAGE ANSWER HOW MOST CELLS: one run, and its row.
run_flow() {
    local json=$work/run.json grid began=$SECONDS left=$((budget - SECONDS))
    [ $left -gt 5 ] || { skipped="$skipped${skipped:+, }$1 on ${11}"; return; }
    grid=$(make_scene "$3" "$4" "$5" "$6" "$7" "${11}") || { echo "$1: no scene" >&2; bad=1; return; }
    # shellcheck disable=SC2086
    timeout -s INT -k 8 "$left" "$kftune" run --scene "$work/flow.json" $grid --device "$device" --until settled --flow-throughs "${10}" \
        --picture none --fields none --checkpoints 0 --output "$work/run" --force --json >"$json" 2>>"$folder/log.txt"
    if [ "$(value state "$json" 2>/dev/null)" != '"finished"' ]; then
        echo "$1: $(tail -n 1 "$folder/log.txt")" >&2
        bad=1
        return
    fi
    "$kftune" scene "$work/run/scene.json" --picture none --json >"$work/scene" 2>>"$folder/log.txt"
    awk -v OFS=, -v name="$1" -v kind="$2" -v how="$9" -v answer="$8" -v cells="${11}" -v across="$(value cells_across "$work/scene")" \
        -v plus="$(value y_plus "$work/scene")" -v settled="$(value settled "$json")" \
        -v raw="$(value raw "$json")" -v statistics="$(part statistics "$json")" -v corrected="$(value corrected "$json")" \
        -v tunnel="$(part tunnel "$json")" -v seconds=$((SECONDS - began)) 'BEGIN {
        print name, kind, how, answer, cells, sprintf("%.4g", across), sprintf("%.3g", plus), settled,
            sprintf("%.5g", raw), statistics == "null" ? "" : sprintf("%.2g", statistics), sprintf("%.5g", corrected),
            tunnel == "null" ? "" : sprintf("%.3g", tunnel), seconds }' >>"$rows"
    tail -n 1 "$rows" >&2
}

while IFS='|' read -r name kind body a degrees reynolds blockage answer how where most _; do
    case $name in '' | \#*) continue ;; esac
    case " ${FLOWS:-$name} " in *" $name "*) ;; *) continue ;; esac
    case " $place " in *" $where "*) ;; *) [ -n "${FLOWS:-}" ] || continue ;; esac
    for n in $cells; do
        run_flow "$name" "$kind" "$body" "$a" "$degrees" "$reynolds" "$blockage" "$answer" "$how" "$most" "$n" </dev/null
    done
done <"$flows"

# One row a run: the part for the grid, learnt without the flow, and, beside it, learnt without all flows of its kind of body.
awk -F, -v prior="$prior" '
    function learnt(line, key) { sub(".*\"" key "\": ", "", line); sub(/[,}].*/, "", line); return line + 0 }
    function share(name, table, across, plus,   line) {
        line = (table SUBSEP name) in left ? left[table, name] : whole
        return learnt(line, "factor") * across ^ -learnt(line, "cells_power") * (plus > 1 ? plus : 1) ^ learnt(line, "y_plus_power")
    }
    function half(grid) { return sqrt($10 ^ 2 + (grid * centre) ^ 2 + ($3 == "published" ? $12 ^ 2 : 0)) }
    function size(x) { return x < 0 ? -x : x }
    BEGIN {
        while ((getline line <prior) > 0) {
            if (line ~ /^  "(factor|cells_power|y_plus_power)"/) { sub(/^  /, "", line); whole = whole line }
            else if (line ~ /"left_out(_kind)?": \{/) { table = line; gsub(/[^a-z_]/, "", table) }
            else if (line ~ /^    "/) { name = line; sub(/^ *"/, "", name); sub(/".*/, "", name); left[table, name] = line }
        }
        print "| flow | cells | known | measured | raw | 95 % interval | statistics | grid | tunnel | inside |"
        print "| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: | --- |"
    }
    NR > 1 {
        centre = $3 == "published" ? $11 : $9
        grid = share($1, "left_out", $6, $7); all = half(grid); kind = half(share($2, "left_out_kind", $6, $7))
        off = size($4 - centre); in_ = off <= all; inside += in_; inside_kind += off <= kind; count++
        wide += all / centre
        printf "| %s%s | %s | %s | %.4g | %s | %.3g to %.3g | %s | %.2g | %s | %s |\n", $1, $8 == "true" ? "" : " (not settled)", $5, $4, centre, $9,
            centre - all, centre + all, $10, grid * centre, $3 == "published" ? $12 : "none", in_ ? "yes" : "no"
    }
    END {
        if (!count) exit 1
        printf "\n%d of %d are inside (%.0f %%), with the prior learnt from all other flows; %d (%.0f %%) with that of all other kinds of bodies.\n",
            inside, count, 100 * inside / count, inside_kind, 100 * inside_kind / count
        printf "Half an interval is %.0f %% of the drag in the mean.\n", 100 * wide / count
        exit inside < 0.9 * count
    }' "$rows" >"$folder/coverage.md" || bad=1
cat "$folder/coverage.md"
echo "$SECONDS s${skipped:+; left out: $skipped}"
[ $bad -eq 0 ] && [ -z "$skipped" ]
