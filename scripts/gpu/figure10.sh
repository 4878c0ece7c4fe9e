#!/bin/bash
# Figures 10 and 13 of the kinetic paper at its size: the time of a step over l and alpha, on a ball, a concave tube and a tube with ten
# times the samples, on 16 million nodes and more; the immersed boundary's kernels with samples in no order and sorted; and the plans
# baseline and paper over the shapes of blocks, of two dimensions and three (section 4.1).
# From a bundle or a built source tree; builds nothing.
# usage: scripts/gpu/figure10.sh FOLDER [DEVICE, cuda:0]; about six minutes on an H200, LIMIT (150) seconds a scene at most.
# FOLDER gets SCENE.json (what kftune bench says), SCENE.log and figure10.md, which is also printed: us a step of the plans paper and ours
# over l and alpha, and us of the samples' kernels of baseline and paper with samples in no order and sorted.
# LENGTHS and ALPHAS name other values: l goes over all of them where alpha is 64, alpha where l is 2. SHAPES names other blocks, as
# 32x2x4; an empty list of any leaves its rows out. SCENES names some of ball, concave
# and crowded (concave with ten times the samples); GRID another grid. With DEVICE cpu on a small grid, to see that it works.
set -u
usage='usage: scripts/gpu/figure10.sh FOLDER [DEVICE]'
folder=${1:?$usage}
device=${2:-cuda:0}
. "$(dirname "$0")/program.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $device in
cuda*)
    grid=${GRID:-384x256x256} lengths=${LENGTHS-1 2 3 4 6 8 12 16 24 32 48 64} alphas=${ALPHAS-2 16 64 512 4096 65536 4194304}
    shapes=${SHAPES-32x2x1 32x4x1 32x8x1 64x2x1 128x1x1 32x1x4 32x2x2 32x2x4 32x4x2 32x4x4 32x8x2 64x2x2 64x4x2 128x2x2}
    ;;
*) grid=${GRID:-36x24x24} lengths=${LENGTHS-1 2} alphas=${ALPHAS-2 64} shapes=${SHAPES-64x2x1 32x2x4} ;;
esac
limit=${LIMIT:-150}
failed=0
samples='["penalty", "gather", "scatter", "load_samples"]'

# timing NAME PRESET VALUES: a timing, its step and its samples' kernels; ours has no such kernels.
timings=() figures=()
timing() {
    timings+=("{\"name\": \"$1\", \"scene\": \"scene\", \"preset\": \"$2\", \"with\": {$3}, \"seconds\": 0.15, \"effort\": 0.3}")
    figures+=("{\"name\": \"$1\", \"kind\": \"step\", \"of\": \"$1\"}")
    [ "$2" = default ] ||
        figures+=("{\"name\": \"$1, samples\", \"kind\": \"kernels_time\", \"of\": \"$1\", \"kernels\": $samples}")
}
for length in $lengths; do
    timing "paper, l $length, alpha 64" paper "\"layout\": \"csoa\", \"alpha\": 64, \"sample_block_length\": $length"
    timing "ours, l $length, alpha 64" default "\"layout\": \"csoa\", \"alpha\": 64, \"sample_block_length\": $length"
done
for alpha in $alphas; do
    [ "$alpha" = 64 ] && [[ " $lengths " = *' 2 '* ]] && continue
    timing "paper, l 2, alpha $alpha" paper "\"layout\": \"csoa\", \"alpha\": $alpha, \"sample_block_length\": 2"
    timing "ours, l 2, alpha $alpha" default "\"layout\": \"csoa\", \"alpha\": $alpha, \"sample_block_length\": 2"
done
for shape in $shapes; do
    IFS=x read -r x y z <<<"$shape"
    for plan in baseline paper; do
        timing "$plan, blocks $shape" "$plan" "\"block_x\": $x, \"block_y\": $y, \"block_z\": $z"
    done
done
timing 'paper, no order' paper '"layout": "csoa", "alpha": 64, "sample_block_length": 1, "sample_order": "none"'
timing 'baseline, no order' baseline '"sample_order": "none"'
timing 'baseline, sorted' baseline '"sample_block_length": 1'

joined() { # ITEM...: with commas between
    local comma='' item
    for item; do printf '%s\n    %s' "$comma" "$item" && comma=,; done
}

measure() { # NAME SCENE SAMPLES-A-CELL
    case " ${SCENES:-ball concave crowded} " in *" $1 "*) ;; *) return ;; esac
    {
        echo '{"suite": "figure10", "description": "Figures 10 and 13 of the kinetic paper at its size", "promise": "every config passes the gate",'
        echo "  \"about\": \"scene\", \"seconds\": $((limit - 10)), \"scenes\": [{\"name\": \"scene\", \"scene\": \"$2\", \"system\": \"kinetic\", \"grid\": [${grid//x/, }], \"samples_per_cell\": $3}],"
        echo "  \"timings\": [$(joined "${timings[@]}")],"
        echo "  \"figures\": [$(joined "${figures[@]}")]}"
    } >"$work/figure10.json"
    timeout -s INT -k 5 "$limit" "$kftune" bench --suite "$work/figure10.json" --device "$device" --json >"$folder/$1.json" 2>"$folder/$1.log" || failed=1
    echo "$1: $SECONDS s" >&2
}

# table NAME: one line a config.
table() {
    [ -s "$folder/$1.json" ] || return
    echo
    echo "$1, $grid nodes, $(sed -n 's/^.*"sample_count":[^0-9]*\([0-9]*\).*$/\1/p' "$folder/$1.json" | head -n 1) samples:"
    echo
    echo '| config | us a step | kernels of the samples |'
    echo '| --- | ---: | ---: |'
    awk 'function known(value) { return value == "null" || value == "" ? "-" : sprintf("%.5g", value) }
        /^\t\t\t"name":/ { name = $0; sub(/^[^:]*:\t"/, "", name); sub(/",?$/, "", name) }
        /^\t\t\t"value":/ { value = $0; sub(/^[^:]*:\t/, "", value); sub(/,$/, "", value); of = name
            if (sub(/, samples$/, "", of)) kernels[of] = known(value)
            else { step[name] = known(value); order[++count] = name; kernels[name] = "" } }
        END { for (i = 1; i <= count; i++) printf "| %s | %s | %s |\n", order[i], step[order[i]], kernels[order[i]] }' "$folder/$1.json"
}

measure ball ball 25
measure concave concave 10
measure crowded concave 100
{
    echo "Figures 10 and 13 on $device"
    for scene in ball concave crowded; do table $scene; done
} >"$folder/figure10.md"
cat "$folder/figure10.md"
exit $failed
