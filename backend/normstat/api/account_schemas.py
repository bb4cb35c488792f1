"""The bodies of the accounts of streams: what became of each line and byte, and the lines around a place."""

from datetime import datetime

from normstat.api.schemas import Body, LineCounts, StreamInfo


class ReasonCount(Body):
    """Why lines were rejected. `n` counts those whose texts are kept: at most 1000 of a reason and stream."""

    reason: str
    n: int
    last_at: datetime


class StreamAccount(Body):
    """One stream: what came, and what became of it.

    `is_outdated`: its samples were read by another version of the spec (`spec_version`; 0: there was none) than the catalogue has
    now (`catalogue_version`; null: there is none now). `reasons` are the most frequent of `n_reasons`.
    """

    stream: StreamInfo
    first_sample_at: datetime | None
    bytes_by_kind: LineCounts
    n_gaps: int
    spec_version: int
    catalogue_version: int | None
    is_outdated: bool
    reasons: list[ReasonCount]
    n_reasons: int


class HostAccounts(Body):
    """All streams of a host summed up, and those that were asked for, the newest first; `n_matching` counts them without the limit.

    `n_bytes` arrived; `n_gap_bytes` were lost before they could be sent.
    """

    host: str
    n_streams: int
    n_streams_outdated: int
    n_bytes: int
    n_gap_bytes: int
    n_lines: LineCounts
    bytes_by_kind: LineCounts
    n_matching: int
    streams: list[StreamAccount]


class ContextLine(Body):
    """A line of raw output. `offset` is its first byte in the stream, `n_bytes` its length as far as it was looked at.

    `is_cut`: `text` is not the whole line; `is_target`: the place that was asked for is in it; `is_after_gap`: the host lost what
    stood directly before it. `line_no` counts from 1 in the stream, null where that is not known.
    """

    offset: int
    line_no: int | None
    n_bytes: int
    text: str
    is_cut: bool
    is_target: bool
    is_after_gap: bool


class StreamContext(Body):
    """The lines around a place of a stream, in the order of the stream."""

    stream_id: int
    host: str
    spec: str
    key: str
    lines: list[ContextLine]
