#!/bin/sh
# Linters, types and import rules of the backend, shell scripts, the parts of the agent, docker-compose.yml: check.sh BIN [PACKAGE ...]
# BIN is the folder of the tools. With packages, types are checked in these only: tests and benchmarks take a third of it.
set -eu
bin=$1
shift
(
    cd backend
    "$bin/ruff" format --quiet --check .
    "$bin/ruff" check --quiet .
    nice -n 10 "$bin/mypy" --no-error-summary "$@"
    log=$bin/../lint-imports.log
    "$bin/lint-imports" --no-logo > "$log" || {
        cat "$log"
        exit 1
    }
)
sh backend/setup/shellcheck.sh
sh backend/setup/agent_parts.sh
"$bin/check-jsonschema" --quiet --builtin-schema vendor.compose-spec docker-compose.yml
