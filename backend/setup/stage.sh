#!/bin/sh
# Runs a step of `make test` and notes what it cost: stage.sh NAME COMMAND [ARGUMENT ...]
# A note is NAME<TAB>WALL_SECONDS<TAB>CPU_SECONDS<TAB>STATUS, CPU of all processes that were waited for; report.sh prints the notes.
# Without NORMSTAT_STAGES, the file of the notes, it only runs the command.
set -eu
name=$1
shift
[ -n "${NORMSTAT_STAGES:-}" ] || exec "$@"
begin=$(date +%s)
status=0
"$@" || status=$?
wall=$(($(date +%s) - begin))
# Not in a subshell, which has no children's times.
times > "$NORMSTAT_STAGES.$$"
cpu=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4 + 0.5) }' "$NORMSTAT_STAGES.$$")
rm -f "$NORMSTAT_STAGES.$$"
printf '%s\t%d\t%d\t%d\n' "$name" "$wall" "$cpu" "$status" >> "$NORMSTAT_STAGES"
exit "$status"
