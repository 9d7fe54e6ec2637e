#!/bin/sh
#SBATCH --job-name=adamant
#SBATCH --array=0-7
#SBATCH --requeue
#SBATCH --time=04:00:00
# One shard of a search that many machines share. Copy it, and start it as often as there are shards,
# by whatever you have:
#
#   sbatch campaign.sh               as a Slurm array: its size is that of --array above
#   srun -n 8 sh campaign.sh         as tasks of a Slurm job
#   mpirun -n 8 sh campaign.sh       OpenMPI, MPICH, Intel MPI
#   kubernetes.yml                   as an indexed job
#   torchrun, and what else sets RANK and WORLD_SIZE
#   SHARD=3/8 sh campaign.sh         anything else: shards 0/8 to 7/8, in any order, at any time
#
#   ADAMANT    the program; default: adamant
#   CAMPAIGN   a folder that all shards see; default: adamant-campaign
#   SEED       of the search; default: that of the folder, or else drawn
#   CASES      of all shards together; default: 1000000
#   SHARDS     how many there are, where the launcher says only which one this is (PMIx, Kubernetes)
#   JOBS       worker processes of one shard; default: one for each core that it may use
#
# What stands behind its name on the command line goes to `adamant fuzz`, such as --engine torch.
#
# A shard that was killed goes on where it was: start the same again. When all have ended, or at any
# time before, `adamant merge adamant-campaign` says what was found and what the search was worth.
#
# It ends with 0 whether or not something was found, because launchers take all shards down where one
# ends otherwise; with 2 where the folder cannot be written, and with 3 where something is missing.
set -u

unsized=
is_one_of() {  # NAME RANK SIZE: what a launcher says, or nothing; the first that says both counts
  if [ -n "$2" ] && [ -n "$3" ]; then
    SHARD=${SHARD:-$2/$3}
  elif [ -n "$2" ]; then
    unsized=${unsized:-$1}
  fi
}
if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
  is_one_of SLURM_ARRAY_TASK_ID $(((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN) / ${SLURM_ARRAY_TASK_STEP:-1})) \
    "$SLURM_ARRAY_TASK_COUNT"
fi
is_one_of OMPI_COMM_WORLD_RANK "${OMPI_COMM_WORLD_RANK:-}" "${OMPI_COMM_WORLD_SIZE:-}"
is_one_of PMI_RANK "${PMI_RANK:-}" "${PMI_SIZE:-}"
# A batch script has a SLURM_PROCID too, but is no task of a step.
[ -z "${SLURM_STEP_ID:-}" ] || is_one_of SLURM_PROCID "$SLURM_PROCID" "$SLURM_STEP_NUM_TASKS"
is_one_of PMIX_RANK "${PMIX_RANK:-}" "${SHARDS:-}"
is_one_of JOB_COMPLETION_INDEX "${JOB_COMPLETION_INDEX:-}" "${SHARDS:-}"
is_one_of RANK "${RANK:-}" "${WORLD_SIZE:-}"
if [ -z "${SHARD:-}" ] && [ -n "$unsized" ]; then
  echo "campaign.sh: $unsized says which shard this is, and nothing says of how many; set SHARDS, such as 8" >&2
  exit 2
elif [ -z "${SHARD:-}" ]; then
  echo "campaign.sh: no launcher says which shard this is; set SHARD, such as 3/8" >&2
  exit 2
fi
jobs=${JOBS:-${SLURM_CPUS_PER_TASK:-}}

status=0
"${ADAMANT:-adamant}" fuzz --campaign "${CAMPAIGN:-adamant-campaign}" --shard "$SHARD" \
  --cases "${CASES:-1000000}" ${SEED:+--seed "$SEED"} ${jobs:+--jobs "$jobs"} "$@" || status=$?
[ "$status" -ne 1 ] || status=0
exit "$status"
