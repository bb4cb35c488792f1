"""Reports once when a disk becomes full, and once when it has room again."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from normstat.runtime.readable import format_bytes

# PostgreSQL writes its WAL in files of 16 MiB and stops when it cannot create one; it needs one more to start again.
MIN_FREE_BYTES: Final = 32 << 20
# The state ends only with more free space than that for this long, so that a disk at the limit is not reported all the time.
ROOM_BYTES: Final = 48 << 20
ROOM_FOR_S: Final = 3.0


def measure_free(folder: Path) -> int:
    """Return the bytes that are free for unprivileged accounts, 0 when the file system accepts no new file."""
    space = os.statvfs(folder)
    if space.f_files and not space.f_favail:
        return 0
    return space.f_bavail * space.f_frsize


class DiskMonitor:
    """Watches the disk of one folder."""

    def __init__(
        self,
        folder: Path,
        say: Callable[[str], None],
        measure: Callable[[Path], int] = measure_free,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._say = say
        self._measure = measure
        self._clock = clock
        self._room_since: float | None = None
        self.is_full = False

    def check(self) -> bool:
        """Return whether there is room again since the last check, and report changes."""
        try:
            n_free = self._measure(self._folder)
        except OSError:
            # The database will report the details.
            return False
        if not self.is_full and n_free < MIN_FREE_BYTES:
            self.is_full = True
            self._say(
                f"the disk of {self._folder} is full: {format_bytes(n_free)} free; free some space. Agents keep their data, and "
                "all resumes by itself"
            )
        if not self.is_full or n_free < ROOM_BYTES:
            self._room_since = None
            return False
        self._room_since = self._clock() if self._room_since is None else self._room_since
        if self._clock() - self._room_since >= ROOM_FOR_S:
            self.is_full = False
            self._say(f"the disk of {self._folder} has room again: {format_bytes(n_free)} free")
            return True
        return False
