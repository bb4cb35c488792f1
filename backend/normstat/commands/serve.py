"""`normstat serve`: the server, one process or several."""

import asyncio
import os
import socket
import sys
from typing import Annotated, Final

import structlog
import typer
import uvicorn
from fastapi import FastAPI

from normstat import __version__
from normstat.api.state import AppState
from normstat.app import create_app
from normstat.commands.workers import Acceptor, Control, Workers, bind
from normstat.errors import NormstatError
from normstat.logs import configure_logging
from normstat.settings import Settings, load_settings
from normstat.store.version import require_current_schema

log = structlog.get_logger()
app = typer.Typer()

# An agent's request that is under way gets this long to be committed and answered; it is sent again otherwise.
GRACE_S: Final = 5
# What a worker may take on top of that to end its tasks and connections before it is killed.
LAST_GRACE_S: Final = 10
# Of one process; each takes some 20 KB before it has said anything.
MOST_CONNECTIONS: Final = 4000


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


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port to listen on", min=1, max=65535)] = 8080,
    workers: Annotated[
        int | None, typer.Option(help="processes that share the work; NORMSTAT_WORKERS, or 1", min=1, max=64)
    ] = None,
    worker_files: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Run the server until it is told to stop."""
    settings = load_settings()
    settings = settings.model_copy(update={"workers": workers or settings.workers})
    configure_logging(settings.log_level)
    try:
        if worker_files is not None:
            listener, control = (int(number) for number in worker_files.split(","))
            _run_worker(settings, host, port, listener, control)
            return
        require_current_schema(settings.database_url)
        if settings.workers > 1:
            raise typer.Exit(_run_workers(settings, host, port))
        application = create_app(settings)
        Server(_configure(application, host, port), application.state.normstat).run()
    except NormstatError as error:
        typer.echo(f"normstat: {error.message}", err=True)
        raise typer.Exit(1) from error


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


def _run_workers(settings: Settings, host: str, port: int) -> int:
    try:
        listener = bind(host, port)
    except OSError as error:
        raise NormstatError(f"cannot listen on {host} port {port}: {error.strerror}") from error

    def command(listener_file: int, control_file: int) -> list[str]:
        options = ["--host", host, "--port", str(port), "--workers", str(settings.workers)]
        return [sys.executable, "-m", "normstat", "serve", *options, "--worker-files", f"{listener_file},{control_file}"]

    log.info("server_started", host=host, port=port, version=__version__, workers=settings.workers)
    status = Workers(settings.workers, listener, command, grace_s=GRACE_S + LAST_GRACE_S).run()
    log.info("server_stopped")
    return status


def _run_worker(settings: Settings, host: str, port: int, listener: int, control: int) -> None:
    structlog.contextvars.bind_contextvars(pid=os.getpid())
    application = create_app(settings)
    # No sockets of uvicorn's own.
    WorkerServer(_configure(application, host, port), application.state.normstat, socket.socket(fileno=listener), control).run([])
