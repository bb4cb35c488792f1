"""The JSON of sysstat: sadf -j, iostat -o JSON, mpstat -o JSON, pidstat -o JSON.

    {"sysstat": {"hosts": [{"nodename": "web1", "date": "11/21/26", "statistics": [
        {"timestamp": "12:00:01", "cpu-load": [
            {"cpu": "all", "usr": 4.52, "sys": 1.01, "idle": 94.47},
            {"cpu": "0", "usr": 5.00, "sys": 1.00, "idle": 94.00}]}]}]}}

A row is an object under the name of a table, or in a list of that name; objects in it that are no tables belong to it. The text may
be broken into lines anywhere between two tokens. Rows are emitted as soon as they are complete; those
before the time of their report wait for it.

Layout keys:
    since_boot, omit_option, unknown   as of the reader `columns`
Keys of `[[stats.tables]]` or, with `stat`, `[[layout.tables]]`:
    name       the table's key; "one|other" are alternatives
    stat       the stat of its rows; several tables may have one name, and a number goes to the first stat of them that knows it
    instance   the keys that name what a row is about, in their order
    pairs      ["name", "value"]: the row's numbers are in a list of objects that hold a name and a number
    missing    numbers that stand for no value: ["-1.00"]

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> loads = b'{"timestamp": "12:00:01", "cpu-load": [{"cpu": "0", "usr": 5.0}]}'
>>> text = b'{"sysstat": {"hosts": [{"date": "11/21/26", "statistics": [' + loads + b"]}]}}"
>>> block = read(require_spec("mpstat_json_linux"), text + b"\\n", state={}, offset=0).blocks[0]
>>> block.stat.name, block.instances, block.values[0].tolist(), block.time_us.tolist()
('mpstat_json_linux', ['0'], [5.0], [1795262401000000])
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from normstat.errors import shorten
from normstat.stats.engine.hosts import ANOTHER_HOST
from normstat.stats.engine.json_stream import Broken, JsonStream, Node, to_node
from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.number_formats import read_number
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.row import ABSENT, join_instance
from normstat.stats.engine.times.timestamps import Timestamp, parse_timestamp, take_clock
from normstat.stats.layout import Alternatives, toml_key
from normstat.stats.records import NO_TIME, LineKind, State, Timing, number_of
from normstat.stats.spec import Layout, Spec, Stat

REPORTS: Final = "statistics"
TIME: Final = "timestamp"
DAYS: Final = frozenset({"date", "file-date"})
CHANGES: Final = frozenset({"restarts", "boot"})
# Objects whose date is not that of the document.
UNDATED: Final = CHANGES | {TIME, "comments", "comment"}
# The beginning of a line from which JSON can be parsed again.
BEGINNINGS: Final = ('{"sysstat"', f'"{TIME}"', f'{{"{TIME}"')
# The kind of a line that holds several things.
IN_ORDER: Final = (LineKind.SAMPLE, LineKind.SINCE_BOOT, LineKind.TIMESTAMP, LineKind.STATE_CHANGE)
# Rows that wait for the time of their report; more of them have none.
MAX_WAITING: Final = 2000
LOST: Final = Rejected("after broken JSON; reading resumes at the next report")


@dataclass(frozen=True)
class JsonTable:
    """One kind of rows; the module's docstring explains the keys."""

    stat: Stat
    names: Alternatives = toml_key("name")
    instance: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    missing: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Require none or two keys of pairs."""
        if len(self.pairs) not in (0, 2):
            raise ValueError("pairs: two keys are needed, of the name and of the number")


@dataclass(frozen=True)
class SysstatJsonLayout(Layout):
    """The tables, and which reports cover the time since boot."""

    tables: tuple[JsonTable, ...]
    unknown: Stat | None = None
    since_boot: Literal["first", "never"] = "never"
    omit_option: str = ""

    def find(self, name: str) -> JsonTable | None:
        """Return the table of that name. Missing: None for an unknown one."""
        return next((table for table in self.tables if name in table.names), None)

    def stats_of(self, name: str) -> tuple[Stat, ...]:
        """Return the stats whose rows are under a name."""
        return tuple(table.stat for table in self.tables if name in table.names)


LAYOUT: Final = SysstatJsonLayout
NO_VALUE: Final = frozenset({ABSENT, ""})
HOST: Final = "nodename"


class Reader(LineReader[SysstatJsonLayout], JsonStream):
    """One call of the reader. A report is an object in the list `statistics`; `_waiting` are its rows until its time is known."""

    def __init__(self, spec: Spec, *, state: State, offset: int, timing: Timing, command: str) -> None:
        assert isinstance(spec.layout, SysstatJsonLayout)
        JsonStream.__init__(self)
        LineReader.__init__(self, spec, state=state, offset=offset, timing=timing, command=command)

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        nodes, waiting = own.get("nodes"), own.get("waiting")
        self.nodes = [to_node(item) for item in nodes] if isinstance(nodes, list) else []
        self._waiting = [to_node(item) for item in waiting] if isinstance(waiting, list) else []
        self._time_us = number_of(own.get("time"), NO_TIME)
        self._n_reports = number_of(own.get("reports"), 0)
        self._has_time = own.get("has_time") is True
        self._is_lost = own.get("lost") is True
        self._is_other = own.get("other") is True
        self._kinds: set[LineKind] = set()
        self._refused: Rejected | None = None

    def load_after_gap(self, own: State) -> None:
        """Drop the open objects; reading resumes at the next report."""
        self.load({"lost": True, "reports": own.get("reports"), "other": own.get("other")})

    def save(self) -> State:
        """Return the state for the next piece."""
        return {
            "nodes": [node.to_state() for node in self.nodes],
            "waiting": [node.to_state() for node in self._waiting],
            "time": self._time_us,
            "has_time": self._has_time,
            "lost": self._is_lost,
            "other": self._is_other,
            "reports": self._n_reports,
        }

    def is_whole(self, line: Line) -> bool:
        """Return whether a bracket ends the last number."""
        return line.text.rstrip()[-1:] in ("}", "]")

    def take_line(self, line: Line) -> Outcome:
        """Return the kind of the line, or the reason why it cannot be read."""
        text = line.text.strip()
        if not text:
            return LineKind.IGNORED
        if not self.nodes and self.see_time_line(text):
            return LineKind.TIMESTAMP
        if self._is_lost and not self._find_way(text):
            return LOST
        self._begin_line()
        try:
            self.feed(text, line.offset)
        except Broken as trouble:
            self._add_waiting()
            self.nodes, self._is_lost = [], True
            return Rejected(str(trouble))
        return self._refused or next((kind for kind in IN_ORDER if kind in self._kinds), LineKind.HEADER)

    def _begin_line(self) -> None:
        self._kinds, self._refused = set(), None

    def finish(self) -> None:
        """Add the rows whose report never gave its time."""
        self._add_waiting()

    def _find_way(self, text: str) -> bool:
        """After a broken place: a document, or a report that begins with its time, can be read again."""
        if not text.startswith(BEGINNINGS):
            return False
        self._is_lost = False
        if not text.startswith(BEGINNINGS[0]):
            self.nodes = [Node(is_list=True, name=REPORTS, offset=0)]
            if not text.startswith("{"):
                self.nodes.append(Node(is_list=False, name=REPORTS, offset=0))
                self.opened(self.nodes[-1])
        return True

    # From the JSON.

    def opened(self, node: Node) -> None:
        """Start a document or a report."""
        if len(self.nodes) == 1 and node.name == "":
            self._n_reports = 0
        if node.name == REPORTS and not node.is_list:
            self._n_reports = min(self._n_reports + 1, 2)
            self._has_time = False
            self._time_us = NO_TIME
            self.begin_report()

    def told(self, node: Node, key: str) -> None:
        """Take the day of the document, the time of a report, or a number of a row."""
        if self._row_node() is not None:
            self._kinds.add(self._row_kind)
        elif key == TIME and node.name == REPORTS and key in node.texts:
            self._see_time(node.texts[key])
        elif key == HOST and key in node.texts:
            self._is_other = self.is_another_host(node.texts[key])
        elif key in DAYS and node.name not in UNDATED:
            self.timeline.start_banner(node.texts.get(key, ""))

    def closed(self, node: Node) -> None:
        """Complete a row, a report, or an object that belongs to a row."""
        if node.is_list:
            return
        if node.name == REPORTS:
            self._add_waiting()
        elif node.name == TIME:
            self._see_time_object(node)
        elif node.name in CHANGES:
            self._kinds.add(LineKind.STATE_CHANGE)
        elif self.layout.find(node.name) is not None:
            self._take_row(node)
        elif (row := self._row_node()) is not None:
            self._join(node, row)
        elif node.numbers and node.name not in UNDATED and any(one.name == REPORTS for one in self.nodes):
            if self.layout.unknown:
                self._take_row(node)
            else:
                self._refused = Rejected(f"{shorten(node.name, 40)}: not a known table of {self.spec.tool}")

    def _row_node(self) -> Node | None:
        """Return the innermost open object that is a row."""
        return next((node for node in reversed(self.nodes) if not node.is_list and self.layout.find(node.name) is not None), None)

    def _see_time(self, text: str) -> None:
        stamp = parse_timestamp(text)
        if stamp is None:
            clock = take_clock(text.split())
            if clock is not None and not clock.is_epoch:
                stamp = Timestamp(clock.seconds, is_clock_only=True, offset_s=None)
        self._time_us = self.timeline.stamp_us(stamp) if stamp is not None else NO_TIME
        self._has_time = True
        self._kinds.add(LineKind.TIMESTAMP)

    def _see_time_object(self, node: Node) -> None:
        """{"date": "2026-11-21", "time": "12:00:01", "utc": 1, "interval": 600}; later releases have "tz": "CET"."""
        zone = node.texts.get("tz", "UTC" if node.numbers.get("utc") == "1" else "")
        text = f"{node.texts.get('date', '')} {node.texts.get('time', '')}".strip()
        with_zone = f"{text} {zone}".strip()
        # An ambiguous zone name gives no time, unless the zone is known from elsewhere. Epochs need none.
        is_plain = self.has_zone or text.isdigit()
        self._see_time(text if parse_timestamp(with_zone) is None and is_plain else with_zone)

    def _join(self, node: Node, row: Node) -> None:
        """Add the numbers of an object inside a row to the row."""
        table = self.layout.find(row.name)
        if table is not None and table.pairs and table.pairs[0] in node.texts and table.pairs[1] in node.numbers:
            row.numbers[node.texts[table.pairs[0]]] = node.numbers[table.pairs[1]]
            return
        for key, word in node.numbers.items():
            row.numbers[key if key not in row.numbers else f"{node.name}.{key}"] = word

    # Rows.

    @property
    def _row_kind(self) -> LineKind:
        is_since_boot = self.layout.since_boot == "first" and not self.omits_since_boot and self._n_reports == 1
        return LineKind.SINCE_BOOT if is_since_boot else LineKind.SAMPLE

    def _take_row(self, node: Node) -> None:
        self._kinds.add(self._row_kind)
        refused = next((reason for stat, numbers in self._parts(node) if (reason := _refusal(stat, numbers))), None)
        if refused is not None:
            self._refused = refused
        elif self._is_other:
            self._refused = ANOTHER_HOST
        elif self._has_time or len(self._waiting) >= MAX_WAITING:
            self._add(node)
        else:
            self._waiting.append(node)

    def _add_waiting(self) -> None:
        """Add the rows that waited for the time of their report."""
        waiting, self._waiting = self._waiting, []
        for node in waiting:
            self._add(node)

    def _parts(self, node: Node) -> Iterator[tuple[Stat, dict[str, str]]]:
        """Yield the numbers of a row, by the stats that know them; those that none knows go to the first."""
        table = self.layout.find(node.name)
        if table is None:
            assert self.layout.unknown is not None
            yield self.layout.unknown, node.numbers
            return
        stats = self.layout.stats_of(node.name)
        # pidstat prints some numbers as texts ("UID": "0").
        numbers = node.numbers | {key: word for key, word in node.texts.items() if any(_knows(stat, key) for stat in stats)}
        left = {key: word for key, word in numbers.items() if key not in table.instance}
        for number, stat in enumerate(stats):
            own = {
                key: word
                for key, word in left.items()
                if _knows(stat, key) or (not number and not any(_knows(one, key) for one in stats))
            }
            left = {key: word for key, word in left.items() if key not in own}
            if own:
                yield stat, own

    def _add(self, node: Node) -> None:
        table = self.layout.find(node.name)
        if table is None:
            names = [node.name, *node.texts.values()]
        else:
            names = [node.texts.get(key) or node.numbers.get(key) or "" for key in table.instance]
        for stat, numbers in self._parts(node):
            self.add_row(
                stat,
                list(numbers),
                list(numbers.values()),
                instance=join_instance([" ".join(name.split()) for name in names]),
                time_us=self._time_us if self._has_time else None,
                offset=node.offset,
                missing=NO_VALUE if table is None else NO_VALUE | table.missing,
                is_since_boot=self._row_kind is LineKind.SINCE_BOOT,
            )


def _knows(stat: Stat, key: str) -> bool:
    return any(key == one.column or key in one.aliases for one in stat.fields) or any(
        family.matches(key) for family in stat.families
    )


def _refusal(stat: Stat, numbers: Mapping[str, str]) -> Rejected | None:
    """Return why a row cannot be read. Missing: None when it can."""
    for key, word in numbers.items():
        known = next((one for one in stat.fields if key == one.column or key in one.aliases), None)
        if known is not None and word and read_number(word, known) is None:
            return Rejected(f"column {key}: {shorten(word, 40)} is not a number that it can hold")
    return None
