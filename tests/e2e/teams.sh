#!/bin/bash
# Tests that a run on a team of devices writes what a run on one device writes, byte for byte: fields, forces, smoke,
# checkpoints. It continues from its checkpoint with another number of parts. KFTUNE: the program; KFTUNE_SCRATCH: a
# folder to write into.
set -u
kftune=${KFTUNE:?KFTUNE must name the program}
scratch=${KFTUNE_SCRATCH:-$(mktemp -d)}
# shellcheck source=tests/e2e/quick-compiler.bash
. "$(dirname "$0")/quick-compiler.bash"
cd "$scratch" || exit 3
fail() { echo "teams.sh: $*" >&2; exit 1; }

"$kftune" tune --scene ball --grid 40x24x24 --device cpu:1 --budget 1evals --effort 0.01 --rounds 0 --store store.db --out ball.json >tune.out 2>&1 ||
    fail "tuning: $(tail -n 2 tune.out)"
run() { # FOLDER DEVICES OPTION...
    local folder=$1 devices=$2
    shift 2
    "$kftune" run --config ball.json --devices "$devices" --output "$folder" --every 12 --picture none --smoke --smoke-size 320x180 --probe wake=2L,0,0.5L --probe line=-1L,0,-1L:2L,0,1L --probe taps=surface "$@" >"$folder.out" 2>&1 ||
        fail "$devices: $(tail -n 2 "$folder.out")"
}
run one cpu:1 --steps 25
run two cpu:1,cpu:1 --steps 25
run begun cpu:1,cpu:1,cpu:1 --steps 13
run gone-on cpu:1,cpu:1 --steps 12 --restart begun/checkpoint_000013.kfc
for file in fields_000025.vtkhdf checkpoint_000025.kfc smoke_000025.png; do
    cmp "one/$file" "two/$file" || fail "two parts write another $file"
    cmp "one/$file" "gone-on/$file" || fail "after a restart on two parts $file is another"
done
for probe in wake line taps; do
    cmp one/probe_$probe.csv two/probe_$probe.csv || fail "two parts write another probe_$probe.csv"
done
cmp one/forces.csv two/forces.csv || fail "two parts feel other forces"

# A solid by links with a law of the wall is tuned for two devices, and run on one and on two.
sed 's/"shape": "ball"/"boundary": "links", &/; s/"adaptive_2020"/&, "wall": "law"/; s/"reynolds": 1000/"reynolds": 1e6/' "$KFTUNE_DATA/scene/library/ball.json" >law.json
"$kftune" tune --scene law.json --grid 40x24x24 --devices cpu:1,cpu:1 --budget 1evals --effort 0.01 --rounds 0 --store store.db --out law-best.json >tune.out 2>&1 ||
    fail "tuning links on two devices: $(tail -n 2 tune.out)"
for devices in cpu:1 cpu:1,cpu:1; do
    "$kftune" run --config law-best.json --devices "$devices" --output "law-$devices" --every 9 --steps 18 --picture none >law.out 2>&1 ||
        fail "links on $devices: $(tail -n 2 law.out)"
done
for file in fields_000018.vtkhdf checkpoint_000018.kfc forces.csv wall.csv; do
    cmp "law-cpu:1/$file" "law-cpu:1,cpu:1/$file" || fail "two parts with a solid by links write another $file"
done

# One search measures on two devices: as many configs as requested, none twice, on both.
small=(--scene ball --grid 16x12x12 --fix plan=fused --fix layout=soa --fix storage=f32 --fix collision_form=low_order
    --fix segment_length=16 --fix boundary_kernels=1 --fix staged_nodes=64 --effort 0.01)
"$kftune" tune "${small[@]}" --devices cpu:1,cpu:1 --share search --budget 12evals --rounds 0 --strategy random --store shared.db --out shared.json \
    --verbose >shared.out 2>&1 || fail "a search on two devices: $(tail -n 2 shared.out)"
"$kftune" store export --store shared.db --format csv >shared.csv || fail "what two devices measured cannot be exported"
[ "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["role"] != "final" { print $at["hash"] }' shared.csv | sort -u | wc -l)" -eq 12 ] ||
    fail "two devices measured other than 12 configs: $(cat shared.csv)"
for device in 1 2; do grep -q "on device $device of 2" shared.out || fail "device $device measured nothing: $(cat shared.out)"; done
"$kftune" tune --scene ball --device cpu --share search >alone.out 2>&1 && fail "a search is shared with nobody"
grep -q 'give several --devices' alone.out || fail "what --share alone gives: $(cat alone.out)"

# Tuning for a team varies how planes cross the cuts and where these lie, starting from the best config. After one
# config this is the default, which must lie in the space for that. It also tries what was best for one device.
folded=("${small[@]/boundary_kernels=1/boundary_kernels=0}")
"$kftune" tune "${folded[@]}" --device cpu:1 --budget 1evals --rounds 0 --store team.db --out alone.json >alone.out 2>&1 || fail "tuning for one: $(tail -n 2 alone.out)"
"$kftune" tune "${folded[@]}" --devices cpu:1,cpu:1 --budget 10evals --rounds 0 --store team.db --out team.json --verbose >team.out 2>&1 ||
    fail "tuning for a team: $(tail -n 2 team.out)"
"$kftune" store export --store team.db --format csv >team.csv || fail "what was measured on a team cannot be exported"
ways=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["transfer"], $at["sample_cost"] }' team.csv | sort -u)
for way in 'copies 0' 'host 0' 'direct 2' 'direct 48'; do grep -qx "$way" <<<"$ways" || fail "a team's search did not try $way: $ways"; done
grep -q 'trying what was best for' team.out || fail "a team's search does not ask what was best for one device: $(cat team.out)"
"$kftune" run --config team.json --device cpu:1 --steps 1 --picture none --output team-one >team-one.out 2>&1 || fail "one device does not run what was tuned for two: $(tail -n 2 team-one.out)"

"$kftune" run --scene plume --devices cpu:1,cpu:1 --steps 2 --output flat >flat.out 2>&1 && fail "stable fluids run on a team"
grep -q 'runs on one device' flat.out || fail "what stable fluids say of a team: $(cat flat.out)"
"$kftune" run --scene ball --device cpu --devices cpu,cpu --steps 2 >both.out 2>&1 && fail "--device and --devices at once"
grep -q 'not both' both.out || fail "what --device and --devices at once give: $(cat both.out)"
echo "teams.sh: the same on one, two and three parts, byte for byte"
