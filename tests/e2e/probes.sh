#!/bin/bash
# Tests probes: known flows at points and along lines with every system of flows, the pressure around a solid, equal
# bytes after a restart, and refusals. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
# shellcheck source=tests/e2e/preamble.bash
. "$(dirname "$0")/preamble.bash"
. "$(dirname "$0")/quick-compiler.bash"
cd "$scratch" || exit 3

# A Taylor-Green vortex decays. Node i has the phase 2 pi i / 32, at (i + 1/2) / 32 m. Between nodes linear
# interpolation has an error of (pi / 32)^2 / 2.
vortex() { # CELLS-ALONG-Z SECTIONS
    cat >vortex.json <<JSON
{"domain": {"cells": [32, 32, $1], "cell_size": 0.03125}, "model": {"collision": "bgk"$2},
 "boundaries": {"xmin": "periodic", "xmax": "periodic", "ymin": "periodic", "ymax": "periodic", "zmin": "periodic", "zmax": "periodic"},
 "flow": {"speed": 1, "viscosity": 0.05, "reference_length": 1, "initial": "taylor_green_2d"},
 "probes": {"node": "8.5c,0.5c,0.5c", "between": "9c,1c,0.5c", "seam": "0,0.5c,0.5c", "line": "0,0.5c,0.5c:1,0.5c,0.5c"}}
JSON
}
vortex_is_right() { # FOLDER
    awk -F, 'BEGIN { pi = atan2(0, -1); k = 2 * pi }
        FNR == 1 { file++; next }
        { fade = exp(-2 * 0.05 * k * k * $2); x = file == 1 ? 8 : file == 2 ? 8.5 : -0.5; y = file == 2 ? 0.5 : 0
          u = sin(k * x / 32) * cos(k * y / 32) * fade; p = 0.5 * (cos(2 * k * x / 32) + cos(2 * k * y / 32)) * fade * fade
          off = $4 - u; if (off < 0) off = -off; if (off > most) most = off
          if (file == 1 && $2 > 0.03) { off = $7 - p; if (off < 0) off = -off; if (off > pressure) pressure = off } rows++ }
        END { printf "%d rows, velocity off by %.4f, pressure by %.4f\n", rows, most, pressure; exit !(rows == 24 && most < 0.02 && pressure < 0.06) }' \
        "$1/probe_node.csv" "$1/probe_between.csv" "$1/probe_seam.csv" >vortex.off || complain "the vortex of $1: $(cat vortex.off)"
}
for system in kinetic incompressible d2q9; do
    vortex "$([ $system = d2q9 ] && echo 1 || echo 8)" ''
    expect 0 run --scene vortex.json --system $system --device cpu:1 --steps 40 --probe-every 5 --picture none --fields none --output vortex-$system
    vortex_is_right vortex-$system
done

# The means cover the later half, for all points of a line with one in every cell and both ends. A mean equals that of
# the rows.
[ "$(wc -l <vortex-kinetic/probe_line_mean.csv)" -eq 34 ] || complain "a line through 32 cells has $(wc -l <vortex-kinetic/probe_line_mean.csv) rows with its header"
awk -F, 'NR == FNR { if (FNR > 1 && $1 > 20) { n++; sum += $4; square += $4 * $4 } next }
    FNR == 2 { mean = sum / n; stress = square / n - mean * mean; exit !($5 > mean - 1e-6 && $5 < mean + 1e-6 && $10 > stress - 1e-6 && $10 < stress + 1e-6) }' \
    vortex-kinetic/probe_node.csv vortex-kinetic/probe_node_mean.csv || complain "probe_node_mean.csv is not the mean of probe_node.csv's later half"

# Poiseuille's flow between walls 1 m apart is probed along its axis and at a wall: u = 4 y (1 - y).
cat >channel.json <<'JSON'
{"domain": {"cells": [4, 10, 3], "cell_size": 0.1},
 "boundaries": {"xmin": "periodic", "xmax": "periodic", "ymin": "wall", "ymax": "wall", "zmin": "periodic", "zmax": "periodic"},
 "flow": {"speed": 1, "viscosity": 0.1, "reference_length": 1, "acceleration": [0.8, 0, 0]}}
JSON
expect 0 run --scene channel.json --device cpu:1 --steps 2000 --probe-every 500 --output channel --picture none --fields none \
    --probe across=0.2,0,0.15:0.2,1,0.15:11
awk -F, 'NR > 1 && $1 == 2000 { y = $3 / 10; off = $4 - 4 * y * (1 - y); if (off < 0) off = -off; if (off > most) most = off; rows++ }
    END { exit !(rows == 11 && most < 0.02) }' channel/probe_across.csv || complain "Poiseuille with kinetic: $(tail -n 11 channel/probe_across.csv)"

# Around a ball the pressure in front is the stagnation pressure, and that at the sides is below the stream's. There is
# one picture of each kind.
expect 0 tune --scene ball --grid 40x20x20 --device cpu:1 --fix plan=fused --fix force_sum=fixed --budget 1evals --effort 0.01 --rounds 0 --store ball.db --out ball.json
ball=(--config ball.json --fields none --picture none)
expect 0 run "${ball[@]}" --device cpu:1 --steps 400 --probe-every 20 --output ball --probe ahead=-0.5L,0,0 --probe wake=2L,0,0.5L --probe inside=0,0,0L --probe taps=surface --json
says "probe inside: 1 of 1 points lie in the solid"
for key in '"name":	"wake"' '"kind":	"surface"' '"velocity_half_interval_95_m_s"' '"reynolds_stress_m2_s2"' '"pressure_coefficient"'; do
    grep -qF "$key" out || complain "run.json says nothing of $key"
done
# For a point run.json has the values of its table of means, over the same later rows.
jq -r '.probes[] | select(.name == "wake") | [.velocity_m_s[], .pressure_coefficient] + .reynolds_stress_m2_s2 + [.from_step, .rows] | @csv' ball/run.json >told.csv
awk -F, 'NR == FNR { for (i = 1; i <= 12; i++) told[i] = $i; next }
    FNR == 2 { for (i = 1; i <= 10; i++) { column = i < 5 ? $(i + 4) : $(i + 5); off = told[i] - column; if (off < 0) off = -off
            if (off > 1e-6) { print i, told[i], column; bad = 1 } } }
    END { exit bad || told[11] != 220 || told[12] != 10 }' told.csv ball/probe_wake_mean.csv >told.off || complain "run.json says other means of a probe: $(cat told.csv told.off)"
awk -F, 'NR > 1 { if (first == "" || $2 < first) { first = $2; front = $8 } if ($8 < least) least = $8 } END { exit !(front > 0.6 && front < 1.1 && least < -0.2) }' \
    ball/probe_taps_mean.csv || complain "pressure around a ball: $(cat ball/probe_taps_mean.csv)"
expect 0 run "${ball[@]:0:${#ball[@]}-2}" --device cpu:1 --steps 20 --output drawn --probe wake=2L,0,0.5L --probe line=-1L,0,1L:2L,0,1L:7 --probe taps=surface:y
for name in wake line taps; do [ -s drawn/probe_$name.png ] || complain "there is no picture of the probe $name"; done
shows "probe      wake: velocity "

# The bytes are equal after a restart (teams.sh and mpi.sh test those of teams and processes).
probes=(--probe wake=2L,0,0.5L --probe line=-1L,0,-1L:2L,0,1L --probe taps=surface --probe-every 7)
expect 0 run "${ball[@]}" --device cpu:1 --steps 40 --output whole "${probes[@]}"
expect 0 run "${ball[@]}" --device cpu:1 --steps 25 --output parts "${probes[@]}"
expect 0 run "${ball[@]}" --device cpu:1 --steps 15 --output parts "${probes[@]}" --restart parts/checkpoint_000025.kfc
sed -i '/^25,/d' parts/probe_*.csv # the last of a run's rows is due whatever its step
for file in probe_wake.csv probe_line.csv probe_taps.csv; do
    cmp whole/$file parts/$file || complain "after a restart $file differs"
done

# A fluid of another system has a velocity and no pressure. Particles have neither at a place.
expect 0 run --scene decay --grid 32x32x1 --device cpu:1 --steps 4 --probe-every 1 --output decay --probe a=0.5,0.5 --probe seam=0,0.5:1,0.5 --picture none --fields none
[ "$(head -n 1 decay/probe_a.csv)" = step,time_s,point,velocity_x_m_s,velocity_y_m_s,velocity_z_m_s ] || complain "columns of decay: $(head -n 1 decay/probe_a.csv)"
awk -F, '$1 == 4 && ($3 == 0 || $3 == 32) { v[n++] = $4 } END { exit !(n == 2 && v[0] == v[1]) }' decay/probe_seam.csv ||
    complain "both ends of a line through a periodic box are not the same place: $(cat decay/probe_seam.csv)"
expect 2 run --scene pool --device cpu:1 --steps 1 --output none --probe a=0.1,0.1,0.1
says "no velocity at nodes"

# These are refused, and nothing is written.
refused() { # WHAT IT SAYS, OPTION...
    local what=$1
    shift
    expect 2 run --scene ball --grid 40x20x20 --device cpu:1 --steps 1 --output none "$@"
    says "$what"
}
refused "must be NAME=PLACE" --probe wake
refused "must be X,Y,Z" --probe wake=1,2
refused "must be X,Y,Z" --probe wake=1L,2L,0x3
refused "out of the domain" --probe wake=9,0.2,0.2
refused "is no name of a probe" --probe ../wake=1L,0,0
refused "2 to 2000 points" --probe line=0,0,0:0.1,0,0:1
refused "does not cut the solid" --probe taps=surface:x=0.01m
refused "there is no probe" --probe-every 3
expect 2 run --scene channel.json --device cpu:1 --steps 1 --output none --probe a=1L,0,0
says "L is a solid's length, and there is no solid"
sed -i 's/"8.5c,0.5c,0.5c"/"99c,0,0"/' vortex.json
expect 2 space --scene vortex.json
says "probes.node: lies at"
[ ! -e none ] || complain "a refused run wrote a folder"
finish
