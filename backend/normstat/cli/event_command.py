"""`normstat event`: notes, lists and deletes events."""

from datetime import UTC, datetime
from typing import Annotated, Final

import typer
from pydantic import TypeAdapter, ValidationError

from normstat.api.routes.event_schemas import EventCreate
from normstat.cli.db_session import format_instant, parse_time, print_table, run_in_session
from normstat.db.session import WriteSession
from normstat.query.host_events import EventPage, HostEvent, search_events
from normstat.records import event_rows
from normstat.records.event_rows import EventDraft, EventFilter, EventRecord, EventSource
from normstat.runtime.readable import count_of
from normstat.stats.fact_words import EventKind

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Note, list and delete events: docs/artefacts.md.")

AUTHOR: Final = "command line"
MAX_LISTED: Final = 1000


@app.callback()
def event() -> None:
    """Note, list and delete events."""


@app.command()
def add(
    text: Annotated[str, typer.Argument(help='what happened, in a few words: "deployed 1.4"')],
    *,
    host: Annotated[list[str] | None, typer.Option(help="a host that it is about; may be repeated; default: all hosts")] = None,
    at: Annotated[datetime | None, typer.Option(parser=parse_time, metavar="TIME", help="when; default: now")] = None,
    end: Annotated[
        datetime | None, typer.Option(parser=parse_time, metavar="TIME", help="when it ended; default: a moment")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="a tag; may be repeated")] = None,
    kind: Annotated[EventKind, typer.Option(help="what it is about; gives the colour in graphs")] = EventKind.NOTE,
) -> None:
    """Note an event."""
    try:
        body = TypeAdapter(EventCreate).validate_python({"text": text, "tags": tag or [], "hosts": host or None})
    except ValidationError as error:
        problem = error.errors()[0]
        raise typer.BadParameter(f"{problem['loc'][0]}: {problem['msg']}") from None

    async def make(session: WriteSession) -> EventRecord:
        draft = EventDraft(
            at=at or datetime.now(UTC),
            end=end,
            kind=kind,
            text=body.text,
            tags=tuple(dict.fromkeys(body.tags)),
            hosts=None if body.hosts is None else tuple(body.hosts),
            source=EventSource.CLI,
            author=AUTHOR,
        )
        return await event_rows.create_event(session, draft)

    made = run_in_session(make)
    typer.echo(
        f"Noted event {made.id} at {format_instant(made.at)} for {_hosts_text(made.hosts)}; "
        f"`normstat event delete {made.id}` deletes it"
    )


@app.command(name="list")
def list_(
    *,
    host: Annotated[
        list[str] | None, typer.Option(help="events of this host, and its reboots and changed facts; may be repeated")
    ] = None,
    since: Annotated[datetime | None, typer.Option(parser=parse_time, metavar="TIME", help="events from then on")] = None,
    until: Annotated[datetime | None, typer.Option(parser=parse_time, metavar="TIME", help="events before then")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="events with this tag; may be repeated")] = None,
    search: Annotated[str, typer.Option(help="words that must all stand in the text, the tags or the author's name")] = "",
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, max=MAX_LISTED, help="how many, the newest")] = 50,
) -> None:
    """List events, newest first."""
    wanted = EventFilter(None, since, until, (), tuple(tag or ()), tuple(search.split()))

    async def read(session: WriteSession) -> EventPage:
        return await search_events(session, host or [], wanted, limit=limit, offset=0)

    page = run_in_session(read)
    if not page.events:
        typer.echo('No events. `normstat event add "deployed 1.4"` notes one.')
        return
    print_table([("no", "when", "hosts", "kind", "what", "verdict", "tags", "by"), *map(_to_row, page.events)])
    if len(page.events) < page.n_total:
        typer.echo(f"{count_of(page.n_total - len(page.events), 'older event')} not listed; -n lists more")


@app.command()
def delete(number: Annotated[int, typer.Argument(help="number of the event", min=1, max=2**63 - 1)]) -> None:
    """Delete an event."""

    async def work(session: WriteSession) -> None:
        await event_rows.delete_event(session, number)

    run_in_session(work)
    typer.echo(f"Deleted event {number}; `normstat event restore {number}` restores it within a day")


@app.command()
def restore(number: Annotated[int, typer.Argument(help="number of the event", min=1, max=2**63 - 1)]) -> None:
    """Restore a deleted event."""

    async def work(session: WriteSession) -> EventRecord:
        return await event_rows.restore_event(session, number)

    typer.echo(f"Restored event {number}: {run_in_session(work).text}")


def _to_row(event: HostEvent) -> tuple[str, ...]:
    return (
        "-" if event.id is None else str(event.id),
        format_instant(event.at) if event.end is None else f"{format_instant(event.at)} - {format_instant(event.end)}",
        _hosts_text(event.hosts),
        event.kind,
        " ".join(event.text.split()),
        "" if event.verdict is None else event.verdict.verdict.replace("_", " "),
        " ".join(event.tags),
        event.author or event.source,
    )


def _hosts_text(hosts: list[str] | None) -> str:
    return "all hosts" if hosts is None else " ".join(hosts)
