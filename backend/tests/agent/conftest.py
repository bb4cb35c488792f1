"""The shells. These tests wait far more than they work: run them with many workers (`pytest -n 12 tests/agent`)."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.agent.host import Host, Shell

# name -> program, and the name of the link through which it behaves as wanted (bash as sh is POSIX bash).
SHELLS: Final = {
    "dash": ("dash", "dash"),
    "bash-posix": ("bash", "sh"),
    "ksh93": ("ksh93", "ksh93"),
    "mksh": ("mksh", "mksh"),
    "busybox": ("busybox", "ash"),
    "yash": ("yash", "yash"),
}


def require_program(name: str) -> str:
    """The path of a program; without it the test is skipped, or fails where NORMSTAT_REQUIRE_ALL=1."""
    path = shutil.which(name)
    if path is None:
        message = f"{name} is not installed: the agent is not tried with it"
        if os.environ.get("NORMSTAT_REQUIRE_ALL") == "1":
            pytest.fail(f"{message} (and NORMSTAT_REQUIRE_ALL=1 forbids skipping)", pytrace=False)
        pytest.skip(message)
    return path


def make_shell(name: str, folder: Path) -> Shell | None:
    program, link = SHELLS[name]
    path = shutil.which(program)
    if path is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / link).symlink_to(path)
    return Shell(name, folder / link)


# The test runs under dash, and in `make test-all` once under every shell; without this it runs under dash alone.
under_every_shell = pytest.mark.parametrize(
    "shell", [pytest.param(name, marks=[] if name == "dash" else [pytest.mark.matrix]) for name in SHELLS], indirect=True
)

# For what stands for all the others: the test runs under every shell each time.
always_under_every_shell = pytest.mark.parametrize("shell", SHELLS, indirect=True)


@pytest.fixture
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Shell:
    """The shell of the test's agent."""
    name = getattr(request, "param", "dash")
    require_program(SHELLS[name][0])
    shell = make_shell(name, tmp_path / "shells")
    assert shell is not None
    return shell


@pytest.fixture
def host(shell: Shell, tmp_path: Path) -> Iterator[Host]:
    """One host with an agent under one shell."""
    host = Host(shell, tmp_path / "host")
    try:
        yield host
    finally:
        host.close()
