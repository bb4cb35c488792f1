"""Apply the frames of a stream: append new bytes, record lost ones, read all of it. Pure: no database, no clock."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

from normstat.ingest.protocol import Frame, FrameKind
from normstat.ingest.stream_samples import NOTHING_REFUSED, Refused, StreamReader, StreamResult, join_spans
from normstat.samples.ingest_rows import OpenStream
from normstat.samples.stream_rows import LostBytes
from normstat.samples.table_plan import TablePlan
from normstat.stats.engine.reader_state import state_after_gap
from normstat.stats.engine.shared_text import TextWindow
from normstat.stats.records import SampleBlock, State
from normstat.stats.spec import Spec


@dataclass(slots=True)
class Delivery:
    """The part of a request for one stream. Bytes below `end` are read or lost; `state` is the reader's state after them."""

    stream: OpenStream
    spec: Spec | None
    state: State
    end: int
    is_final: bool = False
    # An agent sends it now; not what was recorded earlier: an imported file, or a bundle.
    is_live: bool = True
    frames: list[Frame] = field(default_factory=list)
    result: list[StreamResult] = field(default_factory=list)
    gaps: list[LostBytes] = field(default_factory=list)
    _data: list[bytes] = field(default_factory=list)
    _n_data: int = 0
    _refused: Refused = field(default_factory=dict)
    _window: TextWindow | None = None

    @property
    def n_bytes(self) -> int:
        """Return the maximum number of bytes to read."""
        return sum(len(frame.data) for frame in self.frames)

    @property
    def blocks(self) -> Iterator[SampleBlock]:
        """Yield the samples that were read."""
        return (block for result in self.result for block in result.blocks)

    @property
    def span_us(self) -> tuple[int, int] | None:
        """The first and last time of the samples, in microseconds since the epoch. Missing: None without any"""
        return functools.reduce(join_spans, (result.span_us for result in self.result), None)

    @property
    def only_data(self) -> bytes:
        """The new bytes of a delivery of one frame, as a live agent sends it. Missing: b"" for any other."""
        if len(self.frames) != 1 or self.frames[0].kind is not FrameKind.STREAM or self.is_final:
            return b""
        (frame,) = self.frames
        return frame.data[self.end - frame.offset :] if frame.offset <= self.end else b""

    def read(self, plan: TablePlan, refused: Refused = NOTHING_REFUSED, window: TextWindow | None = None) -> None:
        """Apply all frames in order; the rest after the last whole line is dropped, and the agent sends it again.

        `window`: where `only_data` stands in a text that deliveries share.
        """
        self._refused = refused
        self._window = window
        for frame in self.frames:
            if frame.kind is FrameKind.GAP:
                self._read_data(plan)
                self._lose(frame)
            else:
                self._accept(frame)
        self._read_data(plan, is_final=self.is_final)

    def _accept(self, frame: Frame) -> None:
        """Append the new part of the frame. A frame that begins beyond the end of the stream has none."""
        known = self.end + self._n_data
        offset = known if frame.kind is FrameKind.APPEND else frame.offset
        if offset <= known < offset + frame.length:
            data = frame.data[known - offset :]
            self._data.append(data)
            self._n_data += len(data)

    def _lose(self, frame: Frame) -> None:
        """Skip bytes that the host lost; not bytes that may still come."""
        if frame.offset <= self.end < frame.end:
            self.gaps.append(LostBytes(self.end, frame.end, frame.text))
            self.end = frame.end
            self.state = state_after_gap(self.state)

    def _read_data(self, plan: TablePlan, *, is_final: bool = False) -> None:
        if not self._data and not is_final:
            return
        piecewise = StreamReader(
            self.spec,
            plan,
            host_id=self.stream.host_id,
            command=self.stream.command,
            timing=self.stream.timing,
            start=self.end,
            state=self.state,
            n_lines_before=self.stream.n_all_lines + sum(result.n_lines.total() for result in self.result),
            refused=self._refused,
            window=self._window,
        )
        data = self._window.data if self._window is not None else b"".join(self._data)
        self._data.clear()
        self._n_data = 0
        result = piecewise.read(data, is_final=is_final)
        self.end, self.state = result.end, result.state
        self.result.append(result)
