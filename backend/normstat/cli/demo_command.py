"""`normstat demo`: a read-only normstat with a day of three hosts in which two things went wrong, from nothing in half a minute."""

import asyncio
import os
import shutil
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from normstat.cli.up_command import Up, say
from normstat.cli.up_settings import read_settings
from normstat.demo import VISITOR
from normstat.errors import BadRequest, NormstatError
from normstat.local.aside import call_aside

app = typer.Typer(add_completion=False)


@app.command()
def demo(
    *,
    port: Annotated[int, typer.Option(help="port to listen on", min=1, max=65535)] = 8080,
    host: Annotated[str, typer.Option(help="address to listen on")] = "127.0.0.1",
    data: Annotated[
        Path | None, typer.Option(help="a folder that does not exist yet, to keep it; default: a temporary one, removed at the end")
    ] = None,
    fills: Annotated[
        bool, typer.Option("--fill", hidden=True, help="fill the database of the environment, and start nothing")
    ] = False,
) -> None:
    """Open a day of three hosts with two incidents, read-only; Ctrl-C stops it. The day ends when the demo starts."""
    try:
        if fills:
            _fill()
            return
        _run(host, port, data)
    except NormstatError as error:
        typer.echo(f"normstat: {error.message}", err=True)
        raise typer.Exit(1) from error


def _run(host: str, port: int, data: Path | None) -> None:
    if data is not None and data.exists():
        raise BadRequest(f"{data} exists; the demo needs a new folder, because its day ends when it starts")
    os.umask(0o077)
    folder = Path(tempfile.mkdtemp(prefix="normstat-demo-")) if data is None else data.resolve()
    if data is not None:
        folder.mkdir(parents=True)
    # When we are root, other accounts can reach their own files, but not list the folder.
    folder.chmod(0o711 if os.geteuid() == 0 else 0o700)
    try:
        # A database that the environment names has other data.
        settings = replace(call_aside(read_settings), has_database_url=False)
        demo = _DemoUp(folder, host, port, settings, workers=1, with_agent=False)
        demo.environment["NORMSTAT_READ_ONLY"] = "true"
        demo.run()
    finally:
        if data is None:
            shutil.rmtree(folder, ignore_errors=True)


class _DemoUp(Up):
    """`normstat up` on a database that is filled before the server starts, and not changed afterwards."""

    farewell = "Ctrl-C stops the demo."

    def _fill(self) -> None:
        say("making a day of three hosts, which takes about 15 seconds ...")
        self.token = self.normstat("demo", "--fill").strip()

    def _say_more(self) -> None:
        say(f"  assistants            {self.url}/mcp, with the API token {self.token}")

    def _make_login_link(self) -> str:
        return self.normstat("login-link", "--user", VISITOR).strip().splitlines()[-1]


def _fill() -> None:
    from normstat.demo.day import Day  # noqa: PLC0415
    from normstat.demo.filling import fill_demo  # noqa: PLC0415
    from normstat.runtime.logs import configure_logging  # noqa: PLC0415
    from normstat.settings import load_settings  # noqa: PLC0415

    configure_logging("error")
    # The server of the demo refuses changes, also those that fill it.
    settings = load_settings().model_copy(update={"read_only": False})
    filled = asyncio.run(fill_demo(settings, Day(datetime.now(UTC))))
    typer.echo(filled.token)
