#!/bin/bash
# The avalanche on a GPU: whether it stops, and the time that 16 million snow particles on its hill take.
# From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/avalanche.sh FOLDER [DEVICE]; about 4 minutes on an H200; with DEVICE cpu far fewer particles, to try the script
# (16 million: GRID in the environment, 2320x2320x1160; steps: STEPS, 600; seconds until it has stopped: TIME, 40).
# FOLDER gets rest/ and hill/, as kftune run writes them, and summary.txt: kinetic energy over its peak, and how far the front
# goes in the last ten seconds; steps a second of the 16 million, and what 100 s would take.
# Status 1 when it does not stop: kinetic energy below 1e-3 of its peak, and front and centre less than 1 % of their way
# in the last ten seconds.
set -u
folder=${1:?usage: scripts/gpu/avalanche.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
. "$(dirname "$0")/program.sh"
case $device in
cuda*) coarse=() every=20000 grid=${GRID:-2320x2320x1160} steps=${STEPS:-600} seconds=${TIME:-40} ;;
*) coarse=(--grid 75x75x37) every=2000 grid=${GRID:-150x150x75} steps=${STEPS:-20} seconds=${TIME:-30} ;;
esac
"$kftune" run --scene avalanche "${coarse[@]}" --time "${seconds}s" --every "$every" --device "$device" --output "$folder/rest" --force >"$folder/rest.log" 2>&1 || {
    echo "the run to rest ended early: $(tail -n 1 "$folder/rest.log")" >&2
    exit 1
}
# The tables have the same rows: step, time, then kinetic energy ...; front, centre ...
paste -d, "$folder/rest/energy.csv" "$folder/rest/runout.csv" | awk -F, '
    NR == 1 { columns = NF; for (i = 1; i <= NF; i++) at[$i] = i; next }
    { time[NR] = $2; energy[NR] = $3; front[NR] = $at["front_x_m"]; centre[NR] = $at["centre_x_m"]; if (energy[NR] > peak) peak = energy[NR] }
    END {
        for (from = 2; time[from + 1] <= time[NR] - 10; from++);
        way = front[NR] - front[2]; moved = front[NR] - front[from]
        centre_way = centre[NR] - centre[2]; centre_moved = centre[NR] - centre[from]
        printf "kinetic energy after %.1f s: %.3g of its peak; in the last %.1f s the front goes %.3g m of %.1f m, the centre %.3g m of %.1f m\n",
            time[NR], energy[NR] / peak, time[NR] - time[from], moved, way, centre_moved, centre_way
        exit !(time[NR] - time[from] >= 10 && energy[from] < 1e-3 * peak && energy[NR] < 1e-3 * peak && moved < 0.01 * way && centre_moved < 0.01 * centre_way)
    }' | tee "$folder/summary.txt"
rests=$((PIPESTATUS[1]))
"$kftune" run --scene avalanche --grid "$grid" --steps "$steps" --every "$steps" --checkpoints 0 --device "$device" --output "$folder/hill" --force >"$folder/hill.log" 2>&1 || {
    echo "the run of $grid ended early: $(tail -n 1 "$folder/hill.log")" >&2
    exit 1
}
rate=$(sed -n 's/.* in [0-9.]* s  *\([0-9.]*\) steps\/s.*/\1/p' "$folder/hill.log" | tail -n 1)
tail -n 1 "$folder/hill/energy.csv" | awk -F, -v rate="$rate" -v steps="$steps" -v grid="$grid" '{
    printf "%s: %s steps a second, %.4g ms of snow each; 100 s would take %.0f steps, %.2f hours; largest speed %s m/s\n", grid, rate, 1000 * $2 / $1, 100 / $2 * $1, 100 / $2 * $1 / rate / 3600, $5 }' |
    tee -a "$folder/summary.txt"
exit $rests
