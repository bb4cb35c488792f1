"""The one place that knows which `normstat up` runs on this machine: its data folder, where its server answers, its database.

`up` keeps its lock file locked as long as it runs, and writes there what commands beside it need. That is a few bytes in a block
that the file has already, so that a disk that fills up later hides nothing.
"""

import contextlib
import json
import os
import stat
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final
from urllib.parse import quote

# The superuser of a private database.
ADMIN_ROLE: Final = "normstat_admin"
PROC: Final = Path("/proc")
DEFAULT_DATA: Final = "data"
LOCK: Final = "lock"
PASSWORD_FILE: Final = "postgres.password"  # noqa: S105 (the name of a file)
# The padded length of the text, so that a longer one is always replaced whole.
LOCK_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class RunningInstallation:
    """A `normstat up` that runs, whether or not its database and its server do at the moment.

    Missing: `database_url` is None where DATABASE_URL named the database, or where it was not started yet
    """

    data_dir: Path
    pid: int
    public_url: str
    database_url: str | None


def note_running(lock_file: int, public_url: str, home: Path | None = None, socket_dir: Path | None = None) -> None:
    """Write the running installation into the lock file of its data folder;

    `home` and `socket_dir` are those of a private database.
    """
    facts = {
        "pid": os.getpid(),
        "public_url": public_url,
        "home": None if home is None else str(home),
        "socket_dir": None if socket_dir is None else str(socket_dir),
    }
    # On a disk that is full already, commands beside `up` need the settings in their environment.
    with contextlib.suppress(OSError):
        os.pwrite(lock_file, json.dumps(facts).encode().ljust(LOCK_BYTES), 0)


def find_installation(data_dir: Path) -> RunningInstallation | None:
    """Return the `normstat up` that runs on this data folder.

    Missing: None where none runs, its files cannot be read, or other accounts could have put them there
    """
    try:
        found = data_dir.stat()
        facts = json.loads((data_dir / LOCK).read_text())
        pid, public_url = int(facts["pid"]), str(facts["public_url"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    is_trusted = found.st_uid in (0, os.geteuid()) and not found.st_mode & stat.S_IWOTH
    if not is_trusted or _folder_of(PROC / str(pid)) != data_dir.resolve():
        return None
    database_url = None
    if facts.get("home") and facts.get("socket_dir"):
        try:
            password = (Path(facts["home"]) / PASSWORD_FILE).read_text().strip()
        except (OSError, UnicodeDecodeError):
            return None
        database_url = f"postgresql://normstat:{quote(password)}@/normstat?host={quote(facts['socket_dir'])}"
    return RunningInstallation(data_dir, pid, public_url, database_url)


def find_installations() -> list[RunningInstallation]:
    """Return every `normstat up` that this account or root runs on this machine, in the order of their data folders."""
    folders = set()
    for process in PROC.glob("[0-9]*"):
        folder = _folder_of(process)
        if folder is not None:
            folders.add(folder)
    return [found for folder in sorted(folders) if (found := find_installation(folder)) is not None]


def local_url(host: str, port: int, *, by_tls: bool) -> str:
    """Return the URL of a server on this machine that listens there."""
    address = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"{'https' if by_tls else 'http'}://{address}:{port}"


def _folder_of(process: Path) -> Path | None:
    """Return the data folder of a process of this account or root. Missing: None where it is no `normstat up`, or hides it"""
    try:
        if process.stat().st_uid not in (0, os.geteuid()):
            return None
        given = _data_of((process / "cmdline").read_bytes().decode().split("\0"))
        return None if given is None else (process / "cwd").readlink().joinpath(given).resolve()
    except (OSError, UnicodeDecodeError):
        return None


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
