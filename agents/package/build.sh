#!/bin/sh
# build.sh - builds the packages of normstat-agent, without root.
#
# Usage:  build.sh deb|rpm DIR        writes normstat-agent_VERSION_all.deb or normstat-agent-VERSION-1.noarch.rpm into DIR
# Needs dpkg-deb or rpmbuild. The version is that of the agent. Both packages install what install.sh does, into /opt/normstat.
# shellcheck disable=SC2016  # the last lines of scripts, which are run elsewhere
set -eu
umask 022

here=$(cd -- "$(dirname -- "$0")" && pwd)
agents=$(dirname -- "$here")
readonly SUMMARY='ships the output of the stat tools of a host to normstat'
readonly DESCRIPTION='One POSIX shell script: it records the counters of /proc by itself, runs the stat tools
that stats.conf names, keeps what they print in a spool, and ships it byte for byte to a normstat server.'

die() {
    printf 'build.sh: %s\n' "$1" >&2
    exit 1
}

# Puts the files of the package below a folder.
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

# Prints a maintainer script: the common functions, then the calls that this package manager needs.
make_script() {
    printf '#!/bin/sh\nset -eu\n'
    sed -e '/^#!/d' "$here/steps.sh"
    printf '\n%s\n' "$1"
}

build_deb() {
    command -v dpkg-deb >/dev/null || die "dpkg-deb is not installed (package dpkg)"
    put_files "$work/root"
    mkdir "$work/root/DEBIAN"
    cat >"$work/root/DEBIAN/control" <<END
Package: normstat-agent
Version: $version
Section: admin
Priority: optional
Architecture: all
Maintainer: normstat <normstat@localhost>
Recommends: curl | wget
Suggests: sysstat, procps
Description: $SUMMARY
$(printf '%s\n' "$DESCRIPTION" | sed 's/^/ /')
END
    printf '/opt/normstat/stats.conf\n/opt/normstat/agent.conf\n' >"$work/root/DEBIAN/conffiles"
    # $2 of postinst: the version that was configured before, empty for a new installation.
    make_script '[ "$1" != configure ] || after_install "${2:+upgrade}"' >"$work/root/DEBIAN/postinst"
    make_script '[ "$1" != remove ] || before_remove' >"$work/root/DEBIAN/prerm"
    make_script 'case $1 in remove | purge) after_remove ;; esac' >"$work/root/DEBIAN/postrm"
    chmod 755 "$work/root/DEBIAN/postinst" "$work/root/DEBIAN/prerm" "$work/root/DEBIAN/postrm"
    dpkg-deb --root-owner-group -Zxz --build "$work/root" "$out/normstat-agent_${version}_all.deb" >/dev/null
    printf '%s\n' "$out/normstat-agent_${version}_all.deb"
}

build_rpm() {
    command -v rpmbuild >/dev/null || die "rpmbuild is not installed (package rpm, or rpm-build)"
    put_files "$work/files"
    cat >"$work/normstat-agent.spec" <<END
Name: normstat-agent
Version: $version
Release: 1
Summary: $SUMMARY
License: unspecified
BuildArch: noarch
AutoReqProv: no
Requires: /bin/sh

%description
$DESCRIPTION

%install
cp -a $work/files/. %{buildroot}/

%files
%attr(0755,root,root) /opt/normstat/normstat-agent
%attr(0644,root,root) %config(noreplace) /opt/normstat/stats.conf
%attr(0644,root,root) %config(noreplace) /opt/normstat/agent.conf
%attr(0644,root,root) /usr/lib/systemd/system/normstat-agent.service
%attr(0644,root,root) %doc /usr/share/doc/normstat-agent/*

%post
$(make_script 'case $1 in 1) after_install "" ;; *) after_install upgrade ;; esac' | sed 1d)

%preun
$(make_script '[ "$1" != 0 ] || before_remove' | sed 1d)

%postun
$(make_script '[ "$1" != 0 ] || after_remove' | sed 1d)
END
    rpmbuild --quiet --define "_topdir $work/rpm" --define "_rpmdir $work" --define "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
        --define '_build_id_links none' --define '__os_install_post %{nil}' --buildroot "$work/buildroot" -bb "$work/normstat-agent.spec" \
        >"$work/log" 2>&1 || { cat "$work/log" >&2 && die "rpmbuild failed"; }
    mv "$work/normstat-agent-$version-1.noarch.rpm" "$out/"
    printf '%s\n' "$out/normstat-agent-$version-1.noarch.rpm"
}

[ $# -eq 2 ] || die "usage: build.sh deb|rpm DIR"
version=$(sed -n 's/^readonly VERSION=//p' "$agents/normstat-agent")
[ -n "$version" ] || die "cannot find the version in $agents/normstat-agent"
mkdir -p "$2"
out=$(cd -- "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$work"
case $1 in
deb) build_deb ;;
rpm) build_rpm ;;
*) die "unknown kind of package: $1 (deb or rpm)" ;;
esac
