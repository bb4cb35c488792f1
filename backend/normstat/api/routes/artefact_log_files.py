"""Logs of traces as files: the lines that a filter leaves, events as CSV, lanes and latencies as SVG and PDF."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final, TypeVar

import anyio.to_thread
from fastapi import Depends, Query, Response

from normstat.api.http.deps import NEEDS_VIEWER, IdPath, ReadSession, State
from normstat.api.http.handlers import guarded_answers, text_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.state import AppState
from normstat.api.http.streaming import PieceResponse, Pieces
from normstat.api.routes.artefact_logs import PREFIX, Nanoseconds, PartPath, Where
from normstat.artefacts.artefact_service import load_part
from normstat.artefacts.parts import LogPart
from normstat.artefacts.trace_log.blocking import BlockingList, find_blocking
from normstat.artefacts.trace_log.lanes import LaneRequest, LogLanes, view_lanes
from normstat.artefacts.trace_log.latency import LatencySummary, measure_latencies
from normstat.artefacts.trace_log.log_export import LineFilter, write_log_csv
from normstat.artefacts.trace_log.log_filter import Mask, choose_events
from normstat.artefacts.trace_log.pairing import choose_rule, find_spans
from normstat.db.session import open_read_session
from normstat.errors import BadRequest, DamagedArtefact, NotFound
from normstat.records import artefact_rows
from normstat.report.log_pictures import BINS, LogSource, describe_log, draw_lanes, draw_latencies, lanes_pdf, latencies_pdf
from normstat.runtime.body import NO_NUL
from normstat.runtime.readable import format_instant

router = LazyRouter(tags=["artefacts"])

Answer = TypeVar("Answer")
ERRORS: Final = (BadRequest, NotFound, DamagedArtefact)
SVG: Final = "image/svg+xml"
PDF: Final = "application/pdf"
CSV: Final = "text/csv"
# An SVG of an untrusted log must not run anything, even when it is opened by itself.
SANDBOX: Final = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}


@dataclass(frozen=True, slots=True)
class LogChoice:
    """Which part of an artefact, and which of its events."""

    artefact: int
    part: int
    where: str
    start_ns: int | None
    end_ns: int | None

    def mask(self, log: LogPart) -> Mask:
        """Return the chosen events.

        Raises: BadRequest
        """
        return choose_events(log, self.where, start_ns=self.start_ns, end_ns=self.end_ns)


def read_choice(
    id: IdPath,  # noqa: A002
    part: PartPath,
    where: Where = "",
    start: Nanoseconds = None,
    end: Nanoseconds = None,
) -> LogChoice:
    """Return the parameters that all files of a log share."""
    return LogChoice(id, part, where, None if start is None else int(start), None if end is None else int(end))


Chosen = Annotated[LogChoice, Depends(read_choice)]
LanesBy = Annotated[str, Query(description="thread, cpu or command", max_length=20)]
Pair = Annotated[
    str, Query(description="name of a pair, or two events as A->B; default: the most telling", max_length=410, pattern=NO_NUL)
]
Keys = Annotated[list[str] | None, Query(description="what both events of A->B must share: cpu, pid, object", max_length=5)]
GroupBy = Annotated[str, Query(description="object, function, event, command, pid or cpu", max_length=20)]


@router.get(
    f"{PREFIX}/events.txt",
    response_class=Response,
    dependencies=[NEEDS_VIEWER],
    responses=text_answers(
        guarded_answers(*ERRORS),
        media_type="text/plain",
        description="the lines of the chosen events, byte for byte, below the titles of the log",
    ),
)
@open_to_limited()
async def export_log_lines(chosen: Chosen, session: ReadSession, state: State) -> PieceResponse:
    """Export the lines of chosen events as the tracer printed them: they can be read again."""

    def choose(log: LogPart) -> LineFilter:
        return LineFilter(log, chosen.mask(log))

    lines = await _ask(session, chosen, choose)
    return _stream(_filter(state, chosen.artefact, lines), chosen, "txt", "text/plain; charset=utf-8", state)


@router.get(
    f"{PREFIX}/events.csv",
    response_class=Response,
    dependencies=[NEEDS_VIEWER],
    responses=text_answers(
        guarded_answers(*ERRORS),
        media_type=CSV,
        description="UTF-8, CRLF, a header line, then the events in order",
    ),
)
@open_to_limited()
async def export_log_events(chosen: Chosen, session: ReadSession, state: State) -> PieceResponse:
    """Export chosen events as CSV, with all digits of their nanoseconds."""
    pieces = await _ask(session, chosen, lambda log: write_log_csv(log, chosen.mask(log)))

    async def stream() -> Pieces:
        while piece := await anyio.to_thread.run_sync(next, pieces, b""):
            yield piece

    return _stream(stream(), chosen, "csv", f"{CSV}; charset=utf-8", state)


@router.get(
    f"{PREFIX}/lanes.svg",
    response_class=Response,
    dependencies=[NEEDS_VIEWER],
    responses=text_answers(guarded_answers(*ERRORS), media_type=SVG, description="the lanes, and who blocked whom"),
)
@open_to_limited()
async def draw_log_lanes(chosen: Chosen, session: ReadSession, by: LanesBy = "thread") -> Response:
    """Draw the lanes of a window as SVG, for paper."""

    def draw(log: LogPart) -> str:
        view, blocking = _lanes(log, chosen, by)
        return str(draw_lanes(view, blocking.rows))

    return _picture(await _ask(session, chosen, draw), chosen, "lanes.svg", SVG)


@router.get(
    f"{PREFIX}/lanes.pdf",
    response_class=Response,
    dependencies=[NEEDS_VIEWER],
    responses=text_answers(guarded_answers(*ERRORS), media_type=PDF, description="the lanes, and a table of who blocked whom"),
)
@open_to_limited()
async def print_log_lanes(chosen: Chosen, session: ReadSession, by: LanesBy = "thread") -> Response:
    """Draw the lanes of a window as PDF, with the longest waits."""
    head = await _head(session, chosen)

    def draw(log: LogPart) -> bytes:
        return lanes_pdf(*_lanes(log, chosen, by), _source(head, log, chosen))

    return _picture(await _ask(session, chosen, draw), chosen, "lanes.pdf", PDF)


@router.get(
    f"{PREFIX}/latencies.svg",
    response_class=Response,
    dependencies=[NEEDS_VIEWER],
    responses=text_answers(guarded_answers(*ERRORS), media_type=SVG, description="the latencies of a pair over decades of time"),
)
@open_to_limited()
async def draw_log_latencies(
    chosen: Chosen, session: ReadSession, pair: Pair = "", key: Keys = None, group: GroupBy = ""
) -> Response:
    """Draw the latencies of a pair of events as a histogram of decades, as SVG."""

    def draw(log: LogPart) -> str:
        return str(draw_latencies(*_latencies(log, chosen, (pair, tuple(key or ()), group))))

    return _picture(await _ask(session, chosen, draw), chosen, "latencies.svg", SVG)


@router.get(
    f"{PREFIX}/latencies.pdf",
    response_class=Response,
    dependencies=[NEEDS_VIEWER],
    responses=text_answers(guarded_answers(*ERRORS), media_type=PDF, description="the decades, and a table of the keys"),
)
@open_to_limited()
async def print_log_latencies(
    chosen: Chosen, session: ReadSession, pair: Pair = "", key: Keys = None, group: GroupBy = ""
) -> Response:
    """Draw the latencies of a pair of events as PDF, with the table of its keys."""
    head = await _head(session, chosen)

    def draw(log: LogPart) -> bytes:
        summary, title = _latencies(log, chosen, (pair, tuple(key or ()), group))
        return latencies_pdf(summary, title, _source(head, log, chosen))

    return _picture(await _ask(session, chosen, draw), chosen, "latencies.pdf", PDF)


def _lanes(log: LogPart, chosen: LogChoice, by: str) -> tuple[LogLanes, BlockingList]:
    # Spans that reach into the window from outside are drawn: the lanes cut the window themselves.
    everywhere = choose_events(log, chosen.where)
    view = view_lanes(log, everywhere, LaneRequest(by, BINS, chosen.start_ns, chosen.end_ns))
    return view, find_blocking(log, chosen.mask(log))


def _latencies(log: LogPart, chosen: LogChoice, asked: tuple[str, tuple[str, ...], str]) -> tuple[LatencySummary, str]:
    pair, keys, group = asked
    rule = choose_rule(log, pair, keys, group)
    if rule is None:
        raise BadRequest("The log has no pair of events that is known, and no durations; name two events as A->B")
    return measure_latencies(log, find_spans(log, rule, chosen.mask(log)), group), rule.title


async def _head(session: ReadSession, chosen: LogChoice) -> artefact_rows.Artefact:
    return await artefact_rows.read_artefact_row(session, chosen.artefact)


def _source(known: artefact_rows.Artefact, log: LogPart, chosen: LogChoice) -> LogSource:
    window = [f"{name} {at} ns" for name, at in (("from", chosen.start_ns), ("to", chosen.end_ns)) if at is not None]
    conditions = " and ".join([*window, *([chosen.where.strip()] if chosen.where.strip() else [])])
    facts = [
        ("Artefact", f"{known.id}, {known.title or known.question or known.command or known.file_name}".rstrip(", ")),
        ("Host", known.host),
        ("Tool", known.tool or "unknown"),
        ("Command", known.command),
        *describe_log(log, chosen.mask(log), conditions),
    ]
    facts = [(name, text if len(text) <= 500 else f"{text[:500]}…") for name, text in facts if text]
    return LogSource(log.title, facts, "normstat", format_instant(datetime.now(UTC)))


async def _ask(session: ReadSession, chosen: LogChoice, answer: Callable[[LogPart], Answer]) -> Answer:
    """Return the answer about the log, computed off the event loop."""
    log = await load_part(session, chosen.artefact, chosen.part, LogPart)
    return await anyio.to_thread.run_sync(answer, log)


async def _filter(state: AppState, artefact_id: int, lines: LineFilter) -> Pieces:
    async with open_read_session(state.sessions) as session:
        async for piece in artefact_rows.read_text(session, artefact_id):
            if chosen := await anyio.to_thread.run_sync(lines.feed, piece):
                yield chosen
    if rest := lines.finish():
        yield rest


def _name(chosen: LogChoice, what: str) -> dict[str, str]:
    return {
        "Content-Disposition": f'attachment; filename="artefact-{chosen.artefact}-{chosen.part}-{what}"',
        "X-Content-Type-Options": "nosniff",
    }


def _stream(pieces: Pieces, chosen: LogChoice, ending: str, media_type: str, state: AppState) -> PieceResponse:
    return PieceResponse(
        pieces, media_type=media_type, headers=_name(chosen, f"events.{ending}"), stall_s=state.settings.reader_stall_s
    )


def _picture(body: str | bytes, chosen: LogChoice, name: str, media_type: str) -> Response:
    return Response(body, media_type=media_type, headers=_name(chosen, name) | (SANDBOX if media_type == SVG else {}))
