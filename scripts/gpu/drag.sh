#!/bin/bash
# Drag on three grids each: the Ahmed body (25 degrees), sphere and cylinder, with Richardson's order of each flow.
# From a bundle or a built source tree; builds nothing; some 225 s on an H200 and never more than BUDGET (350): what does not fit is
# left out, with a message; a run that the time limit ends is kept with its last values.
# usage: scripts/gpu/drag.sh FOLDER [DEVICE]; BUDGET, GRIDS (at Reynolds number 10000), HIGH_GRIDS (at 2.8 million, the campaign at 40 m/s),
# FLOW_THROUGHS and CASES (of kftune validate; empty: none) may be set.
# Leaves in FOLDER: drag.json (results/measured/h200-drag.json is one), drag.md (the table it prints), forces-*.csv, forces-*.png,
# speed-*.png and log.txt. Status 1 when a run or a check failed, or something was left out.
set -u
folder=${1:?usage: scripts/gpu/drag.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
case $device in
cuda*) grids=${GRIDS:-128x48x48 256x96x96 512x192x192} high=${HIGH_GRIDS-128x48x48 256x96x96} through=${FLOW_THROUGHS:-12} budget=${BUDGET:-350} quick='' ;;
*) grids=${GRIDS:-32x12x12 48x18x18 64x24x24} high=${HIGH_GRIDS-32x12x12} through=${FLOW_THROUGHS:-1} budget=${BUDGET:-600} quick=--quick ;;
esac
cases=${CASES-cylinder_drag sphere_drag}
. "$(dirname "$0")/budget.sh"
: >"$folder/log.txt"
bad=0 skipped=''

# value KEY FILE: the first number or word of that name in --json's output.
value() { grep -m1 "\"$1\":" "$2" | sed 's/^[^:]*:[[:space:]]*//; s/,$//'; }
# mean NAME KEY FILE: of one of its coefficients.
mean() { awk -v name="\"$1\":" -v key="\"$2\":" '$1 == name { inside = 1 } inside && $1 == key { sub(/^[^:]*:[ \t]*/, ""); sub(/,$/, ""); print; exit }' "$3"; }

# ahmed REYNOLDS GRID: one run of the default config, and its row.
ahmed() {
    local reynolds=$1 grid=$2 name=ahmed-$1-$2 json=$work/$1-$2.json status last
    if [ "$(left)" -le 4 ]; then
        skipped="$skipped${skipped:+, }$name"
        return
    fi
    sed "s/\"reynolds\": *[0-9.e+]*/\"reynolds\": $reynolds/" scene/library/ahmed.json >"$work/ahmed-$reynolds.json"
    timeout -s INT -k 8 "$(left)" "$kftune" run --scene "$work/ahmed-$reynolds.json" --grid "$grid" --device "$device" \
        --flow-throughs "$through" --every 1000000000 --checkpoints 0 --output "$work/$name" --json \
        >"$json" 2>>"$folder/log.txt"
    status=$?
    if [ "$(value flow_throughs "$json" 2>/dev/null)" = '' ]; then
        echo "$name: status $status: $(tail -n 1 "$folder/log.txt")" >&2
        bad=1
        return
    fi
    [ $status -eq 0 ] || skipped="$skipped${skipped:+, }the end of $name"
    cp "$work/$name/forces.csv" "$folder/forces-$1-$2.csv"
    last=$(find "$work/$name" -name 'speed_*.png' | sort | tail -n 1)
    [ -z "$last" ] || cp "$last" "$folder/speed-$1-$2.png"
    [ ! -f "$work/$name/forces.png" ] || cp "$work/$name/forces.png" "$folder/forces-$1-$2.png"
    {
        printf '  {"flow": "Ahmed body, 25 degrees, Re %s", "reynolds": %s, "grid": [%s], ' "$reynolds" "$reynolds" "${grid//x/, }"
        printf '"cells_a_length": %.4g, ' "$(awk -v nodes="${grid%%x*}" 'BEGIN { print 1.044 / 4.2 * nodes }')"
        printf '"flow_throughs": %.4g, "settled": %s, "from_step": %s, "to_step": %s,\n' "$(value flow_throughs "$json")" \
            "$(value settled "$json")" "$(value from_step "$json")" "$(value to_step "$json")"
        printf '   "drag": %s, "interval_95": %s, "lift": %s, "lift_interval_95": %s,\n' "$(mean drag mean "$json")" \
            "$(mean drag interval_95 "$json")" "$(mean lift mean "$json")" "$(mean lift interval_95 "$json")"
        printf '   "area_m2": %s, "mlups": %s, "seconds": %s, "state": %s}\n' "$(value reference_area_m2 "$json")" \
            "$(value mlups "$json")" "$(value seconds "$json")" "$(value state "$json")"
    } >"$work/row-$((++rows))"
    # ratio of the grids, drag: for Richardson
    echo "Ahmed body, 25 degrees, Re $reynolds|${grid%%x*}|$(mean drag mean "$json")" >>"$work/series"
}

rows=0
: >"$work/series"
for grid in $grids; do ahmed 10000 "$grid"; done
echo '{}' >"$work/validate.json"
if [ -n "$cases" ] && [ "$(left)" -gt 4 ]; then
    options=''
    for name in $cases; do options="$options --case $name"; done
    # shellcheck disable=SC2086
    timeout -k 5 "$(left)" "$kftune" validate --device "$device" --json $quick $options >"$work/validate.json" 2>>"$folder/log.txt" || bad=1
    [ -s "$work/validate.json" ] || { echo '{}' >"$work/validate.json"; skipped="$skipped${skipped:+, }validate"; }
    awk '/"name":/ { flow = /sphere/ ? "sphere" : "cylinder" }
        /"quantity": *.*"Re / { split($0, part, /"Re |, | cells/); re = part[2]; cells = part[3] }
        /"measured":/ { sub(/^[^:]*:[ \t]*/, ""); sub(/,.*/, ""); print flow ", Re " re "|" cells "|" $0 }' "$work/validate.json" >>"$work/series"
fi
for grid in $high; do ahmed 2800000 "$grid"; done

# p = log((f1 - f2) / (f2 - f3)) / log(r), extrapolated f3 + (f3 - f2) / (r^p - 1): Roache, Annu. Rev. Fluid Mech. 29 (1997) 123.
awk -F'|' '{ if (!($1 in count)) order[++flows] = $1; n = ++count[$1]; cells[$1, n] = $2; drag[$1, n] = $3 }
    END { for (i = 1; i <= flows; i++) { f = order[i]; if (count[f] != 3) continue
        r = sqrt(cells[f, 3] / cells[f, 1]); a = drag[f, 1] - drag[f, 2]; b = drag[f, 2] - drag[f, 3]
        p = "null"; x = "null"
        if (b != 0 && a / b > 1) { p = log(a / b) / log(r); x = sprintf("%.5g", drag[f, 3] - b / (r ^ p - 1)); p = sprintf("%.3g", p) }
        printf "  {\"flow\": \"%s\", \"cells_ratio\": %.4g, \"drag\": [%.5g, %.5g, %.5g], \"order\": %s, \"extrapolated\": %s}\n",
            f, r, drag[f, 1], drag[f, 2], drag[f, 3], p, x } }' "$work/series" >"$work/orders"

joined() { awk 'NR > 1 && /^  \{/ { printf ",\n" } NR > 1 && !/^  \{/ { printf "\n" } { printf "%s", $0 } END { if (NR) print "" }' "$@"; }
{
    # The head and the cases of validate, and beside them what was measured here.
    printf '{\n "ahmed": [\n'
    for ((row = 1; row <= rows; row++)); do cat "$work/row-$row"; done | joined
    printf ' ],\n "orders": [\n'
    joined "$work/orders"
    printf ' ],\n "left_out": "%s"' "$skipped"
    sed '1s/^{}$/}/; 1s/^{$/,/' "$work/validate.json"
} >"$folder/drag.json"
{
    echo "| flow | grid or cells | drag | 95 % interval |"
    echo "| --- | --- | ---: | --- |"
    for ((row = 1; row <= rows; row++)); do
        tr '\n' ' ' <"$work/row-$row" | sed 's/.*"flow": "\([^"]*\)".*"grid": \[\([^]]*\)\].*"drag": \([^,]*\), "interval_95": \(\[[^]]*\]\|null\).*/| \1 | \2 | \3 | \4 |/'
        echo
    done
    awk -F'|' '!/^Ahmed/ { print "| " $1 " | " $2 " | " $3 " | |" }' "$work/series"
    echo
    echo "| flow | order | extrapolated |"
    echo "| --- | ---: | ---: |"
    sed 's/.*"flow": "\([^"]*\)".*"order": \([^,]*\), "extrapolated": \(.*\)}/| \1 | \2 | \3 |/' "$work/orders"
    echo
    echo "$SECONDS s${skipped:+; left out: $skipped}"
} | tee "$folder/drag.md"
[ $bad -eq 0 ] && [ -z "$skipped" ]
