#!/bin/bash
# Tests a landscape in shards, started by GNU parallel, and by Slurm where it can be started. It has the configs and
# states of the landscape of one process. Merged in any order and twice, nothing is lost and nothing doubled. A shard
# that was killed is continued. KFTUNE: the program; KFTUNE_SCRATCH: a folder to write into.
set -u
kftune=${KFTUNE:?KFTUNE must name the program}
scratch=${KFTUNE_SCRATCH:-$(mktemp -d)}
# shellcheck source=tests/e2e/quick-compiler.bash
. "$(dirname "$0")/quick-compiler.bash"
cd "$scratch" || exit 3
fail() { echo "shards.sh: $*" >&2; exit 1; }
# The varied parameters change no kernel, so that the compiler takes no time.
landscape=("$kftune" landscape --scene ball --grid 16x12x12 --device cpu:1 --fix plan=fused --fix layout=soa --fix storage=f32
    --fix collision_form=factorised --fix segment_length=16 --fix boundary_kernels=1 --fix staged_nodes=0 --effort 0.01 --configs 12)
table() { # STORE: hash and state of what was searched in all runs, sorted
    local run
    for run in $("$kftune" store list --store "$1" --json | jq -r '.runs[].run'); do
        "$kftune" store export --store "$1" --run "$run" --format csv
    done | awk -F, '$1 == "run" { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["role"] == "search" { print $at["hash"], $at["state"] }' | sort
}

"${landscape[@]}" --store whole.db >whole.out 2>&1 || fail "in one: $(tail -n 2 whole.out)"
table whole.db >whole.txt
[ "$(wc -l <whole.txt)" -ge 10 ] || fail "the landscape has $(wc -l <whole.txt) configs: $(cat whole.out)"

if command -v parallel >/dev/null; then
    parallel --will-cite -j2 --joblog jobs.log "${landscape[@]}" --shard {}/4 --journal journal --take-turns ::: 0 1 2 >jobs.out 2>&1 ||
        fail "shards under GNU parallel: $(tail -n 4 jobs.out)"
else
    echo "shards.sh: GNU parallel is not installed: shards one after the other"
    for i in 0 1 2; do "${landscape[@]}" --shard $i/4 --journal journal >jobs.out 2>&1 || fail "shard $i: $(tail -n 2 jobs.out)"; done
fi
"$kftune" store import journal --store merged.db >import.out || fail "merging: $(cat import.out)"
"$kftune" store check --store merged.db >check.out 2>&1 && fail "a missing shard is not missed: $(cat check.out)"
grep -q -- '--shard I/4 for I in 3' check.out || fail "which shard is missing: $(cat check.out)"

# The last shard is killed on its way, and continued.
"${landscape[@]}" --shard 3/4 --journal journal >killed.out 2>&1 &
shard=$!
for ((looks = 0; looks < 400; looks++)); do
    [ "$("$kftune" store list --store journal/shard-3-of-4.db --json 2>/dev/null | jq -r '.runs[0].results // 0')" -ge 2 ] 2>/dev/null && break
    kill -0 $shard 2>/dev/null || break
    sleep 0.05
done
kill -9 $shard 2>/dev/null
wait $shard 2>/dev/null
"$kftune" store import journal/shard-3-of-4.db --store merged.db >/dev/null || fail "merging a shard that was killed"
"${landscape[@]}" --shard 3/4 --journal journal --resume >resumed.out 2>&1 || fail "carrying on: $(tail -n 2 resumed.out)"
"$kftune" store import journal/shard-3-of-4.db journal/shard-0-of-4.db journal --store merged.db >/dev/null || fail "merging again"
"$kftune" store import journal --store merged.db | grep -q ' 0 runs with 0 results are new' || fail "merging twice adds something"
"$kftune" store check --store merged.db >check.out 2>&1 || fail "all is there: $(cat check.out)"
table merged.db >merged.txt
cmp whole.txt merged.txt || fail "the shards together are another landscape: $(diff whole.txt merged.txt | head -n 4)"
"$kftune" store export --store merged.db --format landscape --out merged.json || fail "the landscape cannot be exported"
[ "$(jq '.results | length' merged.json)" -ge 12 ] || fail "the exported landscape has $(jq '.results | length' merged.json) configs"

# A job that is queued again measures nothing twice: each shard reports that it is complete.
for i in 0 3; do
    before=$("$kftune" store list --store journal/shard-$i-of-4.db --json | jq -c '[.runs[] | [.uuid, .state, .results]]')
    "${landscape[@]}" --shard $i/4 --journal journal --resume >again.out 2>&1 || fail "a shard that is finished: $(tail -n 2 again.out)"
    grep -q 'all of them before' again.out || fail "a finished shard does not say so: $(tail -n 2 again.out)"
    after=$("$kftune" store list --store journal/shard-$i-of-4.db --json | jq -c '[.runs[] | [.uuid, .state, .results]]')
    [ "$before" = "$after" ] || fail "a finished shard is measured again: $before, then $after"
done
printf 'not a store' >journal/torn.db
"$kftune" store import journal/torn.db --store merged.db >torn.out 2>&1 && fail "what is no store is merged"

# A real Slurm on this machine, with a controller and a node of its own, runs the job file of docs/clusters.md as an
# array.
slurm() {
    local port=$((20000 + $$ % 20000)) folder=$PWD/slurm processors job state=
    processors=$(nproc)
    mkdir -p "$folder/state" "$folder/spool"
    cat >"$folder/slurm.conf" <<CONF
ClusterName=kftune
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
MpiDefault=none
ReturnToService=2
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$processors State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    export SLURM_CONF=$folder/slurm.conf
    slurmctld -D >"$folder/ctld.out" 2>&1 &
    controller=$!
    slurmd -D >"$folder/d.out" 2>&1 &
    node=$!
    for ((looks = 0; looks < 600; looks++)); do
        state=$(sinfo -h -o %T 2>/dev/null)
        [ "$state" = idle ] && break
        kill -0 $controller $node 2>/dev/null || break
        sleep 0.2
    done
    [ "$state" = idle ] || return 1
    cat >"$folder/job.sh" <<JOB
#!/bin/bash
#SBATCH --array=0-3%2
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --output=$folder/%a.log
${landscape[*]} --shard \$SLURM_ARRAY_TASK_ID/4 --journal $PWD/slurm-journal --take-turns --resume
JOB
    job=$(sbatch --parsable "$folder/job.sh") || return 1
    for ((looks = 0; looks < 600; looks++)); do
        [ -z "$(squeue -h -j "$job" 2>/dev/null)" ] && break
        sleep 0.2
    done
    "$kftune" store import slurm-journal --store slurm.db >slurm.out 2>&1 || fail "merging what Slurm ran: $(cat slurm.out "$folder"/*.log)"
    table slurm.db >slurm.txt
    cmp whole.txt slurm.txt || fail "Slurm's shards are another landscape: $(cat "$folder"/[0-9].log | tail -n 5)"
}
controller='' node=''
end_slurm() {
    [ -z "$node" ] || kill $node
    [ -z "$controller" ] || kill $controller
    wait 2>/dev/null
}
with=
if [ "$(id -u)" -eq 0 ] && command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v sbatch >/dev/null; then
    trap end_slurm EXIT
    if slurm; then with=', by Slurm too'; else echo "shards.sh: Slurm does not start here: $(tail -n 1 slurm/ctld.out) $(tail -n 1 slurm/d.out); skipped"; fi
else
    echo "shards.sh: no slurmctld and slurmd (apt-get install slurm-wlm), or not root: the part about Slurm is skipped"
fi

"$kftune" landscape --scene ball --shard 4/4 >wrong.out 2>&1 && fail "a shard that does not exist"
grep -q 'I from 0 to N - 1' wrong.out || fail "what a shard is: $(cat wrong.out)"
echo "shards.sh: four shards, one killed and carried on, are the landscape of one process$with"
