#!/bin/bash
# The full validation on a GPU, case by case. usage: scripts/gpu/validate.sh FOLDER [DEVICE] [OPTION...]
# FOLDER gets validate.json (all cases in one, as `kftune validate --json` prints it), validate.txt (the table), validate.log
# (times, what was said on the way) and five pictures. Runs from a bundle or the source tree, builds nothing. OPTIONs go to
# `kftune validate`, for example --quick, --case NAME, --fix storage=f16. A case that fails or hangs does not stop the others. On a
# GPU three run at a time, so that one compiles while another computes (KFTUNE_JOBS). About 150 s on an H200 at most: below,
# each case's seconds alone there, from its node updates at 18e9 a second and its looks at the fields, compilation apart.
# Status 1 when a check is out of its bound or a case did not end.
set -u
estimates="sphere_drag 33 sphere_wake 27 taylor_green_3d 25 cavity_3d 10 free_solid 6 models 4 cavity_2d 2 d2q9-cavity 5
d2q9-channel 5 d2q9-array 5 d2q9-poiseuille 1"
limit=120 # seconds a case may take
folder=$(realpath -m "${1:?usage: scripts/gpu/validate.sh FOLDER [DEVICE] [OPTION...]}")
device=${2:-cuda:0}
shift $(($# < 2 ? $# : 2))
cd "$(dirname "$0")/../.." || exit 3
program=
for candidate in "${KFTUNE:-}" ./kftune build/kftune; do
    if [ -n "$candidate" ] && [ -x "$candidate" ]; then program=$candidate; break; fi
done
if [ -z "$program" ]; then
    echo "kftune is neither here nor in build/: build it first" >&2
    exit 3
fi
export KFTUNE_DATA=${KFTUNE_DATA:-$PWD}
jobs=${KFTUNE_JOBS:-1}
case $device in
cuda*) jobs=${KFTUNE_JOBS:-3} ;;
*) limit=1800 ;;
esac
mkdir -p "$folder" || exit 3
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT

options=() names=() quick=
while [ $# -gt 0 ]; do
    case $1 in
    --case) names+=("${2:?--case NAME}") && shift ;;
    --quick) quick=yes options+=("$1") ;;
    *) options+=("$1") ;;
    esac
    shift
done
# The longest first.
if [ ${#names[@]} -eq 0 ]; then
    list=$("$program" validate --list | { [ -n "$quick" ] && grep -v 'not with --quick' || cat; } | awk '{ print $1 }')
    for known in $estimates; do grep -qx -- "$known" <<<"$list" && names+=("$known"); done
    for name in $list; do grep -qw -- "$name" <<<"${names[*]}" || names+=("$name"); done
fi

run_case() {
    local name=$1 start=$EPOCHREALTIME status
    timeout -k 5 "$limit" "$program" validate --device "$device" --json --case "$name" --pictures "$folder" \
        ${options[@]+"${options[@]}"} >"$parts/$name.json" 2>"$parts/$name.log"
    status=$?
    local expected
    expected=$(awk -v name="$name" '{ for (i = 1; i < NF; i += 2) if ($i == name) print $(i + 1) }' <<<"$(echo $estimates)")
    printf '%-20s %6.1f s   estimated %3s s   status %d\n' "$name" \
        "$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')" "${expected:-1}" "$status" |
        tee "$parts/$name.time" >&2
    echo "$status" >"$parts/$name.status"
}

begin=$SECONDS running=0
for name in "${names[@]}"; do
    if [ "$running" -ge "$jobs" ]; then wait -n && running=$((running - 1)); fi
    run_case "$name" &
    running=$((running + 1))
done
wait

failed=0 unfinished=
for name in "${names[@]}"; do
    status=$(cat "$parts/$name.status" 2>/dev/null || echo 3)
    if [ "$status" -ne 0 ]; then failed=$((failed + 1)); fi
    if [ "$status" -gt 1 ]; then unfinished="$unfinished${unfinished:+, }$name (status $status)"; fi
done
{
    cat "$parts"/*.time
    echo "all: $((SECONDS - begin)) s, $failed of ${#names[@]} cases failed${unfinished:+; not run to their end: $unfinished}"
    cat "$parts"/*.log
} >"$folder/validate.log"
sed -n '/^all: /p' "$folder/validate.log"

# One object of all: the head of the first part, then the cases of each.
{
    for name in "${names[@]}"; do cat "$parts/$name.json"; done
} | awk -v unfinished="$unfinished" '
    /^\{/ { inside = 0 }
    /"cases":/ {
        if (!headed && unfinished != "") printf "\t\"unfinished\":\t\"%s\",\n", unfinished
        if (!headed) printf "\t\"cases\":\t["
        headed = inside = 1
        sub(/.*"cases":[ \t]*\[/, "")
        if ($0 ~ /^\]/) next
        printf "%s%s\n", (any ? ", " : ""), $0
        any = 1
        next
    }
    inside && /^\t\t\}\]/ { printf "\t\t}"; inside = 0; next }
    inside { print; next }
    !headed && !/"unfinished":/ && !(/^\{/ && begun++) { print }
    END { if (headed) print "]\n}" }' >"$folder/validate.json"

# One line a check: the keys of a case follow each other, one a line.
awk -F'": *' '
    function plain(value) { sub(/,[ \t]*$/, "", value); gsub(/"/, "", value); return value }
    /"name":/ { name = plain($2) } /"quantity":/ { quantity = plain($2) } /"expected":/ { expected = plain($2) }
    /"measured":/ { measured = plain($2) } /"error":/ { error = plain($2) } /"bound":/ { bound = plain($2) }
    /"pass":/ {
        printf "%s %-16s %-70s %12.6g for %-10.6g error %-9.2g bound %g\n", ($2 ~ /true/ ? "pass  " : "FAILED"), name, \
            quantity, measured, expected, error, bound
    }' "$folder/validate.json" | tee "$folder/validate.txt"
[ "$failed" -eq 0 ]
