#!/bin/sh
# build.sh - builds the packages of normstat-agent, without root.
#
# Usage:  build.sh deb|rpm|tar DIR     writes normstat-agent_VERSION_all.deb, normstat-agent-VERSION-1.noarch.rpm or normstat-agent-VERSION.tar.gz
# Needs dpkg-deb, rpmbuild or GNU tar. The version is that of the agent; what is installed where is in `files`. The packages for Linux install what
# install.sh does into /opt/normstat, and the account normstat-agent, whose spool and token are in /var/lib/normstat-agent. The archive has the
# files for Linux without a package manager, and all that pkgmk and pkgsend of Solaris read.
# shellcheck disable=SC2034  # package.sh reads what is set here
set -eu

here=$(cd -- "$(dirname -- "$0")" && pwd)
agents=$(dirname -- "$here")
# shellcheck source=packaging/package.sh
. "$agents/../packaging/package.sh"

name=normstat-agent
revision=''
licence=$(read_licence "$agents/..")
architecture=all
steps=$here/steps.sh
summary='ships the output of the stat tools of a host to normstat'
description='One POSIX shell script: it records the counters of /proc by itself, runs the stat tools
that stats.conf names, keeps what they print in a spool, and ships it byte for byte to a normstat server.'
# Not /opt/normstat: install.sh keeps the spool and the token of root's agent there.
own_folder=''
compression=xz
deb_fields='Depends: util-linux, passwd
Recommends: curl | wget
Suggests: sysstat, procps'
rpm_requires='/bin/sh, util-linux, shadow-utils'

# Prints the lines of `files` for a system, without comments.
list_entries() {
    awk -v wanted="$1" '$1 == wanted || $1 == "all"' "$here/files"
}

# $1: system, $2: folder. Puts the files of the system below the folder.
put_system() {
    list_entries "$1" | while read -r _ mode kind path source; do
        install -d -m 755 "$2${path%/*}"
        case $kind in
        manual)
            sh "$here/manual.sh" "$agents/$source" >"$2$path"
            chmod "$mode" "$2$path"
            ;;
        *) install -m "$mode" "$agents/$source" "$2$path" ;;
        esac
    done
}

put_files() {
    put_system linux "$1"
    gzip -9n "$1"/usr/share/man/man1/*
}

# The folders that belong to the package alone.
own_folders='/opt/normstat /usr/share/doc/normstat-agent'

write_prototype() {
    printf 'i %s\n' pkginfo postinstall preremove i.preserve r.preserve
    # shellcheck disable=SC2086  # folders without blanks
    printf 'd none %s 0755 root root\n' $own_folders
    list_entries solaris | while read -r _ mode kind path _; do
        case $kind in
        settings) printf 'e preserve %s 0%s root root\n' "$path" "$mode" ;;
        *) printf 'f none %s 0%s root root\n' "$path" "$mode" ;;
        esac
    done
}

write_pkginfo() {
    cat <<END
PKG=normstat-agent
NAME=normstat agent: $summary
DESC=$(printf '%s' "$description" | tr '\n' ' ')
VERSION=$version
ARCH=sparc,i386
CATEGORY=application
BASEDIR=/
CLASSES=none preserve
END
}

write_ips_manifest() {
    cat <<END
set name=pkg.fmri value=pkg:/application/normstat-agent@$version
set name=pkg.summary value="$summary"
set name=pkg.description value="$(printf '%s' "$description" | tr '\n' ' ')"
set name=info.classification value="org.opensolaris.category.2008:System/Administration and Configuration"
END
    for folder in $own_folders; do
        printf 'dir path=%s owner=root group=root mode=0755\n' "${folder#/}"
    done
    list_entries solaris | while read -r _ mode kind path _; do
        more=''
        case $kind in
        settings) more=' preserve=renamenew' ;;
        manifest) more=' restart_fmri=svc:/system/manifest-import:default' ;;
        esac
        printf 'file %s path=%s owner=root group=root mode=0%s%s\n' "${path#/}" "${path#/}" "$mode" "$more"
    done
}

build_tar() {
    top=$work/normstat-agent-$version
    install -d -m 755 "$top/linux" "$top/solaris/root"
    install -m 644 "$agents/install/README.md" "$top/README.md"
    put_system linux "$top/linux"
    put_system solaris "$top/solaris/root"
    write_prototype >"$top/solaris/prototype"
    write_pkginfo >"$top/solaris/pkginfo"
    write_ips_manifest >"$top/solaris/normstat-agent.p5m"
    for script in postinstall preremove i.preserve r.preserve; do
        install -m 755 "$here/solaris/$script" "$top/solaris/$script"
    done
    pack_folder "$top" "$out/normstat-agent-$version.tar.gz"
}

[ $# -eq 2 ] || die "usage: build.sh deb|rpm|tar DIR"
version=$(sed -n 's/^readonly VERSION=//p' "$agents/normstat-agent")
[ -n "$version" ] || die "cannot find the version in $agents/normstat-agent"
settings=$(list_entries linux | awk '$3 == "settings" { print $4 }')
build_package "$1" "$2"
