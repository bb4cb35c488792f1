"""One process of the server: uvicorn with the application in it. The parent of several does not load any of this."""

import asyncio
import os
import resource
import socket
from typing import Final

import structlog
import uvicorn
from fastapi import FastAPI

from normstat import __version__
from normstat.api.state import AppState
from normstat.app import create_app
from normstat.commands.workers import Acceptor, Control
from normstat.settings import Settings

log = structlog.get_logger()

# An agent's request that is under way gets this long to be committed and answered; it is sent again otherwise.
GRACE_S: Final = 5
# Of one process; each takes some 20 KB before it has said anything.
MOST_CONNECTIONS: Final = 4000
# Many systems allow a process 1024 open files unless it asks for more.
MOST_FILES: Final = 16_384


class Server(uvicorn.Server):
    """uvicorn, which waits for open answers when it stops: so those that never end by themselves are ended first."""

    def __init__(self, config: uvicorn.Config, state: AppState) -> None:
        super().__init__(config)
        self._state = state

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts listening."""
        await super().startup(sockets)
        if not self.should_exit:
            log.info("server_started", host=self.config.host, port=self.config.port, version=__version__)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stops taking requests and waits for those that are under way."""
        self._state.live.close()
        await super().shutdown(sockets)
        log.info("server_stopped")


class WorkerServer(Server):
    """One of several servers on a socket that the parent bound."""

    def __init__(self, config: uvicorn.Config, state: AppState, listener: socket.socket, control: int) -> None:
        super().__init__(config, state)
        self._listener = listener
        self._control = Control(control, self._end)
        self._acceptor: Acceptor | None = None

    def _end(self) -> None:
        self.should_exit = True

    def _make_protocol(self) -> asyncio.Protocol:
        # As uvicorn makes it for its own listening sockets.
        protocol = self.config.http_protocol_class
        return protocol(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)  # type: ignore[call-arg]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts taking connections."""
        await super().startup(sockets)
        if not self.should_exit:
            self._acceptor = Acceptor(self._listener, self._make_protocol)
            self._acceptor.start()
            self._control.say_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Leaves new connections to the others, and waits for what is under way."""
        if self._acceptor is not None:
            self._acceptor.close()
        await super().shutdown(sockets)


def run_alone(settings: Settings, host: str, port: int) -> None:
    """Serves until a signal comes."""
    _allow_files()
    application = create_app(settings)
    Server(_configure(application, host, port), application.state.normstat).run()


def run_worker(settings: Settings, host: str, port: int, *, listener: int, control: int) -> None:
    """Serves what comes on the listening socket until a signal comes or the parent is gone; both are numbers of open files."""
    _allow_files()
    structlog.contextvars.bind_contextvars(pid=os.getpid())
    application = create_app(settings)
    # No sockets of uvicorn's own.
    WorkerServer(_configure(application, host, port), application.state.normstat, socket.socket(fileno=listener), control).run([])


def _allow_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _configure(application: FastAPI, host: str, port: int) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        host=host,
        port=port,
        # Ours is configured already; uvicorn would add handlers of its own.
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
        limit_concurrency=MOST_CONNECTIONS,
    )
