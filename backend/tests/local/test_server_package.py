"""The systemd unit of the server, as systemd itself judges it, and the script that builds its packages."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.agent.conftest import require_program
from tests.e2e.product import CHECKOUT

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
    # cli/serve_command.py and cli/server_process.py: 5 s for requests, 15 s more for the parent.
    (stop_s,) = re.findall(r"^TimeoutStopSec=(\d+)$", UNIT.read_text(), re.MULTILINE)
    assert int(stop_s) > 5 + 15


def test_settings_of_the_package_are_settings() -> None:
    names = set(re.findall(r"^#?(NORMSTAT_[A-Z_]+)=", (PACKAGING / "normstat.env").read_text(), re.MULTILINE))
    source = (CHECKOUT / "backend/normstat/settings.py").read_text()
    own = {"NORMSTAT_HOST", "NORMSTAT_PORT"}
    assert names >= own
    unknown = {name for name in names - own if f"    {name.removeprefix('NORMSTAT_').lower()}: " not in source}
    assert unknown == set()


@pytest.mark.parametrize("kind", ["deb", "rpm"])
def test_without_a_wheel_the_script_says_what_to_do(kind: str, tmp_path: Path) -> None:
    command = ["sh", str(PACKAGING / "build.sh"), kind, str(tmp_path), str(tmp_path / "none.whl")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "make wheel" in done.stderr
