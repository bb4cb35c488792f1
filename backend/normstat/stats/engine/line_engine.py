"""The base of every reader: splits bytes into lines and accounts for each once; handles times, blocks of rows and state.

The engine keeps the promises of every reader: each byte is accounted for once, any pieces give the same samples, a line longer
than LINE_LIMIT costs bounded memory, and nothing that a line holds makes it raise. A reader says what one line is (`take_bytes`).
One that can read many lines at once does so in `take_many`; the engine reads all others line by line.
"""

import re
from collections.abc import Sequence
from typing import Final, Generic, TypeVar, cast

from normstat.stats.engine.block import BlockBuilder
from normstat.stats.engine.ledger import Ledger
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.timeline import Timeline
from normstat.stats.records import LineKind, ReadResult, State, Timing
from normstat.stats.spec import Field, Layout, Spec, Stat
from normstat.stats.translated_lines import read_translations

LINE_LIMIT: Final = 1 << 20
TOO_LONG: Final = "line longer than 1 MiB"
CUT_OFF: Final = "cut off: the last line has no newline and may be incomplete"
CONTROLLED: Final = Rejected("control characters: not the output of a tool")
CONTROL: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
# Colours, which sysstat and others print on request.
COLOUR: Final = re.compile(rb"\x1b\[[0-9;]*[mK]")

# Mail quotes with these, once for each answer.
QUOTE: Final = re.compile(rb"(?:> ?)+")

LayoutT = TypeVar("LayoutT", bound=Layout)


class LineEngine(Generic[LayoutT]):
    """One call of a reader. For readers: `spec`, `layout`, `command`, `offset` of the piece in the stream, `timing`, `timeline`,
    `has_zone`, `ledger`.
    """

    def __init__(self, spec: Spec, *, state: State, offset: int, timing: Timing, command: str) -> None:
        self.spec = spec
        # The catalogue parsed it as the LAYOUT of this reader.
        self.layout = cast("LayoutT", spec.layout)
        self.command = command
        self.offset = offset
        self.timing = timing
        self.has_zone = timing.zone is not None
        self.translations = read_translations(spec.translations) if spec.translations else None
        self.timeline = Timeline.resume(state.get("times"), timing)
        line_no = state.get("line_no")
        self.ledger = Ledger(line_no if isinstance(line_no, int) else 0)
        self._is_in_long_line = state.get("long") is True
        # Keyed by the identity of the fields, which readers keep the same for one header: hashing them takes long.
        self._builders: dict[tuple[bool, int], BlockBuilder] = {}

    # False for tools whose own lines may begin with ">".
    may_be_quoted = True

    # Implemented by a reader.

    def take_bytes(self, line: bytes, offset: int) -> Outcome:
        """Return what a line is, or why it cannot be read.

        It has no line end, no colours and no control characters. Blank lines come too.
        """
        raise NotImplementedError

    def take_many(self, data: bytes, begin: int) -> bool:  # noqa: ARG002 (readers look at it)
        """Read whole lines at once, and book all of them. Return False, with nothing done, to have them read one by one.

        `begin` is the place of data[0] in the piece.
        """
        return False

    def clean(self, line: bytes) -> bytes:
        """Return the line without terminal control sequences (colours are removed already)."""
        return line

    def see_rejected(self) -> None:
        """Note that a line was rejected."""

    def is_complete(self, line: bytes, offset: int) -> bool:  # noqa: ARG002 (readers look at it)
        """Return whether a last line without a newline, which is not blank, lacks nothing; its last number may have lost digits."""
        return False

    def finish(self) -> None:
        """Complete what was gathered of a sample of several lines: the stream has ended."""

    def state(self) -> State:
        """Return what the reader must remember for the next piece, as JSON values of bounded size."""
        raise NotImplementedError

    # Used by a reader.

    def decode(self, line: bytes) -> str:
        """Return the text of a line."""
        return line.decode("utf-8", "backslashreplace") if self.translations is None else self.translations.decode(line)

    def builder(self, stat: Stat, fields: Sequence[Field], *, is_since_boot: bool) -> BlockBuilder:
        """Return the builder of the block of these fields."""
        key = (is_since_boot, id(fields))
        builder = self._builders.get(key)
        if builder is None:
            builder = self._builders[key] = BlockBuilder(stat, tuple(fields))
        return builder

    def read_line(self, raw: bytes, at: int, n_bytes: int) -> None:
        """Read one line and book it; `at` is its place in the piece, `n_bytes` counts its newline."""
        offset = self.offset + at
        if n_bytes > LINE_LIMIT:
            self.ledger.reject(raw, offset, n_bytes, TOO_LONG)
            return
        line = self._clean(raw)
        found = CONTROLLED if CONTROL.search(line) is not None else self.take_bytes(line, offset)
        if isinstance(found, LineKind):
            self.ledger.book(found, n_bytes)
        else:
            # A rejected line is stored as the tool printed it.
            self.see_rejected()
            self.ledger.reject(raw.removesuffix(b"\r"), offset, n_bytes, found.reason)

    # Internals.

    def read(self, data: bytes, *, is_final: bool) -> ReadResult:
        """Read all whole lines of the data, and the last one if it is final."""
        begin = self._skip_long_line(data) if self._is_in_long_line else 0
        end = data.rfind(b"\n", begin) + 1
        if end > begin:
            self._take_lines(data[begin:end], begin)
            begin = end
        if len(data) - begin > LINE_LIMIT:
            self.ledger.reject(data[begin : begin + LINE_LIMIT], self.offset + begin, len(data) - begin, TOO_LONG)
            self._is_in_long_line = not is_final
            begin = len(data)
        elif is_final and begin < len(data):
            self._take_last(data[begin:], begin)
            begin = len(data)
        if is_final:
            self.finish()
        return self._result(begin)

    def _skip_long_line(self, data: bytes) -> int:
        """Book the rest of a line that is too long."""
        newline = data.find(b"\n")
        n_bytes = len(data) if newline < 0 else newline + 1
        self.ledger.book_rest(n_bytes)
        self._is_in_long_line = newline < 0
        return n_bytes

    def _take_lines(self, data: bytes, begin: int) -> None:
        if self.take_many(data, begin):
            return
        for line in data[:-1].split(b"\n"):
            self.read_line(line, begin, len(line) + 1)
            begin += len(line) + 1

    def _take_last(self, raw: bytes, at: int) -> None:
        """Take a last line without a newline, if its end cannot be missing."""
        line = self._clean(raw)
        if not line.strip() or self.is_complete(line, self.offset + at):
            self.read_line(raw, at, len(raw))
        else:
            self.ledger.reject(raw.removesuffix(b"\r"), self.offset + at, len(raw), CUT_OFF)

    def _clean(self, raw: bytes) -> bytes:
        line = raw.removesuffix(b"\r")
        if line[:1] == b">" and self.may_be_quoted:
            line = QUOTE.sub(b"", line, count=1)
        return self.clean(COLOUR.sub(b"", line) if b"\x1b" in line else line)

    def _result(self, n_taken: int) -> ReadResult:
        """Return everything gathered."""
        # Samples of one line are in the order of their stats, independent of the other lines of the piece.
        builders = list(self._builders.items())
        if len(builders) > 1:
            order = [stat.name for stat in self.spec.stats]
            builders.sort(key=lambda item: (order.index(item[1].stat.name), item[1].keys))
        built = [(is_since_boot, builder.build()) for (is_since_boot, _), builder in builders]
        common: State = {
            "line_no": self.ledger.line_no,
            "long": self._is_in_long_line,
            "times": self.timeline.to_state(),
        }
        return ReadResult(
            blocks=tuple(block for is_since_boot, block in built if not is_since_boot),
            since_boot=tuple(block for is_since_boot, block in built if is_since_boot),
            rejected=tuple(self.ledger.rejected),
            accounts=self.ledger.close(),
            state=common | self.state(),
            n_taken=n_taken,
        )
