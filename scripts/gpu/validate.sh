#!/bin/bash
# The full validation on a GPU, case by case. usage: scripts/gpu/validate.sh FOLDER [DEVICE] [OPTION...]
# FOLDER gets validate.json (all cases in one, as `kftune validate --json` prints it), validate.txt (the table), validate.log
# (times, what was said on the way) and five pictures. Runs from a bundle or the source tree, builds nothing. OPTIONs go to
# `kftune validate`, for example --quick, --case NAME, --fix storage=f16; --system kinetic, d2q9, stable_fluids or sph takes that
# system's cases alone, to split the whole into several commands. A case that fails or hangs does not stop the others. On a
# GPU five run at a time, so that some compile while others compute (KFTUNE_JOBS). A case's checks are printed when it ends.
# Below, seconds of the longer cases alone on an H200, from their node updates at 18e9 a second and their looks at the fields,
# compilation apart (those of the incompressible solver by what they took beside sphere_drag). Never more than BUDGET seconds (500): a case that would not fit is listed with its expected
# time instead of run, and one that runs at the end is killed. The results are brought up to date whenever a case ends. Status 1 when
# a check is out of its bound or a case did not end.
set -u
estimates="incompressible-beside 45 incompressible-sphere 45 nineteen 45 cylinder_drag 40 sphere_drag 35 incompressible-wake 20 cylinder_wake 15 taylor_green_3d 25 cavity_3d 10 free_solid 6 models 4 cavity_2d 2 d2q9-cavity 5
d2q9-channel 5 d2q9-array 5 d2q9-poiseuille 1"
folder=${1:?usage: scripts/gpu/validate.sh FOLDER [DEVICE] [OPTION...]}
device=${2:-cuda:0}
shift $(($# < 2 ? $# : 2))
. "$(dirname "$0")/program.sh"
jobs=${KFTUNE_JOBS:-1}
case $device in
cuda*) jobs=${KFTUNE_JOBS:-5} budget=${BUDGET:-500} ;;
*) budget=${BUDGET:-7200} ;;
esac
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT

options=() names=() quick= system=
while [ $# -gt 0 ]; do
    case $1 in
    --case) names+=("${2:?--case NAME}") && shift ;;
    --system) system=${2:?--system kinetic, d2q9, stable_fluids or sph} && shift ;;
    --quick) quick=yes options+=("$1") ;;
    *) options+=("$1") ;;
    esac
    shift
done
case $system in
'') only=. ;;
kinetic) only='^\(d2q9\|sph\)-\|^sf_' except=-v ;;
stable_fluids) only='^sf_' ;;
*) only="^$system-" ;;
esac
# The longest first.
if [ ${#names[@]} -eq 0 ]; then
    list=$("$kftune" validate --list | { [ -n "$quick" ] && grep -v 'not with --quick' || cat; } | awk '{ print $1 }' | grep ${except:-} "$only")
    [ -n "$list" ] || { echo "--system $system has no cases; there are kinetic, d2q9, stable_fluids and sph" >&2; exit 2; }
    for known in $estimates; do grep -qx -- "$known" <<<"$list" && names+=("$known"); done
    for name in $list; do grep -qw -- "$name" <<<"${names[*]}" || names+=("$name"); done
fi

expected() { # NAME: seconds
    local seconds
    seconds=$(awk -v name="$1" '{ for (i = 1; i < NF; i += 2) if ($i == name) print $(i + 1) }' <<<"$(echo $estimates)")
    echo "${seconds:-1}"
}
left() { echo $((budget - SECONDS - 5)); } # five to bring the results together

run_case() {
    local name=$1 start=$EPOCHREALTIME status
    timeout -k 2 "$(left)" "$kftune" validate --device "$device" --json --case "$name" --pictures "$folder" \
        ${options[@]+"${options[@]}"} >"$parts/$name.json" 2>"$parts/$name.log"
    status=$?
    printf '%-20s %6.1f s   estimated %3s s   status %d\n' "$name" \
        "$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')" "$(expected "$name")" "$status" |
        tee "$parts/$name.time"
    rows "$parts/$name.json"
    echo "$status" >"$parts/$name.status"
}

# One line a check: the keys of a case follow each other, one a line.
rows() {
    awk -F'": *' '
    function plain(value) { sub(/,[ \t]*$/, "", value); gsub(/[\t"]/, "", value); return value }
    /"name":/ { name = plain($2) } /"quantity":/ { quantity = plain($2) } /"expected":/ { expected = plain($2) }
    /"measured":/ { measured = plain($2) } /"error":/ { error = plain($2) } /"bound":/ { bound = plain($2) }
    /"pass":/ {
        printf "%s %-16s %-70s %12.6g for %-10.6g error %-9.2g bound %g\n", ($2 ~ /true/ ? "pass  " : "FAILED"), name, \
            quantity, measured, expected, error, bound
    }' "$1"
}

# What has ended so far, brought together in FOLDER. Sets failed.
assemble() {
    local ended=() name status unfinished=''
    failed=0
    for name in "${names[@]}"; do
        [ -f "$parts/$name.status" ] || continue
        ended+=("$name")
        status=$(cat "$parts/$name.status")
        if [ "$status" -ne 0 ]; then failed=$((failed + 1)); fi
        if [ "$status" -gt 1 ]; then unfinished="$unfinished${unfinished:+, }$name (status $status)"; fi
    done
    [ ${#ended[@]} -gt 0 ] || return
    for name in ${skipped[@]+"${skipped[@]}"}; do
        unfinished="$unfinished${unfinished:+, }$name (not begun: $(expected "$name") s would not fit into the budget of $budget s)"
    done
    {
        for name in "${ended[@]}"; do cat "$parts/$name.time"; done
        echo "all: $SECONDS s, ${#ended[@]} of ${#names[@]} cases ended, $failed failed${unfinished:+; not run to their end: $unfinished}"
        for name in "${ended[@]}"; do cat "$parts/$name.log"; done
    } >"$folder/validate.log"

    # One object of all: the head of the first part, then the cases of each.
    for name in "${ended[@]}"; do cat "$parts/$name.json"; done | awk -v unfinished="$unfinished" '
    /^\{/ { inside = 0 }
    /"cases":/ {
        if (!headed && unfinished != "") printf "\t\"unfinished\":\t\"%s\",\n", unfinished
        if (!headed) printf "\t\"cases\":\t["
        headed = inside = 1
        sub(/.*"cases":[ \t]*\[/, "")
        if ($0 ~ /^\]/) { inside = 0; next }
        printf "%s%s\n", (any ? ", " : ""), $0
        any = 1
        next
    }
    inside && /^\t\t\}\]/ { printf "\t\t}"; inside = 0; next }
    inside { print; next }
    !headed && !/"unfinished":/ && !(/^\{/ && begun++) { print }
    END { if (headed) print "]\n}"; else printf "{\n\t\"unfinished\":\t\"%s\",\n\t\"cases\":\t[]\n}\n", unfinished }' >"$parts/all" && mv "$parts/all" "$folder/validate.json"

    rows "$folder/validate.json" >"$folder/validate.txt"
}

running=0 failed=0 skipped=()
for name in "${names[@]}"; do
    if [ "$running" -ge "$jobs" ]; then
        wait -n
        running=$((running - 1))
        assemble
    fi
    if [ "$(expected "$name")" -ge "$(left)" ]; then
        skipped+=("$name")
        continue
    fi
    run_case "$name" &
    running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
    wait -n
    running=$((running - 1))
    assemble
done
sed -n '/^all: /p' "$folder/validate.log"
[ "$failed" -eq 0 ] && [ ${#skipped[@]} -eq 0 ]
