"""Child processes that are supervised and restarted: at once the first time, with growing delays when that does not help."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Final, Protocol

from normstat.local.os_accounts import MountView, OsAccount, drop_privileges
from normstat.runtime.readable import format_seconds

STOP_TIMEOUT_S: Final = 15.0
FIRST_PAUSE_S: Final = 0.5
MAX_PAUSE_S: Final = 30.0
# A process that ran for this long counts as healthy: its next end is a first one.
STEADY_S: Final = 60.0
# Of the last line of a log.
MAX_WORDS: Final = 300


def describe_exit(status: int) -> str:
    """Return how a process ended, from Popen's return code."""
    if status >= 0:
        return f"exit status {status}"
    with contextlib.suppress(ValueError):
        return f"killed by {signal.Signals(-status).name}"
    return f"killed by signal {-status}"


class ChildProcess:
    """A child process in its own session. It is ended when we end, even when we are killed."""

    def __init__(
        self,
        command: list[str],
        *,
        output: int,
        environment: Mapping[str, str],
        account: OsAccount | None = None,
        view: MountView | None = None,
        death_signal: int = signal.SIGTERM,
        is_final: bool = False,
        kept: Collection[int] = (),
    ) -> None:
        self._process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            cwd="/",
            start_new_session=True,  # a Ctrl-C at the terminal is ours to handle, in our order
            preexec_fn=drop_privileges(  # noqa: PLW1509
                account, view=view, death_signal=death_signal, is_final=is_final, kept=kept
            ),
        )

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def poll(self) -> int | None:
        """Return the exit status, None while it runs."""
        return self._process.poll()

    def stop(self, *signals: signal.Signals, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Send each signal (default SIGTERM) and wait; kill in the end. Returns when the process is gone."""
        for number in signals or (signal.SIGTERM,):
            if self._process.poll() is None:
                self._process.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(timeout_s)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


class ServiceProcess:
    """A service that is one process."""

    def __init__(
        self,
        name: str,
        start: Callable[[], ChildProcess],
        is_ready: Callable[[], bool],
        can_launch: Callable[[], bool],
        *,
        read_log: Callable[[], list[str]],
    ) -> None:
        self.name = name
        self.launched_at = 0.0
        self._start = start
        self._is_ready = is_ready
        self._may_launch = can_launch
        self._read_log = read_log
        self._child: ChildProcess | None = None

    def launch(self) -> None:
        """Start it."""
        self.launched_at = time.monotonic()
        self._child = self._start()

    def poll(self) -> int | None:
        """Return the exit status, None while it runs."""
        return self._child.poll() if self._child is not None else 0

    def is_ready(self) -> bool:
        """Return whether it is serving."""
        return self._is_ready()

    def can_launch(self) -> bool:
        """Return whether its prerequisites are met."""
        return self._may_launch()

    def last_message(self) -> str:
        """Return the last line of its log."""
        return "".join(self._read_log()).strip()[:MAX_WORDS]

    def stop(self) -> None:
        """Stop it."""
        if self._child is not None:
            self._child.stop()


class Backoff:
    """Delays between retries."""

    def __init__(self) -> None:
        self._next_s = FIRST_PAUSE_S

    @property
    def is_longest(self) -> bool:
        """Return whether the delay has reached its maximum."""
        return self._next_s >= MAX_PAUSE_S

    def pause_s(self, *, ran_s: float) -> float:
        """Return the delay after something ran for that time: each is twice the one before."""
        if ran_s >= STEADY_S:
            self.reset()
        pause_s = self._next_s
        self._next_s = min(2 * pause_s, MAX_PAUSE_S)
        return pause_s

    def reset(self) -> None:
        """Start with the shortest delay again."""
        self._next_s = FIRST_PAUSE_S


class Service(Protocol):
    """What a `Supervisor` keeps running. No method blocks."""

    name: str

    def launch(self) -> None:
        """Start it."""

    def poll(self) -> int | None:
        """Return the exit status, None while it runs."""

    def is_ready(self) -> bool:
        """Return whether it is serving; asked only while it runs."""

    def can_launch(self) -> bool:
        """Return whether it can be started: its prerequisites are met, and nothing of an earlier run is left."""

    def last_message(self) -> str:
        """Return its last message before it ended; empty if there was none."""


class Supervisor:
    """Restarts a service whenever it ends, and reports it: once when it ends, once when it is back."""

    def __init__(self, service: Service, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._say = say
        self._clock = clock
        self._backoff = Backoff()
        self._started_at = clock()
        # When to start it; None while it runs.
        self._start_at: float | None = None
        self._ended_at: float | None = None
        self._has_said_longest = False

    @property
    def is_up(self) -> bool:
        """Return whether the service runs and has been ready since it started."""
        return self._start_at is None and self._ended_at is None

    def retry_now(self) -> None:
        """Retry at once: the obstacle may be gone."""
        self._backoff.reset()
        if self._start_at is not None:
            self._start_at = self._clock()

    def check(self) -> None:
        """Check whether the service ended or is ready, and start it when it is due."""
        if self._start_at is not None:
            if self._clock() >= self._start_at and self._service.can_launch():
                self._start_at = None
                self._started_at = self._clock()
                self._service.launch()
            return
        status = self._service.poll()
        if status is not None:
            self._handle_exit(status)
        elif self._ended_at is not None and self._service.is_ready():
            self._say(f"the {self._service.name} is running again, after {format_seconds(self._clock() - self._ended_at)}")
            self._ended_at = None
            self._has_said_longest = False

    def _handle_exit(self, status: int) -> None:
        now = self._clock()
        pause_s = self._backoff.pause_s(ran_s=now - self._started_at)
        self._start_at = now + pause_s
        if self._ended_at is None:
            self._ended_at = now
            self._say(f"the {self._service.name} ended ({self._describe(status)}); restarting it")
        elif self._backoff.is_longest and not self._has_said_longest:
            self._has_said_longest = True
            self._say(f"the {self._service.name} keeps ending; retrying every {MAX_PAUSE_S:.0f} s ({self._describe(status)})")

    def _describe(self, status: int) -> str:
        # A killed process had no time for a last message: the end of its log is about something else.
        words = self._service.last_message() if status >= 0 else ""
        return f"{describe_exit(status)}: {words}" if words else describe_exit(status)


def processes_in(folder: Path) -> Iterator[int]:
    """Yield the ids of the processes whose working folder is that folder, as with all of PostgreSQL's and their cluster's.

    Missing: nothing without /proc.
    """
    wanted = os.path.realpath(folder)
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if str((entry / "cwd").readlink()) == wanted:
                yield int(entry.name)
