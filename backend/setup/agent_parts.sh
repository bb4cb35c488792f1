#!/bin/sh
# Checks that the delivered agent is built from its parts, and the syntax of those that are no shell scripts (shellcheck.sh has these).
set -eu
sh agents/build.sh | cmp - agents/normstat-agent || {
    echo "agents/normstat-agent differs from its parts in agents/src: change the parts, then run make agent" >&2
    exit 1
}
if command -v perl > /dev/null 2>&1; then
    perl -Mstrict -Mwarnings=FATAL,all -c agents/src/request.pl 2>&1 | grep -vx 'agents/src/request.pl syntax OK' >&2 && exit 1
fi
# Without a tick on standard input a program ends at once.
for awk in mawk 'gawk --lint=fatal' 'busybox awk' original-awk; do
    command -v "${awk%% *}" > /dev/null 2>&1 || continue
    for program in agents/src/*.awk; do
        $awk -f "$program" 5 < /dev/null
    done
done
