#!/bin/bash
# The time from a mesh to its config with empty caches: kftune --scene beetle.obj at 200x400x200, with an
# empty cache and an empty store, once for each budget.
# Usage: scripts/gpu/cold.sh FOLDER [DEVICE] [GRID] [SECONDS...]; seconds are budgets, default 20 and 50. About 80 s.
# Leaves FOLDER/cold.txt (the tables it prints: the result, and the seconds after which each stage was reached), cold-SECONDS.json (what tune found) and cold.log. MESH names the mesh;
# without it beetle.obj in shared/meshes or ../shared/meshes. KFTUNE names the program.
set -u
folder=${1:?usage: $0 FOLDER [DEVICE] [GRID] [SECONDS...]}
device=${2:-cuda:0}
grid=${3:-200x400x200}
shift $(($# < 3 ? $# : 3))
[ $# -gt 0 ] || set -- 20 50
mesh=${MESH:+$(realpath "$MESH")}
. "$(dirname "$0")/program.sh"
for mesh in "$mesh" shared/meshes/beetle.obj ../shared/meshes/beetle.obj; do [ -f "$mesh" ] && break; done
[ -f "$mesh" ] || { echo "$0: beetle.obj is not there; MESH=FILE names it" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$folder/cold.log"

# value KEY FILE: the first number of that name in --json's output.
value() { sed -n "s/^.*\"$1\":[^0-9-]*\([0-9.e+-]*\),\{0,1\}$/\1/p" "$2" | head -n 1; }

# section NAME KEY FILE: the number of that name in one of its objects.
section() { sed -n "/^\t\"$1\":/,/^\t}/s/^\t\t\"$2\":[^0-9]*\([0-9.e+-]*\),\{0,1\}\$/\1/p" "$3" | head -n 1; }

# row WORDS...: right-aligned.
row() {
    local word
    for word in "$@"; do [[ $word == *.* ]] && printf '%10.2f' "$word" || printf '%10s' "${word:--}"; done
    echo
}

moments=(scene device compiler reference worker first presets best search)
printf '%8s %8s %8s %10s %10s %10s %10s %10s %10s\n' budget wall_s tried best_us mlups over_base over_paper verify_s measure_s | tee "$folder/cold.txt"
failed=0
for budget in "$@"; do
    json=$folder/cold-$budget.json
    begin=$(date +%s.%N)
    XDG_CACHE_HOME=$work/cache-$budget timeout -k 10 $((budget + 60)) "$kftune" --scene "$mesh" --grid "$grid" --device "$device" \
        --budget "${budget}s" --store "$work/$budget.db" --out "$work/beetle.kftune.json" --json >"$json" 2>>"$folder/cold.log" </dev/null
    status=$?
    end=$(date +%s.%N)
    [ $status -eq 0 ] || { echo "budget $budget s: status $status" | tee -a "$folder/cold.log"; failed=1; continue; }
    printf '%8s %8.1f %8s %10.2f %10.1f %10.2f %10.2f %10.2f %10.2f\n' "$budget" "$(awk "BEGIN { print $end - $begin }")" \
        "$(value evaluations "$json")" "$(value time_us "$json")" "$(value mlups "$json")" "$(value baseline "$json")" \
        "$(value paper "$json")" "$(value verifying "$json")" "$(value measuring "$json")" | tee -a "$folder/cold.txt"
done
{
    echo
    row budget "${moments[@]}" end opening compilers sources compiling
    for budget in "$@"; do
        json=$folder/cold-$budget.json
        reached=()
        for moment in "${moments[@]}"; do reached+=("$(section timeline "$moment" "$json")"); done
        row "$budget" "${reached[@]}" "$(section seconds total "$json")" "$(section seconds opening "$json")" \
            "$(section builds compilers "$json")" "$(section builds sources "$json")" "$(section builds seconds "$json")"
    done
} | tee -a "$folder/cold.txt"
exit $failed
