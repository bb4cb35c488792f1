"""nicstat of Solaris and Linux: interfaces, TCP and UDP.

        Time      Int   rKB/s   wKB/s   rPk/s   wPk/s    rAvs    wAvs %Util    Sat
    11:49:32     eth0   12.32   441.1   67.51   347.6   186.8  1299.3  0.00   0.00

    20:57:16    InKB   OutKB   InSeg  OutSeg Reset  AttF %ReTX InConn OutCon Drops
    TCP         0.00    0.00   214.9   208.5  0.04  0.01 0.000   0.04   0.09  0.00

    1795266765:eth0:1077.4:1.579:30.04:15.00:0.01:0.00

The clock is before the rows, or in their header (-x, -t, -u); -p prints epochs and no headers. The first report covers
the time since boot; all rows of a report have the same time.

Layout keys: `tables`, each with `stat` and `header` (columns that must be there), as of the reader `columns`.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> header = b" InDG OutDG InErr OutErr\\n"
>>> text = b"20:57:16" + header + b"UDP 0.08 0.08 0.00 0.00\\n20:57:17" + header + b"UDP 1.00 2.00 0.00 0.00\\n"
>>> result = read(require_spec("nicstat"), text, state={}, offset=0)
>>> [[values.tolist() for values in block.values] for block in (*result.since_boot, *result.blocks)]
[[[0.08], [0.08], [0.0], [0.0]], [[1.0], [2.0], [0.0], [0.0]]]
"""

from collections.abc import Sequence
from typing import Final

from normstat.stats.engine.column_layout import ColumnLayout
from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.times.timestamps import EPOCH, Timestamp, parse_clock
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Stat

# The protocols, whose rows have their name.
PROTOCOLS: Final = ("TCP", "UDP")
TCP: Final = ("InKB", "OutKB", "InSeg", "OutSeg", "Reset", "AttF", "%ReTX", "InConn", "OutCon", "Drops")
UDP: Final = ("InDG", "OutDG", "InErr", "OutErr")
# The columns of -p, by their number: nicstat(1), option -p, and its form before release 1.90.
INTERFACE: Final = {
    6: ("rKB/s", "wKB/s", "rPk/s", "wPk/s", "%Util", "Sat"),
    8: ("rKB/s", "wKB/s", "rPk/s", "wPk/s", "rAvs", "wAvs", "%Util", "Sat"),
    11: ("rKB/s", "wKB/s", "rPk/s", "wPk/s", "%Util", "Sat", "IErr", "OErr", "Coll", "NoCP", "Defer"),
}
LINK: Final = ("Int", "Loopback", "Mbit/s")
MAX_COLUMNS: Final = 100


LAYOUT: Final = ColumnLayout


class Reader(LineReader[ColumnLayout]):
    """One call of the reader. `_first` is the clock of the first report, `_clock` that of the present header."""

    prefix_kinds = frozenset({FormKind.SURE, FormKind.TAGS})

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        header = own.get("header")
        self._header = tuple(map(str, header)) if isinstance(header, list) else ()
        self._clock = str(own.get("clock", ""))
        self._first = str(own.get("first", ""))
        self._is_first = own.get("is_first", True) is True
        self._time: tuple[str, int] | None = None

    def load_after_gap(self, own: State) -> None:
        """Keep the header without its clock."""
        self.load(own | {"clock": "", "is_first": False})

    def save(self) -> State:
        """Return the state for the next piece."""
        return {"header": list(self._header), "clock": self._clock, "first": self._first, "is_first": self._is_first}

    def begin_call(self) -> None:
        """Start a new call of the tool."""
        self._first, self._is_first = "", True

    def take_line(self, line: Line) -> Outcome:
        """Return the kind of the line, or the reason why it cannot be read."""
        words = line.text.split()
        if not words:
            return LineKind.IGNORED
        if words[0].count(":") > 3:
            return self._take_parseable(words, line.offset)
        if self._is_header(words):
            if len(words) > MAX_COLUMNS:
                return Rejected("too many columns")
            has_clock = parse_clock(words[0]) is not None
            self._clock = words[0] if has_clock else ""
            self._header = tuple(words[1:] if has_clock else words)
            return LineKind.HEADER
        if self._header:
            return self._take_row(words, line.offset)
        if self.see_time_line(line.text):
            return LineKind.TIMESTAMP
        return Rejected("a line before any header")

    def _is_header(self, words: Sequence[str]) -> bool:
        return self._stat_of(words) is not None and (words[0] in ("Time", "Int") or parse_clock(words[0]) is not None)

    def _stat_of(self, columns: Sequence[str]) -> Stat | None:
        present = set(columns)
        table = next((table for table in self.layout.tables if all(needed & present for needed in table.header)), None)
        return self.stat(table.stat) if table is not None else None

    def _take_row(self, words: list[str], offset: int) -> Outcome:
        header, clock = self._header, self._clock
        stat = self._stat_of(header)
        if stat is None:
            return Rejected("a row without a known header")
        if header[0] == "Time":
            clock, words, columns = words[0], words[1:], header[2:]
            if parse_clock(clock) is None:
                return Rejected(f"not a known line of {self.spec.tool}")
        elif header[: len(LINK)] == LINK:
            return self._take_link(stat, header, words, offset)
        else:
            columns = header
            if (words[0] in PROTOCOLS) != (columns in (TCP, UDP)):
                return Rejected("the name of the row does not fit its header")
        if len(words) != len(columns) + 1:
            return Rejected(f"{len(words)} values for {len(columns) + 1} columns")
        return self._add(stat, columns, words, clock, offset)

    def _take_link(self, stat: Stat, header: Sequence[str], words: Sequence[str], offset: int) -> Outcome:
        """Return a row of -l: the speed is its only number."""
        if len(words) < len(header):
            return Rejected(f"{len(words)} values for {len(header)} columns")
        return self.add_row(stat, ["Mbit/s"], [words[2]], instance=words[0], offset=offset) or LineKind.SAMPLE

    def _take_parseable(self, words: Sequence[str], offset: int) -> Outcome:
        cells = words[0].split(":")
        name, n_values = cells[1], len(cells) - 2
        columns = {"TCP": TCP, "UDP": UDP}.get(name) or INTERFACE.get(n_values, ())
        stat = self._stat_of(columns) if columns else None
        if stat is None or len(words) > 1 or n_values != len(columns) or EPOCH.fullmatch(cells[0]) is None:
            return Rejected(f"not a known line of {self.spec.tool}")
        return self._add(stat, columns, cells[1:], cells[0], offset)

    def _add(self, stat: Stat, columns: Sequence[str], words: Sequence[str], clock: str, offset: int) -> Outcome:
        """Add a row; the name is its first word."""
        is_first = self._is_first and clock == (self._first or clock) and not self.omits_since_boot
        reason = self.add_row(
            stat,
            columns,
            words[1:],
            instance="" if words[0] in PROTOCOLS else words[0],
            time_us=self._clock_us(clock),
            offset=offset,
            is_since_boot=is_first,
        )
        if reason is not None:
            return reason
        self._is_first, self._first = is_first, clock if is_first else ""
        return LineKind.SINCE_BOOT if is_first else LineKind.SAMPLE

    def _clock_us(self, clock: str) -> int | None:
        """Return the instant of a row. Missing: None, the time of the report, where the header's clock is lost."""
        if self._time is None or self._time[0] != clock:
            if EPOCH.fullmatch(clock) is not None:
                time_us = self.timeline.stamp_us(Timestamp(float(clock), is_clock_only=False, offset_s=0))
            else:
                seconds = parse_clock(clock)
                if seconds is None:
                    return None
                time_us = self.timeline.clock_us(seconds)
            self._time = (clock, time_us)
        return self._time[1]
