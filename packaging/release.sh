#!/bin/sh
# release.sh - builds everything that a release consists of into an empty folder; `make release` calls it.
#
# Usage:  release.sh BIN DIR        BIN: the folder of the programs of the virtual environment
# SNAPSHOT=1      builds what is no release: from a tree with changes, or before CHANGELOG.md dates the version
# SIGN=KEY        signs SHA256SUMS with this key of gpg
# DEB_PYTHONS, RPM_PYTHONS        the Pythons that the server's packages are for, by default those of Debian 12 and 13, and of RHEL 9
# Needs git, dpkg-deb, rpmbuild, GNU tar, Node, and helm or Go. Two builds of a commit with the same versions of these give the same bytes.
set -eu
here=$(cd -- "$(dirname -- "$0")" && pwd)
checkout=$(dirname -- "$here")
bin=$1
cd "$checkout"
TZ=UTC
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export TZ SOURCE_DATE_EPOCH
# shellcheck source=packaging/package.sh
. "$here/package.sh"

version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' backend/normstat/__init__.py)
commit=$(git rev-parse HEAD)

# Prints why this commit is no release, a line each.
find_obstacles() {
    [ -z "$(git status --porcelain)" ] || echo "the tree has changes that are not committed (git status)"
    grep -qE "^## $version \([0-9]{4}-[0-9]{2}-[0-9]{2}\)\$" CHANGELOG.md ||
        echo "CHANGELOG.md has no dated heading of this version: ## $version ($(date -u +%Y-%m-%d))"
    tagged=$(git rev-parse --quiet --verify "refs/tags/v$version^{commit}") || return 0
    [ "$tagged" = "$commit" ] || echo "v$version is tagged already, at another commit: $tagged"
}

obstacles=$(find_obstacles)
if [ -n "$obstacles" ]; then
    printf '%s\n' "$obstacles" | sed 's/^/not a release: /' >&2
    [ -n "${SNAPSHOT:-}" ] || die "nothing is built; SNAPSHOT=1 builds all the same"
fi

rm -rf "$2"
mkdir -p "$2"
out=$(cd -- "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Built again: what lies there may be of another commit.
rm -rf frontend/dist
"${MAKE:-make}" wheel BUILD_DIR="$out"
wheel=$(ls "$out"/normstat-*.whl)
for python in ${DEB_PYTHONS-3.11 3.13}; do
    PIP_PYTHON=$bin/python PYTHON_VERSION=$python sh packaging/build.sh deb "$out" "$wheel"
done
for python in ${RPM_PYTHONS-3.12}; do
    PIP_PYTHON=$bin/python PYTHON_VERSION=$python sh packaging/build.sh rpm "$out" "$wheel"
done
for kind in deb rpm tar; do
    sh agents/package/build.sh "$kind" "$out"
done
"${MAKE:-make}" chart BUILD_DIR="$out"

# What `docker build` and docker-compose.yml need: the sources without tests. .source-commit tells the image its commit.
image=normstat-$version-image
git -c tar.umask=0022 archive --prefix="$image/" "$commit" . ':(exclude)backend/tests' ':(exclude)backend/bench' ':(exclude)backend/client' \
    ':(exclude)agents/tests' ':(exclude)frontend/e2e' ':(exclude)docs/adr' ':(exclude).ci' ':(exclude).github' | gzip -9n >"$out/$image.tar.gz"
printf '%s\n' "$out/$image.tar.gz"

# The packages of the server as they are installed, with their licences; those of the page as they are pinned.
list_requirements backend/requirements.lock >"$work/requirements.lock"
"$bin/python" -m venv --without-pip "$work/venv"
quietly "$bin/python" -m pip --python "$work/venv/bin/python" install --no-compile --require-hashes -r "$work/requirements.lock"
"$bin/cyclonedx-py" environment --pyproject backend/pyproject.toml --mc-type application --output-reproducible --of JSON \
    -o "$work/server.json" "$work/venv"
npm --prefix frontend sbom --sbom-format cyclonedx --sbom-type application --package-lock-only >"$work/page.json"
"$bin/python" backend/setup/finish_sbom.py normstat "$version" "$work/server.json" "$out/normstat-$version-server.cdx.json"
"$bin/python" backend/setup/finish_sbom.py normstat-page "$version" "$work/page.json" "$out/normstat-$version-page.cdx.json"

{
    echo "commit $commit"
    echo "SOURCE_DATE_EPOCH $SOURCE_DATE_EPOCH"
    "$bin/python" --version
    echo "Node $(node --version)"
    dpkg-deb --version | head -n 1
    rpmbuild --version
    tar --version | head -n 1
    gzip --version | head -n 1
} >"$out/build-info.txt"
# What was rendered of the chart, for one.
[ -n "$obstacles" ] || [ -z "$(git status --porcelain)" ] || die "the build changed the tree (git status): commit that first"
(cd "$out" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
if [ -n "${SIGN:-}" ]; then
    gpg --batch --yes --local-user "$SIGN" --armor --detach-sign --output "$out/SHA256SUMS.asc" "$out/SHA256SUMS"
    echo "signed: $out/SHA256SUMS.asc"
else
    echo "not signed: SIGN=KEY names a key of gpg"
fi
if [ -n "$obstacles" ]; then
    echo "a snapshot of normstat $version at $commit, no release: $out"
else
    echo "normstat $version at $commit: $out"
fi
