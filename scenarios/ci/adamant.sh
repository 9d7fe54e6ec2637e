#!/bin/sh
# Scenarios and a search in any CI. Copy it, and call it from the folder of your project.
#
#   ADAMANT    the program; default: adamant
#   ENGINE     your engine, as --engine takes it: torch, or exec:COMMAND; default: what each
#              scenario names
#   SCENARIOS  your scenarios, a folder or a file; default: scenarios
#   RESULTS    a folder for what CI shows and keeps; default: adamant-results
#   SHARD      the part that this job runs, I/N with I from 0; default: 0/1, which is all of them
#   SEARCH     how long the first job searches ENGINE for failures, such as 5m; default: not at all
#   SEED       of the search; default: drawn, and printed
#   KNOWN      a YAML file of your engine's known defects: the search counts them, and does not fail
#   HTML       1: also pages for people, scenarios.html and search.html
#
# It ends like adamant: 0 all is well, 1 something failed, 2 an input is broken, 3 something is
# missing here. Keep RESULTS/cache from job to job, and what failed last time runs first.
set -u
adamant=${ADAMANT:-adamant}
results=${RESULTS:-adamant-results}
shard=${SHARD:-0/1}
if [ -n "${SEARCH:-}" ] && [ -z "${ENGINE:-}" ]; then
  echo "SEARCH needs ENGINE: without one it would search adamant's own engine" >&2
  exit 2
fi
mkdir -p "$results" || exit 2

status=0
"$adamant" run "${SCENARIOS:-scenarios}" ${ENGINE:+--engine "$ENGINE"} --shard "$shard" \
  --timeout 600 --cache "$results/cache" --junit "$results/scenarios.xml" \
  --json "$results/scenarios.json" ${HTML:+--html "$results/scenarios.html"} || status=$?

if [ -n "${SEARCH:-}" ] && [ "${shard%%/*}" = 0 ]; then
  "$adamant" fuzz --engine "$ENGINE" ${KNOWN:+--known "$KNOWN"} --for "$SEARCH" \
    ${SEED:+--seed "$SEED"} --out "$results/found" --junit "$results/search.xml" \
    --json "$results/search.json" ${HTML:+--html "$results/search.html"}
  searched=$?
  [ "$status" -ne 0 ] || status=$searched
fi
exit "$status"
