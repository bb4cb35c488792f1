#!/bin/sh
# The normstat command with the settings of the server beside it; what the environment says wins.
export NORMSTAT_ENV_FILE="${NORMSTAT_ENV_FILE-/etc/normstat/normstat.env}"
exec /opt/normstat-server/bin/normstat "$@"
