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
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SchedulerType=sched/builtin
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES OverSubscribe=FORCE:4 State=UP
CONF
export SLURM_CONF=$dir/slurm.conf
slurmctld -i -D > "$dir/slurmctld.log" 2>&1 & pids+=($!)
slurmd -D > "$dir/slurmd.log" 2>&1 & pids+=($!)
for _ in $(seq 60); do
    [ "$(sinfo -h -o %t 2>/dev/null)" = idle ] && break
    sleep 0.25
done
if [ "$(sinfo -h -o %t 2>/dev/null)" != idle ]; then
    echo "ok 1 - workers through Slurm # SKIP Slurm does not start here: $(grep -h -m1 -iE 'error|fatal' "$dir"/slurm*.log)"
    exit 0
fi
if timeout 120 "${GPULOCW_BUILD:-build}/tests/test_dev_worker" through 'srun -n1 --quiet' > "$dir/test.log" 2>&1; then
    echo "ok 1 - a launch and a pool, their workers started by srun"
else
    sed 's/^/# /' "$dir/test.log"
    echo "not ok 1 - a launch and a pool, their workers started by srun"
fi
for _ in $(seq 40); do
    [ -z "$(squeue -h)" ] && break
    sleep 0.25
done
[ -z "$(squeue -h)" ] && echo "ok 2 - no job is left in the queue" || { squeue; echo "not ok 2 - no job is left in the queue"; }
