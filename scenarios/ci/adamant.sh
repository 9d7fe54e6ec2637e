#!/bin/sh
# Scenarios and a search in any CI. Copy it, and call it from the folder of your project.
#
#   ADAMANT    the program; default: adamant
#   SCENARIOS  your scenarios, a folder or a file; default: scenarios
#   RESULTS    a folder for what CI shows and keeps; default: adamant-results
#   SHARD      the part that this job runs, I/N with I from 0; default: 0/1, which is all of them
#   SEARCH     how long the first job searches for failures, such as 5m; default: not at all
#   SEED       of the search; default: drawn, and printed
#
# It ends like adamant: 0 all is well, 1 something failed, 2 an input is broken, 3 something is
# missing here. Keep RESULTS/cache from job to job, and what failed last time runs first.
set -u
adamant=${ADAMANT:-adamant}
results=${RESULTS:-adamant-results}
shard=${SHARD:-0/1}
mkdir -p "$results" || exit 2

status=0
"$adamant" run "${SCENARIOS:-scenarios}" --shard "$shard" --timeout 600 --cache "$results/cache" \
  --junit "$results/scenarios.xml" --json "$results/scenarios.json" || status=$?

if [ -n "${SEARCH:-}" ] && [ "${shard%%/*}" = 0 ]; then
  "$adamant" fuzz --for "$SEARCH" ${SEED:+--seed "$SEED"} --out "$results/found" \
    --junit "$results/search.xml" --json "$results/search.json"
  searched=$?
  [ "$status" -ne 0 ] || status=$searched
fi
exit "$status"
