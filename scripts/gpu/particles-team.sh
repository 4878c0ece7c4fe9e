#!/bin/bash
# Particles on several GPUs of one host and on one of them: the results must be equal byte for byte, then both are timed.
# From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/particles-team.sh FOLDER DEVICES [ROW...]; DEVICES: cuda:0-3, cuda:0,cuda:1, cpu:1,cpu:1; rows: same transfers weak strong
# splash sent snow avalanche (the last three only if they are named: weak with packed transfers; few grains; what one GPU does in a night).
# A row takes LIMIT seconds at most (280): what has no time left is not begun, and earlier measurements are kept and printed.
# WEAK, STRONG, SPLASH in the environment: spacings along the box, of one device's cube (252: 16 M particles), of the shared one (317: 32 M) and
# of the tank of SPHERIC test 2 (1165: 32 M). AVALANCHE: spacings along the hillside (2300: 16 M grains).
# FOLDER gets particles-team.json (for kftune plot scaling --figures), summary.txt, and logs and results of each config, with its kernels. Status 1 when the two differ or a row
# could not be measured.
set -u
folder=${1:?usage: scripts/gpu/particles-team.sh FOLDER DEVICES [ROW...]}
devices=${2:?usage: scripts/gpu/particles-team.sh FOLDER DEVICES [ROW...]}
shift 2
wanted=" ${*:-same transfers weak strong splash} "
. "$(dirname "$0")/program.sh"
weak=${WEAK:-252} strong=${STRONG:-317} splash=${SPLASH:-1165} avalanche=${AVALANCHE:-2300}
case $devices in cuda*) nccl=nccl ;; *) nccl= ;; esac
limit=${LIMIT:-280} begin=$SECONDS failed=0
case $devices in
*-*) one=${devices%%-*} parts=$((${devices##*-} - ${one##*:} + 1)) ;;
*) one=${devices%%,*} parts=$(awk -F, '{ print NF }' <<<"$devices") ;;
esac
is_wanted() { case $wanted in *" $1 "*) true ;; *) false ;; esac; }
say() { echo "$*" | tee -a "$folder/summary.txt"; }

left() { echo $((limit - SECONDS + begin)); }
within() { # COMMAND...: for as long as the row has left
    local seconds
    seconds=$(left)
    [ "$seconds" -gt 5 ] && timeout -s INT -k 10 "$seconds" "$@"
}

# Runs a scene with the default config, and prints what is wrong, if anything.
go() { # FOLDER, scene, spacings, steps, COMMAND..., of which the last are options
    local to=$folder/$1 scene=$2 grid=$3x$3x$3 steps=$4
    shift 4
    rm -rf "$to"
    within "$@" --scene "$scene" --grid "$grid" --fix order=ranked --steps "$steps" --picture none --output "$to" >"$to.log" 2>&1 && return
    failed=1
    say "${to##*/}: $(grep -E 'kftune:|signal' "$to.log" | tail -n 1)$([ "$(left)" -gt 5 ] || echo " no time left")"
    return 1
}
differs() { # FOLDER, other, words: files that say how a run went
    local file
    for file in "$folder/$1"/particles_*.vtkhdf "$folder/$1"/*.csv; do
        cmp -s "$file" "$folder/$2/${file##*/}" && continue
        failed=1
        say "$3: ${file##*/} DIFFERS"
        return 0
    done
    return 1
}

same() { # name, scene, spacings, steps
    go "$1-one" "$2" "$3" "$4" "$kftune" run --devices "$one" || return
    go "$1-team" "$2" "$3" "$4" "$kftune" run --devices "$devices" || return
    differs "$1-one" "$1-team" "$1" || say "$1: the same bytes after $4 steps on one and on $parts"
}

# The same scene packed, from device to device and through the host, and by processes.
transfers() { # name, scene, spacings, steps
    local way
    go "$1-alone" "$2" "$3" "$4" "$kftune" run --devices "$one" || return
    for way in copies host $nccl; do
        go "$1-$way" "$2" "$3" "$4" "$kftune" run --devices "$devices" --fix "transfer=$way" || continue
        differs "$1-alone" "$1-$way" "$1 by $way" || say "$1 by $way: the same bytes after $4 steps on one and on $parts"
    done
    command -v mpirun >/dev/null || { say "$1 by processes: there is no mpirun"; return; }
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    for way in direct host $nccl; do
        go "$1-ranks-$way" "$2" "$3" "$4" mpirun -n "$parts" "$kftune" run --devices "${one%%:*}" --fix "transfer=$way" || continue
        differs "$1-alone" "$1-ranks-$way" "$1 by processes, $way" || say "$1 by processes, $way: the same bytes after $4 steps on one and on $parts"
    done
}

speed() { awk '{ gsub(/[",]/, ""); sub(/:/, "") } $1 == "updates_per_second" && rate == 0 { rate = $2 } END { print rate + 0 }' "$folder/$1.json"; }
# Particle-steps a second of one config, the default or one with lists; nothing where there is none.
rate() { # name, devices, scene, spacings, list or default, options
    local fix=(--fix order=ranked)
    [ "$5" = default ] || fix+=(--fix search=list --fix fuse_count=false --fix "list_period=${PERIOD:-8}" --fix skin=10)
    case $5:$2 in list:cuda*) fix+=(--fix layout=float4 --fix cells=1 --fix prune=true --fix in_flight=4 --fix threads=128 --fix resident_blocks=4
        --fix lanes=1) ;; esac
    within "$kftune" tune --scene "$3" --grid "$4x$4x$4" --devices "$2" --budget 1evals --presets default --rounds 0 --store "$folder/team.db" \
        --out "$folder/$1.kftune.json" --json "${fix[@]}" "${@:6}" >"$folder/$1.json" 2>"$folder/$1.log" || return
    speed "$1"
}

rows=()
# One device and the team with either config; the better of each are compared.
compare() { # name, scene, spacings on one, spacings on the team, least ratio, in the words of it, options of the team
    local form alone together best_alone=0 best_together=0
    begin=$SECONDS
    for form in ${FORMS:-list default}; do
        [ -s "$folder/${ONE:-$1-one}-$form.json" ] && [ -n "${ONE-}" ] && alone=$(speed "$ONE-$form") ||
            alone=$(rate "$1-one-$form" "$one" "$2" "$3" "$form")
        together=$(rate "$1-team-$form" "$devices" "$2" "$4" "$form" "${@:6}")
        [ -n "$alone" ] && [ -n "$together" ] ||
            { say "$1, $form: $(grep -h kftune: "$folder/$1-one-$form.log" "$folder/$1-team-$form.log" 2>/dev/null | tail -n 1)$([ "$(left)" -gt 5 ] || echo " no time left")"; continue; }
        say "$(awk -v name="$1, $form" -v a="$alone" -v b="$together" 'BEGIN { printf "  %-16s one %.3f G particle-steps/s, together %.3f", name, a / 1e9, b / 1e9 }')"
        best_alone=$(awk -v a="$alone" -v b="$best_alone" 'BEGIN { print (a > b ? a : b) }')
        best_together=$(awk -v a="$together" -v b="$best_together" 'BEGIN { print (a > b ? a : b) }')
    done
    [ "$best_alone" != 0 ] || { failed=1; return; }
    say "$(awk -v name="$1" -v a="$best_alone" -v b="$best_together" -v parts="$parts" 'BEGIN {
        printf "%-8s one %.3f G particle-steps/s, %d together %.3f: %.3f x, efficiency %.1f %%", name, a / 1e9, parts, b / 1e9, b / a, 100 * b / a / parts }') ($5)"
    # As kftune plot scaling reads them: of cubes, which are full, the particles on one device, and its time of a step.
    rows+=("$(awk -v cube="$([ "$2" = particles_32 ] && echo 1 || echo 0)" -v name="$1" -v a="$best_alone" -v b="$best_together" -v parts="$parts" -v n="$3" -v period="${PERIOD:-8}" 'BEGIN {
        printf "{\"name\": \"%s particles\", \"parts\": %d, \"one\": %.6g, \"team\": %.6g, \"share\": %.5f", name, parts, a, b, b / a / parts
        if (cube) printf ", \"particles\": %.0f, \"list_period\": %d, \"note\": \"alone %.4f to %.4f ms\"", n ^ 3, period, 1e3 * n ^ 3 / a, 1e3 * n ^ 3 / a
        printf "}" }')")
}

: >"$folder/summary.txt"
if is_wanted same; then
    begin=$SECONDS
    same water dam_break_3d "${SAME:-60}" 400
    same snow avalanche "${SAME_SNOW:-300}" 60
    same thesis pool_thesis "${SAME_THESIS:-160}" 40
    same cube particles_bingham "${SAME_CUBE:-40}" 60
fi
if is_wanted transfers; then
    begin=$SECONDS
    transfers water dam_break_3d "${SAME:-60}" 100
    transfers snow avalanche "${SAME_SNOW:-300}" 30
fi
together=$(awk -v one="$weak" -v parts="$parts" 'BEGIN { printf "%d", one * parts ^ (1 / 3) + 0.5 }')
is_wanted weak && compare weak particles_32 "$weak" "$together" "of four: must 95 %, aim 98 %"
is_wanted strong && compare strong particles_32 "$strong" "$strong" "of four: must 3.6 x, aim 3.8 x"
sed 's/"windows": \[[^]]*\]/"windows": [0.5]/' scene/library/dam_break_3d.json >"$folder/splash.json" || exit 3
is_wanted splash && PERIOD=4 compare splash "$folder/splash.json" "$splash" "$splash" "of four: must 3.2 x, aim 3.6 x"
# Few particles in many cells, with which four GPUs took 30 times as long as one: results of the team say in which kernels.
is_wanted snow && FORMS=default compare snow avalanche "${SAME_SNOW:-300}" "${SAME_SNOW:-300}" "nothing is asked"
if is_wanted sent; then
    # Of the default form --fix would leave another layout, too.
    for way in copies host $nccl; do FORMS=list ONE=weak-one compare "$way" particles_32 "$weak" "$together" "weak, packed" --fix "transfer=$way"; done
fi
if is_wanted avalanche; then
    "$kftune" run --scene avalanche --grid "${avalanche}x${avalanche}x$((avalanche / 2))" --fix order=ranked --time 100s --devices "$devices" \
        --output "$folder/avalanche" >"$folder/avalanche.log" 2>&1 || failed=1
    say "avalanche: $(tail -n 1 "$folder/avalanche.log")"
fi
(
    IFS=,
    device=$(cat "$folder"/*-team-*.json 2>/dev/null | awk -F'"' '/"name":/ && / x / { print $4; exit }')
    echo "{\"device\": {\"name\": \"${device:-$devices}\"}, \"figures\": [${rows[*]-}]}"
) >"$folder/particles-team.json"
exit $failed
