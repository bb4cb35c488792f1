#!/bin/sh
# build.sh - builds the packages of normstat-server, without root.
#
# Usage:  build.sh deb|rpm DIR WHEEL     writes normstat-server_VERSION-1.pyPYTHON_ARCH.deb or normstat-server-VERSION-1.pyPYTHON.ARCH.rpm
# WHEEL is that of `make wheel`. Needs dpkg-deb or rpmbuild, and Python with pip (PIP_PYTHON). All modules of backend/requirements.lock
# are inside, for the Python that PYTHON_VERSION names (3.11 or newer; default: that of /usr/bin/python3), which the package depends on
# and this machine need not have. pip fetches them; with WHEELS=DIR it takes them from there, without a network. REQUIREMENTS names another lock file.
# shellcheck disable=SC2034  # package.sh reads what is set here
set -eu

here=$(cd -- "$(dirname -- "$0")" && pwd)
checkout=$(dirname -- "$here")
# shellcheck source=packaging/package.sh
. "$here/package.sh"

pip_python=${PIP_PYTHON:-python3}
home=/opt/normstat-server
licence=$(read_licence "$checkout")

[ $# -eq 3 ] || die "usage: build.sh deb|rpm DIR WHEEL"
[ -f "$3" ] || die "no such wheel: $3 (make wheel builds it)"
wheel=$(cd -- "$(dirname -- "$3")" && pwd)/$(basename -- "$3")
python_version=${PYTHON_VERSION:-$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')}
case $python_version in
3.1[1-9] | 3.[2-9][0-9]) ;;
*) die "normstat needs Python 3.11 or newer, not $python_version: name the target's with PYTHON_VERSION=3.12" ;;
esac

name=normstat-server
version=$(basename -- "$wheel" | cut -d - -f 2)
# The package for a newer Python is the newer one: an upgrade of the system takes it.
revision=1.py$python_version
architecture=native
steps=$here/steps.sh
summary='keeps the output of the stat tools of hosts and ranks what changed'
description='The server of normstat with its page, migrations and commands, and all Python modules that it
needs. The database, PostgreSQL 14 or newer, may be on this machine or on another.'
settings='/etc/normstat/normstat.env
/etc/normstat/normstat.toml'
own_folder=$home
compression=zstd
deb_fields="Depends: python$python_version, passwd
Recommends: postgresql"
rpm_requires="/bin/sh, /usr/bin/python$python_version, /usr/sbin/useradd"

# pip's options for wheels of the target: its Python, and glibc 2.34 (RHEL 9) or newer.
target_options() {
    printf '%s\n' --only-binary=:all: --implementation=cp --python-version="$python_version" \
        --abi="cp$(printf '%s' "$python_version" | tr -d .)" --abi=abi3 --abi=none --platform=any
    for glibc in 34 31 28 27 26 24 17 12 5; do
        printf -- '--platform=manylinux_2_%s_%s\n' "$glibc" "$(uname -m)"
    done
    printf -- '--platform=manylinux%s_%s\n' 2014 "$(uname -m)" 2010 "$(uname -m)" 1 "$(uname -m)"
}

# $1: the folder `share` of the wheel, with manual pages and completion; $2: that of the system.
put_shared() {
    install -d -m 755 "$2"
    cp -R "$1/." "$2/"
    gzip -9n "$2"/man/man1/*
    # Debian's zsh looks here.
    install -d -m 755 "$2/zsh/vendor-completions"
    ln -s ../site-functions/_normstat "$2/zsh/vendor-completions/_normstat"
}

# Puts Python's modules and the wheel below a folder, as a virtual environment.
put_modules() {
    set -- "$1$home" "$1$home/lib/python$python_version/site-packages" "$1"
    install -d -m 755 "$1/bin" "$2"
    list_requirements "${REQUIREMENTS:-$checkout/backend/requirements.lock}" >"$work/requirements.lock"
    # shellcheck disable=SC2046  # options without blanks
    quietly "$pip_python" -m pip install --no-compile --no-deps --require-hashes --target "$2" $(target_options) \
        ${WHEELS:+--no-index --find-links "$WHEELS"} -r "$work/requirements.lock"
    # pip would leave out what is below a folder that another wheel has made.
    rm -rf "$2/share"
    # shellcheck disable=SC2046
    quietly "$pip_python" -m pip install --no-compile --no-deps --no-index --target "$2" $(target_options) "$wheel"
    put_shared "$2/share" "$3/usr/share"
    # Programs of the modules, only for C++ programs, and where this was built.
    rm -rf "${2:?}/bin" "$2/share" "$2"/pyarrow/tests "$2"/pyarrow/include "$2"/pyarrow/src
    find "$2" -name direct_url.json -exec rm -f {} +
    find "$2" -name __pycache__ -type d -prune -exec rm -rf {} +
    # Lists of files have a digest of each: of programs it would tell the folder of this build.
    find "$2" -name RECORD -exec sed -i -E '/^(\.\.\/|bin\/|pyarrow\/(tests|include|src)\/)|direct_url\.json,/d' {} +
    ln -s "/usr/bin/python$python_version" "$1/bin/python3"
    ln -s python3 "$1/bin/python"
    printf 'home = /usr/bin\ninclude-system-site-packages = false\nversion = %s\n' "$python_version" >"$1/pyvenv.cfg"
    printf '#!%s/bin/python3\nimport sys\nfrom normstat.cli import app\nsys.exit(app())\n' "$home" >"$1/bin/normstat"
    chmod 755 "$1/bin/normstat"
}

put_files() {
    install -d -m 755 "$1/etc/normstat" "$1/usr/bin" "$1/usr/sbin" "$1/usr/lib/systemd/system" "$1/usr/share/doc/normstat-server"
    put_modules "$1"
    install -m 755 "$here/normstat.sh" "$1/usr/bin/normstat"
    install -m 755 "$here/setup.sh" "$1/usr/sbin/normstat-setup"
    install -m 640 "$here/normstat.env" "$here/normstat.toml" "$1/etc/normstat/"
    install -m 644 "$here/normstat.service" "$1/usr/lib/systemd/system/normstat.service"
    for file in install configure run recover security cli; do
        install -m 644 "$checkout/docs/$file.md" "$1/usr/share/doc/normstat-server/"
    done
}

build_package "$1" "$2"
