"""Logs of traces over HTTP: events, latencies, lanes, and who blocked whom."""

from collections.abc import Callable
from typing import Annotated, Final, TypeVar

import anyio.to_thread
from fastapi import Query
from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.http.deps import NEEDS_VIEWER, IdPath, ReadSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.artefacts.artefact_service import load_part
from normstat.artefacts.parts import LogPart
from normstat.artefacts.trace_log.blocking import MAX_BLOCKINGS, BlockingList, find_blocking
from normstat.artefacts.trace_log.event_list import MAX_LISTED, LogEvents, list_events
from normstat.artefacts.trace_log.lanes import LaneRequest, LogLanes, view_lanes
from normstat.artefacts.trace_log.latency import MAX_LATENCY_ROWS, LatencySummary, measure_latencies
from normstat.artefacts.trace_log.log_filter import Mask, choose_events
from normstat.artefacts.trace_log.pairing import PairRule, available_rules, choose_rule, find_spans
from normstat.artefacts.trace_log.queue_depth import QueueDepth, measure_queues
from normstat.errors import BadRequest, DamagedArtefact, NotFound
from normstat.runtime.body import NO_NUL, Body

router = LazyRouter(tags=["artefacts"])

Answer = TypeVar("Answer")
PREFIX: Final = "/artefacts/{id}/parts/{part}/log"
PartPath = Annotated[int, Field(ge=0, le=10_000)]
Where = Annotated[
    str,
    Query(
        description="which events: cpu=1 and (event=lock,unlock or command~crond) and not duration<10us",
        max_length=2000,
        pattern=NO_NUL,
    ),
]
Nanoseconds = Annotated[str | None, Query(description="nanoseconds on the log's clock, in decimal digits", pattern=r"^\d{1,19}$")]
ANSWERS: Final = guarded_answers(BadRequest, NotFound, DamagedArtefact)


class LogPair(Body):
    """Two events that make a span, or the durations that the tool printed."""

    name: str
    title: str
    kind: str
    group: str


class LogLatencies(Body):
    """Latencies of one pair of events, and the pairs that the log has."""

    pair: LogPair | None
    """Null where the log has no pair that is known."""

    pairs: list[LogPair]
    summary: LatencySummary | None
    queues: list[QueueDepth]
    """How many requests each disk had at a time; empty where the log has no requests."""


@router.get(PREFIX, dependencies=[NEEDS_VIEWER], responses=ANSWERS)
@open_to_limited()
async def list_log_events(  # noqa: PLR0917 (parameters of a route, given by name)
    id: IdPath,  # noqa: A002
    part: PartPath,
    session: ReadSession,
    where: Where = "",
    start: Nanoseconds = None,
    end: Nanoseconds = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 100,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> LogEvents:
    """Return events of a log in the order of their times, with all digits of their nanoseconds."""
    return await _ask(session, id, part, (where, start, end), lambda log, mask: list_events(log, mask, limit=limit, offset=offset))


@router.get(f"{PREFIX}/latencies", dependencies=[NEEDS_VIEWER], responses=ANSWERS)
@open_to_limited()
async def read_log_latencies(  # noqa: PLR0917 (parameters of a route, given by name)
    id: IdPath,  # noqa: A002
    part: PartPath,
    session: ReadSession,
    pair: Annotated[
        str, Query(description="name of a pair, or two events as A->B; default: the most telling", max_length=410, pattern=NO_NUL)
    ] = "",
    key: Annotated[
        list[str] | None, Query(description="what both events of A->B must share: cpu, pid, object", max_length=5)
    ] = None,
    group: Annotated[str, Query(description="object, function, event, command, pid or cpu", max_length=20)] = "",
    where: Where = "",
    start: Nanoseconds = None,
    end: Nanoseconds = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LATENCY_ROWS)] = 100,
    queue_limit: Annotated[
        int | None, Query(description="the end of a disk's queue, e.g. 512; default: the usual ones", ge=1, le=1_000_000)
    ] = None,
) -> LogLatencies:
    """Return latencies between pairs of events by key, the largest total first, with their spread over decades."""

    def answer(log: LogPart, mask: Mask) -> LogLatencies:
        known = available_rules(log)
        rule = choose_rule(log, pair, key or (), group)
        summary = None if rule is None else measure_latencies(log, find_spans(log, rule, mask), group, limit=limit)
        queues = measure_queues(log, mask, limit=queue_limit)
        return LogLatencies(
            pair=None if rule is None else _to_pair(rule), pairs=list(map(_to_pair, known)), summary=summary, queues=queues
        )

    return await _ask(session, id, part, (where, start, end), answer)


@router.get(f"{PREFIX}/lanes", dependencies=[NEEDS_VIEWER], responses=ANSWERS)
@open_to_limited()
async def read_log_lanes(  # noqa: PLR0917 (parameters of a route, given by name)
    id: IdPath,  # noqa: A002
    part: PartPath,
    session: ReadSession,
    by: Annotated[str, Query(description="thread, cpu or command", max_length=20)] = "thread",
    width: Annotated[int, Query(description="pixels of the screen", ge=50, le=4000)] = 1000,
    where: Where = "",
    start: Nanoseconds = None,
    end: Nanoseconds = None,
) -> LogLanes:
    """Return the lanes of a window, binned to pixels: at most 20,000 items, however many events there are."""
    asked = LaneRequest(by, width, _integer(start), _integer(end))
    return await _ask(session, id, part, (where, None, None), lambda log, mask: view_lanes(log, mask, asked))


@router.get(f"{PREFIX}/blocking", dependencies=[NEEDS_VIEWER], responses=ANSWERS)
@open_to_limited()
async def read_log_blocking(  # noqa: PLR0917 (parameters of a route, given by name)
    id: IdPath,  # noqa: A002
    part: PartPath,
    session: ReadSession,
    where: Where = "",
    start: Nanoseconds = None,
    end: Nanoseconds = None,
    limit: Annotated[int, Query(ge=1, le=MAX_BLOCKINGS)] = 100,
) -> BlockingList:
    """Return who blocked whom, the longest wait first."""
    return await _ask(session, id, part, (where, start, end), lambda log, mask: find_blocking(log, mask, limit=limit))


def _to_pair(rule: PairRule) -> LogPair:
    return LogPair(name=rule.name, title=rule.title, kind=rule.kind, group=rule.group)


def _integer(digits: str | None) -> int | None:
    return None if digits is None else int(digits)


async def _ask(
    session: AsyncSession,
    artefact_id: int,
    position: int,
    chosen: tuple[str, str | None, str | None],
    answer: Callable[[LogPart, Mask], Answer],
) -> Answer:
    """Return the answer about the chosen events, computed off the event loop."""
    found = await load_part(session, artefact_id, position, LogPart)
    where, start, end = chosen

    def run() -> Answer:
        return answer(found, choose_events(found, where, start_ns=_integer(start), end_ns=_integer(end)))

    return await anyio.to_thread.run_sync(run)
