"""`normstat doctor`: says what is wrong with an installation."""

import asyncio
import dataclasses
import json
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from normstat import __version__
from normstat.cli.local_database import chosen_installation, describe_origin, describe_search
from normstat.doctor.check_result import CheckResult, CheckStatus, count_by_status
from normstat.doctor.examination import Installation, examine, find_data_dir
from normstat.local.running_server import RunningServer, find_running_servers
from normstat.settings import adopt_environment, load_settings

app = typer.Typer(add_completion=False)

MARKS: Final = {
    CheckStatus.OK: "ok",
    CheckStatus.WARNING: "WARNING",
    CheckStatus.ERROR: "ERROR",
    CheckStatus.NOT_CHECKED: "not checked",
}


@app.command()
def doctor(
    *,
    strict: Annotated[bool, typer.Option("--strict", help="exit with 1 for warnings, too")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Say what is wrong with this installation; exit with 1 when something is. docs/run.md explains each check."""
    place, about = _find_installation()
    results = asyncio.run(examine(place))
    counts = count_by_status(results)
    if as_json:
        document = {
            "version": __version__,
            "settings_of": about,
            **{f"n_{status}": n for status, n in counts.items()},
            "checks": [dataclasses.asdict(result) for result in results],
        }
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    else:
        typer.echo(f"normstat {__version__}, settings of {about}")
        for result in results:
            typer.echo(_line(result))
        told = f"{counts[CheckStatus.ERROR]} errors, {counts[CheckStatus.WARNING]} warnings, {counts[CheckStatus.OK]} ok"
        typer.echo(f"{told}, {counts[CheckStatus.NOT_CHECKED]} not checked")
    if counts[CheckStatus.ERROR] or (strict and counts[CheckStatus.WARNING]):
        raise typer.Exit(1)


def _line(result: CheckResult) -> str:
    """Return one line: status, check, what was found, what is expected, what to do."""
    parts = [result.found]
    parts += [f"expected: {result.expected}"] if result.expected else []
    parts += [f"do: {result.advice}"] if result.advice else []
    # What a database, a proxy or a host says has no control characters here.
    said = "".join(sign if sign.isprintable() else " " for sign in "; ".join(parts))
    return f"{MARKS[result.status]:11}  {result.check:20}  {said}"


def _find_installation() -> tuple[Installation, str]:
    """Return what to examine, and the origin of its settings: a server that runs here, else the environment."""
    server = _choose(find_running_servers())
    origin, hint = describe_origin(), describe_search()
    running = chosen_installation()
    about = "this environment (no server that this account may look at runs here)"
    if server is not None:
        about = f"the server that runs here (pid {server.pid})"
        if "database_url" not in load_settings().model_fields_set:
            origin, hint = f"the database of the server with pid {server.pid}", ""
        adopt_environment(server.environment)
    elif running is not None:
        about = f"the normstat that runs in {running.data_dir} (pid {running.pid}), whose server is down at the moment"
    folder = _folder_of(server) if running is None else running.data_dir
    settings = load_settings()
    return Installation(settings, origin, hint, folder, None if server is None else server.owner), about


def _choose(servers: list[RunningServer]) -> RunningServer | None:
    """Return the server of the chosen database; without a choice, the only one that runs here."""
    settings = load_settings()
    if "database_url" in settings.model_fields_set:
        return next((server for server in servers if server.database_url == settings.database_url), None)
    urls = {server.database_url for server in servers}
    return servers[0] if len(urls) == 1 else None


def _folder_of(server: RunningServer | None) -> Path | None:
    """Return the data folder of `normstat up`, which keeps the imports there."""
    imports = None if server is None else server.environment.get("NORMSTAT_IMPORT_DIR")
    return find_data_dir(None if imports is None else Path(imports))
