#!/usr/bin/env bash
# Real launchers start campaign.sh: a Slurm of one node, as an array of which one task is requeued
# while it searches and as tasks of a step, and OpenMPI. What is found in the end is, byte for byte,
# what shards find that were started by hand.
#
#   launchers.sh ADAMANT   as root; ends with 77 where Slurm, munge or OpenMPI is missing
#
# Debian has them: slurm-wlm munge openmpi-bin.
set -euo pipefail
adamant=$(realpath "$1")
campaign=$(realpath "$(dirname "$0")/../../ci/campaign.sh")
for program in slurmctld slurmd munged mpirun.openmpi; do
  if [ "$(id -u)" != 0 ] || ! command -v "$program" >/dev/null; then
    echo "launchers: skipped: $program, for root, is not here"
    exit 77
  fi
done

work=$(mktemp -d)
end() {
  pkill -F "$work/slurmd.pid" 2>/dev/null || true
  pkill -F "$work/slurmctld.pid" 2>/dev/null || true
  pkill -F "$work/munged.pid" 2>/dev/null || true
  sleep 1
  rm -rf "$work"
}
trap end EXIT
cd "$work"

start_slurm() {
  head -c 1024 /dev/urandom >munge.key
  chmod 700 "$work" && chmod 600 munge.key
  munged --force --key-file="$work/munge.key" --socket="$work/munge.socket" \
    --pid-file="$work/munged.pid" --log-file="$work/munged.log" --seed-file="$work/munge.seed"
  cat >slurm.conf <<END
ClusterName=one
SlurmctldHost=localhost
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmUser=root
SlurmdUser=root
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1
MpiDefault=none
NodeName=localhost CPUs=4
PartitionName=all Nodes=localhost Default=YES
END
  mkdir state spool
  export SLURM_CONF=$work/slurm.conf
  slurmctld
  slurmd -N localhost
  for _ in $(seq 60); do
    [ "$(sinfo -h -o %t)" != idle ] || return 0
    sleep 1
  done
  cat slurmctld.log slurmd.log >&2
  return 1
}

# What is found depends on these alone.
export ADAMANT=$adamant CASES=6000 SEED=3 JOBS=1
planted=(--bug te_2795)

merged() {  # CAMPAIGN: all that a merge says and writes
  mv "$1" campaign
  "$adamant" merge campaign --out found --json ledger.json >said || [ $? = 1 ]
  cat said ledger.json
  tail -n +1 found/*
  rm -r campaign found
}

by_hand() {
  for shard in 0 1 2; do
    CAMPAIGN=by_hand SHARD=$shard/3 sh "$campaign" "${planted[@]}" >/dev/null
  done
}

slurm_array() {
  export CAMPAIGN=slurm_array
  local job
  job=$(sbatch --parsable --array=0-2 --output=%a.out "$campaign" "${planted[@]}")
  for _ in $(seq 600); do
    [ ! -s slurm_array/1-of-3/journal.jsonl ] || break
    sleep 0.1
  done
  scontrol requeue "${job}_1"
  scontrol update JobId="${job}_1" StartTime=now
  for _ in $(seq 300); do
    [ -n "$(squeue -h -j "$job")" ] || break
    sleep 1
    scontrol update JobId="${job}_1" StartTime=now 2>/dev/null || true
  done
  grep -q 'slurm_array/1-of-3 goes on after' 1.out || {
    echo "launchers: the requeued shard did not go on: $(cat 1.out)" >&2
    return 1
  }
}

slurm_step() {
  CAMPAIGN=slurm_step srun -n 3 sh "$campaign" "${planted[@]}" >/dev/null
}

openmpi() {
  CAMPAIGN=openmpi mpirun.openmpi --allow-run-as-root --oversubscribe -n 3 \
    sh "$campaign" "${planted[@]}" >/dev/null
}

start_slurm
by_hand
merged by_hand >expected
for launcher in slurm_array slurm_step openmpi; do
  "$launcher"
  merged "$launcher" >"$launcher.merged"
  cmp expected "$launcher.merged" || {
    diff expected "$launcher.merged" | head -20 >&2
    exit 1
  }
  echo "launchers: $launcher: as by hand"
done
