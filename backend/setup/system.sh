#!/bin/sh
# Installs the system packages that the tests use, where we are root on a Debian-like system; else says what is missing.
# Tests that lack something are skipped with one line each; NORMSTAT_REQUIRE_ALL=1 (CI) makes that a failure.
set -eu

missing=''
want() { # want PROGRAM PACKAGE
    command -v "$1" > /dev/null 2>&1 || missing="$missing $2"
}
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
want systemd-analyze systemd
# The page's numbers must be readable in the screenshots.
[ -d /usr/share/fonts/truetype/dejavu ] || missing="$missing fonts-dejavu-core"

# Chromium without windows takes half the CPU for a page. Not every distribution has it: the whole Chromium does as well.
browser=''
command -v chromium-headless-shell > /dev/null 2>&1 || browser=chromium-headless-shell

[ -n "$missing$browser" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null 2>&1; then
    echo "installing for the tests:$missing${browser:+ $browser}"
    log=$(mktemp)
    if apt-get update -qq > "$log" 2>&1; then
        if [ -n "$browser" ] && ! apt-cache show "$browser" > /dev/null 2>&1; then
            browser=''
            want chromium chromium
        fi
        # shellcheck disable=SC2086  # a list of package names
        if DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing $browser >> "$log" 2>&1; then
            rm -f "$log"
            exit 0
        fi
    fi
    tail -n 5 "$log" >&2
    rm -f "$log"
fi
[ -z "$browser" ] || want chromium chromium-headless-shell
[ -z "$missing" ] || echo "not installed, tests that need it are skipped:$missing"
