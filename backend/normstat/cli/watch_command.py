"""`normstat watch`: active and past episodes."""

import sys
from datetime import UTC, datetime
from typing import Annotated, Final

import typer

from normstat.cli.db_session import format_instant, print_table, run_in_session
from normstat.db.session import WriteSession
from normstat.runtime.csv_cells import format_csv
from normstat.runtime.readable import count_of, format_seconds
from normstat.watch.watch_lists import EpisodeFilter, EpisodeInfo, list_episodes
from normstat.watch.watch_now import OnNow, WatchNow, read_watch_now

app = typer.Typer(add_completion=False, help="Show what rules find now: docs/watching.md.")

MAX_LISTED: Final = 1000
SERVER: Final = "normstat"


@app.command()
def watch(
    *,
    host: Annotated[str | None, typer.Option(help="only of this host")] = None,
    history: Annotated[bool, typer.Option("--history", help="episodes that lasted, too, the latest first")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="print episodes as CSV")] = False,
) -> None:
    """Print active episodes, the worst first; exit 1 if one of them is not muted."""
    now = datetime.now(UTC)

    async def read_now(session: WriteSession) -> WatchNow:
        return await read_watch_now(session, now)

    async def read_history(session: WriteSession) -> list[EpisodeInfo]:
        return await list_episodes(session, EpisodeFilter(host=host, is_open=None if history else True), limit=MAX_LISTED)

    if history or as_csv:
        episodes = run_in_session(read_history)
        (_print_csv if as_csv else _print_history)(episodes)
        return
    found = run_in_session(read_now)
    on = [entry for entry in found.on if host in (None, entry.host)]
    _print_now(on, found, now)
    if any(entry.mute is None for entry in on):
        raise typer.Exit(1)


def _print_now(on: list[OnNow], found: WatchNow, now: datetime) -> None:
    summary = found.summary
    typer.echo(f"{count_of(summary.n_rules, 'rule')} watch {count_of(summary.n_hosts, 'host')}")
    if summary.unwatched:
        typer.echo(f"Without new samples, so of unknown state: {', '.join(summary.unwatched)}")
    if not on:
        since = summary.last_on_at or summary.since
        typer.echo("Nothing is watched yet." if since is None else f"Nothing has been on since {format_instant(since)}.")
        return
    rows = [
        (
            entry.colour,
            entry.host or SERVER,
            entry.title,
            _name_instances(entry),
            format_seconds(now - entry.since),
            _describe_care(entry),
            describe_saw(entry.episodes[0]),
        )
        for entry in on
    ]
    typer.echo("")
    print_table([("state", "host", "what", "instances", "for", "", "what it saw"), *rows])
    typer.echo("")
    for source, entry in {entry.source: entry for entry in on}.items():
        typer.echo(f"{source}: {entry.sentence} {entry.action}")


def _name_instances(entry: OnNow) -> str:
    names = [each.instance for each in entry.episodes if each.instance]
    more = f" and {entry.n_instances - 3} more" if entry.n_instances > 3 else ""
    return ", ".join(names[:3]) + more


def _describe_care(entry: OnNow) -> str:
    return "muted" if entry.mute is not None else "acknowledged" if entry.is_acknowledged else ""


def describe_saw(episode: EpisodeInfo) -> str:
    """Return the values of an episode in words: `smtx 900 /s, sys 40 %`."""
    return ", ".join(f"{seen.name} {seen.text}" for seen in episode.saw)


def _print_history(episodes: list[EpisodeInfo]) -> None:
    if not episodes:
        typer.echo("no episodes")
        return
    rows = [
        (
            format_instant(each.start),
            format_seconds(each.last - each.start),
            each.colour,
            each.host or SERVER,
            f"{each.title} {each.instance}".strip(),
            (each.ended_by or "lasts").replace("_", " "),
            describe_saw(each),
        )
        for each in episodes
    ]
    print_table([("from", "lasted", "state", "host", "what", "end", "what it saw"), *rows])


def _print_csv(episodes: list[EpisodeInfo]) -> None:
    rows: list[list[object]] = [["id", "rule", "host", "instance", "start", "last", "ended_at", "ended_by", "state", "saw"]]
    for each in episodes:
        ended = "" if each.ended_at is None else each.ended_at.isoformat()
        times = [each.start.isoformat(), each.last.isoformat(), ended, each.ended_by or ""]
        rows.append([each.id, each.source, each.host, each.instance, *times, each.colour, describe_saw(each)])
    sys.stdout.write(format_csv(rows))
