"""`normstat scores`: shows how far a host was from its normal, minute by minute, and scores a window of the past."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import typer

from normstat.cli.db_session import format_instant, parse_time, print_table, run_in_session, run_or_exit
from normstat.db.session import WriteSession, make_engine, make_sessions, open_read_session
from normstat.runtime.logs import configure_logging
from normstat.runtime.readable import count_of
from normstat.samples.lookup import require_host
from normstat.settings import load_settings
from normstat.watch.fleet.minute_store import MINUTE_US
from normstat.watch.scores.score_history import MIN_NAMED, ScoreHistory, ScoreStep, read_history
from normstat.watch.scores.score_job import backfill
from normstat.window import Window, from_us, to_us

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Show and make the scores of hosts: docs/watching.md.")

PIECE_MINUTES: Final = 6 * 60
HostArgument = Annotated[str, typer.Argument(help="name of the host")]
FromOption = Annotated[
    datetime | None, typer.Option("--from", parser=parse_time, metavar="TIME", help="default: an hour before --to")
]
ToOption = Annotated[datetime | None, typer.Option("--to", parser=parse_time, metavar="TIME", help="default: now")]


@app.callback()
def scores() -> None:
    """Show how far hosts were from their normal, and score the past."""


@app.command("show")
def show_scores(host: HostArgument, start: FromOption = None, end: ToOption = None) -> None:
    """List the minutes in which a host was unusual, with what was most unusual."""
    window = _to_window(start, end)

    async def work(session: WriteSession) -> ScoreHistory:
        return await read_history(session, host, window, datetime.now(UTC))

    history = run_in_session(work)
    if not history.steps:
        typer.echo(f"no scores of that time; now: {history.normal.sentence}. See normstat scores backfill")
        return
    unusual = [step for step in history.steps if step.findings]
    print_table([("time", "score", "what was most unusual"), *(_to_row(step) for step in unusual)])
    n_minutes = history.step_ms // 60_000
    typer.echo(
        f"{len(unusual)} of {count_of(len(history.steps), 'step')} of {count_of(n_minutes, 'minute')} "
        f"had a score of {MIN_NAMED} or more"
    )
    typer.echo(f"now {history.normal.sentence}")


@app.command("backfill")
def backfill_scores(host: HostArgument, start: FromOption = None, end: ToOption = None) -> None:
    """Score a window of the past by the baseline that covers the host today."""
    configure_logging("error")
    window = _to_window(start, end)
    n_written = run_or_exit(lambda: asyncio.run(_backfill(host, window)))
    typer.echo(f"{count_of(n_written, 'minute')} scored")


async def _backfill(host: str, window: Window) -> int:
    engine = make_engine(load_settings().database_url, pool_size=1)
    sessions = make_sessions(engine)
    n_written = 0
    try:
        async with open_read_session(sessions) as session:
            host_id = await require_host(session, host)
        minutes = range(to_us(window.start) // MINUTE_US, to_us(window.end) // MINUTE_US)
        for begin in range(minutes.start, minutes.stop, PIECE_MINUTES):
            piece = range(begin, min(begin + PIECE_MINUTES, minutes.stop))
            n_written += await backfill(sessions, host_id, piece, now=datetime.now(UTC))
            typer.echo(f"until {format_instant(from_us(piece.stop * MINUTE_US))}", err=True)
        return n_written
    finally:
        await engine.dispose()


def _to_window(start: datetime | None, end: datetime | None) -> Window:
    to = end or datetime.now(UTC)
    return Window(start or to - timedelta(hours=1), to)


def _to_row(step: ScoreStep) -> tuple[str, ...]:
    top = step.findings[0]
    return (format_instant(from_us(step.start_ms * 1000)), f"{top.anomaly_score:.2f}", f"{top.subsystem}: {top.sentence}")
