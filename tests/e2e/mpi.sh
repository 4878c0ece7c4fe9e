#!/bin/bash
# Tests runs of several processes under mpirun. They write the files of one device, byte for byte, and restart with
# another number of processes. When a rank is killed or stopped, the run ends on all ranks within 10 s with a line each,
# and the last checkpoint is complete. Without MPI one line says what to install. KFTUNE: the program; KFTUNE_SCRATCH: a
# folder to write into. Skipped where there is no mpirun.
. "$(dirname "$0")/ranks.bash"

OMPI_COMM_WORLD_SIZE=2 KFTUNE_MPICC=/nowhere/mpicc "$kftune" run --scene ball --devices cpu --steps 2 >none.out 2>&1
[ $? -eq 3 ] && grep -q 'install openmpi-bin' none.out || fail "without MPI: $(cat none.out)"

skip_without_mpi
unseen="--picture none" # of a run whose fields and checkpoint are compared
tuned ball ball --fix boundary_kernels=0 --grid 40x24x24
probes=(--probe wake=2L,0,0.5L --probe line=-1L,0,-1L:2L,0,1L --probe taps=surface) # lines from part to part
run ball one --device cpu:1 --steps 10 --every 5 "${probes[@]}"
mpi 4 ball four --devices cpu:1 --steps 10 --every 5 "${probes[@]}"
mpi 2 ball pairs --devices cpu:1,cpu:1,cpu:1,cpu:1 --steps 10 --every 5 $unseen
same one four 000010
same one pairs 000010
cmp one/speed_000010.png four/speed_000010.png || fail "four ranks draw another picture"
for probe in wake line taps; do cmp one/probe_$probe.csv four/probe_$probe.csv || fail "four ranks write another probe_$probe.csv"; done
mpi 3 ball begun --devices cpu:1 --steps 5 --every 5 $unseen
mpi 2 ball gone-on --devices cpu:1 --steps 5 --every 5 $unseen --restart begun/checkpoint_000005.kfc
cmp one/checkpoint_000010.kfc gone-on/checkpoint_000010.kfc || fail "a restart on other ranks goes another way"
grep -q '4 x ' four.out || fail "the run does not say on how many devices it was: $(tail -n 1 four.out)"

# Smoke moves on all ranks, and the first one draws it, with planes read in place and with boxes.
run ball smoke --device cpu:1 --steps 24 --every 24 --smoke --smoke-size 320x180 $unseen
mpi 2 ball smoke-two --devices cpu:1 --steps 24 --every 24 --smoke --smoke-size 320x180 $unseen
same smoke smoke-two 000024
cmp smoke/smoke_000024.png smoke-two/smoke_000024.png || fail "two ranks draw other smoke"

# Boxes, two of them along y, run on one device, on four and on two ranks, and continue from one number to the other.
devices=cpu:1,cpu:1 tuned boxes ball --fix boundary_kernels=0 --grid 40x24x24 --fix transfer=copies --fix parts_y=2
run boxes boxes-one --device cpu:1 --steps 10 --every 5 $unseen "${probes[@]}"
mpi 4 boxes boxes-four --devices cpu:1 --steps 10 --every 5 $unseen "${probes[@]}"
same boxes-one boxes-four 000010
cmp boxes-one/probe_line.csv boxes-four/probe_line.csv || fail "four ranks with a box each write another probe_line.csv"
mpi 4 boxes boxes-smoke --devices cpu:1 --steps 24 --every 24 --smoke --smoke-size 320x180 $unseen --fields none
cmp smoke/smoke_000024.png boxes-smoke/smoke_000024.png || fail "four ranks with a box each draw other smoke"
mpi 4 boxes boxes-begun --devices cpu:1 --steps 5 --every 5 $unseen --fields none
mpi 2 boxes boxes-on --devices cpu:1 --steps 5 --every 5 $unseen --fields none --restart boxes-begun/checkpoint_000005.kfc
cmp boxes-one/checkpoint_000010.kfc boxes-on/checkpoint_000010.kfc || fail "boxes go another way on other ranks"
devices=cpu:1,cpu:1 tuned host ball --fix boundary_kernels=0 --grid 40x24x24 --fix transfer=host --fix parts_y=2
run host host-one --device cpu:1 --steps 7 --every 7 $unseen
mpi 4 host host-four --devices cpu:1 --steps 7 --every 7 $unseen
same host-one host-four 000007

# Plans that only a GPU would choose, periodic domains and moving solids are covered by unit tests, started as two
# processes. They choose the compiler themselves, so that they find the kernels that they compiled on their own.
for test in test_team test_team_links test_d2q9_team test_sph_team test_sph_parcels; do
    program=$(dirname "$kftune")/tests/$test
    [ -x "$program" ] || continue
    env -u KFTUNE_CC timeout 600 mpirun -n 2 "$program" >unit.out 2>&1 || fail "$test as two processes: $(grep -v '^---' unit.out | tail -n 12)"
done
tuned torus torus --fix boundary_kernels=0 --grid 40x24x24
run torus torus-one --device cpu:1 --steps 11 --every 11 $unseen
mpi 2 torus torus-two --devices cpu:1 --steps 11 --every 11 $unseen
same torus-one torus-two 000011

# In two dimensions, a run restarts with another number of ranks.
plan=pull tuned cylinder cylinder2d --grid 64x32x1 --system d2q9 --fix folded_boundary=false
run cylinder cylinder-one --device cpu:1 --steps 40 --every 40 $unseen
mpi 3 cylinder cylinder-three --devices cpu:1 --steps 40 --every 40 $unseen
same cylinder-one cylinder-three 000040
mpi 3 cylinder cylinder-begun --devices cpu:1 --steps 15 --every 15 $unseen
mpi 2 cylinder cylinder-on --devices cpu:1 --steps 25 --every 25 $unseen --restart cylinder-begun/checkpoint_000015.kfc
cmp cylinder-one/checkpoint_000040.kfc cylinder-on/checkpoint_000040.kfc || fail "d2q9 goes another way on other ranks"

# Particles are read in place or sent through the host.
water 1 water-one 30
water 2 water-two 30
same_water water-one water-two 000030
cmp water-one/checkpoint_000030.kfc water-two/checkpoint_000030.kfc || fail "two ranks keep other particles"
water 3 water-host 30 --fix transfer=host
same_water water-one water-host 000030

# A rank is killed, and one is stopped. The run continues from its last checkpoint without a difference.
fault KILL 'process RANK\) was killed; the run ends here' ball 3
fault STOP 'process RANK\) is stopped; the run ends here' ball 3

# A mistake is reported once, before the processes know each other and after. Which process finds it first, and which
# one mpirun ends for that, is random.
mistaken() { # RANKS WORDS OPTION...
    local ranks=$1 words=$2
    shift 2
    timeout 300 mpirun -n "$ranks" "$kftune" run "$@" >mistaken.out 2>&1 && fail "$*: it runs"
    [ "$(grep -c "kftune: .*$words" mistaken.out)" -eq 1 ] || fail "$*: not said once: $(grep kftune: mistaken.out | tail -n 5)"
}
for ranks in 2 4 4; do
    mistaken $ranks nothing.json --config nothing.json --devices cpu:1
    mistaken $ranks 'unknown option' --scene ball --devices cpu:1 --nothing
    mistaken $ranks 'number of threads' --scene ball --devices cpu:1x
done
# The first process writes its message, however late. The other one ends after it, because mpirun ends all with the
# first that ends.
cat >late-words <<'END'
#!/bin/bash
# The message goes into a pipe that is full, and that nobody reads for two seconds.
exec 2> >(trap '' TERM HUP; sleep 2; cat >late.part && mv late.part late.txt)
head -c 65536 /dev/zero >&2
exec "$@"
END
chmod +x late-words
late=(run --config nothing.json --devices cpu:1)
timeout 300 mpirun -n 1 ./late-words "$kftune" "${late[@]}" : -n 1 "$kftune" "${late[@]}" >mistaken.out 2>&1 && fail "a mistake that is said late: it runs"
for ((looks = 0; looks < 600; looks++)); do [ ! -f late.txt ] || break; sleep 0.1; done
tr -d '\0' <late.txt | grep -q '^kftune: nothing.json: ' || fail "the other did not wait for the mistake to be said: $(grep kftune: mistaken.out)"
# A scene that the host cannot hold is refused before MPI begins, as by one process: 2580^3 nodes take at least 256 GiB.
if [ "$(awk '/MemTotal/ { print $2 }' /proc/meminfo)" -lt $((250 << 20)) ]; then
    mistaken 2 'nodes, which take 256 GiB at least' --scene ball --grid 2580x2580x2580 --devices cpu:1 --output vast
    [ ! -e vast ] || fail "a scene that is refused leaves a folder"
fi
# A mistake that one process alone finds is reported with that process's name.
alone=(run --scene ball --devices cpu:1 --steps 2)
timeout 300 mpirun -n 1 "$kftune" "${alone[@]}" : -n 1 env XDG_CACHE_HOME=/dev/null/nothing "$kftune" "${alone[@]}" >alone.out 2>&1 && fail "a rank without a cache runs"
grep -q 'kftune: rank 1 on .*XDG_CACHE_HOME' alone.out || fail "a rank without a cache: $(grep kftune: alone.out | tail -n 3)"
echo "mpi.sh: two to four ranks write what one device writes; those that die or hang end the run"
