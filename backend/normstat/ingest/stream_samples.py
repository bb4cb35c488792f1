"""Turn bytes of a stream into everything that is stored. Pure: no database, no clock; it may run in a thread.

A request may bring many MiB of one stream. They are read piece by piece, so that a garbage stream, where every line is rejected,
costs bounded memory.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import structlog

from normstat.errors import NormstatError
from normstat.runtime.arrays import distinct_values
from normstat.samples.chunks import RawChunk, compress_chunk
from normstat.samples.stream_rows import MAX_KEPT_PER_REASON, MAX_KEPT_PER_STREAM
from normstat.samples.table_plan import TablePlan
from normstat.stats.engine.shared_text import TextWindow
from normstat.stats.readers import read
from normstat.stats.records import (
    NO_TIME,
    REJECTED_TEXT_LIMIT,
    LineEvent,
    LineKind,
    RejectedLine,
    RowNames,
    SampleBlock,
    State,
    Timing,
)
from normstat.stats.spec import Spec
from normstat.window import LATEST_US

log = structlog.get_logger()

PIECE_BYTES: Final = 1 << 20
# The unfinished last line of a stream without a spec is stored when it is longer than this, as readers do.
MAX_LINE_LENGTH: Final = 1 << 20
# A list of fewer numbers has its smallest and largest sooner than an array.
FEW_ROWS: Final = 150
NO_TIME_REASON: Final = "no time known: no date or time was printed before this line"
ODD_TIME_REASON: Final = "the time printed is not between the years 1970 and 2199"
# A folded stack of some hundred frames has a few kB. Far longer names would bloat the page's menus and URLs.
MAX_INSTANCE_LENGTH: Final = 16_384
LONG_INSTANCE_REASON: Final = f"the name of what the row is about is longer than {MAX_INSTANCE_LENGTH} characters"
# A rejected sample of many lines is shown by its first line, which may have been read before. It is searched this far back.
LOOKBACK_BYTES: Final = 1 << 20
READER_FAILED_REASON: Final = "normstat failed to read this: the server's log says why, and a later version can read it again"
# Names of instances whose rows are refused, by stat.
Refused = Mapping[str, frozenset[str]]
NOTHING_REFUSED: Final[Refused] = {}
# Where the state of a reader keeps its open lines that were moved to the rejected ones.
MOVED: Final = "moved"
TOO_MANY_INSTANCES_REASON: Final = (
    "too many new instances of this stat within an hour; raise NORMSTAT_INGEST_MAX_NEW_INSTANCES and read the stream again"
)


@dataclass(slots=True)
class StreamResult:
    """The result of reading a stream: the chunk [start, end), and everything that the reader found in it.

    `n_lines` and `n_bytes` count by kind; `rejected` has at most as many lines as are stored, all are counted in `n_lines`.
    `n_unseen` of them began before `start`: they have no text, and their line number is that of the line at `start`.
    """

    start: int
    end: int
    state: State
    chunks: list[RawChunk] = field(default_factory=list)
    blocks: list[SampleBlock] = field(default_factory=list)
    rejected: list[RejectedLine] = field(default_factory=list)
    n_lines: Counter[LineKind] = field(default_factory=Counter)
    n_bytes: Counter[LineKind] = field(default_factory=Counter)
    n_unseen: int = 0
    events: list[LineEvent] = field(default_factory=list)
    # First and last time of the samples, in microseconds since the epoch. None: there are none.
    span_us: tuple[int, int] | None = None

    def add(self, block: SampleBlock, span: tuple[int, int] | None) -> None:
        """Add a block, whose first and last time are known."""
        self.blocks.append(block)
        self.span_us = join_spans(self.span_us, span)


class StreamReader:
    """Reads one stretch of a stream. `n_lines_before` is the number of lines of the stream before it, to number rejected lines.

    Rows of instances in `refused` become rejected lines. `window` is where all of the data stands in a text that streams share.
    """

    def __init__(
        self,
        spec: Spec | None,
        plan: TablePlan,
        *,
        host_id: int,
        command: str,
        timing: Timing,
        start: int,
        state: State,
        n_lines_before: int,
        refused: Refused = NOTHING_REFUSED,
        window: TextWindow | None = None,
    ) -> None:
        self._window = window
        self._spec = spec
        self._plan = plan
        self._host_id = host_id
        self._command = command
        self._timing = timing
        self._n_lines_before = n_lines_before
        self._refused = refused
        self._n_kept: Counter[str] = Counter()
        # The rejected lines of the piece, and the open ones of earlier pieces: a line may have rows of several stats, and is
        # counted once.
        self._moved: set[int] = set()
        self._data = b""
        self._data_start = start
        self.result = StreamResult(start=start, end=start, state=state)

    def read(self, data: bytes, *, is_final: bool = False) -> StreamResult:
        """Read as much of the data as possible: all whole lines, and everything when it is final (the stream's end)."""
        self._data, self._data_start = data, self.result.end
        begin, size = 0, PIECE_BYTES
        while begin < len(data):
            piece = data[begin : begin + size]
            n_taken = self._read_piece(piece, is_final=is_final and begin + size >= len(data))
            if n_taken:
                self._keep_piece(piece[:n_taken])
                self.result.end += n_taken
                begin, size = begin + n_taken, PIECE_BYTES
            elif begin + size >= len(data):
                break
            else:
                size *= 2
        if is_final and not data:
            self._read_piece(b"", is_final=True)
        return self.result

    def _keep_piece(self, piece: bytes) -> None:
        self.result.chunks.append(compress_chunk(self.result.end, piece))

    def _read_piece(self, piece: bytes, *, is_final: bool) -> int:
        if self._spec is None:
            return self._read_unknown(piece, is_final=is_final)
        return self._read_spec(self._spec, piece, is_final=is_final)

    def _read_unknown(self, piece: bytes, *, is_final: bool) -> int:
        """Without a spec, store the bytes and only count the lines."""
        n_taken = _measure_lines(piece, is_final=is_final)
        self._book(LineKind.IGNORED, piece.count(b"\n"), n_taken)
        return n_taken

    def _read_spec(self, spec: Spec, piece: bytes, *, is_final: bool) -> int:
        result = self.result
        n_lines_before = self._n_lines_before + result.n_lines.total()
        try:
            outcome = read(
                spec,
                piece,
                state=result.state,
                offset=result.end,
                is_final=is_final,
                timing=self._timing,
                command=self._command,
                window=self._window,
            )
        except (NormstatError, MemoryError):
            raise
        except Exception:
            # A fault in a reader must not stop the host: its agent would send the same bytes for ever.
            log.exception("reader_failed", spec=spec.name, host_id=self._host_id, offset=result.end)
            return self._reject_piece(piece, n_lines_before, is_final=is_final)
        moved = result.state.get(MOVED)
        self._moved = set(moved) if isinstance(moved, list) else set()
        self._moved.update(line.offset for line in outcome.rejected)
        # Only a few kinds each, for which Counter.update() takes longer.
        for kind, n_lines in outcome.accounts.n_lines.items():
            result.n_lines[kind] += n_lines
        for kind, n_bytes in outcome.accounts.n_bytes.items():
            result.n_bytes[kind] += n_bytes
        result.state = outcome.state
        self._keep(outcome.rejected)
        if outcome.events:
            self._take_events(outcome.events, n_lines_before)
        for block in outcome.blocks:
            self._take_block(block, n_lines_before)
        open_lines = self._moved.intersection(outcome.open_lines)
        if open_lines:
            result.state = result.state | {MOVED: sorted(open_lines)}
        return outcome.n_taken

    def _reject_piece(self, piece: bytes, n_lines_before: int, *, is_final: bool) -> int:
        """Reject all whole lines. The next piece is read without the state, which may be what the reader failed on."""
        n_taken = _measure_lines(piece, is_final=is_final)
        if n_taken:
            begins = np.append(0, np.flatnonzero(np.frombuffer(piece, np.uint8, n_taken) == ord("\n")) + 1)
            begins = begins[begins < n_taken]
            self._book(LineKind.IGNORED, len(begins), n_taken)
            self._moved = set()
            self._reject_lines(self.result.end + begins, LineKind.IGNORED, n_lines_before, READER_FAILED_REASON)
            self.result.state = {}
        return n_taken

    def _take_events(self, events: Sequence[LineEvent], n_lines_before: int) -> None:
        """Keep the events with a time; reject the lines of the others."""
        for is_without, reason in ((True, NO_TIME_REASON), (False, ODD_TIME_REASON)):
            refused = [one.offset for one in events if not 0 <= one.time_us < LATEST_US and (one.time_us == NO_TIME) is is_without]
            if refused:
                self._reject_lines(np.array(refused, np.int64), LineKind.STATE_CHANGE, n_lines_before, reason)
        self.result.events += (event for event in events if 0 <= event.time_us < LATEST_US)

    def _take_block(self, block: SampleBlock, n_lines_before: int) -> None:
        """Keep the rows with a time and a valid instance, and of them the columns that their table can have; reject the lines of
        the others.
        """
        admission = self._plan.admit(block, self._host_id)
        if admission.block is None:
            self._reject_rows(block, np.ones(len(block), np.bool_), n_lines_before, admission.refusal or "")
            return
        block = admission.block
        names = self._refused.get(block.stat.name)
        time_us = block.time_us
        span = find_span(block)
        is_plain = not names and span is not None and span[0] >= 0 and span[1] < LATEST_US
        instances = block.instances
        # Names that some rows may have: if the longest of them is short enough, all are.
        lengths = map(len, instances.names if isinstance(instances, RowNames) else instances)
        if is_plain and max(lengths, default=0) <= MAX_INSTANCE_LENGTH:
            if admission.refusal is not None:
                self._reject_rows(block, np.ones(len(block), np.bool_), n_lines_before, admission.refusal)
            self.result.add(block, span)
            return
        has_time = time_us != NO_TIME
        is_odd = has_time & ((time_us < 0) | (time_us >= LATEST_US))
        kept = has_time & ~is_odd
        is_long = kept & find_long_names(block.instances)
        refused = [(~has_time, NO_TIME_REASON), (is_odd, ODD_TIME_REASON), (is_long, LONG_INSTANCE_REASON)]
        kept &= ~is_long
        if names:
            is_refused = kept & np.fromiter((name in names for name in block.instances), dtype=np.bool_, count=len(block))
            refused.append((is_refused, TOO_MANY_INSTANCES_REASON))
            kept &= ~is_refused
        if admission.refusal is not None:
            refused.append((kept, admission.refusal))
        for rows, reason in refused:
            if rows.any():
                self._reject_rows(block, rows, n_lines_before, reason)
        if kept.all():
            self.result.add(block, span)
        elif kept.any():
            chosen = select_rows(block, kept)
            self.result.add(chosen, find_span(chosen))

    def _reject_rows(self, block: SampleBlock, rows: npt.NDArray[np.bool_], n_lines_before: int, reason: str) -> None:
        """Move the lines of these rows from the samples to the rejected lines. Sums have no lines: those of their parts remain.

        A sample of many lines may have begun before this piece, or before these bytes: `result.n_unseen` counts the latter.
        """
        if not block.stat.summary_of:
            self._reject_lines(block.line_offset[rows], LineKind.SAMPLE, n_lines_before, reason)

    def _reject_lines(self, offsets: npt.NDArray[np.int64], kind: LineKind, n_lines_before: int, reason: str) -> None:
        """Move the lines at these offsets from a kind to the rejected lines."""
        data, start, piece_start = self._data, self._data_start, self.result.end
        lines: list[RejectedLine] = []
        at, line_no = piece_start - start, n_lines_before + 1
        # One line may hold several rows.
        for offset in distinct_values(offsets).tolist():
            if offset in self._moved:
                continue
            self._moved.add(offset)
            begin = offset - start
            if begin < 0:
                self.result.n_unseen += 1
                lines.append(RejectedLine(offset, n_lines_before + 1, 0, "", reason))
                continue
            if begin < at:
                line_no -= data.count(b"\n", begin, at)
            else:
                line_no += data.count(b"\n", at, begin)
            at = begin
            end = data.find(b"\n", begin) + 1 or len(data)
            lines.append(RejectedLine(offset, line_no, end - begin, line_text(data[begin:end]), reason))
        n_bytes = sum(line.n_bytes for line in lines)
        self._book(kind, -len(lines), -n_bytes)
        self._book(LineKind.REJECTED, len(lines), n_bytes)
        self._keep(lines)

    def _keep(self, lines: Sequence[RejectedLine]) -> None:
        for line in lines:
            self._n_kept[line.reason] += 1
            if self._n_kept[line.reason] <= MAX_KEPT_PER_REASON and len(self.result.rejected) < MAX_KEPT_PER_STREAM:
                self.result.rejected.append(line)

    def _book(self, kind: LineKind, n_lines: int, n_bytes: int) -> None:
        self.result.n_lines[kind] += n_lines
        self.result.n_bytes[kind] += n_bytes


def _measure_lines(piece: bytes, *, is_final: bool) -> int:
    """Return the length of the whole lines of a piece: all of it when it is final, or one line that is far too long."""
    n_taken = piece.rfind(b"\n") + 1
    return len(piece) if is_final or (not n_taken and len(piece) > MAX_LINE_LENGTH) else n_taken


def find_span(block: SampleBlock) -> tuple[int, int] | None:
    """Return the first and last time of a block. Missing: None for one without rows.

    Units: microseconds since the epoch
    """
    if len(block) == 0:
        return None
    if len(block) > FEW_ROWS:
        return int(block.time_us.min()), int(block.time_us.max())
    times: list[int] = block.time_us.tolist()
    return min(times), max(times)


def join_spans(one: tuple[int, int] | None, other: tuple[int, int] | None) -> tuple[int, int] | None:
    """Return the first and last time of both. Missing: None where neither has any."""
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), max(one[1], other[1])


def fill_unseen_text(result: StreamResult, first: int, text: bytes) -> None:
    """Fill in the text of rejected lines that began before `result.start`, from the stream's bytes at least from `first` to
    there.
    """
    for number, line in enumerate(result.rejected):
        begin = line.offset - first
        if line.offset < result.start and 0 <= begin < len(text):
            end = text.find(b"\n", begin) + 1 or len(text)
            line_no = line.line_no - text.count(b"\n", begin, result.start - first)
            result.rejected[number] = RejectedLine(line.offset, line_no, end - begin, line_text(text[begin:end]), line.reason)
            result.n_bytes[LineKind.SAMPLE] -= end - begin
            result.n_bytes[LineKind.REJECTED] += end - begin


def line_text(line: bytes) -> str:
    """Return the stored text of a rejected line."""
    return line[:REJECTED_TEXT_LIMIT].rstrip(b"\r\n").decode("utf-8", "backslashreplace")[:REJECTED_TEXT_LIMIT]


def find_long_names(names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return which of the names are too long. Shape: (n,)."""
    return np.fromiter(map(len, names), dtype=np.int64, count=len(names)) > MAX_INSTANCE_LENGTH


def select_rows(block: SampleBlock, rows: npt.NDArray[np.bool_]) -> SampleBlock:
    """Return the block with only the rows that are True."""
    at = np.flatnonzero(rows)
    place = {int(old): new for new, old in enumerate(at)}
    return replace(
        block,
        time_us=block.time_us[at],
        instances=[block.instances[number] for number in at.tolist()],
        values=tuple(values[at] for values in block.values),
        line_offset=block.line_offset[at],
        missing=tuple(None if missing is None else missing[at] for missing in block.missing),
        printed={place[row]: text for row, text in block.printed.items() if row in place},
    )
