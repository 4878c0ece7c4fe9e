#!/bin/bash
# Particles on several GPUs of one host, against one of them in the same run: that both end byte for byte alike, then how fast both are.
# From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/particles-team.sh FOLDER DEVICES [ROW...]; about 6 minutes on four H100s; DEVICES: cuda:0-3, cuda:0,cuda:1, cpu:1,cpu:1;
# rows: same weak strong splash avalanche (the last one only where it is named: a night's work of one GPU).
# WEAK, STRONG, SPLASH in the environment: spacings along the box, of one device's cube (252: 16 M particles), of the shared one (317: 32 M) and
# of the tank of SPHERIC test 2 (1165: 32 M); EVALUATIONS of each search (4). AVALANCHE: spacings along the hillside (2300: 16 M grains).
# FOLDER gets particles-team.json, summary.txt and logs. Status 1 when the two differ or a row could not be measured.
set -u
folder=${1:?usage: scripts/gpu/particles-team.sh FOLDER DEVICES [ROW...]}
devices=${2:?usage: scripts/gpu/particles-team.sh FOLDER DEVICES [ROW...]}
shift 2
wanted=" ${*:-same weak strong splash} "
. "$(dirname "$0")/program.sh"
weak=${WEAK:-252} strong=${STRONG:-317} splash=${SPLASH:-1165} avalanche=${AVALANCHE:-2300}
failed=0
case $devices in
*-*) one=${devices%%-*} parts=$((${devices##*-} - ${one##*:} + 1)) ;;
*) one=${devices%%,*} parts=$(awk -F, '{ print NF }' <<<"$devices") ;;
esac
is_wanted() { case $wanted in *" $1 "*) true ;; *) false ;; esac; }
say() { echo "$*" | tee -a "$folder/summary.txt"; }

# Both for as many steps, from the default config: checkpoint, energies and gauges.
same() { # name, scene, spacings, steps
    local where
    for where in one team; do
        rm -rf "$folder/$1-$where"
        "$kftune" run --scene "$2" --grid "$3x$3x$3" --fix order=ranked --steps "$4" --picture none --fields none --output "$folder/$1-$where" \
            --devices "$([ $where = one ] && echo "$one" || echo "$devices")" >"$folder/$1-$where.log" 2>&1 || {
            failed=1
            say "$1 on $where: $(tail -n 1 "$folder/$1-$where.log")"
            return
        }
    done
    local file
    for file in "$folder/$1-one"/checkpoint_*.kfc "$folder/$1-one"/*.csv; do
        cmp -s "$file" "$folder/$1-team/${file##*/}" && continue
        failed=1
        say "$1: ${file##*/} DIFFERS"
        return
    done
    say "$1: the same bytes after $4 steps on one and on $parts"
}

# Particle-steps a second of the best of a short search around what was best on one GPU; nothing where there is none.
rate() { # name, devices, scene, spacings
    local fix=(--fix order=ranked --fix search=list,staged --fix fuse_count=false)
    case $2 in cuda*) fix+=(--fix layout=float4 --fix cells=1 --fix prune=true --fix in_flight=4 --fix threads=128 --fix "resident_blocks=0,4"
        --fix lanes=1 --fix cell_order=rows --fix "list_period=${PERIODS:-1,4,8}" --fix "skin=${SKINS:-0,5,10}") ;; esac
    "$kftune" tune --scene "$3" --grid "$4x$4x$4" --devices "$2" --budget "${EVALUATIONS:-4}evals" --rounds 1 --store "$folder/team.db" \
        --out "$folder/$1.kftune.json" --json "${fix[@]}" >"$folder/$1.json" 2>"$folder/$1.log" || return
    awk '{ gsub(/[",]/, ""); sub(/:/, "") } $1 == "updates_per_second" && rate == 0 { rate = $2 } END { print rate + 0 }' "$folder/$1.json"
}

rows=()
compare() { # name, scene, spacings on one, spacings on the team, least ratio, in the words of it
    is_wanted "$1" || return
    local alone together
    alone=$(rate "$1-one" "$one" "$2" "$3")
    together=$(rate "$1-team" "$devices" "$2" "$4")
    if [ -z "$alone" ] || [ -z "$together" ]; then
        failed=1
        say "$1: $(tail -qn 1 "$folder/$1-one.log" "$folder/$1-team.log" 2>/dev/null | head -n 1)"
        return
    fi
    say "$(awk -v name="$1" -v a="$alone" -v b="$together" -v parts="$parts" 'BEGIN {
        printf "%-8s one %.3f G particle-steps/s, %d together %.3f: %.3f x, efficiency %.1f %%", name, a / 1e9, parts, b / 1e9, b / a, 100 * b / a / parts }') ($5)"
    rows+=("{\"row\": \"$1\", \"parts\": $parts, \"one\": $alone, \"team\": $together}")
}

: >"$folder/summary.txt"
if is_wanted same; then
    same water dam_break_3d "${SAME:-60}" 400
    same snow avalanche "${SAME_SNOW:-300}" 60
    same thesis pool_thesis "${SAME_THESIS:-160}" 40
    same cube particles_bingham "${SAME_CUBE:-40}" 60
fi
together=$(awk -v one="$weak" -v parts="$parts" 'BEGIN { printf "%d", one * parts ^ (1 / 3) + 0.5 }')
compare weak particles_32 "$weak" "$together" "of four: must 95 %, aim 98 %"
compare strong particles_32 "$strong" "$strong" "of four: must 3.6 x, aim 3.8 x"
sed 's/"windows": \[[^]]*\]/"windows": [0.5]/' scene/library/dam_break_3d.json >"$folder/splash.json" || exit 3
PERIODS=${PERIODS:-1,4} SKINS=${SKINS:-0,10} compare splash "$folder/splash.json" "$splash" "$splash" "of four: must 3.2 x, aim 3.6 x"
if is_wanted avalanche; then
    "$kftune" run --scene avalanche --grid "${avalanche}x${avalanche}x$((avalanche / 2))" --fix order=ranked --time 100s --devices "$devices" \
        --output "$folder/avalanche" >"$folder/avalanche.log" 2>&1 || failed=1
    say "avalanche: $(tail -n 1 "$folder/avalanche.log")"
fi
(
    IFS=,
    echo "[${rows[*]-}]"
) >"$folder/particles-team.json"
exit $failed
