#!/bin/bash
# The sph system on a GPU: particle-steps a second of the rows that have a goal, whole steps with sort and integration,
# each with a short search for every way to find neighbours, and the time of each kernel of the best (r: registers).
# From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/sph.sh FOLDER [DEVICE] [EVALUATIONS [ROW...]]; about 3 minutes on an H200; EVALUATIONS of each search (14);
# rows: splash_8m (a window of a dam break) water32_1m water80_1m water32_8m water80_8m bingham32_8m; SEARCHES in the environment: staged list rows;
# LANES, ORDERS, PERIODS, SKINS: of lists; SPLASH_ACROSS: spacings along the tank of the splash (734: 8 M particles), fewer to see that it works.
# FOLDER gets h200-sph.json (a list of what `tune --json` prints), summary.txt and logs.
# Status 1 when a row could not be measured.
set -u
folder=${1:?usage: scripts/gpu/sph.sh FOLDER [DEVICE] [EVALUATIONS [ROW...]]}
device=${2:-cuda:0}
evaluations=${3:-14}
searches=${SEARCHES:-staged list rows}
shift $(($# < 3 ? $# : 3))
wanted=" ${*:-water32_1m water80_1m water32_8m water80_8m bingham32_8m splash_8m} "
. "$(dirname "$0")/program.sh"
store=$folder/sph.db
failed=0
measured=()
row() { # name, scene, spacings along x, least billion particle-steps a second, steps that lists are kept, their skins
    local name=$1 scene=$2 across=$3 must=$4 period=${5:-8} skins=${6:-5,10} search label
    case $wanted in *" $name "*) ;; *) return ;; esac
    for search in $searches; do
        label=$name.$search
        local fix=(--fix "search=$search")
        case $device in
        cuda*)
            fix+=(--fix layout=float4 --fix graph=true --fix order=atomic)
            case $search in # around what was best before: the whole space takes hours
            list) fix+=(--fix "cells=1,2" --fix prune=true --fix "list_period=${PERIODS:-$period}" --fix "skin=${SKINS:-$skins}" --fix "in_flight=2,4,8" --fix threads=128
                --fix "resident_blocks=0,4,5,6" --fix "lanes=${LANES:-1}" --fix "cell_order=${ORDERS:-rows}") ;;
            staged) fix+=(--fix cells=1 --fix "in_flight=2,4,8" --fix "threads=64,96,192" --fix "resident_blocks=0,4,8,16") ;;
            esac
            ;;
        esac
        "$kftune" tune --scene "$scene" --grid "${across}x${across}x${across}" --device "$device" --budget "${evaluations}evals" --rounds 1 \
            --store "$store" --out "$folder/$label.kftune.json" --json "${fix[@]}" >"$folder/$label.json" 2>"$folder/$label.log" || {
            grep -q "no config" "$folder/$label.log" || failed=1
            echo "$label: $(tail -n 1 "$folder/$label.log")" | tee -a "$folder/summary.txt"
            continue
        }
        awk -v name="$label" -v must="$must" '
            { gsub(/[",]/, ""); sub(/:/, "") }
            $1 == "updates_per_second" && rate == 0 { rate = $2 / 1e9 }
            $1 == "time_us" && time == 0 { time = $2 / 1000 }
            END {
                verdict = "MISSED"
                if (rate >= must + 0) verdict = "met"
                printf "%-18s %8.3f ms a step %8.3f G particle-steps/s, must be %s: %s\n", name, time, rate, must, verdict
            }' "$folder/$label.json" | tee -a "$folder/summary.txt"
        "$kftune" store show --store "$store" --limit 3 >"$folder/$label.txt" 2>/dev/null
        awk '
            $2 == "ok" && !best { best = 1; sub(/.*(search|preset:[a-z]+|final) +cells/, "cells"); print "    " $0 }
            /^Kernels of/ { kernels = 1; next }
            kernels && NF >= 6 && $1 != "kernel" { line = line sprintf("  %s %s %s r%s", $1, $2, $3, $(NF - 2)) }
            END { print "  " line }
            ' "$folder/$label.txt" | tee -a "$folder/summary.txt"
        measured+=("$label")
    done
}
: >"$folder/summary.txt"
row water32_1m particles_32 100 2.2
row water80_1m particles_80 100 1.2
row water32_8m particles_32 200 2.2
row water80_8m particles_80 200 1.2
row bingham32_8m particles_bingham 200 1.4
# SPHERIC 2 half a second after the water was let go: a jet goes up from the box
sed 's/"windows": \[[^]]*\]/"windows": [0.5]/' scene/library/dam_break_3d.json >"$folder/splash.json" || exit 3
row splash_8m "$folder/splash.json" "${SPLASH_ACROSS:-734}" 1.8 4 10 # it falls: further in 8 steps than a skin of 20 % lets it; 2 with 5 % and 4 with 20 % are slower
{
    echo '['
    separator=''
    for name in ${measured[@]+"${measured[@]}"}; do
        [ -s "$folder/$name.json" ] || continue
        echo "$separator{\"row\": \"$name\", \"tune\":"
        cat "$folder/$name.json"
        echo '}'
        separator=','
    done
    echo ']'
} >"$folder/h200-sph.json"
exit $failed
