#!/bin/sh
# Linters, types and import rules of the backend, shell scripts, docker-compose.yml: check.sh BIN, the folder of the tools.
set -eu
bin=$1
(
    cd backend
    "$bin/ruff" format --quiet --check .
    "$bin/ruff" check --quiet .
    nice -n 10 "$bin/mypy" --no-error-summary
    log=$bin/../lint-imports.log
    "$bin/lint-imports" --no-logo > "$log" || {
        cat "$log"
        exit 1
    }
)
sh backend/setup/shellcheck.sh
"$bin/check-jsonschema" --quiet --builtin-schema vendor.compose-spec docker-compose.yml
