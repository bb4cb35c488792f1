"""Whether hosts were sending at a moment of the past: from their streams, and from the minutes with samples. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from normstat.query.fleet_rows import PastStreams
from normstat.query.host_lists import StreamState, to_state
from normstat.stats.engine.times.calls import stream_interval
from normstat.window import to_us

MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class PastState:
    """The state of a host at a moment. Missing: `last_sample_ms` is None where its exact time is unknown"""

    state: StreamState
    last_sample_ms: int | None
    n_running: int


def to_past_state(streams: PastStreams, minutes: Sequence[bool] | None, at: datetime) -> PastState:
    """Return the state at a moment, by the server's rules for the present.

    `minutes`: in which of the minutes before it the host has samples; None if it sends nothing that the fleet page reads: then
    its running streams decide.
    """
    if minutes is None:
        newest = at if streams.n_running else streams.ended_at
    else:
        n_silent = next((n for n, has_samples in enumerate(reversed(minutes)) if has_samples), None)
        seen = None if n_silent is None else at - n_silent * MINUTE
        newest = max((time for time in (seen, streams.ended_at) if time is not None), default=None)
    # For a host whose tools all report rarely, a minute without samples says nothing.
    interval_s = min((own for own in map(stream_interval, streams.commands) if own is not None), default=None)
    ended_ms = None if streams.ended_at is None else to_us(streams.ended_at) // 1000
    return PastState(
        state=to_state(newest, at, interval_s=interval_s),
        last_sample_ms=None if streams.n_running else ended_ms,
        n_running=streams.n_running,
    )
