"""Child processes that are watched and started again: at once the first time, later and later when that does not help."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, Protocol

from normstat.local.os_accounts import Account, View, become

STOP_TIMEOUT_S: Final = 15.0
FIRST_PAUSE_S: Final = 0.5
MAX_PAUSE_S: Final = 30.0
# Whoever ran for so long is well again: its next end is a first one.
STEADY_S: Final = 60.0
# Of the last line of a log.
MAX_WORDS: Final = 300


def describe_end(status: int) -> str:
    """Return how a process ended, from the status that Popen gives."""
    if status >= 0:
        return f"exit status {status}"
    with contextlib.suppress(ValueError):
        return f"killed by {signal.Signals(-status).name}"
    return f"killed by signal {-status}"


class Child:
    """A process of ours, of its own session. It is told to end when we end, even when we are killed outright."""

    def __init__(
        self,
        command: list[str],
        *,
        output: int,
        environment: Mapping[str, str],
        account: Account | None = None,
        view: View | None = None,
        death_signal: int = signal.SIGTERM,
        is_final: bool = False,
    ) -> None:
        self._process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            cwd="/",
            start_new_session=True,  # a Ctrl-C at the terminal is ours to handle, in our order
            preexec_fn=become(account, view=view, death_signal=death_signal, is_final=is_final),  # noqa: PLW1509
        )

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    def poll(self) -> int | None:
        """Return how it ended, None while it runs."""
        return self._process.poll()

    def stop(self, *signals: signal.Signals, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Send each signal (SIGTERM, where none is named) and wait; insist in the end. Returns when the process is gone."""
        for number in signals or (signal.SIGTERM,):
            if self._process.poll() is None:
                self._process.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(timeout_s)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


class Process:
    """A `Part` that is one process."""

    def __init__(
        self,
        name: str,
        start: Callable[[], Child],
        is_ready: Callable[[], bool],
        may_launch: Callable[[], bool],
        *,
        read_log: Callable[[], list[str]],
    ) -> None:
        self.name = name
        self.launched_at = 0.0
        self._start = start
        self._is_ready = is_ready
        self._may_launch = may_launch
        self._read_log = read_log
        self._child: Child | None = None

    def launch(self) -> None:
        """Start it."""
        self.launched_at = time.monotonic()
        self._child = self._start()

    def poll(self) -> int | None:
        """Return how it ended, None while it runs."""
        return self._child.poll() if self._child is not None else 0

    def is_ready(self) -> bool:
        """Return whether it does its work."""
        return self._is_ready()

    def may_launch(self) -> bool:
        """Return whether what it needs is there."""
        return self._may_launch()

    def last_words(self) -> str:
        """Return the last line of its log."""
        return "".join(self._read_log()).strip()[:MAX_WORDS]

    def stop(self) -> None:
        """End it."""
        if self._child is not None:
            self._child.stop()


class Backoff:
    """How long to wait before something is tried again."""

    def __init__(self) -> None:
        self._next_s = FIRST_PAUSE_S

    @property
    def is_longest(self) -> bool:
        """Whether the pauses grow no more."""
        return self._next_s >= MAX_PAUSE_S

    def pause_s(self, *, ran_s: float) -> float:
        """Return the pause after something ran for that time: each is twice the one before."""
        if ran_s >= STEADY_S:
            self.reset()
        pause_s = self._next_s
        self._next_s = min(2 * pause_s, MAX_PAUSE_S)
        return pause_s

    def reset(self) -> None:
        """Begin with the shortest pause again."""
        self._next_s = FIRST_PAUSE_S


class Part(Protocol):
    """What `Keeper` keeps running. No method waits."""

    name: str

    def launch(self) -> None:
        """Start it."""

    def poll(self) -> int | None:
        """Return how it ended, None while it runs."""

    def is_ready(self) -> bool:
        """Return whether it does its work; asked only while it runs."""

    def may_launch(self) -> bool:
        """Return whether it can be started: what it needs is there, what an earlier one left is gone."""

    def last_words(self) -> str:
        """Return why it ended, as far as it said so; empty when it did not."""


class Keeper:
    """Starts a part again whenever it ends, and says so: once when it ends, once when it is back."""

    def __init__(self, part: Part, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._part = part
        self._say = say
        self._clock = clock
        self._backoff = Backoff()
        self._started_at = clock()
        # When it is to be started; None while it runs.
        self._start_at: float | None = None
        self._ended_at: float | None = None
        self._has_said_longest = False

    @property
    def is_up(self) -> bool:
        """Whether the part runs and was seen ready since it started."""
        return self._start_at is None and self._ended_at is None

    def hurry(self) -> None:
        """Try again at once: what was in the way may be gone."""
        self._backoff.reset()
        if self._start_at is not None:
            self._start_at = self._clock()

    def look(self) -> None:
        """Notice whether the part ended or is ready, and start it when it is time to."""
        if self._start_at is not None:
            if self._clock() >= self._start_at and self._part.may_launch():
                self._start_at = None
                self._started_at = self._clock()
                self._part.launch()
            return
        status = self._part.poll()
        if status is not None:
            self._see_end(status)
        elif self._ended_at is not None and self._part.is_ready():
            self._say(f"the {self._part.name} is running again, after {_seconds(self._clock() - self._ended_at)}")
            self._ended_at = None
            self._has_said_longest = False

    def _see_end(self, status: int) -> None:
        now = self._clock()
        pause_s = self._backoff.pause_s(ran_s=now - self._started_at)
        self._start_at = now + pause_s
        if self._ended_at is None:
            self._ended_at = now
            self._say(f"the {self._part.name} ended ({self._describe(status)}); starting it again")
        elif self._backoff.is_longest and not self._has_said_longest:
            self._has_said_longest = True
            self._say(f"the {self._part.name} keeps ending, it is tried every {MAX_PAUSE_S:.0f} s ({self._describe(status)})")

    def _describe(self, status: int) -> str:
        # Whoever was killed had no time for last words: what its log ends with is about something else.
        words = self._part.last_words() if status >= 0 else ""
        return f"{describe_end(status)}: {words}" if words else describe_end(status)


def _seconds(n: float) -> str:
    return f"{n:.1f} s" if n < 10 else f"{n:.0f} s" if n < 120 else f"{n / 60:.0f} min"


def processes_in(folder: Path) -> Iterator[int]:
    """Yield the numbers of the processes that have that folder as their working folder, as all of PostgreSQL's have their
    cluster's.

    Missing: nothing where there is no /proc.
    """
    wanted = os.path.realpath(folder)
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if str((entry / "cwd").readlink()) == wanted:
                yield int(entry.name)
