#!/bin/sh
# Makes the virtual environment: venv.sh PYTHON VENV. Needs Python >= 3.11; says what to install otherwise.
set -eu
python=$1
venv=$2

# A newer Python under its own name serves where plain python3 is too old.
for candidate in "$python" python3.14 python3.13 python3.12 python3.11; do
    if command -v "$candidate" > /dev/null 2>&1 &&
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
        found=$candidate
        break
    fi
done
if [ -z "${found:-}" ]; then
    echo "normstat needs Python 3.11 or newer; install it, or name it: make PYTHON=/path/to/python3 ..." >&2
    exit 1
fi
if "$found" -c 'import ensurepip' 2> /dev/null; then
    "$found" -m venv --clear "$venv"
elif [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null 2>&1; then
    echo "installing python3-venv ..."
    apt-get update -qq > /dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv > /dev/null
    "$found" -m venv --clear "$venv"
else
    echo "$found cannot make virtual environments; install the package python3-venv" >&2
    exit 1
fi
