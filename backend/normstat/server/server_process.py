"""One process of the server: uvicorn with the application. The parent of several does not load any of this."""

import asyncio
import contextlib
import gc
import os
import resource
import socket
import time
from collections.abc import Awaitable, Callable
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Final, NamedTuple

import structlog
import uvicorn
from fastapi import FastAPI

from normstat import __version__
from normstat.api.http.state import AppState
from normstat.app import create_app
from normstat.auth.client_address import TrustedProxies, parse_networks
from normstat.local.service_manager import READY, STOPPING, tell_service_manager
from normstat.runtime.memory import collector_paused
from normstat.server.certificate_files import find_certificate_files
from normstat.server.connections import ConnectionLimits, ConnectionTable
from normstat.server.http_protocol import GuardedProtocol, GuardedState
from normstat.server.workers import Acceptor, Control, bind
from normstat.settings import Settings

if TYPE_CHECKING:
    from normstat.server.certificates import ServerCertificate

log = structlog.get_logger()

# An agent's running request gets this long to be committed and answered; otherwise it is sent again.
GRACE_S: Final = 5
# New objects per garbage collection. A batch of posts has more than Python's 700 at any time: they would be taken for long-lived
# objects, and everything else in the process would be examined with them, several times a minute.
YOUNG_OBJECTS: Final = 10_000
# Many systems allow a process 1024 open files unless it asks for more.
MAX_FILES: Final = 16_384
# Open files other than client connections: of the database, the log, imports, and connections being closed.
OTHER_FILES: Final = 256
MIN_CONNECTIONS: Final = 16
# uvicorn would look ten times a second whether to stop, and wake a machine that does nothing else.
TICK_S: Final = 1.0
# A longer pause between two ticks is due to this process, not to its clients.
MAX_TICK_S: Final = 2.0


class Listening(NamedTuple):
    """What a server accepts connections from. Missing: without a socket, uvicorn opens its own; without a certificate, no TLS."""

    listener: socket.socket | None = None
    certificate: "ServerCertificate | None" = None


OWN_SOCKETS: Final = Listening()


class Server(uvicorn.Server):
    """uvicorn with bounded connections, from its own sockets or from one that it is given.

    When it stops it waits for open answers, so endless ones are ended first.
    """

    def __init__(
        self, config: uvicorn.Config, state: AppState, limits: ConnectionLimits, listening: Listening = OWN_SOCKETS
    ) -> None:
        super().__init__(config)
        self._state = state
        self._book = ConnectionTable(limits)
        self._ticked_at = time.monotonic()
        self._ends = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listener, self._certificate = listening
        self._acceptor: Acceptor | None = None
        self.server_state = GuardedState(self._book)

    async def main_loop(self) -> None:
        """Tick once a second until the server is to stop."""
        self._loop = asyncio.get_running_loop()
        # Only every tenth of uvicorn's ticks sets the date of answers: each of these does.
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TICK_S):
                    await self._ends.wait()

    async def on_tick(self, counter: int) -> bool:
        """Check the connections; uvicorn checks whether to stop."""
        now = time.monotonic()
        self._book.tick(min(now - self._ticked_at, MAX_TICK_S))
        self._ticked_at = now
        if self._certificate is not None:
            self._certificate.tick(now)
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop when a signal arrives."""
        super().handle_exit(sig, frame)
        if self._loop is not None:
            # Not `set`: a signal may arrive while the loop sleeps.
            self._loop.call_soon_threadsafe(self._ends.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening."""
        await super().startup(sockets)
        if not self.should_exit:
            if self._listener is not None:
                self._acceptor = Acceptor(self._listener, self._choose_way())
                self._acceptor.start()
            log.info("server_started", host=self.config.host, port=self.config.port, version=__version__)
            self._tell_manager(READY)

    def _choose_way(self) -> Callable[[socket.socket], Awaitable[object]]:
        """Return what makes an accepted socket a connection."""
        if self._certificate is not None:
            from normstat.server.handshakes import Handshakes  # noqa: PLC0415

            return Handshakes(self._certificate, self._book, self._make_protocol).serve
        return partial(asyncio.get_running_loop().connect_accepted_socket, self._make_protocol)

    def _make_protocol(self) -> GuardedProtocol:
        # As uvicorn creates it for its own listening sockets.
        return GuardedProtocol(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting requests, which other processes may take, and wait for the running ones."""
        self._tell_manager(STOPPING)
        if self._acceptor is not None:
            self._acceptor.close()
        self._state.live.close()
        await super().shutdown(sockets)
        self._book.report_rest()
        log.info("server_stopped")

    def _tell_manager(self, state: bytes) -> None:
        tell_service_manager(self._state.settings.notify_socket, state)


class WorkerServer(Server):
    """One of several servers on a socket that the parent bound."""

    def __init__(
        self, config: uvicorn.Config, state: AppState, limits: ConnectionLimits, listening: Listening, *, control: int
    ) -> None:
        super().__init__(config, state, limits, listening)
        self._control = Control(control, self._end)

    def _end(self) -> None:
        self.should_exit = True
        self._ends.set()

    def _tell_manager(self, state: bytes) -> None:
        """Do nothing: systemd listens to the parent."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start accepting connections."""
        await super().startup(sockets)
        if not self.should_exit:
            self._control.say_ready()


def run_alone(settings: Settings, host: str, port: int) -> None:
    """Serve until a signal arrives.

    Raises: UnusableCertificate, UnusableAddress
    """
    certificate = _load_certificate(settings)
    # uvicorn's own sockets may be several, as of a name with an IPv4 and an IPv6 address; it knows nothing of our handshakes.
    listener = None if certificate is None else bind(host, port)
    limits = find_limits(settings, _allow_files())
    application = _make_application(settings)
    config = _configure(application, host, port, limits)
    server = Server(config, application.state.normstat, limits, Listening(listener, certificate))
    server.run(None if listener is None else [])


def run_worker(settings: Settings, host: str, port: int, *, listener: int, control: int) -> None:
    """Serve connections of the listening socket until a signal arrives or the parent is gone; both are file descriptors.

    Raises: UnusableCertificate
    """
    structlog.contextvars.bind_contextvars(pid=os.getpid())
    listening = Listening(socket.socket(fileno=listener), _load_certificate(settings))
    limits = find_limits(settings, _allow_files())
    application = _make_application(settings)
    config = _configure(application, host, port, limits)
    server = WorkerServer(config, application.state.normstat, limits, listening, control=control)
    # No sockets of uvicorn's own.
    server.run([])


def _load_certificate(settings: Settings) -> "ServerCertificate | None":
    """Return the certificate that the settings name. Missing: None when the server does not use TLS.

    Raises: UnusableCertificate
    """
    files = find_certificate_files(settings)
    if files is None:
        return None
    # Its libraries take 2 MB.
    from normstat.server.certificates import ServerCertificate  # noqa: PLC0415

    return ServerCertificate(files)


def _make_application(settings: Settings) -> FastAPI:
    with collector_paused():
        application = create_app(settings)
    # None of this is ever garbage: the collector need not look at it again.
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)
    return application


def find_limits(settings: Settings, n_files: int) -> ConnectionLimits:
    """Return the limits of clients, with no more connections than open files allow."""
    possible = max(MIN_CONNECTIONS, n_files - OTHER_FILES)
    n_connections = min(settings.max_connections, possible)
    if n_connections < settings.max_connections:
        log.warning("fewer_connections", wanted=settings.max_connections, possible=n_connections, open_files=n_files)
    return ConnectionLimits(
        n_connections=n_connections,
        n_per_address=settings.max_connections_per_address or max(1, n_connections // 2),
        head_timeout_s=settings.head_timeout_s,
        trusted_proxies=TrustedProxies(parse_networks(settings.trusted_proxies)),
        stall_timeout_s=settings.stall_timeout_s,
    )


def _allow_files() -> int:
    """Return the number of files that this process may open, after raising the limit as needed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_FILES if hard == resource.RLIM_INFINITY else min(MAX_FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return MAX_FILES if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


def _configure(application: FastAPI, host: str, port: int, limits: ConnectionLimits) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        host=host,
        port=port,
        http=GuardedProtocol,
        # WebSockets are not supported; a connection that became one would be out of the connection_table.
        ws="none",
        # Logging is configured already; uvicorn would add handlers of its own.
        log_config=None,
        access_log=False,
        server_header=False,
        # We evaluate NORMSTAT_TRUSTED_PROXIES (auth/client_address.py); uvicorn would trust anyone on this machine.
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_S,
        # The connection table bounds connections; this bounds requests whose clients left before they were answered.
        limit_concurrency=limits.n_connections + OTHER_FILES,
    )
