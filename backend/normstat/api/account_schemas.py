"""The bodies of stream accounts and of raw output shown in context."""

from datetime import datetime

from normstat.api.schemas import Body, LineCounts, StreamInfo


class ReasonCount(Body):
    """Why lines were rejected. `n` counts those whose text is stored: at most 1000 per reason and stream."""

    reason: str
    n: int
    last_at: datetime


class StreamAccount(Body):
    """The account of one stream: what arrived, and how it was classified.

    `is_outdated`: its samples were read with another version of the spec (`spec_version`; 0: no spec then) than the catalogue's
    (`catalogue_version`; null: no such spec now). `reasons` are the most frequent of `n_reasons`.
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
    """The sums over all streams of a host, and the selected streams, newest first; `n_matching` counts them without the limit.

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
    """A line of raw output. `offset` is its first byte in the stream, `n_bytes` its length as far as it was read.

    `is_cut`: `text` is not the whole line; `is_target`: it contains the requested position; `is_after_gap`: the host lost the bytes
    directly before it. `line_no` counts from 1 in the stream; null if unknown.
    """

    offset: int
    line_no: int | None
    n_bytes: int
    text: str
    is_cut: bool
    is_target: bool
    is_after_gap: bool


class StreamContext(Body):
    """The lines around a position in a stream, in stream order."""

    stream_id: int
    host: str
    spec: str
    key: str
    lines: list[ContextLine]
