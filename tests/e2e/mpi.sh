#!/bin/bash
# Runs of several processes under mpirun: the files of one device, byte for byte, and a restart on another number; a rank that is
# killed or stopped ends the run on all ranks within 10 s with a line each, and the last checkpoint is whole; without MPI one line
# says what to install. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into. Skipped where there is no mpirun.
set -u
kftune=${KFTUNE:?KFTUNE must name the program}
scratch=${KFTUNE_SCRATCH:-$(mktemp -d)}
cd "$scratch" || exit 3
fail() { echo "mpi.sh: $*" >&2; exit 1; }

OMPI_COMM_WORLD_SIZE=2 KFTUNE_MPICC=/nowhere/mpicc "$kftune" run --scene ball --devices cpu --steps 2 >none.out 2>&1
[ $? -eq 3 ] && grep -q 'install openmpi-bin' none.out || fail "without MPI: $(cat none.out)"

command -v mpirun >/dev/null && command -v mpicc >/dev/null || { echo "mpi.sh: skipped, mpirun or mpicc is not installed"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader \
    OMPI_MCA_orte_tmpdir_base=/tmp OMPI_MCA_hwloc_base_binding_policy=none

tuned() { # NAME SCENE OPTION...
    local name=$1 scene=$2
    shift 2
    "$kftune" tune --scene "$scene" --devices "${devices:-cpu:1}" --budget 1evals --fix "plan=${plan:-fused}" --effort 0.01 --store store.db --out "$name.json" "$@" \
        >"$name.tune" 2>&1 || fail "tuning $name: $(tail -n 2 "$name.tune")"
}
run() { # CONFIG FOLDER OPTION...
    local config=$1 folder=$2
    shift 2
    "$kftune" run --config "$config.json" --output "$folder" "$@" >"$folder.out" 2>&1 || fail "$folder: $(tail -n 2 "$folder.out")"
}
mpi() { # RANKS CONFIG FOLDER OPTION...
    local ranks=$1 config=$2 folder=$3
    shift 3
    timeout 120 mpirun -n "$ranks" "$kftune" run --config "$config.json" --output "$folder" "$@" >"$folder.out" 2>&1 ||
        fail "$ranks ranks, $folder: $(grep kftune: "$folder.out" | tail -n 3)"
}
same() { # FOLDER OTHER STEP
    local file
    for file in "fields_$3.vtkhdf" "checkpoint_$3.kfc"; do
        cmp "$1/$file" "$2/$file" || fail "$2 has another $file than $1"
    done
    [ ! -f "$1/forces.csv" ] || cmp "$1/forces.csv" "$2/forces.csv" || fail "$2 feels other forces than $1"
}

tuned ball ball --fix boundary_kernels=0 --grid 40x24x24
run ball one --device cpu:1 --steps 60 --every 30
mpi 4 ball four --devices cpu:1 --steps 60 --every 30
mpi 2 ball pairs --devices cpu:1,cpu:1,cpu:1,cpu:1 --steps 60 --every 30
same one four 000060
same one pairs 000060
mpi 3 ball begun --devices cpu:1 --steps 30 --every 30
mpi 2 ball gone-on --devices cpu:1 --steps 30 --every 30 --restart begun/checkpoint_000030.kfc
cmp one/checkpoint_000060.kfc gone-on/checkpoint_000060.kfc || fail "a restart on other ranks goes another way"
grep -q '4 x ' four.out || fail "the run does not say on how many devices it was: $(tail -n 1 four.out)"

# Smoke moves on all ranks, and the first draws it: planes read in place, and boxes.
run ball smoke --device cpu:1 --steps 60 --every 30 --smoke
mpi 2 ball smoke-two --devices cpu:1 --steps 60 --every 30 --smoke
same smoke smoke-two 000060
cmp smoke/smoke_000060.png smoke-two/smoke_000060.png || fail "two ranks draw other smoke"

# Boxes, two of them along y: on one device, four and two ranks, and from the one to the other.
devices=cpu:1,cpu:1 tuned boxes ball --fix boundary_kernels=0 --grid 40x24x24 --fix transfer=copies --fix parts_y=2
run boxes boxes-one --device cpu:1 --steps 60 --every 30
mpi 4 boxes boxes-four --devices cpu:1 --steps 60 --every 30
same boxes-one boxes-four 000060
mpi 4 boxes boxes-smoke --devices cpu:1 --steps 60 --every 30 --smoke
cmp smoke/smoke_000060.png boxes-smoke/smoke_000060.png || fail "four ranks with a box each draw other smoke"
mpi 4 boxes boxes-begun --devices cpu:1 --steps 30 --every 30
mpi 2 boxes boxes-on --devices cpu:1 --steps 30 --every 30 --restart boxes-begun/checkpoint_000030.kfc
cmp boxes-one/checkpoint_000060.kfc boxes-on/checkpoint_000060.kfc || fail "boxes go another way on other ranks"
devices=cpu:1,cpu:1 tuned host ball --fix boundary_kernels=0 --grid 40x24x24 --fix transfer=host --fix parts_y=2
run host host-one --device cpu:1 --steps 60 --every 30
mpi 4 host host-four --devices cpu:1 --steps 60 --every 30
same host-one host-four 000060

# Plans that only a GPU would choose, domains that wrap, solids that move: by the unit test, started as two processes.
for test in test_team test_d2q9_team; do
    program=$(dirname "$kftune")/tests/$test
    [ -x "$program" ] || continue
    timeout 300 mpirun -n 2 "$program" >unit.out 2>&1 || fail "$test as two processes: $(grep -v '^---' unit.out | tail -n 12)"
done
tuned torus torus --fix boundary_kernels=0 --grid 40x24x24
run torus torus-one --device cpu:1 --steps 40 --every 40
mpi 2 torus torus-two --devices cpu:1 --steps 40 --every 40
same torus-one torus-two 000040

# Two dimensions, and a restart on another number of ranks.
plan=pull tuned cylinder cylinder2d --grid 64x32x1 --system d2q9 --fix folded_boundary=false
run cylinder cylinder-one --device cpu:1 --steps 40 --every 40
mpi 3 cylinder cylinder-three --devices cpu:1 --steps 40 --every 40
same cylinder-one cylinder-three 000040
mpi 3 cylinder cylinder-begun --devices cpu:1 --steps 15 --every 15
mpi 2 cylinder cylinder-on --devices cpu:1 --steps 25 --every 25 --restart cylinder-begun/checkpoint_000015.kfc
cmp cylinder-one/checkpoint_000040.kfc cylinder-on/checkpoint_000040.kfc || fail "d2q9 goes another way on other ranks"

# A rank is killed, and one is stopped: the run goes on from its last checkpoint as if nothing had been.
fault() { # SIGNAL WORDS
    local folder=fault-$1 ranks=4 mpirun rank begin checkpoint
    # timeout would be the parent of mpirun, whose children are the ranks.
    mpirun -n $ranks "$kftune" run --config ball.json --output "$folder" --devices cpu:1 --steps 100000000 --every 100000000 \
        --checkpoint-every 1 >"$folder.out" 2>&1 &
    mpirun=$!
    for ((looks = 0; looks < 600; looks++)); do
        compgen -G "$folder/checkpoint_*.kfc" >/dev/null && break
        kill -0 $mpirun 2>/dev/null || fail "before signal $1: $(grep kftune: "$folder.out" | tail -n 3)"
        sleep 0.1
    done
    rank=$(ps -o pid= --ppid $mpirun | sed -n 2p | tr -d ' ')
    [ -n "$rank" ] || { kill $mpirun; fail "mpirun has no second rank"; }
    begin=$SECONDS
    kill "-$1" "$rank"
    wait $mpirun && fail "signal $1 to a rank, and mpirun ends with 0"
    [ $((SECONDS - begin)) -le 10 ] || fail "signal $1 to a rank: it took $((SECONDS - begin)) s to end"
    [ "$(grep -c "process $rank) $2; the run ends here" "$folder.out")" -ge $((ranks - 1)) ] ||
        fail "signal $1: not every rank said so: $(grep kftune: "$folder.out" | tail -n 5)"
    # Who hears of it from a third says the same, not also from whom.
    grep -E ': rank .*: rank .*: rank ' "$folder.out" && fail "signal $1: a line tells of three ranks"
    checkpoint=$(printf '%s\n' "$folder"/checkpoint_*.kfc | tail -n 1)
    local step=${checkpoint##*checkpoint_}
    step=$((10#${step%.kfc}))
    run ball "$folder-on" --device cpu:1 --steps $((((step / 100 + 1) * 100) - step)) --restart "$checkpoint" --every 100000000
    run ball "$folder-one" --device cpu:1 --steps $(((step / 100 + 1) * 100)) --every 100000000
    cmp "$folder-on/checkpoint_$(printf %06d $(((step / 100 + 1) * 100))).kfc" \
        "$folder-one/checkpoint_$(printf %06d $(((step / 100 + 1) * 100))).kfc" || fail "signal $1: the checkpoint leads elsewhere"
}
fault KILL 'was killed'
fault STOP 'is stopped'

timeout 60 mpirun -n 2 "$kftune" run --config nothing.json --devices cpu:1 >missing.out 2>&1 && fail "a config that is missing runs"
[ "$(grep -c 'kftune: .*nothing.json' missing.out)" -eq 1 ] || fail "a mistake is said more than once: $(cat missing.out)"
echo "mpi.sh: two to four ranks write what one device writes; those that die or hang end the run"
