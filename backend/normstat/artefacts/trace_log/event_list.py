"""The events of a log one by one, a page at a time."""

from dataclasses import dataclass

import numpy as np

from normstat.artefacts.parts import NO_NUMBER, LogPart
from normstat.artefacts.trace_log.log_times import print_time
from normstat.artefacts.trace_log.pairing import Mask
from normstat.runtime.field_docs import Documented

MAX_LISTED: int = 1000


@dataclass(frozen=True, slots=True)
class LogEvent(Documented):
    """An event as the tool printed it."""

    time: str
    """Nanoseconds on the log's clock, in decimal digits: they exceed what JavaScript counts exactly."""

    printed: str
    """The same as the clock shows it, with the digits that the tool printed."""

    since_ns: int | None
    """Nanoseconds since the event before it in this list; null of the first."""

    cpu: int | None
    pid: int | None
    command: str
    event: str
    function: str
    object: str
    duration_ns: int | None
    """As the tool printed it."""

    arguments: str
    line: int | None
    """The line of the text, from 1; null where that is not known."""


@dataclass(frozen=True, slots=True)
class LogEvents(Documented):
    """Events of a log in the order of their times."""

    title: str
    stat: str
    clock: str
    """What times count from: epoch, day (the midnight of an unknown day) or relative (boot, or the start of the trace)."""

    decimals: int
    first: str
    """Nanoseconds of the log's first event, as decimal digits."""

    last: str
    rows: list[LogEvent]
    offset: int
    n_events: int
    """Events that the filter and the window leave."""

    n_all_events: int


def list_events(part: LogPart, mask: Mask, *, limit: int = 100, offset: int = 0) -> LogEvents:
    """Return a page of the events of the mask."""
    chosen = np.flatnonzero(mask)
    shown = chosen[offset : offset + limit].tolist()
    before = int(chosen[offset - 1]) if offset and shown else None
    rows: list[LogEvent] = []
    for at in shown:
        time_ns = int(part.time_ns[at])
        rows.append(
            LogEvent(
                time=str(time_ns),
                printed=print_time(time_ns, part.clock, part.decimals),
                since_ns=None if before is None else time_ns - int(part.time_ns[before]),
                cpu=_known(part.cpu[at]),
                pid=_known(part.pid[at]),
                command=part.command[at],
                event=part.event[at],
                function=part.function[at],
                object=part.object[at],
                duration_ns=_known(part.duration_ns[at]),
                arguments=part.arguments[at],
                line=_known(part.line[at]),
            )
        )
        before = at
    return LogEvents(
        title=part.title,
        stat=part.stat,
        clock=part.clock,
        decimals=part.decimals,
        first=str(int(part.time_ns[0]) if part.n_rows else 0),
        last=str(int(part.time_ns[-1]) if part.n_rows else 0),
        rows=rows,
        offset=offset,
        n_events=len(chosen),
        n_all_events=part.n_rows,
    )


def _known(value: np.integer) -> int | None:
    return None if value == NO_NUMBER else int(value)
