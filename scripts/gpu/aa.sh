#!/bin/bash
# Tunes the same scene ten times with the same command, each time with an empty store. Is the winner always the same, or one that
# either run declares a tie, and is its time the same? From a bundle or a built source tree; builds nothing. On a GPU it ends after LIMIT seconds (240).
# The search measures configs with EFFORT (0.4) of the usual effort, the final with all of it. A run that would not fit is not begun,
# and the table says so.
# usage: scripts/gpu/aa.sh FOLDER [DEVICE]; SCENE, GRID, BUDGET (of a run), RUNS, EFFORT, LIMIT, QUIET and STRATEGY may be set.
# Leaves in FOLDER: aa.md (the table), aa.json (what each run printed), log.txt. Status 1 when a run's winner is neither run 1's nor
# a declared tie, its time is off the median of all by more than 0.5 % (or three noise floors where these are more), or a run did not fit. On the cpu
# each run waits, up to QUIET (30) seconds, until less than a quarter of the machine is busy, and the table says how many threads of
# other programs a run met when it began.
set -u
folder=${1:?usage: scripts/gpu/aa.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
runs=${RUNS:-10}
case $device in
cuda*) scene=${SCENE:-ball} grid=${GRID:-256x128x128} budget=${BUDGET:-12evals} effort=${EFFORT:-0.4} limit=${LIMIT:-240} ;;
*) scene=${SCENE:-ball} grid=${GRID:-48x32x32} budget=${BUDGET:-8evals} effort=${EFFORT:-1} limit=${LIMIT:-7200} ;;
esac
. "$(dirname "$0")/program.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$folder/log.txt"

busy() { # percent of the processors' time in the last second
    { head -n 1 /proc/stat; sleep 1; head -n 1 /proc/stat; } | awk '{ idle = $5 + $6; all = 0; for (i = 2; i <= 9; i++) all += $i
        if (NR == 1) { idle0 = idle; all0 = all } else print int(100 - 100 * (idle - idle0) / (all - all0)) }'
}
wait_for_quiet() {
    local moment
    case $device in cuda*) return ;; esac
    for moment in $(seq "${QUIET:-30}"); do [ "$(busy)" -lt 25 ] && return; done
}

# Run 0 fills the cache of compiled kernels and does not count, because only measuring is compared.
wanted=$runs longest=0
for i in $(seq 0 "$wanted"); do
    wait_for_quiet
    begin=$SECONDS
    if [ "$i" -gt 1 ] && [ $((SECONDS + longest + 2)) -gt "$limit" ]; then
        runs=$((i - 1))
        break
    fi
    timeout $((limit - SECONDS > 300 ? 300 : limit - SECONDS)) "$kftune" tune --scene "$scene" --device "$device" --grid "$grid" --budget "$budget" --effort "$effort" --seed 1 ${STRATEGY:+--strategy "$STRATEGY"} \
        --store "$work/$i.db" --out "$work/$i.kftune.json" --json >"$work/$i.json" 2>"$work/$i.log" ||
        { echo "run $i failed:"; tail -n 2 "$work/$i.log"; exit 1; }
    cat "$work/$i.log" >>"$folder/log.txt"
    seconds[i]=$((SECONDS - begin))
    [ "${seconds[i]}" -le "$longest" ] || longest=${seconds[i]}
done

# A line a run: number, winner, time, noise floor, seconds, threads of others, and the hashes of its ties. The winner's hash comes first in the JSON.
value() { grep -m1 "\"$2\":" "$1" | sed 's/.*: *//; s/[",[:space:]]//g; s/null/0/'; }
for i in $(seq "$runs"); do
    json=$work/$i.json
    echo "$i $(value "$json" hash) $(value "$json" time_us) $(value "$json" noise_floor) ${seconds[i]} $(sed -n 's/.*warning: \([0-9]*\) other threads keep.*/\1/p' "$work/$i.log" | grep . || echo 0) $(grep '"hash":' "$json" | tail -n +2 | sed 's/.*:[[:space:]]*"//; s/".*//' | paste -sd, -)"
done >"$work/runs"
median=$(sort -k3,3g "$work/runs" | awk '{ t[NR] = $3 } END { print NR % 2 ? t[(NR + 1) / 2] : (t[NR / 2] + t[NR / 2 + 1]) / 2 }')

{
    echo "# The same command $runs times, each from nothing"
    echo
    echo "\`kftune --scene $scene --grid $grid --budget $budget --effort $effort --device $device\` on $(sed -n 's/^\t\t"name":\t"\(.*\)",$/\1/p' "$work/1.json" | head -n 1), $(date -u +%F)."
    echo
    echo "| run | winner | us a step | off the median | noise floor | ties | seconds | others' threads | verdict |"
    echo "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"
    awk -v median="$median" '
        function has(list, hash) { return index("," list ",", "," hash ",") > 0 }
        NR == 1 { first = $2; ties = $7 }
        {
            verdict = $2 == first ? "same winner" : has($7, first) || has(ties, $2) ? "a declared tie" : "another"
            off = $3 / median - 1; size = off < 0 ? -off : off
            accepted = 3 * $4 > 0.005 ? 3 * $4 : 0.005
            if (verdict == "another") strangers++; else agree++
            if (size > accepted) { late++; verdict = verdict ", **another time**" }
            if (size > worst) worst = size
            if (size <= ($4 > 0.005 ? $4 : 0.005)) within++
            printf "| %d | `%s` | %.2f | %+.2f %% | %.2f %% | %d | %d | %d | %s |\n", $1, substr($2, 1, 12), $3, 100 * off, 100 * $4, $7 == "" ? 0 : split($7, unused, ","), $5, $6, verdict
        }
        END {
            printf "\n%d of %d runs have the same winner or a declared tie; the times differ from their median by at most %.2f %%, %d by no more than their own noise floor (or 0.5 %%)%s.\n", agree, NR, 100 * worst, within,
                late ? sprintf(", in %d runs by more than is accepted", late) : ""
            exit strangers + late > 0
        }' "$work/runs"
    echo $? >"$work/status"
    if [ "$runs" -lt "$wanted" ]; then
        printf '\n%d of %d runs fit into %d s.\n' "$runs" "$wanted" "$limit"
        echo 1 >"$work/status"
    fi
} >"$folder/aa.md"
{
    echo '{"runs": ['
    for i in $(seq "$runs"); do
        cat "$work/$i.json"
        [ "$i" = "$runs" ] || echo ','
    done
    echo ']}'
} >"$folder/aa.json"
tail -n +5 "$folder/aa.md"
exit "$(cat "$work/status")"
