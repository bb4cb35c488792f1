"""Commands of ours, forked off a process that has imported and prepared what they need: a start takes 0.1 s of CPU instead of 1.

For tests whose subject is what a running process does. `python -m normstat serve ...` runs in a process of its own, which is our
child. What tests/e2e starts is started as a user would.
"""

import atexit
import contextlib
import ctypes
import functools
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from sqlalchemy.orm import configure_mappers

import normstat
from normstat.api.http.router import list_routes
from normstat.runtime.memory import collector_paused
from normstat.stats.catalogue import load_catalogue

BACKEND: Final = Path(__file__).resolve().parents[1]
PR_SET_CHILD_SUBREAPER: Final = 36
# Arguments and environment.
MAX_MESSAGE: Final = 1 << 20
POLL_S: Final = 0.01
READY: Final = b"ready"
IMPORT_S: Final = 300


class ForkedProcess:
    """A child of ours, with those methods of subprocess.Popen that tests use."""

    def __init__(self, pid: int, args: Sequence[str]) -> None:
        self.pid = pid
        self.args = args
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, or None while the process runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid == self.pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status once the process has ended."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if timeout is not None and deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(self.args, timeout)
            time.sleep(POLL_S)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended: its number may be somebody else's by then."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask the process to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the process."""
        self.send_signal(signal.SIGKILL)


def start_forked(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    output: IO[bytes],
    errors: IO[bytes] | None = None,
    *,
    module: str = "normstat",
) -> ForkedProcess:
    """Start `python -m MODULE` with these arguments, printing to files; errors go to the one of the output unless they have one."""
    return _fork_server().start([module, *arguments], environment, (output, errors or output))


class ForkServer:
    """The process that has imported the server; it ends when its channel is closed, and so with us however we end."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fork_server", str(theirs.fileno())], pass_fds=[theirs.fileno()], cwd=BACKEND
            )
        with _importing():
            assert self._channel.recv(64) == READY, f"the fork server has ended: {self._process.wait()}"

    def start(self, words: Sequence[str], environment: Mapping[str, str], outputs: tuple[IO[bytes], IO[bytes]]) -> ForkedProcess:
        message = json.dumps([words, dict(environment)]).encode()
        with _adopting_orphans():
            try:
                socket.send_fds(self._channel, [message], [output.fileno() for output in outputs])
                answer = self._channel.recv(64)
            except BaseException:
                # A test ran out of time. The answer may still come: the next one would take it for its own.
                _fork_server.cache_clear()
                self.stop()
                raise
        assert answer, f"the fork server has ended: {self._process.wait()}"
        return ForkedProcess(int(answer), words)

    def stop(self) -> None:
        self._channel.close()
        self._process.kill()
        self._process.wait()


@functools.cache
def _fork_server() -> ForkServer:
    server = ForkServer()
    atexit.register(server.stop)
    return server


@contextlib.contextmanager
def _importing() -> Iterator[None]:
    """Give the test another time limit meanwhile: to import everything takes a minute on a slow machine, and is of no one test."""
    left_s, _ = signal.getitimer(signal.ITIMER_REAL)
    signal.setitimer(signal.ITIMER_REAL, IMPORT_S if left_s else 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left_s)


@contextlib.contextmanager
def _adopting_orphans() -> Iterator[None]:
    """Become the parent of those descendants that lose theirs meanwhile."""
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_CHILD_SUBREAPER, 1) == 0
    try:
        yield
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0)


def _serve(channel: socket.socket) -> list[str] | None:
    """Fork a process for each request. Return in the new process, with its module and arguments; None in the old one."""
    while True:
        message, files, *_ = socket.recv_fds(channel, MAX_MESSAGE, 2)
        if not message:
            return None
        reader, writer = os.pipe()
        parent = os.fork()
        if parent == 0:
            # The one that is asked for is our child's: an orphan as soon as our child ends, and adopted by who asked.
            child = os.fork()
            if child != 0:
                os.write(writer, str(child).encode())
                os._exit(0)
            for file in (reader, writer):
                os.close(file)
            channel.close()
            return _become(message, files)
        os.waitpid(parent, 0)
        channel.send(os.read(reader, 64))
        for file in (reader, writer, *files):
            os.close(file)


def _become(message: bytes, outputs: Sequence[int]) -> list[str]:
    """Take the environment and the outputs of the request; return its module and arguments."""
    words: list[str]
    words, environment = json.loads(message)
    os.environ.clear()
    os.environ.update(environment)
    for file, output in enumerate(outputs, start=1):
        os.dup2(output, file)
        os.close(output)
    return words


def main() -> None:
    with collector_paused():
        for module in pkgutil.walk_packages(normstat.__path__, "normstat."):
            if module.name != "normstat.__main__":
                importlib.import_module(module.name)
        configure_mappers()
        for route in list_routes():
            route.prepare()
        assert dict(load_catalogue().stats)
    gc.freeze()
    channel = socket.socket(fileno=int(sys.argv[1]))
    channel.send(READY)
    words = _serve(channel)
    if words is not None:
        sys.argv = words
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
