"""Files that a running product makes, renames and deletes while tests look at them, and processes that end.

Trap: Path.rglob and Path.iterdir name files that may be gone a moment later, and rglob itself fails where a folder is.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


def files_below(*folders: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """All below the folders, with its status as of lstat, except what vanishes meanwhile."""
    for folder in folders:
        for place, folder_names, file_names in os.walk(folder):
            for name in folder_names + file_names:
                with contextlib.suppress(FileNotFoundError):
                    yield (Path(place) / name), (Path(place) / name).lstat()


def is_running(pid: int) -> bool:
    """Whether the process has not ended; one that nobody has waited for yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False
