"""Binary files of sysstat (sa21), turned into text by sysstat's own sadf, where it is installed.

The format changes with every release and is read by nothing but sadf. It runs as a process of its own with bounded memory and
time: the file may come from anywhere. Its text (`sadf -d -U`, instants in seconds since the epoch) is what is kept and read.
Source: sadf(1); SYSSTAT_MAGIC in sa.h.
"""

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

from normstat.ingest.imports.unpacking import Unreadable

MAGICS: Final = (b"\x96\xd5", b"\xd5\x96")
TIME_LIMIT_S: Final = 600.0
# A month of 1-second samples of a machine with 1000 disks stays below.
MEMORY_LIMIT_KIB: Final = 2 << 20
ENVIRONMENT: Final = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"}
MAX_COMPLAINT_LENGTH: Final = 300


def is_binary(head: bytes) -> bool:
    """Return whether a file that begins like this is one of sysstat's: the magic, and a text would hold no NUL so early."""
    return head[:2] in MAGICS and b"\0" in head[:64]


class _Text:
    """What sadf prints, until it ends; then its exit status must be good."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def read(self, size: int, /) -> bytes:
        """Return the next bytes.

        Raises: Unreadable when sadf could not read the file
        """
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        data = self._process.stdout.read(size)
        if not data and self._process.wait() != 0:
            said = self._process.stderr.read(MAX_COMPLAINT_LENGTH).decode("utf-8", "replace").strip().splitlines()
            why = said[0] if said else f"it ended with status {self._process.returncode}"
            raise Unreadable(f"a binary file of sysstat that sadf cannot read: {why}")
        return data


@contextmanager
def open_text(file: BinaryIO) -> Iterator[_Text]:
    """Provide the text of a binary file, which is at its beginning.

    Raises: Unreadable where there is no sadf
    """
    sadf = shutil.which("sadf")
    if sadf is None:
        raise Unreadable("a binary file of sysstat; install sysstat here (for sadf), or give the text that sar prints of it")
    number = file.fileno()
    limited = f'ulimit -v {MEMORY_LIMIT_KIB}; exec "$0" -d -U "/dev/fd/{number}" -- -A'
    process = subprocess.Popen(  # noqa: S603
        ["/bin/sh", "-c", limited, sadf],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        pass_fds=(number,),
    )
    watchdog = threading.Timer(TIME_LIMIT_S, process.kill)
    watchdog.daemon = True
    watchdog.start()
    try:
        yield _Text(process)
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
