#!/bin/sh
# build.sh - builds the packages of normstat-server, without root.
#
# Usage:  build.sh deb|rpm DIR WHEEL     writes normstat-server_VERSION_ARCH.deb or normstat-server-VERSION-1.ARCH.rpm into DIR
# WHEEL is that of `make wheel`. Needs dpkg-deb or rpmbuild, and Python with pip. All modules of backend/requirements.lock are inside, for
# the Python that TARGET_PYTHON names (default /usr/bin/python3), which the package depends on. pip fetches them; with WHEELS=DIR it
# takes them from there, without a network.
# shellcheck disable=SC2016  # the last lines of scripts, which are run elsewhere
set -eu
umask 022

here=$(cd -- "$(dirname -- "$0")" && pwd)
checkout=$(dirname -- "$here")
target_python=${TARGET_PYTHON:-/usr/bin/python3}
pip_python=${PIP_PYTHON:-python3}
home=/opt/normstat-server
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-315532800}"
readonly SUMMARY='keeps the output of the stat tools of hosts and ranks what changed'
readonly DESCRIPTION='The server of normstat with its page, migrations and commands, and all Python modules that it
needs. The database, PostgreSQL 14 or newer, may be on this machine or on another.'

die() {
    printf 'build.sh: %s\n' "$1" >&2
    exit 1
}

# Puts Python's modules and the wheel below a folder.
put_modules() {
    "$target_python" -m venv --without-pip "$1$home"
    set -- "$1" "$1$home/lib/python$python_version/site-packages"
    quietly "$pip_python" -m pip --python "$1$home/bin/python3" install --no-compile --no-deps --require-hashes \
        ${WHEELS:+--no-index --find-links "$WHEELS"} -r "$checkout/backend/requirements.lock"
    quietly "$pip_python" -m pip --python "$1$home/bin/python3" install --no-compile --no-deps --no-index "$wheel"
    # Only for building, only for C++ programs, and where this was built.
    rm -rf "$2"/setuptools* "$2"/_distutils_hack "$2"/distutils-precedence.pth "$2"/wheel "$2"/wheel-* "$2"/pkg_resources \
        "$2"/pyarrow/tests "$2"/pyarrow/include "$2"/pyarrow/src
    find "$1$home" -name direct_url.json -exec rm -f {} +
    find "$1$home/bin" -mindepth 1 -exec rm -f {} +
    ln -s "/usr/bin/python$python_version" "$1$home/bin/python3"
    ln -s python3 "$1$home/bin/python"
    printf 'home = /usr/bin\ninclude-system-site-packages = false\nversion = %s\n' "$python_version" >"$1$home/pyvenv.cfg"
    printf '#!%s/bin/python3\nimport sys\nfrom normstat.cli import app\nsys.exit(app())\n' "$home" >"$1$home/bin/normstat"
    chmod 755 "$1$home/bin/normstat"
    find "$1$home" -name __pycache__ -type d -prune -exec rm -rf {} +
}

put_files() {
    install -d -m 755 "$1/etc/normstat" "$1/usr/bin" "$1/usr/lib/systemd/system" "$1/usr/share/doc/normstat-server"
    put_modules "$1"
    install -m 755 "$here/normstat.sh" "$1/usr/bin/normstat"
    install -m 640 "$here/normstat.env" "$1/etc/normstat/normstat.env"
    install -m 644 "$here/normstat.service" "$1/usr/lib/systemd/system/normstat.service"
    for file in operations security cli metrics; do
        install -m 644 "$checkout/docs/$file.md" "$1/usr/share/doc/normstat-server/"
    done
}

quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2 && die "failed: $*"; }
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
    architecture=$(dpkg --print-architecture)
    mkdir "$work/root/DEBIAN"
    cat >"$work/root/DEBIAN/control" <<END
Package: normstat-server
Version: $version
Section: admin
Priority: optional
Architecture: $architecture
Maintainer: normstat <normstat@localhost>
Depends: python$python_version, passwd
Recommends: postgresql
Installed-Size: $(du -sk "$work/root" | cut -f 1)
Description: $SUMMARY
$(printf '%s\n' "$DESCRIPTION" | sed 's/^/ /')
END
    printf '/etc/normstat/normstat.env\n' >"$work/root/DEBIAN/conffiles"
    # $2 of postinst: the version that was configured before, empty for a new installation.
    make_script '[ "$1" != configure ] || after_install "${2:+upgrade}"' >"$work/root/DEBIAN/postinst"
    make_script '[ "$1" != remove ] || before_remove
before_change' >"$work/root/DEBIAN/prerm"
    make_script 'case $1 in remove | purge) after_remove ;; esac' >"$work/root/DEBIAN/postrm"
    chmod 755 "$work/root/DEBIAN/postinst" "$work/root/DEBIAN/prerm" "$work/root/DEBIAN/postrm"
    dpkg-deb --root-owner-group -Zzstd --build "$work/root" "$out/normstat-server_${version}_$architecture.deb" >/dev/null
    printf '%s\n' "$out/normstat-server_${version}_$architecture.deb"
}

build_rpm() {
    command -v rpmbuild >/dev/null || die "rpmbuild is not installed (package rpm, or rpm-build)"
    put_files "$work/files"
    cat >"$work/normstat-server.spec" <<END
Name: normstat-server
Version: $version
Release: 1
Summary: $SUMMARY
License: unspecified
AutoReqProv: no
Requires: /bin/sh, /usr/bin/python$python_version, /usr/sbin/useradd

%description
$DESCRIPTION

%install
cp -a $work/files/. %{buildroot}/

%files
%defattr(-,root,root,-)
$home
%attr(0755,root,root) /usr/bin/normstat
%attr(0640,root,root) %config(noreplace) /etc/normstat/normstat.env
%attr(0644,root,root) /usr/lib/systemd/system/normstat.service
%doc /usr/share/doc/normstat-server/*

%post
$(make_script 'case $1 in 1) after_install "" ;; *) after_install upgrade ;; esac' | sed 1d)

%preun
$(make_script '[ "$1" != 0 ] || before_remove
[ "$1" != 0 ] || before_change' | sed 1d)

%postun
$(make_script '[ "$1" != 0 ] || after_remove' | sed 1d)
END
    quietly rpmbuild --define "_topdir $work/rpm" --define "_rpmdir $work" --define "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
        --define '_build_id_links none' --define '__os_install_post %{nil}' --define '_binary_payload w6.gzdio' \
        --buildroot "$work/buildroot" -bb "$work/normstat-server.spec"
    mv "$work"/normstat-server-"$version"-1.*.rpm "$out/"
    ls "$out"/normstat-server-"$version"-1.*.rpm
}

[ $# -eq 3 ] || die "usage: build.sh deb|rpm DIR WHEEL"
[ -f "$3" ] || die "no such wheel: $3 (make wheel builds it)"
wheel=$(cd -- "$(dirname -- "$3")" && pwd)/$(basename -- "$3")
version=$(basename -- "$3" | cut -d - -f 2)
python_version=$("$target_python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
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
