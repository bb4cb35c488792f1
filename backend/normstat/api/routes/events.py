"""Events: dated notes of people, scripts, agents and imports."""

from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import Depends, Query, Response

from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_OPERATOR, NEEDS_VIEWER, Agent, IdPath, Operator, ReadSession, State, WriteSession
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import check_room, makes_rows
from normstat.api.http.state import AppState
from normstat.api.routes.event_schemas import EventCreate, EventReport, EventUpdate, Tags
from normstat.auth.access import AgentPrincipal, Principal, is_usable
from normstat.db import row_budgets
from normstat.db.host_limits import Whole
from normstat.db.row_budgets import EVENTS, RowBudget, require_room_for_host
from normstat.db.schema.models import AgentToken, Host
from normstat.errors import BadRequest, NotAllowed, NotAuthenticated, NotFound, TooManyRequests, shorten
from normstat.incidents.change_verdict_answer import ChangeVerdict, read_change_verdict, require_judging
from normstat.query.host_events import EventPage, HostEvent, search_events, to_host_event
from normstat.records import event_rows
from normstat.records.event_rows import EventDraft, EventFilter, EventSource
from normstat.runtime.body import NO_NUL, Instant, Name
from normstat.runtime.csv_cells import format_csv
from normstat.runtime.readable import to_iso
from normstat.stats.fact_words import EventKind

router = LazyRouter(tags=["events"])

MAX_CSV_EVENTS: Final = 20_000
# Deeper pages are found by time instead.
MAX_OFFSET: Final = 100_000

HostsQuery = Annotated[list[Name] | None, Query(alias="host", description="events of these hosts, and those of all hosts")]


def read_filter(
    start: Annotated[Instant | None, Query(description="events at this instant or later, or still going on")] = None,
    end: Annotated[Instant | None, Query(description="events before this instant")] = None,
    kind: Annotated[list[EventKind] | None, Query(description="events of these kinds")] = None,
    tag: Annotated[Tags | None, Query(description="events with all of these tags")] = None,
    search: Annotated[
        str,
        Query(description="words that must all stand in the text, the tags or the author's name", max_length=200, pattern=NO_NUL),
    ] = "",
) -> EventFilter:
    """Return the filter that the parameters ask for.

    Raises: BadRequest for an end before the start
    """
    if start is not None and end is not None and end <= start:
        raise BadRequest(f"end {end.isoformat()} is not after start {start.isoformat()}")
    return EventFilter(None, start, end, tuple(kind or ()), tuple(tag or ()), tuple(search.split()))


Filter = Annotated[EventFilter, Depends(read_filter)]


@router.get("/events", dependencies=[NEEDS_VIEWER], responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def list_events(
    session: ReadSession,
    wanted: Filter,
    host: HostsQuery = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> EventPage:
    """List events, newest first. With `host` also reboots and changes of facts of those hosts (up to 20)."""
    return await search_events(session, host or [], wanted, limit=limit, offset=offset)


@router.get(
    "/events.csv",
    response_class=Response,
    dependencies=[NEEDS_VIEWER],
    responses=text_answers(
        guarded_answers(BadRequest, NotFound),
        media_type="text/csv",
        description="UTF-8, CRLF, a header line, then events, oldest first",
    ),
)
@open_to_limited()
async def export_events(session: ReadSession, wanted: Filter, host: HostsQuery = None) -> Response:
    """Export events: time, end, not_before, hosts, kind, text, tags, source, author."""
    page = await search_events(session, host or [], wanted, limit=MAX_CSV_EVENTS, offset=0)
    if page.n_total > MAX_CSV_EVENTS:
        raise BadRequest(f"{page.n_total} events are too many for one file; the limit is {MAX_CSV_EVENTS}: choose a shorter window")
    return Response(
        _format_events(page.events[::-1]),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="events.csv"'},
    )


@router.post("/events", status_code=201, responses=guarded_answers(BadRequest, NotFound, TooManyRequests))
@open_to_limited(needs_host=True)
@makes_rows(row_budgets.EVENTS)
async def create_event(body: EventCreate, principal: Operator, session: WriteSession) -> HostEvent:
    """Note an event: of some hosts, or of all."""
    return to_host_event(await event_rows.create_event(session, _to_draft(body, body.at or datetime.now(UTC), principal)))


@router.put("/events/{id}", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited(needs_host=True, whole=Whole.EVENT)
async def update_event(id: IdPath, body: EventUpdate, principal: Operator, session: WriteSession) -> HostEvent:  # noqa: A002
    """Change an event; its author stays. What an agent or an import recorded cannot be changed."""
    return to_host_event(await event_rows.update_event(session, id, _to_draft(body, body.at, principal)))


@router.delete("/events/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited(whole=Whole.EVENT)
async def delete_event(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Delete an event. It can be restored for a day."""
    await event_rows.delete_event(session, id)
    return Empty()


@router.post("/events/{id}/restore", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited(whole=Whole.EVENT)
async def restore_event(id: IdPath, session: WriteSession) -> HostEvent:  # noqa: A002
    """Undo the deletion of an event."""
    return to_host_event(await event_rows.restore_event(session, id))


@router.get("/events/{id}/verdict", dependencies=[NEEDS_VIEWER], responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def get_event_verdict(id: IdPath, session: ReadSession, state: State) -> ChangeVerdict:  # noqa: A002
    """Return whether the hosts of a deployment, a setting or a reboot are the same, better or worse after it."""
    return await read_change_verdict(session, id, require_judging(state.settings.change_verdict_after))


@router.post("/ingest/events", status_code=201, responses=guarded_answers(BadRequest, NotFound, TooManyRequests))
async def report_event(body: EventReport, agent: Agent, session: WriteSession, state: State) -> HostEvent:
    """Note an event of a host with an agent's token, for example from a script that deploys."""
    name, host = await find_agent_host(session, state, agent, body.host, EVENTS)
    draft = EventDraft(
        at=body.at or datetime.now(UTC),
        end=body.end,
        kind=body.kind,
        text=body.text,
        tags=_without_repeats(body.tags),
        hosts=(host,),
        source=EventSource.API,
        author=name,
    )
    return to_host_event(await event_rows.create_event(session, draft))


async def find_agent_host(
    session: WriteSession, state: AppState, agent: AgentPrincipal, host: str | None, budget: RowBudget
) -> tuple[str, str]:
    """Return the name of the token, and of the host that it may report about in a row of this budget.

    Raises: NotAuthenticated for a token that was revoked a moment ago; NotAllowed for another host; BadRequest without one;
        TooManyRequests
    """
    token = await session.get(AgentToken, agent.token_id)
    if token is None or not is_usable(token):
        raise NotAuthenticated("This agent token is unknown or revoked; create a new one under /agent-tokens")
    await check_room(session, state, budget, token.name)
    if token.host_id is None:
        if host is None:
            raise BadRequest("The token is for any host: name the event's host in `host`")
        await require_room_for_host(session, host, state.settings.ingest_max_hosts)
        return token.name, host
    own = await session.get_one(Host, token.host_id)
    if host not in {None, own.name}:
        raise NotAllowed(f"The token is for host {own.name}, not for {shorten(host or '')}")
    return token.name, own.name


def _format_events(events: list[HostEvent]) -> str:
    """Return the events as CSV with a header line."""
    rows: list[list[object]] = [["time", "end", "not_before", "hosts", "kind", "text", "tags", "source", "author"]]
    for event in events:
        times = (to_iso(time) for time in (event.at, event.end, event.not_before))
        hosts = "all" if event.hosts is None else " ".join(event.hosts)
        rows.append([*times, hosts, event.kind, event.text, " ".join(event.tags), event.source, event.author])
    return format_csv(rows)


def _to_draft(body: EventCreate | EventUpdate, at: datetime, principal: Principal) -> EventDraft:
    return EventDraft(
        at=at,
        end=body.end,
        kind=body.kind,
        text=body.text,
        tags=_without_repeats(body.tags),
        hosts=None if body.hosts is None else tuple(body.hosts),
        source=EventSource.API if principal.session_hash is None else EventSource.USER,
        author=principal.name,
    )


def _without_repeats(tags: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tags))
