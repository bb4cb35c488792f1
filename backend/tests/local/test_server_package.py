"""The systemd unit of the server, as systemd itself judges it, and its packages: built, installed, upgraded and removed."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Final

import pytest

from normstat.settings import FILE, SECRETS, Settings
from tests.agent.conftest import require_program
from tests.debian_root import COPY_OF_ROOT, DatabaseUnavailable, require_timescale_root
from tests.e2e.product import CHECKOUT
from tests.unavailable import skip_without

PACKAGING = CHECKOUT / "packaging"
UNIT = PACKAGING / "normstat.service"
# Of 10; 1.5 with systemd 252. What remains is the network, which a server needs.
MAX_EXPOSURE = 2.0


def analyze(*arguments: str) -> str:
    require_program("systemd-analyze")
    done = subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    program = tmp_path / "normstat"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/normstat-server/bin/normstat", str(program)))
    said = analyze("verify", "--man=no", str(unit))
    # Other units of the machine may have faults of their own.
    assert [line for line in said.splitlines() if UNIT.name in line] == []


def test_the_unit_is_hardened() -> None:
    said = analyze("security", "--offline=true", "--no-pager", str(UNIT))
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", said)
    assert found is not None, said
    assert float(found[1]) <= MAX_EXPOSURE, said


def test_the_unit_waits_for_the_end_of_requests() -> None:
    # cli/serve_command.py and server/server_process.py: 5 s for requests, 15 s more for the parent.
    (stop_s,) = re.findall(r"^TimeoutStopSec=(\d+)$", UNIT.read_text(), re.MULTILINE)
    assert int(stop_s) > 5 + 15


def test_settings_of_the_package_are_settings() -> None:
    text = (PACKAGING / "normstat.toml").read_text()
    known = {*Settings.model_fields, *(f"{field}{FILE}" for field in SECRETS)}
    assert set(re.findall(r"^#([a-z_]+) = ", text, re.MULTILINE)) <= known
    # A `normstat up` beside the server reads the file too, and must not take its database.
    assert tomllib.loads(text) == {}
    lines = re.findall(r"^#?(NORMSTAT_\w+)=", (PACKAGING / "normstat.env").read_text(), re.MULTILINE)
    assert set(lines) == {"NORMSTAT_DATABASE_URL", "NORMSTAT_DATABASE_URL_FILE", "NORMSTAT_HOST", "NORMSTAT_PORT"}


@pytest.mark.parametrize("kind", ["deb", "rpm"])
def test_without_a_wheel_the_script_says_what_to_do(kind: str, tmp_path: Path) -> None:
    command = ["sh", str(PACKAGING / "build.sh"), kind, str(tmp_path), str(tmp_path / "none.whl")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "make wheel" in done.stderr


# Runs in namespaces of its own: what it mounts ends with it, and the cached Debian below is not changed.
LIFE: Final = (
    COPY_OF_ROOT
    + r"""
cp "$OLD" "$root/old" && cp "$NEW" "$root/new"
deb() {
    chroot "$root" dpkg --force-depends "$@" 2>&1 | grep -v "^dpkg: .*depend" || :
}
settings=$root/etc/normstat/normstat.toml
cache=$root/opt/normstat-server/lib/python3.13/site-packages/normstat/__pycache__
echo "== install"
if [ "$KIND" = deb ]; then deb -i /old; else rpm --root "$root" --nodeps -U "$root/old"; fi
chroot "$root" getent passwd normstat
chroot "$root" stat -c "%a %U:%G" /etc/normstat/normstat.env /etc/normstat/normstat.toml
readlink "$root/opt/normstat-server/bin/python3"
gzip -dc "$root/usr/share/man/man1/normstat.1.gz"
cat "$root/usr/share/zsh/vendor-completions/_normstat"
mkdir -p "$cache" && touch "$cache/old.pyc"
echo "workers = 2" >>"$settings"
install -d -m 700 "$root/var/lib/normstat/imports"
echo "== upgrade"
if [ "$KIND" = deb ]; then deb --force-confold -i /new; else rpm --root "$root" --nodeps -U "$root/new"; fi
cat "$root/opt/normstat-server/lib/python3.13/site-packages/normstat/version"
[ ! -e "$cache" ] && echo "old modules are gone"
grep -qx "workers = 2" "$settings" && echo "settings are kept"
mkdir -p "$cache" && touch "$cache/new.pyc"
echo "== remove"
if [ "$KIND" = deb ]; then deb -r normstat-server; else rpm --root "$root" -e normstat-server; fi
[ ! -e "$root/opt/normstat-server" ] && [ ! -e "$root/usr/bin/normstat" ] && echo "the program is gone"
grep -lqx "workers = 2" "$settings"* && [ -d "$root/var/lib/normstat" ] && echo "settings and data are kept"
if [ "$KIND" = deb ]; then
    deb -P normstat-server
    [ ! -e "$root/etc/normstat" ] && [ ! -e "$root/var/lib/normstat" ] && echo "purged: nothing is left"
    chroot "$root" getent passwd normstat
fi
"""
)


def build_package(kind: str, version: str, folder: Path) -> Path:
    """A package of a wheel with a command that does nothing, and no other modules."""
    require_program({"deb": "dpkg-deb", "rpm": "rpmbuild"}[kind])
    folder.mkdir()
    wheel = folder / f"normstat-{version}-py3-none-any.whl"
    about = f"normstat-{version}.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("normstat/__init__.py", "")
        archive.writestr("normstat/cli.py", "def app() -> int:\n    return 0\n")
        archive.writestr("normstat/version", f"version {version}\n")
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: normstat\nVersion: {version}\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        for shared in ("man/man1/normstat.1", "zsh/site-functions/_normstat"):
            archive.writestr(f"normstat-{version}.data/data/share/{shared}", "as it is\n")
        archive.writestr(f"{about}/RECORD", "")
    (folder / "lock").write_text("")
    settings = {"PIP_PYTHON": sys.executable, "PYTHON_VERSION": "3.13", "REQUIREMENTS": str(folder / "lock")}
    command = ["sh", str(PACKAGING / "build.sh"), kind, str(folder), str(wheel)]
    done = subprocess.run(command, env=os.environ | settings, umask=0o077, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def test_an_old_python_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "normstat-1-py3-none-any.whl"
    wheel.touch()
    command = ["sh", str(PACKAGING / "build.sh"), "rpm", str(tmp_path), str(wheel)]
    done = subprocess.run(command, env=os.environ | {"PYTHON_VERSION": "3.9"}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "needs Python 3.11 or newer, not 3.9" in done.stderr


@pytest.mark.matrix
@pytest.mark.parametrize("kind", ["deb", "rpm"])
def test_a_package_is_installed_upgraded_and_removed(kind: str, tmp_path: Path) -> None:
    old = build_package(kind, "0.0.1", tmp_path / "old")
    new = build_package(kind, "0.0.2", tmp_path / "new")
    assert re.fullmatch(r"normstat-server[_-]0\.0\.1-1\.py3\.13[_.]\w+\.(deb|rpm)", old.name), "one for each Python of a system"
    if os.geteuid() != 0:
        pytest.skip("installing the server's package in a clean Debian needs root")
    require_program("unshare")
    try:
        base = require_timescale_root()
    except DatabaseUnavailable as error:
        skip_without(error)
    (tmp_path / "scratch").mkdir()
    places = {"KIND": kind, "BASE": str(base), "SCRATCH": str(tmp_path / "scratch"), "OLD": str(old), "NEW": str(new)}
    words = ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "sh", "-c", LIFE]
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **places}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
    assert done.returncode == 0, done
    steps = dict(re.findall(r"(?s)== (\w+)\n(.*?)(?=== |\Z)", done.stdout))
    assert "normstat-setup makes the database" in steps["install"]
    assert re.search(
        r"normstat:x:\d+:\d+::/var/lib/normstat:/usr/sbin/nologin\n(640 root:normstat\n){2}/usr/bin/python3\.13\n(as it is\n){2}",
        steps["install"],
    )
    assert "version 0.0.2\nold modules are gone\nsettings are kept\n" in steps["upgrade"]
    assert "normstat-setup" not in steps["upgrade"]
    assert "the program is gone\nsettings and data are kept\n" in steps["remove"]
    if kind == "deb":
        assert "purged: nothing is left\nnormstat:x:" in steps["remove"]
