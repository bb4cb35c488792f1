"""`normstat verdict`: whether hosts got better or worse after an event, for scripts that deploy."""

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated, Final

import typer
from pydantic import TypeAdapter

from normstat.cli.db_session import format_instant, run_in_session, to_printable
from normstat.db.session import WriteSession
from normstat.incidents.change_verdict_answer import ChangeVerdict, read_change_verdict, require_judging
from normstat.records.change_verdict_rows import Verdict
from normstat.settings import load_settings

app = typer.Typer(add_completion=False)

WORSE_EXIT: Final = 1
UNKNOWN_EXIT: Final = 2
LOOK_S: Final = 2.0
# The server looks for changes to judge twice a minute, and a comparison takes seconds.
GRACE_S: Final = 120


@app.command()
def verdict(
    event: Annotated[int, typer.Argument(help="number of the event", min=1, max=2**63 - 1)],
    *,
    wait: Annotated[
        bool, typer.Option("--wait", help="wait until the server has judged it, at most 2 minutes after it is due")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print it as GET /api/v1/events/{id}/verdict does")] = False,
) -> None:
    """Say whether the hosts of a deployment, a setting or a reboot are the same, better or worse after it.

    Exit codes: 0 the same or better; 1 worse; 2 too little data, not judged yet, or an error.
    """
    after = load_settings().change_verdict_after

    async def read(session: WriteSession) -> ChangeVerdict:
        return await read_change_verdict(session, event, require_judging(after))

    found = _read(read)
    while wait and found.verdict is None and (datetime.now(UTC) - found.due_at).total_seconds() < GRACE_S:
        time.sleep(LOOK_S)
        found = _read(read)
    typer.echo(TypeAdapter(ChangeVerdict).dump_json(found, indent=2)) if as_json else _print(found)
    if found.verdict is None or found.verdict.verdict is Verdict.TOO_LITTLE_DATA:
        raise typer.Exit(UNKNOWN_EXIT)
    if found.verdict.verdict is Verdict.WORSE:
        raise typer.Exit(WORSE_EXIT)


def _read(read: Callable[[WriteSession], Awaitable[ChangeVerdict]]) -> ChangeVerdict:
    """Return the verdict; on an error, print it and exit with UNKNOWN_EXIT: 1 means worse."""
    try:
        return run_in_session(read)
    except typer.Exit:
        raise typer.Exit(UNKNOWN_EXIT) from None


def _print(found: ChangeVerdict) -> None:
    what = f"{found.event.kind} {to_printable(' '.join(found.event.text.split()))} at {format_instant(found.event.at)}"
    if found.verdict is None:
        typer.echo(f"{what}: not judged yet; due at {format_instant(found.due_at)}, if a server runs")
        return
    typer.echo(f"{what}: {found.verdict.verdict.replace('_', ' ')}")
    for host in found.hosts:
        told = "not judged yet" if host.verdict is None else f"{host.verdict.replace('_', ' ')}. {host.sentence}"
        typer.echo(f"{host.host}: {to_printable(told)}")
        for change in host.changes:
            if change.sentence == host.sentence:
                continue
            typer.echo(f"  {'worse' if change.is_worse else 'better'}: {to_printable(change.sentence)}")
