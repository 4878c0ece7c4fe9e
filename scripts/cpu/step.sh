#!/bin/bash
# The whole time step on a cpu, all its processors, against a copy with non-temporal stores. From a bundle or a built
# source tree; kernels are built by gcc.
# usage: scripts/cpu/step.sh FOLDER [GRID] [OPTION...]; writes roofs.json and what scripts/gpu/step.sh writes into FOLDER:
# the step with and without the body, that of BGK, and the launches of an empty kernel. GRID: 192x192x192.
set -u
folder=${1:?usage: scripts/cpu/step.sh FOLDER [GRID] [OPTION...]}
grid=${2:-192x192x192}
shift $(($# < 2 ? $# : 2))
. "$(dirname "$0")/../gpu/program.sh"
"$kftune" roofs --device cpu --json >"$folder/roofs.json" || exit
"$kftune" roofs --device cpu | grep -E 'dram|launch|graph'
STEP_LIMIT=${STEP_LIMIT:-580} scripts/gpu/step.sh "$folder" cpu --grid "$grid" --figure step_f32_acm --figure acm_over_bgk \
    --figure ib_difference_static "$@"
