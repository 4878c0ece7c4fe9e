#!/bin/bash
# Ceilings, counters against arithmetic and against Nsight Compute, and tuning runs for the plots. From a bundle or a built
# source tree, builds nothing.
# usage: scripts/gpu/counters.sh FOLDER [DEVICE [PART...]]     (with DEVICE cpu: the parts that need no GPU, on small grids)
# Parts: roofs; truth and ncu: counters of known kernels, and beside Nsight Compute's; tuned: a run with counters; surface: one
# over all sample block lengths and layouts (without PARTs these: about four minutes on a GPU); jet: the paper's jet, baseline,
# paper, default and best counted; systems: one scene of every other system, likewise, what begins within SYSTEMS seconds of the
# start (140). `roofs jet systems`: 150 s at most.
# Leaves in FOLDER: counters.md, counters.json, roofs.json (for results/measured/), plots.db.gz (for scripts/plots.sh),
# ours.csv and ncu.csv.gz (what both counted) and log.txt; prints a short table. SCENE, GRID, BUDGET (of the first run) and SURFACE (seconds) may be set.
set -u
folder=${1:?usage: scripts/gpu/counters.sh FOLDER [DEVICE]}
device=${2:-cuda:0}
shift $(($# < 2 ? $# : 2))
parts=" ${*:-roofs truth ncu tuned surface} "
. "$(dirname "$0")/program.sh"
for program in "$(dirname "$kftune")/tests/test_cupti_gpu" tests/unit/test_cupti_gpu; do [ -x "$program" ] && break; done
case "$parts" in *' truth '* | *' ncu '*) [ -x "$program" ] || { echo "test_cupti_gpu is not built" >&2; exit 1; } ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$folder/log.txt
: >"$log"
store=$work/plots.db
failed=0

case $device in
cuda*) gpu=yes scene=${SCENE:-ahmed} grid=${GRID:-320x128x128} budget=${BUDGET:-40s} surface=${SURFACE:-60} surface_grid=192x96x96 jet=200x100x100 samples=29.27 jet_budget=${JET:-30s} ;;
*) gpu=no scene=${SCENE:-ball} grid=${GRID:-32x24x24} budget=${BUDGET:-6evals} surface=${SURFACE:-20} surface_grid=24x16x16 jet=40x20x20 samples=10 jet_budget=${JET:-6evals} ;;
esac

# --- steps --------------------------------------------------------------------------------------------------

# step NAME COMMAND...: runs it with its messages in the log, and notes how it ended and how long it took.
step() {
    local name=$1 begin=$SECONDS status
    shift
    echo "== $name: $*" >>"$log"
    "$@"
    status=$?
    [ $status = 0 ] || failed=1
    printf '%-40s %-10s %4d s\n' "$name" "$([ $status = 0 ] && echo ok || echo "FAILED ($status)")" $((SECONDS - begin)) | tee -a "$work/summary"
    return $status
}

roofs() { timeout 120 "$kftune" roofs --device "$device" --store "$store" --json >"$folder/roofs.json" 2>>"$log"; }

truth() {
    timeout 150 "$program" >"$work/truth.log" 2>&1
    local status=$?
    cat "$work/truth.log" >>"$log"
    grep '^truth' "$work/truth.log" >"$work/truth.txt"
    grep 'WRONG\|not true' "$work/truth.log"
    ! grep -q SKIPPED "$work/truth.log" && return $status
}

# Kernels that make up nearly all of the baseline's step; the others move so little that the state of the cache decides.
judged='stream collision_terms update'
ours() { timeout 90 "$program" count ball baseline standard "$folder/ours.csv" >>"$log" 2>&1; }
ncu() {
    local metrics
    metrics=$(cut -d, -f3 "$folder/ours.csv" | sort -u | paste -sd, -)
    timeout 150 "$1" --csv --page raw --print-units base --replay-mode application --cache-control none --clock-control none \
        --profile-from-start off --metrics "$metrics" "$program" launch ball baseline >"$work/ncu.csv" 2>>"$log"
    local status=$?
    gzip -9c "$work/ncu.csv" >"$folder/ncu.csv.gz"
    # shellcheck disable=SC2086
    [ $status = 0 ] && "$program" compare "$folder/ours.csv" "$work/ncu.csv" $judged >"$work/ncu.txt" 2>>"$log"
    status=$?
    grep DIFFERS "$work/ncu.txt" | head -n 20
    tail -n 1 "$work/ncu.txt"
    return $status
}

tuned() {
    timeout 150 "$kftune" tune --scene "$scene" --device "$device" --grid "$grid" --budget "$budget" --counters standard \
        --store "$store" --out "$work/best.json" --json >"$work/tune.json" 2>>"$log"
    local status=$?
    grep -h 'counters:' "$log" | tail -n 1
    return $status
}

# A run whose presets and best are counted. NAME SECONDS SCENE GRID BUDGET [OPTION...]
counted() {
    local name=$1 limit=$2 scene=$3 grid=$4 budget=$5
    shift 5
    timeout -s INT "$limit" "$kftune" tune --scene "$scene" --device "$device" --grid "$grid" --budget "$budget" --rounds 1 \
        --counters standard "$@" --store "$store" --out "$work/$name.json" --json >"$folder/$name.json" 2>>"$log"
    local status=$?
    echo "$name: $(awk '{ gsub(/[",]/, "") } $1 == "counted:" { print $2, "configs counted" }' "$folder/$name.json")"
    return $status
}

# These runs share a time limit. Those that come too late are left out, with a message.
systems() {
    local status=0 name scene grid end=${SYSTEMS:-140} left # since the script began
    while read -r name scene grid small options; do
        [ $gpu = yes ] || grid=$small
        left=$((end - SECONDS))
        [ $left -gt 5 ] || { echo "$name: left out, the time is up"; status=1; continue; }
        # shellcheck disable=SC2086
        counted "$name" "$left" "$scene" "$grid" 6evals $options || status=1
    done <<'SCENES'
d2q9 cavity2d 2048x2048x1 64x64x1
stable_fluids plume 1024x1024x1 48x48x1
stable_fluids_3d plume3d 160x160x160 16x16x16
sph particles_32 100x100x100 10x10x10
incompressible ball 160x80x80 32x16x16 --system incompressible --samples-per-cell 1
SCENES
    return $status
}

# The preset paper with every sample block length and layout. It stops when the time is up, and keeps its measurements.
surface() {
    local fixed=() name value status
    # Its values are the last column of the table of parameters.
    while read -r name value; do
        case $name in layout | alpha | sample_block_length) ;; *) fixed+=(--fix "$name=$value") ;; esac
    done < <("$kftune" space --scene ball --device "$device" --grid "$surface_grid" 2>>"$log" |
        awk '$1 == "parameter" { inside = 1; next } inside && NF == 0 { exit } inside { print $1, $NF }')
    timeout -s INT "$surface" "$kftune" tune --scene ball --device "$device" --grid "$surface_grid" --budget 400evals \
        --strategy random "${fixed[@]}" --store "$store" --out "$work/surface.json" >>"$log" 2>&1
    status=$?
    [ $status = 124 ] || [ $status = 0 ]
}

# --- what is committed --------------------------------------------------------------------------------------

# The lines of a table as JSON objects; the first word of a line is no field.
objects() { # FILE KEY...
    local file=$1
    shift
    sed 's/half warps/half_warps/; s/whole warps/whole_warps/; s/stride \([0-9]\)/stride_\1/' "$file" |
        awk -v keys="$*" 'BEGIN { n = split(keys, key, " ") }
            /^(truth|ncu) / { line = ""; for (i = 1; i <= n; i++) { v = $(i + 1); sub(/^\+/, "", v)
                if (v !~ /^-?[0-9.]+(e[-+][0-9]+)?$/) v = "\"" v "\""
                line = line (i > 1 ? ", " : "") "\"" key[i] "\": " v }
              printf "%s    {%s}", (count++ ? ",\n" : ""), line } END { if (count) printf "\n" }'
}
device_json() { sed -n '/^\t"device":/,/^\t}/p' "$folder/roofs.json"; }
device_value() { device_json | sed -n "s/^\t\t\"$1\":\t\"\(.*\)\",*$/\1/p"; }

write_json() {
    echo '{'
    printf '"kftune": "%s", "date": "%s",\n' "$("$kftune" --version | cut -d' ' -f2)" "$(date -u +%F)"
    device_json
    printf '"truth": [\n%s\n],\n' "$(objects "$work/truth.txt" kernel counter arithmetic counted off_percent)"
    printf '"ncu": [\n%s\n]\n}\n' "$(objects "$work/ncu.txt" kernel metric kftune ncu off_percent)"
}

write_markdown() {
    echo "# Are the counters true?"
    echo
    echo "$(device_value name), driver $(device_value driver), $(date -u +%F): what \`scripts/gpu/counters.sh\` measured."
    echo
    echo "## Against arithmetic"
    echo
    echo "Kernels whose counters are known (\`kernels/probe/truth.cu\`). Accepted: no difference; 2 % of device memory; 5 % of the half warps'"
    echo "efficiency, as a few instructions lie outside of their loop."
    echo
    echo "| kernel | counter | arithmetic | counted | off |"
    echo "| --- | --- | ---: | ---: | ---: |"
    sed 's/half warps/half_warps/; s/whole warps/whole_warps/; s/stride \([0-9]\)/stride_\1/' "$work/truth.txt" |
        awk '{ kernel = $2; gsub("_", " ", kernel); printf "| %s | %s | %s | %s | %s %%%s |\n", kernel, $3, $4, $5, $6, $8 == "ok" ? "" : " **wrong**" }'
    echo
    echo "## Against Nsight Compute"
    echo
    echo "Kernels of the preset \`baseline\` of the scene \`ball\`, 320 x 160 x 160 nodes, launched from the same state. These must agree within 2 %,"
    echo "percentages within half a point: $judged. $(tail -n 1 "$work/ncu.txt")."
    echo
    echo "| kernel | metric | kftune | ncu | off |"
    echo "| --- | --- | ---: | ---: | ---: |"
    awk -v judged=" $judged " '/^ncu / && index(judged, " " $2 " ") { printf "| %s | `%s` | %s | %s | %s %%%s |\n", $2, $3, $4, $5, $6, $8 == "ok" ? "" : " **differs**" }' "$work/ncu.txt"
    echo
    echo "<details><summary>the other kernels: small, and decided by what the cache holds</summary>"
    echo
    echo "| kernel | metric | kftune | ncu | off |"
    echo "| --- | --- | ---: | ---: | ---: |"
    awk -v judged=" $judged " '/^ncu / && !index(judged, " " $2 " ") { printf "| %s | `%s` | %s | %s | %s %% |\n", $2, $3, $4, $5, $6 }' "$work/ncu.txt"
    echo
    echo "</details>"
}

# --- all of it ----------------------------------------------------------------------------------------------

wants() { case "$parts" in *" $1 "*) ;; *) return 1 ;; esac }
"$kftune" doctor >>"$log" 2>&1
: >"$work/truth.txt"
: >"$work/ncu.txt"
wants roofs && step "roofs (at most 60 s)" roofs
if [ $gpu = yes ]; then
    wants truth && step "counters of known kernels" truth
    if wants ncu; then
        for path in "$(command -v ncu)" /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu; do [ -x "$path" ] && break; done
        step "counters of a plan" ours
        if [ -x "$path" ]; then step "the same with ncu, within 2 %" ncu "$path"; else echo "ncu is not on this machine"; fi
    fi
    if wants truth; then
        write_json >"$folder/counters.json"
        write_markdown >"$folder/counters.md"
    fi
else
    echo "counters of known kernels, ncu: not run, as $device is no GPU"
fi
if wants tuned; then
    step "tuned with counters" tuned
    echo "configs counted: $(grep -o '"counted":[[:space:]]*[0-9]*' "$work/tune.json" | grep -o '[0-9]*$')"
fi
wants jet && step "the paper's jet" counted jet 80 plate $jet "$jet_budget" --samples-per-cell "$samples"
wants systems && step "every other system" systems
wants surface && step "sample blocks and layouts" surface
"$kftune" store list --store "$store" | cut -c1-140 | tee -a "$log"
gzip -9c "$store" >"$folder/plots.db.gz"
wants truth && echo "truth: $(grep -c ' ok$' "$work/truth.txt") of $(wc -l <"$work/truth.txt") values right"
[ -s "$work/ncu.txt" ] && tail -n 1 "$work/ncu.txt"
sed 's/^/== /' "$work/summary" >>"$log"
ls -l "$folder" | awk 'NR > 1 { print $5, $9 }'
exit $failed
