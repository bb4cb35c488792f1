"""sadf -d and sadf -p of sysstat: activity files as lines of text for other programs.

    # hostname;interval;timestamp;IFACE;rxpck/s;txpck/s
    web1;600;2026-11-21 12:00:01 UTC;lo;0.00;0.00
    web1;-1;2026-11-21 12:05:10 UTC;LINUX-RESTART   (2 CPU)

    web1    600     2026-11-21 12:00:01 UTC lo      rxpck/s 0.00
    web1    600     2026-11-21 12:00:01 UTC lo      txpck/s 0.00

Layout keys: `tables` and `unknown`, as of the reader `columns` (the lines of sadf -d are headers and rows like any others).

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"# hostname;interval;timestamp;IFACE;rxpck/s;txpck/s\\nweb1;600;2026-11-21 12:00:01 UTC;lo;1.00;2.00\\n"
>>> block = read(require_spec("sadf_linux"), text, state={}, offset=0).blocks[0]
>>> block.stat.name, block.instances, [values.tolist() for values in block.values]
('sadf_linux_net_dev', ['lo'], [[1.0], [2.0]])
"""

import csv
import re
from dataclasses import dataclass, field
from typing import Final

from normstat.errors import shorten
from normstat.stats.engine.column_layout import ColumnLayout
from normstat.stats.engine.header import Header, HeaderLine, find_header
from normstat.stats.engine.hosts import ANOTHER_HOST
from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.number_formats import read_number
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.row import ABSENT, join_instance
from normstat.stats.engine.times.timestamps import ClockWords, parse_timestamp
from normstat.stats.records import NO_TIME, LineKind, State, Timing
from normstat.stats.spec import Spec, Stat

LEAD: Final = ("hostname", "interval", "timestamp")
N_LEAD: Final = len(LEAD)
SEMICOLON: Final = ";"
HEADER: Final = re.compile(r"[# \"]*(?P<lead>hostname\"?(?P<mark>[;,\t])\"?interval\"?(?P=mark)\"?timestamp\b)")
# Spreadsheets leave the seconds out.
MINUTES: Final = re.compile(r"(?P<lead>\S+[ T]\d{1,2}:\d\d)(?P<rest>(?: \S+)?)", re.ASCII)
RESTART: Final = "LINUX-RESTART"
COMMENT: Final = "COM "
# The header of USB devices names its columns in another order than their values come (rndr_stats.c, all releases).
ROW_ORDER: Final = {"manufact": ("BUS", "idvendor", "idprod", "maxpower", "manufact", "product")}
# A header with this mark is that of sadf -d -h: all activities in one line, some as often as there are devices.
REPEATED: Final = "[...]"
# The columns of text that name nothing.
NOT_NAMES: Final = frozenset({"status"})
# No item has more values than these; it bounds the state of a broken stream.
MAX_VALUES: Final = 2000
MAX_HEADER: Final = 20_000
NO_CLOCK: Final = ClockWords(0, 0.0, is_epoch=False)


@dataclass(slots=True)
class SadfItem:
    """The output of sadf -p so far for one item at one time: `key` is the common part of its lines."""

    key: tuple[str, ...]
    offset: int
    time_us: int
    values: dict[str, str] = field(default_factory=dict)


LAYOUT: Final = ColumnLayout


class Reader(LineReader[ColumnLayout]):
    """One call of the reader."""

    def __init__(self, spec: Spec, *, state: State, offset: int, timing: Timing, command: str) -> None:
        assert isinstance(spec.layout, ColumnLayout)
        tables = spec.layout.tables
        # The columns that hold text.
        self._texts = frozenset().union(*(table.instance | table.labels for table in tables)) | {"manufact", "product"}
        self._known = [
            (stat, any(table.instance for table in tables if table.stat == stat.name), self._names_of(stat)) for stat in spec.stats
        ]
        super().__init__(spec, state=state, offset=offset, timing=timing, command=command)

    def _names_of(self, stat: Stat) -> frozenset[str]:
        return frozenset(name for one in stat.fields for name in (one.column, *one.aliases)) | self._texts

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        self._columns: tuple[str, ...] = ()
        # Separators of cells: a spreadsheet may have saved them with commas or tabs.
        self._mark = str(own.get("mark", SEMICOLON))
        self._header: Header | None = None
        self._item: SadfItem | None = None
        header, item = own.get("header"), own.get("item")
        if isinstance(header, list):
            self._set_header(tuple(map(str, header)))
        if isinstance(item, list) and len(item) == 4:
            key, at, time_us, values = item
            self._item = SadfItem(tuple(map(str, key)), int(at), int(time_us), {str(name): str(word) for name, word in values})

    def save(self) -> State:
        """Return the state for the next piece."""
        item = self._item
        own: State = {"header": list(self._columns), "mark": self._mark}
        if item is not None:
            own["item"] = [list(item.key), item.offset, item.time_us, list(item.values.items())]
        return own

    def take_line(self, line: Line) -> Outcome:
        """Return the kind of the line, or the reason why it cannot be read."""
        text = line.text.strip()
        if not text:
            return LineKind.IGNORED
        header = HEADER.match(text)
        if header is not None:
            self._flush()
            self._mark = header["mark"]
            return self._take_header(text[header.start("lead") :])
        mark = self._mark if self._mark != SEMICOLON else SEMICOLON if SEMICOLON in text else "\t"
        cells = _split(text, mark)
        if len(cells) > N_LEAD and self.is_another_host(cells[0]):
            self._flush()
            return ANOTHER_HOST
        if len(cells) > N_LEAD and cells[N_LEAD].startswith(RESTART):
            self._flush()
            self.see_restart(self._time_us(cells[2]), line.offset)
            return LineKind.STATE_CHANGE
        if len(cells) > N_LEAD and cells[N_LEAD].startswith(COMMENT):
            return LineKind.IGNORED
        if mark == self._mark:
            return self._take_row(cells, line.offset)
        if len(cells) == N_LEAD + 3:
            return self._take_value(cells, line.offset)
        return Rejected("not a known line of sadf")

    def finish(self) -> None:
        """Complete the last item."""
        self._flush()

    def _take_header(self, text: str) -> Outcome:
        if len(text) > MAX_HEADER or REPEATED in text:
            self._set_header(())
            return (
                Rejected("a header of sadf -h, which repeats columns an unknown number of times")
                if REPEATED in text
                else Rejected("too long")
            )
        self._set_header(tuple(_split(text, self._mark)[N_LEAD:]))
        return LineKind.HEADER if self._header is not None else Rejected("a header without a known column of sadf")

    def _set_header(self, columns: tuple[str, ...]) -> None:
        self._columns = columns
        # The tables are laid out like those of sar, whose headers have a clock.
        order = ROW_ORDER.get(columns[0], columns) if columns else ()
        self._header = find_header(self.spec, self.layout, HeaderLine(order, NO_CLOCK, has_clock=True)) if order else None

    def _take_row(self, cells: list[str], offset: int) -> Outcome:
        header = self._header
        if header is None or header.stat is None:
            return Rejected("a row without a known header")
        names = self._row_names(header, len(cells) - N_LEAD)
        if len(cells) - N_LEAD != len(names):
            return Rejected(f"{len(cells) - N_LEAD} values for {len(names)} columns")
        words = cells[N_LEAD:]
        places = range(header.value_at[0], len(names)) if len(names) != len(header.words) else header.value_at
        if any(" " in words[at] for at in places):
            return Rejected("a blank in a number")
        time_us = self._time_us(cells[2])
        reason = self.add_row(
            header.stat,
            [names[at] for at in places],
            [words[at] for at in places],
            instance=join_instance([" ".join(words[at].split()) for at in header.instance_at]),
            time_us=time_us,
            offset=offset,
        )
        return reason or LineKind.SAMPLE

    def _row_names(self, header: Header, n_cells: int) -> list[str]:
        """Return the names of the row's cells. INTR;CPU* means the requested CPUs, without naming them."""
        names = list(header.words)
        if names[-1:] == ["CPU*"] and n_cells > len(names):
            names = [*names[:-1], *(f"CPU*{number}" for number in range(n_cells - len(names) + 1))]
        return names

    def _take_value(self, cells: list[str], offset: int) -> Outcome:
        """Return a line of sadf -p: one value of an item."""
        *key, name, word = cells
        item = self._item
        names = list(item.values) if item is not None and item.key == tuple(key) and name not in item.values else None
        if names is None or self._stat_of(key[N_LEAD], [*names, name]) is None:
            # Another item, or another table about the same one ("-").
            self._flush()
            item, names = None, []
        stat = self._stat_of(key[N_LEAD], [*names, name])
        if stat is None or len(names) >= MAX_VALUES:
            return Rejected(f"{shorten(name, 40)}: not a known value of sadf")
        if item is None:
            item = self._item = SadfItem(tuple(key), offset, self._time_us(key[2]))
        if name in self._texts:
            item.values[name] = " ".join(word.split())
            return LineKind.SAMPLE
        known = next((one for one in stat.fields if name == one.column or name in one.aliases), None)
        if (known is not None and read_number(word, known) is None) or " " in word or not word:
            return Rejected(f"{name}: {shorten(word, 40)} is not a number that it can hold")
        item.values[name] = word
        return LineKind.SAMPLE

    def _stat_of(self, item: str, names: list[str]) -> Stat | None:
        """Return the first stat that has all of these columns, and items if there is one."""
        for stat, has_items, known in self._known:
            if has_items == (item != ABSENT) and all(
                name in known or any(family.matches(name) for family in stat.families) for name in names
            ):
                return stat
        return None

    def _flush(self) -> None:
        """Add the item that lines of sadf -p were about."""
        item, self._item = self._item, None
        stat = self._stat_of(item.key[N_LEAD], list(item.values)) if item is not None else None
        if item is None or stat is None:
            return
        numbers = {name: word for name, word in item.values.items() if name not in self._texts}
        texts = [word for name, word in item.values.items() if name in self._texts and name not in NOT_NAMES]
        if numbers:
            self.add_row(
                stat,
                list(numbers),
                list(numbers.values()),
                instance=join_instance([item.key[N_LEAD], *texts]),
                time_us=item.time_us,
                offset=item.offset,
            )

    def _time_us(self, text: str) -> int:
        """Return the instant of a timestamp. Missing: NO_TIME for one in a zone whose name has several meanings, unless one is
        known.
        """
        minutes = MINUTES.fullmatch(text)
        text = text if minutes is None else f"{minutes['lead']}:00{minutes['rest']}"
        stamp = parse_timestamp(text)
        if stamp is None and self.has_zone:
            stamp = parse_timestamp(" ".join(text.split()[:2]))
        return self.timeline.stamp_us(stamp) if stamp is not None else NO_TIME


def _split(text: str, mark: str) -> list[str]:
    """Return the cells of a line, without the quotes of spreadsheets."""
    return next(csv.reader([text], delimiter=mark), []) if '"' in text else text.split(mark)
