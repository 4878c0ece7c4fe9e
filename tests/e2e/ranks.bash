# Runs under mpirun and comparisons of their files, which mpi.sh, hosts.sh and ranks-tune.sh source. KFTUNE: the
# program; KFTUNE_SCRATCH: a folder to write into, in which the test is from here on. apart: a library that makes every
# process of mpirun report a host of its own (other-host.c); empty: all are on one host.
set -u
kftune=${KFTUNE:?KFTUNE must name the program}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/quick-compiler.bash"
cd "${KFTUNE_SCRATCH:-$(mktemp -d)}" || exit 3
fail() { echo "$(basename "$0"): $*" >&2; exit 1; }
skip_without_mpi() {
    command -v mpirun >/dev/null && command -v mpicc >/dev/null || { echo "$(basename "$0"): skipped, mpirun or mpicc is not installed"; exit 77; }
}
make_other_host() { # in $PWD/other-host.so, for apart
    mpicc -O1 -fPIC -shared -o other-host.so "$here/other-host.c" || fail "other-host.c cannot be compiled"
}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader \
    OMPI_MCA_orte_tmpdir_base=/tmp OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1

tuned() { # NAME SCENE OPTION...
    local name=$1 scene=$2
    shift 2
    "$kftune" tune --scene "$scene" --devices "${devices:-cpu:1}" --budget 1evals --fix "plan=${plan:-fused}" --effort 0.01 --rounds 0 --store store.db --out "$name.json" "$@" \
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
    timeout 600 mpirun -n "$ranks" ${apart:+env LD_PRELOAD="$apart"} "$kftune" run --config "$config.json" --output "$folder" "$@" >"$folder.out" 2>&1 ||
        fail "$ranks ranks, $folder: $(grep kftune: "$folder.out" | tail -n 3)"
}
same() { # FOLDER OTHER STEP
    local file
    for file in "fields_$3.vtkhdf" "checkpoint_$3.kfc"; do
        cmp "$1/$file" "$2/$file" || fail "$2 has another $file than $1"
    done
    [ ! -f "$1/forces.csv" ] || cmp "$1/forces.csv" "$2/forces.csv" || fail "$2 feels other forces than $1"
}

water() { # RANKS FOLDER STEPS OPTION...
    local ranks=$1 folder=$2 steps=$3
    shift 3
    timeout 600 mpirun -n "$ranks" ${apart:+env LD_PRELOAD="$apart"} "$kftune" run --scene dam_break_2d --grid 60x60x1 --devices cpu:1 --output "$folder" --steps "$steps" \
        --every "$steps" --picture none "$@" >"$folder.out" 2>&1 || fail "$folder: $(grep -E 'kftune:|signal' "$folder.out" | tail -n 3)"
}
same_water() { # FOLDER OTHER STEP
    local file
    for file in "particles_$3.vtkhdf" energy.csv gauges.csv runout.csv; do
        cmp "$1/$file" "$2/$file" || fail "$2 has another $file than $1"
    done
}

# Of four ranks the second gets a signal. At least this many lines say what has happened, with RANK in the words as its
# process.
fault() { # SIGNAL WORDS CONFIG LINES
    local folder=fault-$1 config=$3 ranks=4 mpirun rank begin checkpoint
    # timeout would be the parent of mpirun, whose children are the ranks.
    mpirun -n $ranks ${apart:+env LD_PRELOAD="$apart"} "$kftune" run --config "$config.json" --output "$folder" --devices cpu:1 --steps 100000000 --every 100000000 \
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
    [ "$(grep -cE "${2//RANK/$rank}" "$folder.out")" -ge "$4" ] ||
        fail "signal $1: not every rank said so: $(grep kftune: "$folder.out" | tail -n 5)"
    # A process that hears of the failure from another one names the failed process, but not its source.
    grep -E ': rank .*: rank .*: rank ' "$folder.out" && fail "signal $1: a line tells of three ranks"
    checkpoint=$(printf '%s\n' "$folder"/checkpoint_*.kfc | tail -n 1)
    local step=${checkpoint##*checkpoint_}
    step=$((10#${step%.kfc}))
    local end=$((step + 5)) saved
    saved=checkpoint_$(printf %06d $end).kfc
    run "$config" "$folder-on" --device cpu:1 --steps 5 --restart "$checkpoint" --every 100000000 --picture none --fields none
    run "$config" "$folder-one" --device cpu:1 --steps $end --every 100000000 --picture none --fields none
    cmp "$folder-on/$saved" "$folder-one/$saved" || fail "signal $1: the checkpoint leads elsewhere"
}
