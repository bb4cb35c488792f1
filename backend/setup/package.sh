#!/bin/sh
# Installs normstat itself into the virtual environment, editable: package.sh VENV. No network: the lock file brought everything.
set -eu
venv=$1
log=$venv/package.log
if ! "$venv/bin/pip" install --quiet --no-deps --no-build-isolation --no-index -e backend > "$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
