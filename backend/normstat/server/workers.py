"""Runs several server processes on one socket: starts, supervises, restarts and stops them.

The parent binds the socket and does nothing else: it has no event loop, no thread and no connection to the database. Each worker is
another `normstat serve`, with the socket and one end of a socket pair as open files. Over the pair the worker reports that it is
ready, and learns when the parent is gone, even if it was killed: then it stops, too.
"""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import ClassVar, Final

import structlog

from normstat.errors import NormstatError
from normstat.local.service_manager import READY as MANAGER_READY
from normstat.local.service_manager import STOPPING, tell_service_manager

log = structlog.get_logger()

POLL_S: Final = 0.1
BACKLOG: Final = 2048
# A worker that ends sooner than this after its start is restarted with growing delays.
YOUNG_S: Final = 10.0
FIRST_PAUSE_S: Final = 0.5
MAX_PAUSE_S: Final = 30.0
READY: Final = b"r"
# Without a free descriptor, connections wait in the socket's queue for this long.
FULL_PAUSE_S: Final = 0.5
STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class UnusableAddress(NormstatError):
    """The server cannot listen on the address; the message says why."""

    code: ClassVar[str] = "address"


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    Raises: UnusableAddress
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise UnusableAddress(f"cannot listen on {host} port {port}: {error.strerror}") from error
    listener.settimeout(0)
    return listener


@dataclass(slots=True)
class _Worker:
    """The slot of one worker, and its current process."""

    number: int
    process: subprocess.Popen[bytes] | None = None
    control: socket.socket | None = None
    started_at: float = 0.0
    start_at: float = 0.0
    pause_s: float = FIRST_PAUSE_S
    is_ready: bool = False


@dataclass(slots=True)
class Workers:
    """All workers; `run` returns when they have ended.

    `command` builds the command line of a worker from its two file descriptors, the listening socket first. A worker gets `grace_s`
    to stop before it is killed. `metrics_dir` is where the workers keep their figures for /metrics. systemd learns at
    `notify_socket` that one of them answers.
    """

    n: int
    listener: socket.socket
    command: Callable[[int, int], list[str]]
    grace_s: float
    metrics_dir: Path | None = None
    notify_socket: str | None = None
    _workers: list[_Worker] = field(default_factory=list)
    _wanted_end: threading.Event = field(default_factory=threading.Event)
    _was_ready: bool = False
    _was_served: bool = False

    def run(self) -> int:
        """Keep the workers running until a signal arrives; return 0, or the exit status of a worker if none ever became ready."""
        for number in STOP_SIGNALS:
            signal.signal(number, self._on_signal)
        self._workers = [_Worker(number) for number in range(self.n)]
        status = 0
        while not self._wanted_end.is_set() and status == 0:
            for worker in self._workers:
                status = self._look_after(worker) or status
            self._wanted_end.wait(POLL_S)
        self._stop()
        return status

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._wanted_end.set()

    def _look_after(self, worker: _Worker) -> int:
        """Start the worker if it is due; return its exit status if retrying is pointless, else 0."""
        if worker.process is None:
            if time.monotonic() >= worker.start_at:
                self._start(worker)
            return 0
        status = worker.process.poll()
        if status is not None:
            return self._see_end(worker, status)
        if not worker.is_ready and worker.control is not None and _has_said_ready(worker.control):
            worker.is_ready = True
            log.info("worker_ready", worker=worker.number, pid=worker.process.pid)
            if not self._was_served:
                # The others may need longer, or fail: one answers.
                self._was_served = True
                tell_service_manager(self.notify_socket, MANAGER_READY)
            if not self._was_ready and all(other.is_ready for other in self._workers):
                self._was_ready = True
                log.info("workers_started", n=self.n)
        return 0

    def _start(self, worker: _Worker) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            worker.process = subprocess.Popen(  # noqa: S603
                self.command(self.listener.fileno(), theirs.fileno()),
                stdin=subprocess.DEVNULL,
                pass_fds=(self.listener.fileno(), theirs.fileno()),
                # The parent passes on a Ctrl-C at the terminal.
                start_new_session=True,
            )
        ours.settimeout(0)
        worker.control, worker.started_at, worker.is_ready = ours, time.monotonic(), False

    def _see_end(self, worker: _Worker, status: int) -> int:
        assert worker.process is not None
        is_hopeless = not worker.is_ready and not any(other.is_ready for other in self._workers) and not self._was_ready
        is_young = time.monotonic() - worker.started_at < YOUNG_S
        pause_s = worker.pause_s if is_young else 0.0
        worker.pause_s = min(worker.pause_s * 2, MAX_PAUSE_S) if is_young else FIRST_PAUSE_S
        worker.start_at = time.monotonic() + pause_s
        log.error("worker_ended", worker=worker.number, pid=worker.process.pid, status=status, starts_again_in_s=pause_s)
        self._forget_gauges(worker.process.pid)
        _forget(worker)
        return status if is_hopeless and status > 0 else 0

    def _forget_gauges(self, pid: int) -> None:
        """Remove the gauges of a process that has ended from /metrics; its counters stay."""
        if self.metrics_dir is not None:
            for path in self.metrics_dir.glob(f"gauge_live*_{pid}.db"):
                path.unlink(missing_ok=True)

    def _stop(self) -> None:
        tell_service_manager(self.notify_socket, STOPPING)
        self.listener.close()
        running = [worker for worker in self._workers if worker.process is not None]
        for worker in running:
            assert worker.process is not None
            worker.process.terminate()
        deadline = time.monotonic() + self.grace_s
        for worker in running:
            assert worker.process is not None
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.process.wait(max(0.0, deadline - time.monotonic()))
            if worker.process.poll() is None:
                log.error("worker_killed", worker=worker.number, pid=worker.process.pid)
                worker.process.kill()
                worker.process.wait()
            _forget(worker)


def _has_said_ready(control: socket.socket) -> bool:
    try:
        return control.recv(1) == READY
    except (BlockingIOError, ConnectionError):
        return False


def _forget(worker: _Worker) -> None:
    if worker.control is not None:
        worker.control.close()
    worker.process, worker.control, worker.is_ready = None, None, False


class Acceptor:
    """Accepts connections from a socket shared with other processes, a few at a time, so that each process gets its share.

    A loop that accepts everything that waits, as asyncio does, gives ten agents that connect at once to one process. The number
    accepted at once grows as long as more are waiting.
    """

    def __init__(self, listener: socket.socket, serve: Callable[[socket.socket], Awaitable[object]]) -> None:
        """`serve` makes an accepted socket a connection; it may raise OSError when the client is gone."""
        self._listener = listener
        self._serve_connection = serve
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[object]] = set()
        self._bite = 1
        self._is_closed = False

    def start(self) -> None:
        """Start accepting connections."""
        if not self._is_closed:
            self._loop.add_reader(self._listener.fileno(), self._take_some)

    def close(self) -> None:
        """Stop accepting; accepted connections are served."""
        self._is_closed = True
        self._loop.remove_reader(self._listener.fileno())
        self._listener.close()

    def _take_some(self) -> None:
        for _ in range(self._bite):
            try:
                connection, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                self._bite = 1
                return
            except OSError as error:
                log.warning("accept_failed", error=error.strerror)
                self._loop.remove_reader(self._listener.fileno())
                self._loop.call_later(FULL_PAUSE_S, self.start)
                return
            connection.settimeout(0)
            task: asyncio.Task[object] = self._loop.create_task(self._serve(connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._bite = min(self._bite * 2, BACKLOG)

    async def _serve(self, connection: socket.socket) -> None:
        try:
            await self._serve_connection(connection)
        except OSError:
            # Gone before it was accepted.
            connection.close()


class Control:
    """A worker's end of the pair: `say_ready`, and `on_orphaned` is called when the parent is gone."""

    def __init__(self, number: int, on_orphaned: Callable[[], None]) -> None:
        self._socket = socket.socket(fileno=number)
        self._socket.settimeout(0)
        self._on_orphaned = on_orphaned

    def say_ready(self) -> None:
        """Report to the parent that this worker serves connections."""
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self._read)
        self._socket.send(READY)

    def _read(self) -> None:
        # The parent never writes: readable means end of file.
        asyncio.get_running_loop().remove_reader(self._socket.fileno())
        log.error("worker_orphaned", pid=os.getpid())
        self._on_orphaned()
