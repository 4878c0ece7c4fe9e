#!/bin/bash
# The published speed-ups of a GPU over a cpu from two sources: the stress test of stable fluids (its author's GTX 780 was 43.63 times as fast as one
# core) and Tables 2 and 3 of d2q9 (a GeForce 8800 Ultra 19 to 23 times a Core 2 Duo), each measured on both devices of this machine.
# From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/headlines.sh FOLDER [DEVICE, cuda:0] [NODES an edge of the cpu's cavity, 2048]; about two minutes.
# FOLDER gets stable-fluids-gpu.json, stable-fluids-cpu.json, d2q9-gpu.json, d2q9-cpu.json, their logs and headlines.md, which is also
# printed. PARTS="d2q9" or "stable-fluids": one of them. With DEVICE cpu the cpu is compared with itself, to try the script.
set -u
usage='usage: scripts/gpu/headlines.sh FOLDER [DEVICE] [NODES]'
folder=${1:?$usage}
device=${2:-cuda:0}
nodes=${3:-2048}
. "$(dirname "$0")/program.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

bench() { # NAME DEVICE SUITE FIGURE...
    local name=$1 on=$2 suite=$3 figures=()
    shift 3
    for figure; do figures+=(--figure "$figure"); done
    "$kftune" bench --suite "$suite" --device "$on" "${figures[@]}" --json >"$folder/$name.json" 2>"$folder/$name.log" || failed=1
    echo "$name: $SECONDS s" >&2
}

# value FIGURE FILE, as it was measured
value() {
    awk -v wanted="$1" '/^\t\t\t"name":/ { name = $0; sub(/^[^:]*:\t"/, "", name); sub(/",?$/, "", name) }
        /^\t\t\t"value":/ && name == wanted { sub(/^[^:]*:\t/, ""); sub(/,$/, ""); print; exit }' "$folder/$2.json" 2>/dev/null
}

share() { printf '%.0f' "$(value "3 $1, cpu, share of bandwidth" d2q9-cpu)"; } # MODEL

row() { # WHAT GPU-VALUE CPU-VALUE PRINTED-GPU PRINTED-CPU
    awk -v what="$1" -v gpu="$2" -v cpu="$3" -v there="$4" -v there_cpu="$5" 'BEGIN {
        times = gpu > 0 && cpu > 0 ? sprintf("%.1f", gpu / cpu) : "-"
        printf "| %s | %.4g | %.4g | %s | %s, %s | %.1f |\n", what, gpu, cpu, times, there, there_cpu, there / there_cpu }'
}

# The suite with a cavity of so many nodes an edge on a cpu, instead of a small copy.
sed "s/\"cpu\": {\"grid\": \[256, 256, 1\]}/\"cpu\": {\"grid\": [$nodes, $nodes, 1]}/; s/\"seconds\": 85/\"seconds\": 300/" \
    suites/toelke.json >"$work/toelke.json"
case $device in
cuda*) frames='10,000 steps, particles' rates=pull ;;
*) frames='10,000 steps, particles, cpu' rates=cpu ;;
esac
rate() { [ "$2" = cpu ] && echo "2 $1, cpu" || echo "2 $1 pull"; } # MODEL KIND
wants() { [[ " ${PARTS:-stable-fluids d2q9} " = *" $1 "* ]]; }
if wants stable-fluids; then
    bench stable-fluids-gpu "$device" rtfluids "$frames"
    bench stable-fluids-cpu cpu rtfluids '10,000 steps, particles, cpu'
fi
if wants d2q9; then
    bench d2q9-gpu "$device" "$work/toelke.json" "$(rate LBGKL $rates)" "$(rate LBGK $rates)" "$(rate MRT $rates)"
    bench d2q9-cpu cpu "$work/toelke.json" '2 LBGKL, cpu' '2 LBGK, cpu' '2 MRT, cpu' '3 LBGKL, cpu, share of bandwidth' '3 MRT, cpu, share of bandwidth'
fi
{
    echo "GPU over cpu, $device over $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) threads; cavity of $nodes^2 nodes on the cpu"
    echo
    echo '| what | GPU | cpu | times | printed: GPU, cpu | times |'
    echo '| --- | ---: | ---: | ---: | ---: | ---: |'
    row 'stable fluids, 512^2 with particles, steps/s' "$(value "$frames" stable-fluids-gpu)" \
        "$(value '10,000 steps, particles, cpu' stable-fluids-cpu)" 1449.922729 33.206783
    row 'd2q9, LBGKL, GLUPS' "$(value "$(rate LBGKL $rates)" d2q9-gpu)" "$(value '2 LBGKL, cpu' d2q9-cpu)" 0.670 0.035
    row 'd2q9, LBGK, GLUPS' "$(value "$(rate LBGK $rates)" d2q9-gpu)" "$(value '2 LBGK, cpu' d2q9-cpu)" 0.568 0.025
    row 'd2q9, MRT, GLUPS' "$(value "$(rate MRT $rates)" d2q9-gpu)" "$(value '2 MRT, cpu' d2q9-cpu)" 0.527 0.023
    echo
    echo "On the cpu LBGKL takes $(share LBGKL) % of a copy's bandwidth, MRT" \
        "$(share MRT) % (printed of a Core 2 Duo: 51 and 34 %)."
} >"$folder/headlines.md"
cat "$folder/headlines.md"
exit $failed
