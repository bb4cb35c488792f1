"""Apply the frames of a stream: append new bytes, record lost ones, read all of it. Pure: no database, no clock."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from normstat.ingest.protocol import Frame, FrameKind
from normstat.ingest.stream_samples import NOTHING_REFUSED, Refused, StreamReader, StreamResult
from normstat.stats.engine.gap import state_after_gap
from normstat.stats.records import SampleBlock, State
from normstat.stats.spec import Spec
from normstat.storage.ingest_rows import OpenStream
from normstat.storage.stat_tables import TablePlan
from normstat.storage.stream_rows import LostBytes


@dataclass(slots=True)
class Delivery:
    """What a request brings for one stream. Bytes below `end` are read or lost; `state` is the reader's state after them."""

    stream: OpenStream
    spec: Spec | None
    state: State
    end: int
    is_final: bool = False
    frames: list[Frame] = field(default_factory=list)
    result: list[StreamResult] = field(default_factory=list)
    gaps: list[LostBytes] = field(default_factory=list)
    _data: bytearray = field(default_factory=bytearray)
    _refused: Refused = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        """Return the maximum number of bytes to read."""
        return sum(len(frame.data) for frame in self.frames)

    @property
    def blocks(self) -> Iterator[SampleBlock]:
        """Yield the samples that were read."""
        return (block for result in self.result for block in result.blocks)

    def read(self, plan: TablePlan, refused: Refused = NOTHING_REFUSED) -> None:
        """Apply all frames in order; the rest after the last whole line is dropped, and the agent sends it again."""
        self._refused = refused
        for frame in self.frames:
            if frame.kind is FrameKind.STREAM:
                self._accept(frame)
            else:
                self._read_data(plan)
                self._lose(frame)
        self._read_data(plan, is_final=self.is_final)

    def _accept(self, frame: Frame) -> None:
        """Append the new part of the frame; nothing of a frame that begins beyond the end of the stream."""
        known = self.end + len(self._data)
        if frame.offset <= known < frame.end:
            self._data += frame.data[known - frame.offset :]

    def _lose(self, frame: Frame) -> None:
        """Skip bytes that the host lost; not bytes that may still come."""
        if frame.offset <= self.end < frame.end:
            self.gaps.append(LostBytes(self.end, frame.end))
            self.end = frame.end
            self.state = state_after_gap(self.state)

    def _read_data(self, plan: TablePlan, *, is_final: bool = False) -> None:
        if not self._data and not is_final:
            return
        piecewise = StreamReader(
            self.spec,
            plan,
            command=self.stream.command,
            timing=self.stream.timing,
            start=self.end,
            state=self.state,
            n_lines_before=self.stream.n_all_lines + sum(result.n_lines.total() for result in self.result),
            refused=self._refused,
        )
        data = bytes(self._data)
        self._data.clear()
        result = piecewise.read(data, is_final=is_final)
        self.end, self.state = result.end, result.state
        self.result.append(result)
