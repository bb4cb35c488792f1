#!/bin/sh
# Checks every shell script of the tree, where shellcheck is installed.
set -eu
if ! command -v shellcheck > /dev/null 2>&1; then
    if [ "${NORMSTAT_REQUIRE_ALL:-0}" = 1 ]; then
        echo "shellcheck is not installed" >&2
        exit 1
    fi
    echo "skipped: shellcheck is not installed"
    exit 0
fi
for script in agents/tests/fakebin/sunos/*; do
    [ -h "$script" ] || set -- "$@" "$script"
done
shellcheck -s sh agents/build.sh agents/src/sampler-clock.sh agents/install/*.sh agents/package/*.sh agents/package/solaris/* agents/tests/*.sh backend/setup/*.sh packaging/*.sh "$@"
# The parts of the agent as the one script that they become, since they use each other's variables.
cd agents/src
printf '. ./%s\n' [0-9]*.sh | shellcheck -s sh -x -a -
