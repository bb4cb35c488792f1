#!/bin/sh
# Runs a command; prints what its stages cost, and repeats the lines that name what failed: report.sh LOG COMMAND [ARGUMENT ...]
set -eu
log=$1
shift
mkdir -p "$(dirname "$log")"
rm -f "$log.status"
NORMSTAT_STAGES=$log.stages
export NORMSTAT_STAGES
: > "$NORMSTAT_STAGES"
begin=$(date +%s)
# A pipe has the status of its last command, so the first one writes its own down.
{
    status=0
    "$@" 2>&1 || status=$?
    echo "$status" > "$log.status"
} | tee "$log"
status=$(cat "$log.status")
awk -F '\t' -v wall=$(($(date +%s) - begin)) '
    BEGIN { printf "%-16s %8s %8s\n", "stage", "wall s", "CPU s" }
    { printf "%-16s %8d %8d%s\n", $1, $2, $3, $4 == 0 ? "" : "  failed"; cpu += $3 }
    END { printf "%-16s %8d %8d\n", "all", wall, cpu }' "$NORMSTAT_STAGES"
if [ "$status" != 0 ]; then
    echo "What failed:"
    # The lines of pytest, vitest, Playwright, mypy and make.
    grep -aE '^(FAILED|ERROR) |^ *FAIL |^ +[0-9]+\) .* › |: error: |\*\*\* ' "$log" | cut -c 1-400 | head -n 40 || true
fi
exit "$status"
