#!/bin/bash
# Tests runs of processes that report different hosts, so that they share no memory. They write the files of one device,
# byte for byte, with the kinetic system and d2q9. Restarts have other numbers of processes, and ranks die or hang.
# KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into. Skipped where there is no mpirun.
. "$(dirname "$0")/ranks.bash"
skip_without_mpi
make_other_host
apart=$PWD/other-host.so

for test in test_d2q9_team test_sph_parcels; do
    program=$(dirname "$kftune")/tests/$test
    [ ! -x "$program" ] || timeout 600 mpirun -n 2 env LD_PRELOAD="$apart" "$program" >unit.out 2>&1 ||
        fail "$test as two processes of two hosts: $(grep -v '^---' unit.out | tail -n 12)"
done

tuned ball ball --fix boundary_kernels=0 --grid 40x24x24
run ball one --device cpu:1 --steps 10 --every 5 --picture none
mpi 3 ball three --devices cpu:1 --steps 10 --every 5 --picture none
same one three 000010

# In two dimensions there are three hosts, two hosts with two processes each, and two with a process of three devices.
plan=pull tuned cylinder cylinder2d --grid 64x32x1 --system d2q9 --fix folded_boundary=false
run cylinder cylinder-one --device cpu:1 --steps 40 --every 20 --picture none
mpi 3 cylinder cylinder-three --devices cpu:1 --steps 40 --every 20 --picture none
same cylinder-one cylinder-three 000040
run cylinder means-one --device cpu:1 --steps 100 --every 100 --mean-from 0 --picture none
mpi 2 cylinder means-two --devices cpu:1 --steps 100 --every 100 --mean-from 0 --picture none
cmp means-one/mean_000100.vtkhdf means-two/mean_000100.vtkhdf || fail "two hosts have other means"
RANKS_OF_A_HOST=2 mpi 4 cylinder cylinder-four --devices cpu:1 --steps 40 --every 20 --picture none
same cylinder-one cylinder-four 000040
mpi 2 cylinder cylinder-six --devices cpu:1,cpu:1,cpu:1 --steps 40 --every 20 --picture none
same cylinder-one cylinder-six 000040
mpi 3 cylinder cylinder-begun --devices cpu:1 --steps 15 --every 15 --picture none
mpi 2 cylinder cylinder-on --devices cpu:1 --steps 25 --every 25 --picture none --restart cylinder-begun/checkpoint_000015.kfc
cmp cylinder-one/checkpoint_000040.kfc cylinder-on/checkpoint_000040.kfc || fail "d2q9 goes another way on other hosts"
plan=push tuned array cylinder_array2d --grid 44x44x1 --system d2q9
run array array-one --device cpu:1 --steps 41 --every 41 --picture none
mpi 4 array array-four --devices cpu:1 --steps 41 --every 41 --picture none
same array-one array-four 000041

# Particles run on three hosts, on two with two processes each, and restart on other hosts.
water 1 water-one 60
water 3 water-three 60
same_water water-one water-three 000060
RANKS_OF_A_HOST=2 water 4 water-four 40
water 2 water-on 20 --restart water-four/checkpoint_000040.kfc
cmp water-one/checkpoint_000060.kfc water-on/checkpoint_000060.kfc || fail "particles go another way on other hosts"

# What several hosts cannot do is refused in one line.
timeout 300 mpirun -n 2 env LD_PRELOAD="$apart" "$kftune" run --scene cavity2d --system d2q9 --grid 8x3x1 --devices cpu:1 --steps 2 --output few >few.out 2>&1 &&
    fail "two hosts run three rows"
[ "$(grep -c 'kftune: .*2 devices are too many for 3 rows' few.out)" -eq 1 ] || fail "three rows: $(cat few.out)"

# mpirun reports a rank that was killed on another host, and ends the others.
fault KILL 'process rank 1 .*exited on signal 9' cylinder 1
fault STOP 'process RANK\) does not answer: it or its host hangs or is gone; the run ends here' cylinder 3
echo "hosts.sh: processes of several hosts write what one device writes; those that die or hang end the run"
