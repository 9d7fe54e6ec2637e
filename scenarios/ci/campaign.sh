#!/bin/sh
#SBATCH --job-name=adamant
#SBATCH --array=0-7
#SBATCH --requeue
#SBATCH --time=04:00:00
# One shard of a search that many machines share. Copy it, and start it as often as there are shards,
# by whatever you have:
#
#   sbatch campaign.sh               as a Slurm array: its size is that of --array above
#   mpirun -n 8 sh campaign.sh       OpenMPI; with other launchers of MPI, by SHARD
#   SHARD=3/8 sh campaign.sh         anything else: shards 0/8 to 7/8, in any order, at any time
#
#   ADAMANT    the program; default: adamant
#   CAMPAIGN   a folder that all shards see; default: adamant-campaign
#   SEED       of the search; default: that of the folder, or else drawn
#   CASES      of all shards together; default: 1000000
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
if [ -z "${SHARD:-}" ] && [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
  SHARD=$(((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN) / ${SLURM_ARRAY_TASK_STEP:-1}))
  SHARD=$SHARD/$SLURM_ARRAY_TASK_COUNT
elif [ -z "${SHARD:-}" ] && [ -n "${OMPI_COMM_WORLD_RANK:-}" ]; then
  SHARD=$OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE
fi
if [ -z "${SHARD:-}" ]; then
  echo "campaign.sh: neither Slurm nor OpenMPI says which shard this is; set SHARD, such as 3/8" >&2
  exit 2
fi
jobs=${JOBS:-${SLURM_CPUS_PER_TASK:-}}

status=0
"${ADAMANT:-adamant}" fuzz --campaign "${CAMPAIGN:-adamant-campaign}" --shard "$SHARD" \
  --cases "${CASES:-1000000}" ${SEED:+--seed "$SEED"} ${jobs:+--jobs "$jobs"} "$@" || status=$?
[ "$status" -ne 1 ] || status=0
exit "$status"
