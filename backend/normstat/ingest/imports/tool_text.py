"""Files that only their own tool can read: the tool's text, from a process with bounded memory and time.

The file may come from anywhere, so the tool runs with limits and an environment of its own.
"""

import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from normstat.ingest.imports.unpacking import Unreadable

TIME_LIMIT_S: Final = 600.0
# A month of 1-second samples of a machine with 1000 disks stays below.
MEMORY_LIMIT_KIB: Final = 2 << 20
ENVIRONMENT: Final = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"}
MAX_COMPLAINT_LENGTH: Final = 300


class ToolText:
    """What the tool prints, until it ends; then its exit status must be good."""

    def __init__(self, process: subprocess.Popen[bytes], what: str) -> None:
        self._process = process
        self._what = what

    def read(self, size: int, /) -> bytes:
        """Return the next bytes.

        Raises: Unreadable when the tool could not read the file
        """
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        data = self._process.stdout.read(size)
        if not data and self._process.wait() != 0:
            said = self._process.stderr.read(MAX_COMPLAINT_LENGTH).decode("utf-8", "replace").strip().splitlines()
            why = said[0] if said else f"it ended with status {self._process.returncode}"
            raise Unreadable(f"{self._what}: {why}")
        return data


@contextmanager
def open_tool(command: Sequence[str], *, what: str, pass_fds: Sequence[int] = ()) -> Iterator[ToolText]:
    """Provide what the command prints. `what` begins the complaint: "a file of x that y cannot read"."""
    process = subprocess.Popen(  # noqa: S603
        ["/bin/sh", "-c", f'ulimit -v {MEMORY_LIMIT_KIB}; exec "$0" "$@"', *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        pass_fds=tuple(pass_fds),
    )
    watchdog = threading.Timer(TIME_LIMIT_S, process.kill)
    watchdog.daemon = True
    watchdog.start()
    try:
        yield ToolText(process, what)
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
