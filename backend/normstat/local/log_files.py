"""The log files of what `normstat up` starts: a pipe for each, which a separate process empties into files of limited length."""

import array
import contextlib
import fcntl
import os
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from normstat.local import log_writer

# Holds what is printed while the writer restarts.
PIPE_BYTES: Final = 1 << 20
DRAIN_TIMEOUT_S: Final = 2.0
DRAIN_PAUSE_S: Final = 0.05
CLOSE_TIMEOUT_S: Final = 5.0
F_SETPIPE_SZ: Final = 1031
FOLDER_MODE: Final = 0o700
TAIL_BYTES: Final = 1 << 16


class LogFiles:
    """The logs NAME.log in a folder: pass `output(name)` to a child as its standard output."""

    def __init__(self, folder: Path, names: Iterable[str], *, max_bytes: int, n_files: int) -> None:
        self.folder = folder
        self._options = [str(max_bytes), str(n_files)]
        self._pipes = {name: os.pipe() for name in names}
        for reader, _ in self._pipes.values():
            with contextlib.suppress(OSError):
                fcntl.fcntl(reader, F_SETPIPE_SZ, PIPE_BYTES)
        self._writer: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Create the folder, protect its files, and start the writer."""
        self.folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        self.folder.chmod(FOLDER_MODE)
        for path in self.folder.glob("*.log*"):
            if path.is_file() and not path.is_symlink():
                path.chmod(log_writer.FILE_MODE)
        self._start_writer()

    def path(self, name: str) -> Path:
        """Return the current file of that log."""
        return self.folder / f"{name}.log"

    def output(self, name: str) -> int:
        """Return the open file that a child prints to."""
        return self._pipes[name][1]

    def write(self, name: str, line: str) -> None:
        """Add a line of our own. A stopped writer does not block us: the line is lost then."""
        os.set_blocking(self._pipes[name][1], False)
        with contextlib.suppress(BlockingIOError):
            os.write(self._pipes[name][1], f"{line}\n".encode())

    def tail(self, name: str, n: int = 8) -> list[str]:
        """Return the last lines of a log, including those still in the pipe."""
        reader = self._pipes[name][0]
        deadline = time.monotonic() + DRAIN_TIMEOUT_S
        waiting = array.array("i", [0])
        while time.monotonic() < deadline:
            fcntl.ioctl(reader, termios.FIONREAD, waiting)
            # Once more after the pipe is empty: the writer may still hold the last piece.
            time.sleep(DRAIN_PAUSE_S)
            if waiting[0] == 0:
                break
        try:
            with self.path(name).open("rb") as log:
                log.seek(max(0, os.fstat(log.fileno()).st_size - TAIL_BYTES))
                return log.read().decode(errors="replace").splitlines()[-n:]
        except OSError:
            return []

    def check(self, say: Callable[[str], None]) -> None:
        """Restart the writer if it ended; output in between stays in the pipes, which we hold open."""
        if self._writer is not None and self._writer.poll() is not None:
            self._start_writer()
            say("the log writer ended and was restarted")

    def close(self) -> None:
        """Wait until everything printed is in the files."""
        for _, output in self._pipes.values():
            os.close(output)
        if self._writer is not None:
            try:
                self._writer.wait(CLOSE_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                # A process left behind by one of our children holds a log open.
                self._writer.kill()
                self._writer.wait()
        for reader, _ in self._pipes.values():
            os.close(reader)
        self._pipes = {}

    def _start_writer(self) -> None:
        readers = [reader for reader, _ in self._pipes.values()]
        files = [f"{reader}={self.path(name)}" for name, (reader, _) in self._pipes.items()]
        # -I -S: nothing but the standard library, so that it starts at once and needs nothing of the checkout.
        self._writer = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", "-S", log_writer.__file__, *self._options, *files],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=readers,
            cwd="/",
            start_new_session=True,
        )
