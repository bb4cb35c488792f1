"""`normstat serve`: the server."""

import socket
from typing import Annotated, Final

import structlog
import typer
import uvicorn

from normstat import __version__
from normstat.api.state import AppState
from normstat.app import create_app
from normstat.errors import NormstatError
from normstat.logs import configure_logging
from normstat.settings import load_settings
from normstat.store.version import require_current_schema

log = structlog.get_logger()
app = typer.Typer()

# An agent's request that is under way gets this long to be committed and answered; it is sent again otherwise.
GRACE_S: Final = 5


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


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port to listen on", min=1, max=65535)] = 8080,
) -> None:
    """Run the server until it is told to stop."""
    settings = load_settings()
    configure_logging(settings.log_level)
    try:
        require_current_schema(settings.database_url)
        application = create_app(settings)
    except NormstatError as error:
        typer.echo(f"normstat: {error.message}", err=True)
        raise typer.Exit(1) from error
    config = uvicorn.Config(
        application,
        host=host,
        port=port,
        # Ours is configured already; uvicorn would add handlers of its own.
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )
    Server(config, application.state.normstat).run()
