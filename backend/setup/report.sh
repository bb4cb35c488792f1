#!/bin/sh
# Runs a command; when it fails, repeats the lines that name what failed: report.sh LOG COMMAND [ARGUMENT ...]
set -eu
log=$1
shift
mkdir -p "$(dirname "$log")"
rm -f "$log.status"
# A pipe has the status of its last command, so the first one writes its own down.
{
    status=0
    "$@" 2>&1 || status=$?
    echo "$status" > "$log.status"
} | tee "$log"
status=$(cat "$log.status")
if [ "$status" != 0 ]; then
    echo "What failed:"
    # The lines of pytest, vitest, Playwright, mypy and make.
    grep -aE '^(FAILED|ERROR) |^ *FAIL |^ +[0-9]+\) .* › |: error: |\*\*\* ' "$log" | cut -c 1-400 | head -n 40 || true
fi
exit "$status"
