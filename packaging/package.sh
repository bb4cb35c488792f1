#!/bin/sh
# package.sh - makes a .deb or an .rpm of a folder, without root. Read by packaging/build.sh and agents/package/build.sh, which set
#   name, version      of the package
#   revision           of the package of that version, as 1.py3.13; a .deb without one has none
#   steps              the file with the functions after_install, before_remove, before_change and after_remove
#   architecture       all, or that of this machine (native)
#   summary, description
#   settings           paths of the files that keep what an administrator changed
#   own_folder         the folder that belongs to the package with all that is in it
#   compression        of the .deb: xz, which each dpkg unpacks, or zstd, which is much faster
#   deb_fields         lines of the control file (Depends and the like)
#   rpm_requires       the same for rpm
# and define put_files FOLDER, which puts all files of the package below a folder, with the modes that they have when installed.
# shellcheck disable=SC2016,SC2154  # the last lines of scripts, which are run elsewhere; what the builders set
set -eu
umask 022

die() {
    printf 'build.sh: %s\n' "$1" >&2
    exit 1
}

quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2 && die "failed: $*"; }
}

# Prints a maintainer script: the common functions, then the calls that this package manager needs.
make_script() {
    printf '#!/bin/sh\nset -eu\n'
    sed -e '/^#!/d' "$steps"
    printf '\n%s\n' "$1"
}

build_deb() {
    command -v dpkg-deb >/dev/null || die "dpkg-deb is not installed (package dpkg)"
    put_files "$work/root"
    [ "$architecture" = all ] || architecture=$(dpkg --print-architecture)
    mkdir "$work/root/DEBIAN"
    cat >"$work/root/DEBIAN/control" <<END
Package: $name
Version: $version${revision:+-$revision}
Section: admin
Priority: optional
Architecture: $architecture
Maintainer: normstat <normstat@localhost>
Installed-Size: $(du -sk "$work/root" | cut -f 1)
$deb_fields
Description: $summary
$(printf '%s\n' "$description" | sed 's/^/ /')
END
    printf '%s\n' "$settings" >"$work/root/DEBIAN/conffiles"
    # $2 of postinst: the version that was configured before, empty for a new installation.
    make_script '[ "$1" != configure ] || after_install "${2:+upgrade}"' >"$work/root/DEBIAN/postinst"
    make_script '[ "$1" != remove ] || before_remove
before_change' >"$work/root/DEBIAN/prerm"
    make_script 'case $1 in remove | purge) after_remove "$1" ;; esac' >"$work/root/DEBIAN/postrm"
    chmod 755 "$work/root/DEBIAN/postinst" "$work/root/DEBIAN/prerm" "$work/root/DEBIAN/postrm"
    file=$out/${name}_$version${revision:+-$revision}_$architecture.deb
    quietly dpkg-deb --root-owner-group -Z"$compression" --build "$work/root" "$file"
    printf '%s\n' "$file"
}

# Prints the paths of the package as its spec lists them.
list_files() {
    (cd "$work/files" && find . \( -type f -o -type l \) -print) | sed 's/^\.//' | sort | while read -r path; do
        case $path in "${own_folder:-none}"/*) continue ;; /usr/share/doc/*) printf '%%doc ' ;; esac
        if printf '%s\n' "$settings" | grep -qxF -- "$path"; then printf '%%config(noreplace) '; fi
        printf '%s\n' "$path"
    done
    printf '%s\n' "$own_folder"
}

build_rpm() {
    command -v rpmbuild >/dev/null || die "rpmbuild is not installed (package rpm, or rpm-build)"
    put_files "$work/files"
    cat >"$work/$name.spec" <<END
Name: $name
Version: $version
Release: ${revision:-1}
Summary: $summary
License: unspecified
$([ "$architecture" != all ] || echo "BuildArch: noarch")
AutoReqProv: no
Requires: $rpm_requires

%description
$description

%install
cp -a $work/files/. %{buildroot}/

%files
%defattr(-,root,root,-)
$(list_files)

%pre
$(make_script '[ "$1" = 1 ] || before_change' | sed 1d)

%post
$(make_script 'case $1 in 1) after_install "" ;; *) after_install upgrade ;; esac' | sed 1d)

%preun
$(make_script '[ "$1" != 0 ] || { before_remove && before_change; }' | sed 1d)

%postun
$(make_script '[ "$1" != 0 ] || after_remove remove' | sed 1d)
END
    quietly rpmbuild --define "_topdir $work/rpm" --define "_rpmdir $work" --define "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
        --define '_build_id_links none' --define '__os_install_post %{nil}' --define '_binary_payload w6.gzdio' \
        --buildroot "$work/buildroot" -bb "$work/$name.spec"
    file=$(cd "$work" && ls "$name-$version-"*.rpm)
    mv "$work/$file" "$out/"
    printf '%s\n' "$out/$file"
}

# $1: deb or rpm; $2: the folder that gets the package.
build_package() {
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
}
