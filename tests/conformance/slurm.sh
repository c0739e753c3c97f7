#!/bin/bash
# Workers behind a real Slurm: one node, this machine, started here with its own
# keys and ports and taken down at the end. Skipped where slurm-wlm is not installed.
set -u
export PATH=$PATH:/usr/sbin:/sbin
for tool in munged slurmctld slurmd srun sinfo; do
    command -v $tool >/dev/null || { echo "ok 1 - workers through Slurm # SKIP $tool is not installed (Debian: slurm-wlm)"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "ok 1 - workers through Slurm # SKIP slurmd wants to be started by root"; exit 0; }

dir=$(mktemp -d /tmp/gpulocw-slurm.XXXXXX)
host=$(hostname -s)
pids=()
finish() {
    [ ${#pids[@]} -gt 0 ] && kill "${pids[@]}" 2>/dev/null
    [ -f "$dir/munge/pid" ] && kill "$(cat "$dir/munge/pid")" 2>/dev/null
    wait
    rm -rf "$dir"
}
trap finish EXIT
mkdir -m 700 "$dir/munge" "$dir/state" "$dir/spool"
head -c 1024 /dev/urandom > "$dir/munge/key"; chmod 400 "$dir/munge/key"
munged --force --key-file="$dir/munge/key" --socket="$dir/munge/s" --pid-file="$dir/munge/pid" \
    --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" 2>/dev/null
port=$((20000 + $$ % 20000))
cat > "$dir/slurm.conf" <<CONF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$dir/munge/s
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MailProg=/bin/true
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SchedulerType=sched/builtin
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
KillWait=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES OverSubscribe=FORCE:4 State=UP PriorityTier=1 PreemptMode=CANCEL
PartitionName=urgent Nodes=$host State=UP PriorityTier=9 PreemptMode=OFF
CONF
export SLURM_CONF=$dir/slurm.conf
slurmctld -i -D > "$dir/slurmctld.log" 2>&1 & pids+=($!)
slurmd -D > "$dir/slurmd.log" 2>&1 & pids+=($!)
for _ in $(seq 60); do
    [ "$(sinfo -h -o %t 2>/dev/null)" = idle ] && break
    sleep 0.25
done
if [ "$(sinfo -h -o %t 2>/dev/null)" != idle ]; then
    echo "ok 1 - workers through Slurm # SKIP Slurm does not start here: $(grep -h -iE 'error|fatal' "$dir"/slurm*.log | tail -1)"
    exit 0
fi
if timeout 120 "${GPULOCW_BUILD:-build}/tests/test_dev_worker" through 'srun -n1 --quiet' > "$dir/test.log" 2>&1; then
    echo "ok 1 - a launch and a pool, their workers started by srun"
else
    sed 's/^/# /' "$dir/test.log"
    echo "not ok 1 - a launch and a pool, their workers started by srun"
fi

# Requests whose jobs are taken away while they run: the results are those of this process alone.
gpulocw=$(realpath "${GPULOCW_BUILD:-build}/gpulocw")
for i in $(seq 12); do
    echo "{\"id\":$i,\"tool\":\"sweep\",\"arguments\":{\"file\":\"kernels/atax.ptx\"}}"
done > "$dir/requests"
"$gpulocw" batch "$dir/requests" > "$dir/alone" 2> "$dir/alone.log" || sed 's/^/# /' "$dir/alone.log"
# NAME COMMAND: a batch through srun, and COMMAND again and again until it has ended, TIMES at most
disturbed() {
    local left=$3 times=0
    "$gpulocw" batch "$dir/requests" --jobs 2 --worker "srun -p all -n1 --quiet $gpulocw worker" > "$dir/there" 2> "$dir/there.log" &
    local batch=$!
    while kill -0 $batch 2>/dev/null; do
        if [ "$left" -gt 0 ] && [ -n "$(squeue -h -p all -t R)" ]; then
            eval "$2" && times=$((times + 1)) left=$((left - 1))
        fi
        sleep 0.3
    done
    wait $batch
    rc=$?
    echo "# $1: $times times"
    [ $times -gt 0 ] && [ $rc = 0 ] && python3 - "$dir/alone" "$dir/there" <<'PY'
import json, sys
def read(path):
    return [(x["id"], x["exit"], [p["time_ns"] for p in x["result"]["points"]]) for x in map(json.loads, open(path))]
a, b = read(sys.argv[1]), read(sys.argv[2])
sys.exit(0 if len(a) == 12 and a == b else 1)
PY
}
claim() { # NUMBER WHAT; the last exit code decides
    if [ "$3" = 0 ]; then echo "ok $1 - $2"; return; fi
    sed 's/^/# /' "$dir/there.log"
    python3 - "$dir/there" <<'PY'
import json, sys
for x in map(json.loads, open(sys.argv[1])):
    if x["exit"]:
        print(f"# request {x['id']}: exit {x['exit']}, {x['attempts']} attempts, {x['diagnostics']}")
PY
    echo "not ok $1 - $2"
}
disturbed "jobs cancelled" 'scancel --signal=KILL $(squeue -h -p all -t R -o %i | head -1)' 3
claim 2 "workers that are killed: nothing is lost" $?
disturbed "jobs preempted" 'srun -p urgent -n1 -c$(nproc) --exclusive --quiet true' 3
claim 3 "jobs that are preempted: nothing is lost" $?

for _ in $(seq 40); do
    [ -z "$(squeue -h)" ] && break
    sleep 0.25
done
[ -z "$(squeue -h)" ] && echo "ok 4 - no job is left in the queue" || { squeue; echo "not ok 4 - no job is left in the queue"; }
