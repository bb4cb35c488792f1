"""What the scripts are made of: POSIX shell and nothing else (STYLE of the agents, made checkable). `make check` has shellcheck."""

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.agent.conftest import require_program
from tests.agent.host import AGENT, AGENTS, PARTS, Host

INSTALLER: Final = AGENTS / "install" / "install.sh"
SCRIPTS: Final = [
    AGENT,
    INSTALLER,
    AGENTS / "tests" / "functions.sh",
    *sorted(path for path in (AGENTS / "tests" / "fakebin" / "sunos").iterdir() if not path.is_symlink()),
]


# It takes 15 s of CPU time for the agent. `make check` has shellcheck, and every shell runs functions.sh.
@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_checkbashisms_finds_nothing(script: Path) -> None:
    # -f: else it reads only the first lines of a script that hands over to another shell.
    found = subprocess.run([require_program("checkbashisms"), "-f", script], capture_output=True, text=True, check=False)
    # Each finding is a line about it and the line itself. ulimit is in POSIX (XSI, and since 2024 for all) and is an old sh's too.
    lines = (found.stdout + found.stderr).splitlines()
    odd = [pair for pair in zip(lines[::2], lines[1::2], strict=True) if not pair[0].endswith("(ulimit):")]
    assert not odd, odd


# Words with a meaning in some shells only, or with another one on old systems.
BANNED: Final = {
    r"\blocal ": "ksh93 has no local",
    r"\becho -[ne]\b": "printf",
    r"(^|[;&|]\s*)source\b": "a dot",
    r"\[\[": "[ ]",
    r"<\(": "no process substitution",
    r"\bpipefail\b": "not in POSIX",
    r"(^|[;&|{(]\s*)eval\b": "no eval of data",
    r"\b(g|m|n)?awk\b": "awk is too old on Solaris, and it buffers",
    r"\btail -c\b|\bhead -c\b": "not on Solaris 10: read_bytes",
    r"\bgrep -[qE]": "not on Solaris 10",
    r"\bmktemp\b|\breadlink\b|\bstat -": "not on every Solaris: mkdir, which takes none that is there",
    r"\b(printf|log|set --|cat) [^|;]*\$\((?!\(|print_age)": "ksh93 loses a signal there: assign it first",
    r"^\$\((?!\()": "ksh93 loses a signal in a here-document: assign it first",
    r"\breturn\s*$": "name the status: a bare return in a trap gives the old one in mksh",
    r"\becho\b.*\btoken\b.*\$": "the token in argv where echo is a program",
}

# The sampler, which runs on Linux alone, may use an awk; it looks for one. A grep -E is tried before egrep is taken.
ALLOWED: Final = {"50-sampler.sh": ["find_sample_reader"], "55-events.sh": ["find_matcher"]}


@pytest.mark.parametrize("pattern", BANNED, ids=BANNED.values())
def test_the_agent_keeps_to_what_old_systems_know(pattern: str) -> None:
    code: list[str] = []
    for part in sorted(PARTS.glob("[0-9]*.sh")):
        text = part.read_text()
        for function in ALLOWED.get(part.name, ()):
            before, start, rest = text.partition(f"\n{function}() {{\n")
            assert start, function
            text = before + rest.partition("\n}\n")[2]
        # The one eval is a probe of the shell itself, in the first lines.
        code += [line for line in text.splitlines() if not line.lstrip().startswith("#") and not line.startswith("if (eval ")]
    # The name of an awk program that is put in.
    code = [line for line in code if not line.endswith(".awk@'")]
    found = [line for line in code if re.search(pattern, line)]
    assert not found, f"{BANNED[pattern]}: {found}"


def test_the_first_lines_are_old_bourne_syntax() -> None:
    """Down to the fi, $( ) and its like stand only in the string that tries whether this shell knows them."""
    head = AGENT.read_text().partition("\nfi\n")[0].splitlines()
    code = [line for line in head if not line.startswith("#") and not line.startswith("if (eval '")]
    assert any("exec $NORMSTAT_SHELL" in line for line in code)
    for line in code + [line for line in INSTALLER.read_text().splitlines() if not line.lstrip().startswith(("#", "(my", "my "))]:
        assert not re.search(r"\$\(|\$\{\w+(%|#)|(^|\bif|\bwhile|&&|\|\|)\s*! |\bexport \w+=", line), line


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", AGENTS / "build.sh", folder], capture_output=True, text=True, check=False)


def test_a_program_of_another_language_is_put_in_byte_for_byte(tmp_path: Path) -> None:
    program = """# It's 'quoted' \\' twice ''
print "$x `y` \\n %s '@z@'"
\tand ends without a newline'"""
    (tmp_path / "z.awk").write_text(f"# shellcheck disable=SC2016\n{program}")
    (tmp_path / "00-head.sh").write_text("#!/bin/sh\n")
    (tmp_path / "10-body.sh").write_text("# shellcheck disable=SC2016\nreadonly PROGRAM='@z.awk@'\nprintf %s \"$PROGRAM\"")
    built = build(tmp_path)
    assert built.stdout.startswith("#!/bin/sh\n\n# --- 10-body.sh\nreadonly PROGRAM='\n"), built
    found = subprocess.run(["sh", "-c", built.stdout], capture_output=True, text=True, check=True).stdout
    assert found == f"\n{program}"


def test_a_missing_program_ends_the_build(tmp_path: Path) -> None:
    (tmp_path / "00-head.sh").write_text("readonly PROGRAM='@gone.awk@'\n")
    assert build(tmp_path).returncode != 0


def test_wrong_usage_ends_with_2_and_says_what(host: Host) -> None:
    for words, message in (
        ([], "which command"),
        (["walk"], "unknown command: walk"),
        (["run"], "no server given"),
        (["run", "--server", "http://x"], "no token file given"),
        (["collect"], "collect needs a directory"),
    ):
        done = host.execute(host.shell.program, AGENT, *words)
        assert (done.returncode, message in done.stderr) == (2, True), done


def test_help_is_the_head_of_the_file(host: Host) -> None:
    done = host.execute(host.shell.program, AGENT, "help")
    assert done.returncode == 0
    assert done.stdout.startswith("normstat-agent - ")
    assert "Exit: 0 success" in done.stdout
