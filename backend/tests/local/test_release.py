"""`make release`: what it refuses, what it makes, and that two builds of a commit are the same."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Final

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from normstat import __version__
from tests.agent.conftest import require_program
from tests.e2e.product import CHECKOUT
from tests.unavailable import skip_without

HEADING: Final = f"## {__version__} (2026-12-31)"


def run(*words: str | Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    named = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    kept = {name: value for name, value in os.environ.items() if name not in {"SOURCE_DATE_EPOCH", "MAKEFLAGS", "MAKELEVEL"}}
    return subprocess.run(
        words, cwd=folder, env=kept | named | environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def git(folder: Path, *words: str) -> None:
    done = run("git", *words, folder=folder)
    assert done.returncode == 0, done.stderr


def release(checkout: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return run("sh", "packaging/release.sh", "no-programs", "out", folder=checkout, **environment)


def test_only_a_dated_version_of_a_clean_tree_is_a_release(tmp_path: Path) -> None:
    for name in ("packaging", "backend/normstat"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("packaging/release.sh", "packaging/package.sh", "backend/normstat/__init__.py", "backend/pyproject.toml"):
        shutil.copy(CHECKOUT / name, tmp_path / name)
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text(f"## {__version__} (unreleased)\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "one")
    git(tmp_path, "tag", f"v{__version__}")
    stray = tmp_path / "stray"
    stray.touch()
    refused = release(tmp_path)
    assert refused.returncode == 1
    assert f"CHANGELOG.md has no dated heading of this version: ## {__version__} (" in refused.stderr
    assert "not committed" in refused.stderr
    assert "tagged" not in refused.stderr
    assert "SNAPSHOT=1" in refused.stderr
    stray.unlink()
    changes.write_text(f"{HEADING}\n")
    git(tmp_path, "commit", "--quiet", "--all", "--message", "dated")
    refused = release(tmp_path)
    assert refused.returncode == 1
    assert "CHANGELOG" not in refused.stderr
    assert "not committed" not in refused.stderr
    assert f"v{__version__} is tagged already, at another commit" in refused.stderr
    assert not (tmp_path / "out").exists()
    git(tmp_path, "tag", "--force", f"v{__version__}")
    # Past the checks: there is nothing to build here.
    assert "not a release" not in release(tmp_path).stderr


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The artefacts of two builds: in other folders, with another umask, time zone and locale, and one of them signed."""
    for program in ("git", "dpkg-deb", "rpmbuild", "gpg"):
        require_program(program)
    if shutil.which("helm") is None and shutil.which("go") is None:
        skip_without("a release needs helm, or Go to build it")
    made = []
    for name, umask, zone, language in (("one", "022", "UTC", "C"), ("another", "077", "Pacific/Chatham", "en_GB.UTF-8")):
        checkout = tmp_path_factory.mktemp(name) / "normstat"
        git(CHECKOUT, "clone", "--quiet", f"file://{CHECKOUT}", str(checkout))
        (checkout / "key").mkdir(mode=0o700)
        make = "exec make release SNAPSHOT=1"
        if name == "one":
            make = (
                f"gpg --batch --quiet --passphrase '' --quick-generate-key release@example.org && {make} SIGN=release@example.org"
            )
        cache = os.environ.get("NORMSTAT_CACHE", str(CHECKOUT / ".cache"))
        done = run(
            "sh", "-c", f"umask {umask}; {make}", folder=checkout, TZ=zone, LANG=language, LC_ALL=language, NORMSTAT_CACHE=cache,
            GNUPGHOME=str(checkout / "key"), DEB_PYTHONS="3.13", RPM_PYTHONS="3.13",
        )  # fmt: skip
        # The program that gpg leaves running.
        run("gpgconf", "--kill", "all", folder=checkout, GNUPGHOME=str(checkout / "key"))
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        made.append(checkout / "build/release")
    return made[0], made[1]


def normal(packages: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The same packages with their names as Python's index compares them."""
    return {(re.sub(r"[-_.]+", "-", name).lower(), version) for name, version in packages}


# Two environments with all packages, two pages, four packages of 160 MB.
@pytest.mark.matrix
@pytest.mark.timeout(3600)
class TestRelease:
    def test_two_builds_give_the_same_bytes(self, releases: tuple[Path, Path]) -> None:
        one, another = ({path.name: path for path in folder.iterdir() if path.suffix != ".asc"} for folder in releases)
        assert one.keys() == another.keys()
        different = [name for name, path in one.items() if path.read_bytes() != another[name].read_bytes()]
        assert not different, f"compare them by diffoscope: {different} in {releases}"

    def test_the_sums_are_those_of_all_files_and_signed(self, releases: tuple[Path, Path]) -> None:
        folder = releases[0]
        sums = {name: digest for digest, name in (line.split() for line in (folder / "SHA256SUMS").read_text().splitlines())}
        assert sums.keys() == {path.name for path in folder.iterdir() if not path.name.startswith("SHA256SUMS")}
        for name, digest in sums.items():
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        home = {"GNUPGHOME": str(folder.parents[1] / "key")}
        verify = run("gpg", "--verify", "SHA256SUMS.asc", "SHA256SUMS", folder=folder, **home)
        assert verify.returncode == 0, verify.stderr

    def test_every_kind_of_artefact_is_there(self, releases: tuple[Path, Path]) -> None:
        names = [re.sub(r"(amd64|arm64|x86_64|aarch64)", "ARCH", path.name) for path in releases[1].iterdir()]
        assert sorted(names) == sorted(
            [
                f"normstat-{__version__}-py3-none-any.whl",
                f"normstat-server_{__version__}-1.py3.13_ARCH.deb",
                f"normstat-server-{__version__}-1.py3.13.ARCH.rpm",
                f"normstat-agent_{__version__}_all.deb",
                f"normstat-agent-{__version__}-1.noarch.rpm",
                f"normstat-agent-{__version__}.tar.gz",
                f"normstat-{__version__}.tgz",
                f"normstat-{__version__}-image.tar.gz",
                f"normstat-{__version__}-server.cdx.json",
                f"normstat-{__version__}-page.cdx.json",
                "build-info.txt",
                "SHA256SUMS",
            ]
        )

    def test_the_lists_of_packages_have_what_is_delivered(self, releases: tuple[Path, Path]) -> None:
        pinned = re.findall(r"(?m)^([\w.-]+)==(\S+)", (CHECKOUT / "backend/requirements.lock").read_text())
        lock = json.loads((CHECKOUT / "frontend/package-lock.json").read_text())["packages"]
        installed = [(path.rpartition("node_modules/")[2], each) for path, each in lock.items() if path]
        for part, wanted in (
            ("server", {(name, version) for name, version in pinned if name not in {"setuptools", "wheel"}}),
            ("page", {(name, each["version"]) for name, each in installed if not each.get("dev")}),
        ):
            text = (releases[0] / f"normstat-{__version__}-{part}.cdx.json").read_text()
            bom = json.loads(text)
            error = JsonStrictValidator(SchemaVersion.from_version(bom["specVersion"])).validate_str(text)
            assert error is None, error
            listed = {(component["name"], component["version"]) for component in bom["components"]}
            assert normal(listed) == normal(wanted)
            assert bom["metadata"]["component"]["version"] == __version__

    def test_the_sources_of_the_image_know_their_commit(self, releases: tuple[Path, Path]) -> None:
        """They have no history, and what is needed to build."""
        [wheel] = releases[0].glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            commit = archive.read("normstat/bundled/commit").decode().strip()
        with tarfile.open(releases[0] / f"normstat-{__version__}-image.tar.gz") as archive:
            top = f"normstat-{__version__}-image"
            names = set(archive.getnames())
            source = archive.extractfile(f"{top}/.source-commit")
            assert source is not None
            assert source.read().decode().startswith(commit)
        for needed in (
            "Dockerfile",
            "docker-compose.yml",
            "Makefile",
            "packaging/container/health.py",
            "frontend/package-lock.json",
        ):
            assert f"{top}/{needed}" in names
