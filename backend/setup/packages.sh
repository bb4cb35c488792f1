#!/bin/sh
# Installs the Python packages of a lock file: packages.sh VENV LOCK_FILE.
# uv needs a tenth of pip's CPU time. It does not read pip.conf: where it gets no packages, behind a mirror say, pip installs them.
set -eu
venv=$1
lock=$2
log=$venv/uv.log

[ -x "$venv/bin/uv" ] ||
    "$venv/bin/pip" install --quiet --require-hashes -r backend/requirements-uv.lock > "$log" 2>&1 || true
if [ -x "$venv/bin/uv" ] &&
    "$venv/bin/uv" pip install --quiet --python "$venv/bin/python" --require-hashes -r "$lock" > "$log" 2>&1; then
    exit 0
fi
exec "$venv/bin/pip" install --quiet --require-hashes -r "$lock"
