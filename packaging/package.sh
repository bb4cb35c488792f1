#!/bin/sh
# package.sh - makes a .deb or an .rpm of a folder, without root. Read by packaging/build.sh and agents/package/build.sh, which set
# what follows. Two builds of the same sources with the same tools give the same bytes, whatever the folder, time, umask and locale.
#   name, version      of the package
#   revision           of the package of that version, as 1.py3.13; a .deb without one has none
#   steps              the file with the functions after_install, before_remove, before_change and after_remove
#   architecture       all, or that of this machine (native)
#   summary, description
#   licence            what read_licence prints
#   settings           paths of the files that keep what an administrator changed
#   own_folder         the folder that belongs to the package with all that is in it
#   compression        of the .deb: xz, which each dpkg unpacks, or zstd, which is much faster
#   deb_fields         lines of the control file (Depends and the like)
#   rpm_requires       the same for rpm
# and define put_files FOLDER, which puts all files of the package below a folder, with the modes that they have when installed;
# and build_tar, where there is an archive.
# shellcheck disable=SC2016,SC2154  # the last lines of scripts, which are run elsewhere; what the builders set
set -eu
umask 022
LC_ALL=C
# The time of all files that are made here; `make release` sets it to that of the commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-315532800}
export LC_ALL SOURCE_DATE_EPOCH

die() {
    printf '%s: %s\n' "${0##*/}" "$1" >&2
    exit 1
}

quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2 && die "failed: $*"; }
}

# The licence is named in one place.
read_licence() {
    sed -n 's/^license = "\(.*\)"$/\1/p' "$1/backend/pyproject.toml"
}

# $1: a lock file. Prints it without what only building needs.
list_requirements() {
    sed -e '/^\(setuptools\|wheel\)==/,/^ *--hash=[^\\]*$/d' "$1"
}

# $1: a folder, $2: the file that it is packed into, under its own name.
pack_folder() {
    tar -C "${1%/*}" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "${1##*/}" | gzip -9n >"$2"
    printf '%s\n' "$2"
}

# Prints the size of what is below a folder in KiB, each file rounded up: what du prints depends on the file system.
size_of() {
    find "$1" -mindepth 1 -type f -printf '%s\n' -o -mindepth 1 -printf '1\n' | awk '{ n += int(($1 + 1023) / 1024) } END { print n + 0 }'
}

# $1: the folder of the package.
put_all_files() {
    put_files "$1"
    install -d -m 755 "$1/usr/share/doc/$name"
    printf '%s\nLicence: %s\n' "$name" "$licence" >"$1/usr/share/doc/$name/copyright"
}

# Prints a maintainer script: the common functions, then the calls that this package manager needs.
make_script() {
    printf '#!/bin/sh\nset -eu\n'
    sed -e '/^#!/d' "$steps"
    printf '\n%s\n' "$1"
}

build_deb() {
    command -v dpkg-deb >/dev/null || die "dpkg-deb is not installed (package dpkg)"
    put_all_files "$work/root"
    [ "$architecture" = all ] || architecture=$(dpkg --print-architecture)
    size=$(size_of "$work/root")
    mkdir "$work/root/DEBIAN"
    cat >"$work/root/DEBIAN/control" <<END
Package: $name
Version: $version${revision:+-$revision}
Section: admin
Priority: optional
Architecture: $architecture
Maintainer: normstat <normstat@localhost>
Installed-Size: $size
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
    put_all_files "$work/files"
    cat >"$work/$name.spec" <<END
Name: $name
Version: $version
Release: ${revision:-1}
Summary: $summary
License: $licence
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
        --define '_buildhost reproducible' --define 'use_source_date_epoch_as_buildtime 1' \
        --define 'clamp_mtime_to_source_date_epoch 1' --define 'build_mtime_policy clamp_to_source_date_epoch' \
        --buildroot "$work/buildroot" -bb "$work/$name.spec"
    file=$(cd "$work" && ls "$name-$version-"*.rpm)
    mv "$work/$file" "$out/"
    printf '%s\n' "$out/$file"
}

# $1: deb, rpm or tar; $2: the folder that gets the package.
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
    tar) build_tar ;;
    *) die "unknown kind of package: $1 (deb, rpm or tar)" ;;
    esac
}
