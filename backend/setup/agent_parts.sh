#!/bin/sh
# Checks that the delivered agent is built from all of its parts, and the syntax of those that are not shell scripts (shellcheck.sh has these).
set -eu
sh agents/build.sh | cmp - agents/normstat-agent || {
    echo "agents/normstat-agent differs from its parts in agents/src: change the parts, then run make agent" >&2
    exit 1
}
for part in agents/src/*; do
    case $part in
    */[0-9][0-9]-*.sh) ;;
    *)
        grep -q "='@${part##*/}@'\$" agents/src/[0-9][0-9]-*.sh || {
            echo "$part is in no part of the agent: name it NN-name.sh, or put it in with a line NAME='@${part##*/}@'" >&2
            exit 1
        }
        ;;
    esac
done
twice=$(sed -n 's/^\([a-z_]*\)() {$/\1/p' agents/src/[0-9][0-9]-*.sh | sort | uniq -d)
if [ -n "$twice" ]; then
    echo "two parts of the agent define: $twice" >&2
    exit 1
fi
if command -v perl > /dev/null 2>&1; then
    for part in agents/src/*.pl; do
        perl -Mstrict -Mwarnings=FATAL,all -c "$part" 2>&1 | grep -vx "$part syntax OK" >&2 && exit 1
    done
fi
# Without a tick on standard input a program ends at once. That of processes has two parts.
for awk in mawk 'gawk --lint=fatal' 'busybox awk' original-awk; do
    command -v "${awk%% *}" > /dev/null 2>&1 || continue
    $awk -f agents/src/sampler-system.awk 5 < /dev/null
    $awk -f agents/src/sampler-processes.awk -f agents/src/sampler-cgroups.awk 5 < /dev/null
done
