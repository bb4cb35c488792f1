"""Find the private database that `normstat up` runs below a data folder, for commands beside it."""

import os
import stat
from itertools import pairwise
from pathlib import Path
from typing import Final
from urllib.parse import quote

from normstat.local.binaries import ROOT_STATE_DIR

# The superuser of a private database.
ADMIN_ROLE: Final = "normstat_admin"
# Lines of postmaster.pid, from 0.
PID_LINE: Final = 0
SOCKET_LINE: Final = 4
STATE_LINE: Final = 7
PROC: Final = Path("/proc")
DEFAULT_DATA: Final = "data"


def find_running_url(data_dir: Path) -> str | None:
    """Return the libpq URL of the database that runs below this folder.

    Missing: None where none runs, its files cannot be read, or other accounts could have put them there
    """
    # Where root's data is unreachable for the database's account, `up` puts the database elsewhere.
    for home in (data_dir, ROOT_STATE_DIR / quote(str(data_dir).strip("/"), safe="")):
        try:
            lines = (home / "postgres" / "postmaster.pid").read_text().splitlines()
            password = (home / "postgres.password").read_text().strip()
            found = home.stat()
        except (OSError, UnicodeDecodeError):
            continue
        is_trusted = found.st_uid in (0, os.geteuid()) and not found.st_mode & stat.S_IWOTH
        if is_trusted and _is_ready(lines):
            return f"postgresql://normstat:{quote(password)}@/normstat?host={quote(lines[SOCKET_LINE])}"
    return None


def find_running_folders() -> list[Path]:
    """Return the data folders of every `normstat up` that this account or root runs on this machine, in their order."""
    found = set()
    for process in PROC.glob("[0-9]*"):
        try:
            if process.stat().st_uid not in (0, os.geteuid()):
                continue
            given = _data_of((process / "cmdline").read_bytes().decode().split("\0"))
            if given is not None:
                found.add((process / "cwd").readlink().joinpath(given).resolve())
        except (OSError, UnicodeDecodeError):
            # It ended, or hides its folder.
            continue
    return sorted(found)


def _data_of(arguments: list[str]) -> str | None:
    """Return the data folder that the arguments of `normstat up` name; None for those of another command."""
    names = [Path(argument).name for argument in arguments[:6]]
    at = next((place for place, pair in enumerate(pairwise(names)) if pair == ("normstat", "up")), None)
    if at is None:
        return None
    options = arguments[at + 2 :]
    for option, value in zip(options, [*options[1:], ""], strict=True):
        if option == "--data" and value:
            return value
        if option.startswith("--data="):
            return option.removeprefix("--data=")
    return DEFAULT_DATA


def _is_ready(lines: list[str]) -> bool:
    """Return whether the lines of a pid file are those of a server that runs and accepts connections."""
    if len(lines) <= STATE_LINE or not lines[PID_LINE].isdigit() or not lines[SOCKET_LINE]:
        return False
    return lines[STATE_LINE].strip() == "ready" and Path("/proc", lines[PID_LINE]).exists()
