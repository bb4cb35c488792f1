#!/bin/sh
# build.sh - builds the packages of normstat-agent, without root.
#
# Usage:  build.sh deb|rpm DIR        writes normstat-agent_VERSION_all.deb or normstat-agent-VERSION-1.noarch.rpm into DIR
# Needs dpkg-deb or rpmbuild. The version is that of the agent. Both packages install what install.sh does into /opt/normstat, and the account
# normstat-agent, whose spool and token are in /var/lib/normstat-agent.
# shellcheck disable=SC2034  # package.sh reads what is set here
set -eu

here=$(cd -- "$(dirname -- "$0")" && pwd)
agents=$(dirname -- "$here")
# shellcheck source=packaging/package.sh
. "$agents/../packaging/package.sh"

name=normstat-agent
revision=''
architecture=all
steps=$here/steps.sh
summary='ships the output of the stat tools of a host to normstat'
description='One POSIX shell script: it records the counters of /proc by itself, runs the stat tools
that stats.conf names, keeps what they print in a spool, and ships it byte for byte to a normstat server.'
settings='/opt/normstat/stats.conf
/opt/normstat/agent.conf'
# Not /opt/normstat: install.sh keeps the spool and the token of root's agent there.
own_folder=''
compression=xz
deb_fields='Depends: util-linux, passwd
Recommends: curl | wget
Suggests: sysstat, procps'
rpm_requires='/bin/sh, util-linux, shadow-utils'

put_files() {
    install -d -m 755 "$1/opt/normstat" "$1/usr/lib/systemd/system" "$1/usr/share/doc/normstat-agent"
    install -m 755 "$agents/normstat-agent" "$1/opt/normstat/normstat-agent"
    install -m 644 "$agents/stats.conf.linux" "$1/opt/normstat/stats.conf"
    install -m 644 "$here/agent.conf" "$1/opt/normstat/agent.conf"
    install -m 644 "$agents/install/normstat-agent.service" "$1/usr/lib/systemd/system/normstat-agent.service"
    for file in "$agents/README.md" "$agents/install/normstat-agent.xml" "$agents/stats.conf.sunos"; do
        install -m 644 "$file" "$1/usr/share/doc/normstat-agent/"
    done
}

[ $# -eq 2 ] || die "usage: build.sh deb|rpm DIR"
version=$(sed -n 's/^readonly VERSION=//p' "$agents/normstat-agent")
[ -n "$version" ] || die "cannot find the version in $agents/normstat-agent"
build_package "$1" "$2"
