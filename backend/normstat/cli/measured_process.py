"""Run a command as a run of an experiment: measure it, copy its output, forward signals to it."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Final

from normstat.experiments.measured_values import REAL, SYS, USER
from normstat.stats.measured_value import MeasuredValue

# What is kept of each of the two outputs; the rest still goes to the terminal.
MAX_KEPT: Final = 64 << 20
PIECE: Final = 1 << 16
# A child that went into the background may hold the pipes open for ever.
LINGER_S: Final = 2.0
FORWARDED: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
# The terminal sends these to the command itself.
OF_TERMINAL: Final = (signal.SIGINT, signal.SIGQUIT)


@dataclass(frozen=True, slots=True)
class MeasuredProcess:
    """What a command did. `exit_status` as a shell has it: 128 + N for signal N; `n_cut` bytes of its output were not kept."""

    start: datetime
    end: datetime
    exit_status: int
    results: list[MeasuredValue]
    n_cut: int


class Tee(threading.Thread):
    """Copies a pipe to one of our outputs and to a file."""

    def __init__(self, source: int, target: int, path: Path) -> None:
        super().__init__(daemon=True)
        self._source = source
        self._target = target
        self._path = path
        self.n_cut = 0

    def run(self) -> None:
        """Copy until the pipe ends. An output that was closed stops the copy to it, not the command."""
        left = MAX_KEPT
        is_open = True
        with self._path.open("wb", buffering=0) as file:
            while data := os.read(self._source, PIECE):
                if is_open:
                    is_open = _write_all(self._target, data)
                file.write(data[:left])
                self.n_cut += max(0, len(data) - left)
                left = max(0, left - len(data))


def run_measured(command: Sequence[str], folder: Path) -> MeasuredProcess:
    """Return what a command did; its outputs are the files `stdout` and `stderr` in the folder.

    Units: real, user and sys in seconds, max_rss in bytes (Linux only); user, sys and max_rss with the children it waited for
    Raises: OSError when it cannot be started
    """
    sys.stdout.flush()
    sys.stderr.flush()
    start = datetime.now(UTC)
    began = time.monotonic()
    # Not a `with`: its end would close pipes that a copy may still read.
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: S603 (what the user asked for)
    pipes = [pipe for pipe in (child.stdout, child.stderr) if pipe is not None]
    outputs = ((1, "stdout"), (2, "stderr"))
    with _forwarding(child.pid):
        copies = [Tee(pipe.fileno(), target, folder / name) for pipe, (target, name) in zip(pipes, outputs, strict=True)]
        for copy in copies:
            copy.start()
        _, status, usage = os.wait4(child.pid, 0)
        real = time.monotonic() - began
    code = child.returncode = os.waitstatus_to_exitcode(status)
    for copy, pipe in zip(copies, pipes, strict=True):
        copy.join(LINGER_S)
        if not copy.is_alive():
            pipe.close()
    return MeasuredProcess(
        start, datetime.now(UTC), code if code >= 0 else 128 - code, _to_results(real, usage), sum(copy.n_cut for copy in copies)
    )


def _to_results(real: float, usage: resource.struct_rusage) -> list[MeasuredValue]:
    found = [MeasuredValue(REAL, real, "s"), MeasuredValue(USER, usage.ru_utime, "s"), MeasuredValue(SYS, usage.ru_stime, "s")]
    if sys.platform == "linux":
        found.append(MeasuredValue("max_rss", usage.ru_maxrss * 1024, "B"))
    return found


@contextlib.contextmanager
def _forwarding(pid: int) -> Iterator[None]:
    """Forward signals to the command while it runs."""

    def forward(number: int, _frame: FrameType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)

    def ignore(_number: int, _frame: FrameType | None) -> None:
        """Let the command decide; the terminal told it as well."""

    of_terminal = ignore if sys.stdin is not None and sys.stdin.isatty() else forward
    old = {number: signal.signal(number, forward) for number in FORWARDED}
    old |= {number: signal.signal(number, of_terminal) for number in OF_TERMINAL}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _write_all(target: int, data: bytes) -> bool:
    """Write everything; return False when the reader is gone."""
    try:
        while data:
            data = data[os.write(target, data) :]
    except OSError:
        return False
    return True
