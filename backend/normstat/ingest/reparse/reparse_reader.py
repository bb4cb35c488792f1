"""A stream read once more from its kept bytes: what reading them as they came would have given with this spec.

Bytes that were taken once are taken again. The pieces in which they arrived do not affect the result (ADR 1), so small ones are
read together; only at a gap does a line end that has no newline.
"""

import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from normstat.codecs.pack_codec import StoredChunk
from normstat.ingest.stream_samples import LOOKBACK_BYTES, Refused, StreamReader, StreamResult, fill_unseen_text
from normstat.samples.stream_rows import MAX_KEPT_PER_REASON, MAX_KEPT_PER_STREAM, clean_text
from normstat.samples.table_plan import TablePlan
from normstat.stats.engine.reader_state import state_after_gap
from normstat.stats.records import LineKind, RejectedLine, SampleBlock, State, Timing
from normstat.stats.spec import Spec


@dataclass(frozen=True, slots=True)
class DatedLine:
    """A rejected line, and when its bytes came."""

    line: RejectedLine
    received_at: datetime


class _Kept(StreamReader):
    """Reads bytes that are kept already."""

    def _keep_piece(self, piece: bytes) -> None:
        """Nothing: they are."""


@dataclass(slots=True)
class Rereading:
    """Where the reading stands: bytes below `end` are read, and `behind` are their last ones.

    `rest` is the unfinished line that comes next; the last bytes came at `last_at`. Rows of instances in `refused` are rejected.
    """

    spec: Spec
    host_id: int
    command: str
    timing: Timing
    end: int = 0
    state: State = field(default_factory=dict)
    rest: bytes = b""
    behind: bytes = b""
    last_at: datetime | None = None
    n_lines: Counter[LineKind] = field(default_factory=Counter)
    n_bytes: Counter[LineKind] = field(default_factory=Counter)
    rejected: list[DatedLine] = field(default_factory=list)
    n_kept: Counter[str] = field(default_factory=Counter)
    refused: Refused = field(default_factory=dict)
    # Bytes between chunks: those of gaps, where all that was acknowledged is there.
    n_passed: int = 0

    @property
    def next_offset(self) -> int:
        """Where the next chunk is looked for."""
        return self.end + len(self.rest)

    def copy(self) -> "Rereading":
        """Return a copy that continues independently."""
        return replace(
            self,
            n_lines=self.n_lines.copy(),
            n_bytes=self.n_bytes.copy(),
            rejected=list(self.rejected),
            n_kept=self.n_kept.copy(),
        )

    def read(self, chunks: Sequence[StoredChunk], plan: TablePlan) -> list[SampleBlock]:
        """Read the chunks that follow; give their samples."""
        blocks: list[SampleBlock] = []
        run: list[StoredChunk] = []
        for chunk in chunks:
            if chunk.start > (run[-1].end if run else self.next_offset):
                blocks += self._read_run(run, plan, is_final=False)
                run = []
                blocks += self._pass_gap(chunk.start, plan)
            run.append(chunk)
        return blocks + self._read_run(run, plan, is_final=False)

    def finish(self, end: int, plan: TablePlan, *, is_finished: bool) -> list[SampleBlock]:
        """Read what is left at the end of the stream: a gap up to `end`, a last line without a newline, if there are such.

        `is_finished`: nothing will ever follow, so that what was gathered of a sample of many lines is whole.
        """
        if end > self.next_offset:
            return self._pass_gap(end, plan)
        return self._read_run([], plan, is_final=True) if is_finished or self.rest else []

    def _pass_gap(self, end: int, plan: TablePlan) -> list[SampleBlock]:
        self.n_passed += end - self.next_offset
        blocks = self._read_run([], plan, is_final=True) if self.rest else []
        self.end = end
        self.behind = b""
        self.state = state_after_gap(self.state)
        return blocks

    def _read_run(self, run: Sequence[StoredChunk], plan: TablePlan, *, is_final: bool) -> list[SampleBlock]:
        """Read bytes that follow each other without a gap."""
        if not run and not is_final:
            return []
        starts = [self.end, *(chunk.start for chunk in run)]
        times = [self.last_at, *(chunk.received_at for chunk in run)]
        data = b"".join([self.rest, *(chunk.data for chunk in run)])
        reading = _Kept(
            self.spec,
            plan,
            host_id=self.host_id,
            command=self.command,
            timing=self.timing,
            start=self.end,
            state=self.state,
            n_lines_before=self.n_lines.total(),
            refused=self.refused,
        )
        result = reading.read(data, is_final=is_final)
        if result.n_unseen:
            fill_unseen_text(result, self.end - len(self.behind), self.behind + data[: result.end - self.end])
        for line in result.rejected:
            # The first of the starts is that of the rest, which may be empty: then the first chunk begins there as well.
            self._keep(line, times[max(0, bisect.bisect_right(starts, line.offset) - 1)] or times[-1])
        self._book(result)
        read = data[: result.end - self.end]
        self.behind = (self.behind + read)[-LOOKBACK_BYTES:] if len(read) < LOOKBACK_BYTES else read[-LOOKBACK_BYTES:]
        self.rest = data[result.end - self.end :]
        self.last_at = times[-1]
        self.end, self.state = result.end, result.state
        return result.blocks

    def _book(self, result: StreamResult) -> None:
        self.n_lines.update(result.n_lines)
        self.n_bytes.update(result.n_bytes)

    def _keep(self, line: RejectedLine, received_at: datetime | None) -> None:
        """Keep as many texts as ingest would."""
        reason = clean_text(line.reason)
        if self.n_kept[reason] < MAX_KEPT_PER_REASON and len(self.rejected) < MAX_KEPT_PER_STREAM and received_at is not None:
            self.n_kept[reason] += 1
            self.rejected.append(DatedLine(line, received_at))
