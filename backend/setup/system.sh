#!/bin/sh
# Installs the system packages that the tests use, where we are root on a Debian-like system; else says what is missing.
# Tests that lack something are skipped with one line each; NORMSTAT_REQUIRE_ALL=1 (CI) makes that a failure.
set -eu

missing=''
want() { # want PROGRAM PACKAGE
    command -v "$1" > /dev/null 2>&1 || missing="$missing $2"
}
want chromium chromium
want shellcheck shellcheck
want checkbashisms devscripts
want dash dash
want ksh93 ksh93u+m
want mksh mksh
want busybox busybox
want yash yash
want mawk mawk
want gawk gawk
want dpkg-deb dpkg
want rpmbuild rpm
want vmstat procps
want pidstat sysstat
want curl curl
want wget wget
want perl perl
want git git
want mmdebstrap mmdebstrap
# The page's numbers must be readable in the screenshots.
[ -d /usr/share/fonts/truetype/dejavu ] || missing="$missing fonts-dejavu-core"

[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null 2>&1; then
    echo "installing for the tests:$missing"
    log=$(mktemp)
    # shellcheck disable=SC2086  # a list of package names
    if apt-get update -qq > "$log" 2>&1 &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >> "$log" 2>&1; then
        rm -f "$log"
        exit 0
    fi
    tail -n 5 "$log" >&2
    rm -f "$log"
fi
echo "not installed, tests that need it are skipped:$missing"
