#!/bin/bash
# Draws every plot and the report from the shipped store of an H200, which must work on a machine without a GPU. KFTUNE:
# the program; KFTUNE_SCRATCH: a folder to write into.
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=tests/e2e/preamble.bash
. tests/e2e/preamble.bash
if ! command -v gnuplot >/dev/null; then
    echo "plots.sh: gnuplot is not here: skipped"
    exit 77
fi
KFTUNE=$kftune sh scripts/plots.sh results/measured/h200-store.db.gz "$scratch" svg >"$out" 2>"$err" || complain "scripts/plots.sh"
gzip -dc results/measured/h200-store.db.gz >"$scratch/h200.db"
expect 0 store prune --older-than 100000 --store "$scratch/h200.db"
expect 0 store list --store "$scratch/h200.db"
shows "NVIDIA H200"
grep -qE ' 16621  +320x128x128 nodes' "$out" || complain "store list does not write out how many updates a second"
expect 0 plot convergence --store "$scratch/h200.db" --run 1 --out "$scratch/convergence.svg"
# Public case 40: a variable for gnuplot's terminal, which this gnuplot may not have, changes nothing.
GNUTERM=no-such-terminal expect 0 plot convergence --store "$scratch/h200.db" --run 1 --out "$scratch/convergence.svg"
mkdir -p "$scratch/old"
printf '#!/bin/sh\necho "line 0: unknown or ambiguous terminal type" >&2; exit 1\n' >"$scratch/old/gnuplot"
chmod +x "$scratch/old/gnuplot"
PATH=$scratch/old:$PATH expect 3 plot convergence --store "$scratch/h200.db" --run 1 --out "$scratch/convergence.svg"
says "apt-get install gnuplot-nox"
expect 0 report --store "$scratch/h200.db" --out "$scratch/report.html"
grep -q 'NVIDIA H200' "$scratch/report.html" || complain "the report does not name the device"
drawn() { grep -qF -- "$2" "$scratch/$1.svg" || complain "$1.svg does not show: $2"; }
for legend in L1 L2 'device memory' measured theoretical 'L2 left of L1' 'stream_collide, 8'; do drawn roofline "$legend"; done
drawn occupancy stream_collide
drawn occupancy '>baseline (not counted: theoretical only)<'
drawn occupancy '>best<'
drawn kernels baseline
drawn surface AoS
# In a store with counted presets each is drawn, and no name of a kernel covers another.
gzip -dc results/measured/h200-counted.db.gz >"$scratch/counted.db"
expect 0 store prune --older-than 100000 --store "$scratch/counted.db"
for kind in roofline occupancy; do expect 0 plot $kind --run 6 --store "$scratch/counted.db" --out "$scratch/$kind.svg"; done
for run in 1 2 3 4 5; do
    expect 0 plot roofline --run $run --store "$scratch/counted.db" --out "$scratch/run.svg"
    for roof in L1 L2 'device memory' FP32; do grep -q ">$roof[^<]* [GTF/sLOPB]*\( ([0-9.]* in theory)\)\?<" "$scratch/run.svg" || complain "run $run: no name of the roof $roof"; done
done
for config in baseline paper best; do drawn occupancy ">$config<"; drawn roofline ">$config<"; done
for kernel in factor_black factor_back factor_red find_alpha judge; do drawn roofline ">$kernel<"; done
python3 - "$scratch/roofline.svg" >"$out" 2>"$err" <<'PYTHON' || complain "names in the roofline lie over each other"
import re, sys
# Names of the presets' kernels have font 9, and those of steps 11. These are their places, with lower bounds of their
# widths.
text = re.findall(r'translate\(([0-9.]+),([0-9.]+)\)[^>]*font-size="(9|11)\.00"[^>]*>\s*<text>(?:<tspan[^>]*>)?([a-z_]+)<', open(sys.argv[1]).read())
names = [(float(x), float(y), float(f), t) for x, y, f, t in text]
assert len(names) >= 10, names
for i, (x, y, f, t) in enumerate(names):
    for u, v, g, s in names[:i]:
        apart = abs(y - v) > 0.9 * min(f, g) or u > x + 0.5 * f * len(t) or x > u + 0.5 * g * len(s)
        assert apart, (t, s)
PYTHON
export KFTUNE_DRAWN=$scratch/drawn
PATH=$PWD/tests/tools/drawn:$PATH expect 0 plot scaling --figures results/measured/h200-scaling.json --out "$scratch/scaling.svg"
diff tests/data/known/drawn-scaling.txt "$KFTUNE_DRAWN" || complain "scaling.gp draws other values than tests/data/known/drawn-scaling.txt"
shows "assumed: InfiniBand"
drawn scaling measured
drawn scaling 'copied after the step'
echo '{"roofs": [{"name": "link_0_1_copy", "value": 40}, {"name": "link_1_2_copy", "value": 20}, {"name": "link_0_1_order", "value": 25}]}' >"$scratch/links.json"
expect 0 plot scaling --figures results/measured/h200-scaling.json --links "$scratch/links.json" --out "$scratch/scaling.svg"
shows "bytes / 20 GB/s"
shows "nothing is hidden 50 us"
expect 2 plot scaling --figures results/measured/h200-scaling.json --links results/measured/h200-roofs.json --out "$scratch/scaling.svg"
expect 2 plot scaling --out "$scratch/scaling.svg"
weak='{"name": "weak particles", "share": 0.97, "list_period": 8, "note": "alone 7.0 to 7.1 ms"'
echo "{\"device\": {\"name\": \"2 x NVIDIA H200\"}, \"figures\": [$weak, \"particles\": 16003008}, {\"name\": \"strong particles\", \"share\": 0.96}]}" >"$scratch/grains.json"
expect 0 plot scaling --figures "$scratch/grains.json" --out "$scratch/scaling.svg"
shows "of which the thickest counts"
drawn scaling 'sent through the host'
drawn scaling '32 million particles'
echo "{\"figures\": [$weak}]}" >"$scratch/grains.json"
expect 2 plot scaling --figures "$scratch/grains.json" --out "$scratch/scaling.svg"
finish
