#!/bin/sh
# What `make chart` needs: chart_tools.sh VENV DIR puts helm and the package kubernetes-validate into DIR.
set -eu
venv=$1
tools=$2
mkdir -p "$tools"
"$venv/bin/pip" install --quiet --require-hashes --upgrade --target "$tools/python" -r backend/requirements-chart.lock
if command -v helm > /dev/null 2>&1; then
    ln -sf "$(command -v helm)" "$tools/helm"
elif [ ! -x "$tools/helm" ]; then
    command -v go > /dev/null 2>&1 || {
        echo "the Helm chart needs helm 3.18 or newer, or Go to build it: neither is installed" >&2
        exit 1
    }
    echo "building helm (some minutes, once) ..."
    GOBIN="$tools" go install -ldflags='-s -w' helm.sh/helm/v4/cmd/helm@v4.3.1
fi
