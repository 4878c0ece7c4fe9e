#!/bin/sh
# Measures the incompressible system on a GPU: 256^3 cells with a ball (solves, counters), validation, part of the suite.
# usage: scripts/gpu/incompressible.sh FOLDER DEVICE; KFTUNE (default ./kftune) and KFTUNE_DATA as usual.
set -eu
folder=${1:?folder for the results} device=${2:?cuda:N}
kftune=${KFTUNE:-./kftune}
mkdir -p "$folder"
cat >"$folder/cube.json" <<'JSON'
{"description": "256^3 cells with a ball of 64 cells in a stream",
 "solid": {"shape": "ball", "radius": 0.125, "position": [0.35, 0.5, 0.5]},
 "domain": {"cells": [256, 256, 256], "size": [1, 1, 1]},
 "boundaries": {"xmin": "inflow", "xmax": "outflow", "ymin": "free_slip", "ymax": "free_slip", "zmin": "free_slip", "zmax": "free_slip"},
 "flow": {"speed": 1.0, "reynolds": 10000, "reference_length": 0.25, "lattice_speed": 0.05},
 "incompressible": {"steps": 10}}
JSON
timeout "${TUNE_LIMIT:-60}" "$kftune" tune --scene "$folder/cube.json" --device "$device" --budget "${TUNE_BUDGET:-25s}" --rounds 0 \
    --fix solver=multigrid_cg,multigrid --counters standard --store "$folder/cube.db" --out "$folder/cube.kftune.json" \
    --json >"$folder/cube-tune.json" 2>"$folder/cube-tune.txt" || echo "tune: status $?"
timeout 40 "$kftune" run --config "$folder/cube.kftune.json" --device "$device" --steps 20 --every 10 --fields velocity --output "$folder/cube-run" \
    >"$folder/cube-run.txt" 2>&1 || echo "run: status $?"
rm -f "$folder"/cube-run/*.vtkhdf "$folder"/cube-run/*checkpoint* "$folder/cube.db"*
for case in ${CASES:-incompressible-tg incompressible-div incompressible-sphere}; do
    timeout "${CASE_LIMIT:-90}" "$kftune" validate --device "$device" --case "$case" ${CASE_OPTIONS:-} >"$folder/$case.txt" 2>&1 || echo "$case: status $?"
done
# shellcheck disable=SC2086 # a list of options
timeout "${SUITE_LIMIT:-120}" "$kftune" bench --suite incompressible --device "$device" ${FIGURES:-} >"$folder/suite.txt" 2>&1 || echo "suite: status $?"
