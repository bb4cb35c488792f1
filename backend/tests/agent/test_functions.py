"""The functions of the agent with known input, under every shell. The cases are in agents/tests/functions.sh."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.agent.conftest import always_under_every_shell
from tests.agent.host import AGENTS, Shell


# It starts some 800 short processes, each of which waits for its turn on a busy machine.
@pytest.mark.slow
@pytest.mark.timeout(120)
@always_under_every_shell
def test_functions(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir(mode=0o700)
    done = subprocess.run(
        [shell.program, AGENTS / "tests" / "functions.sh"],
        cwd=folder,
        # LC_ALL and TZ as on a desktop: the agent must set its own.
        env={"PATH": "/usr/bin:/bin", "NORMSTAT_SHELL": str(shell.program), "LC_ALL": "C.UTF-8", "TZ": "Pacific/Chatham"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    # The number of cases is the last that it prints: it came to its end.
    assert re.fullmatch(r"\d+ cases\n", done.stdout), done.stdout + done.stderr
    assert done.returncode == 0
