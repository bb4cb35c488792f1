"""nfsiostat of nfs-utils: blocks of lines for every mounted file system.

    nas:/export mounted on /srv:

               ops/s       rpc bklog
              73.187           0.000

    read:              ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)
                       0.000           0.000           9.096        0 (0.0%)           2.158           2.225

             12 VFS opens

Titles contain blanks and are separated by several, or by tabs (1.2 and before). A number with a share after it gives two values.
The first report covers the time since the file system was mounted.

Layout keys: `mount`, `operation` and `counts`, the stats of the three forms; [layout.lines]: a regular expression of each line of
counts, whose groups are numbered -> the columns of the groups; [layout.after.COLUMN]: columns with another name below the line of
COLUMN.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> result = read(require_spec("nfsiostat_linux"), __doc__.split("\\n\\n", 1)[1].encode(), state={}, offset=0, is_final=True)
>>> [(block.stat.name, block.instances) for block in result.since_boot]
[('nfsiostat_linux', ['/srv']), ('nfsiostat_linux_op', ['/srv read']), ('nfsiostat_linux_counts', ['/srv'])]
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.number_formats import read_number
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.records import LineKind, State, number_of, texts_of
from normstat.stats.spec import Layout, Stat

MOUNT: Final = re.compile(r"(?P<export>\S.{0,1000}?) mounted on (?P<mount>/.{0,1000}):")
OPERATION: Final = re.compile(r"(?P<name>[a-z_]{1,30}):\s+(?P<titles>ops?/s\s.*)")
TITLES: Final = re.compile(r"[ \t]*(?:\t[ \t]*|[ ]{2,})")
# Where the output was broken at its tabs, names and titles stand on lines of their own, and each number as well.
OPERATION_ALONE: Final = re.compile(r"(?P<name>[a-z_]{1,30}):")
TITLES_ALONE: Final = re.compile(r"ops?/s\s.*avg exe.*")
ONE_NUMBER: Final = re.compile(r"[\d.,-]+(?:\s*\([^()]*\))?")
HEAD: Final = re.compile(r"ops?/s\s+rpc bklog")
CELL: Final = re.compile(r"\([^()]*\)|[^\s()]+")
NUMBER: Final = re.compile(r"[\d(-]")
MAX_SEEN: Final = 4096


@dataclass(frozen=True)
class NfsiostatLayout(Layout):
    """The stats of the three forms; the patterns of the lines of counts, and the columns of their groups."""

    mount: Stat
    operation: Stat
    counts: Stat
    lines: Mapping[re.Pattern[str], tuple[str, ...]]
    after: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


LAYOUT: Final = NfsiostatLayout


class Reader(LineReader[NfsiostatLayout]):
    """One call of the reader.

    `_mount` is the present file system, `_titles` the columns of the row to come and `_operation` its name, `_parts` its numbers so
    far since `_parts_at`, where they stand on lines of their own; `_seen` the file systems of this report; `_counts` the counts
    gathered since the line `_counts_at`.
    """

    prefix_kinds = frozenset(FormKind)

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        self._mount = str(own.get("mount", ""))
        self._operation = str(own.get("operation", ""))
        seen, counts = own.get("seen"), own.get("counts")
        self._titles = texts_of(own.get("titles"))
        self._seen = set(map(str, seen)) if isinstance(seen, list) else set()
        self._counts = {str(key): str(word) for key, word in counts.items()} if isinstance(counts, dict) else {}
        self._parts = texts_of(own.get("parts"))
        self._parts_at = number_of(own.get("parts_at"), 0)
        self._counts_at = number_of(own.get("counts_at"), 0)
        self._is_first = own.get("is_first", True) is True and not self.omits_since_boot

    def load_after_gap(self, own: State) -> None:  # noqa: ARG002 (nothing of it is true after a gap)
        """Forget everything after a gap; the next report is not taken for the first."""
        self.load({"is_first": False})

    def save(self) -> State:
        """Return the state for the next piece."""
        return {
            "mount": self._mount,
            "operation": self._operation,
            "titles": self._titles,
            "parts": self._parts,
            "parts_at": self._parts_at,
            "seen": sorted(self._seen),
            "counts": self._counts,
            "counts_at": self._counts_at,
            "is_first": self._is_first,
        }

    def begin_call(self) -> None:
        """Start a new call of the tool."""
        self._flush()
        self._seen.clear()
        self._is_first = not self.omits_since_boot
        self._mount = ""

    def finish(self) -> None:
        """Complete the last counts."""
        self._flush()

    def take_line(self, line: Line) -> Outcome:
        """Return the kind of the line, or the reason why it cannot be read."""
        text = line.text.strip()
        if not text:
            return LineKind.IGNORED
        mount = MOUNT.fullmatch(text)
        if mount is not None:
            self._begin_mount(mount["mount"])
            return LineKind.HEADER
        alone = OPERATION_ALONE.fullmatch(text) if self._mount else None
        if alone is not None:
            self._operation, self._titles, self._parts = alone["name"], [], []
            return LineKind.HEADER
        if self._operation and not self._titles and TITLES_ALONE.fullmatch(text) is not None:
            self._titles = [title for title in TITLES.split(text) if title]
            return LineKind.HEADER
        operation = OPERATION.fullmatch(text)
        if operation is not None or HEAD.fullmatch(text):
            if not self._mount:
                return Rejected("a header without a file system")
            self._operation, self._parts = operation["name"] if operation is not None else "", []
            self._titles = [title for title in TITLES.split(operation["titles"] if operation is not None else text) if title]
            return LineKind.HEADER
        if self._titles and NUMBER.match(text):
            return self._take_row(text, line.offset)
        for pattern, columns in self.layout.lines.items():
            found = pattern.fullmatch(text)
            if found is not None and self._mount:
                return self._take_counts(dict(zip(columns, found.groups(), strict=False)), line.offset)
        return LineKind.TIMESTAMP if self.see_time_line(text) else Rejected("not a known line of nfsiostat")

    def _begin_mount(self, mount: str) -> None:
        self._flush()
        if mount in self._seen or len(self._seen) >= MAX_SEEN:
            self._seen.clear()
            self._is_first = False
        if not self._seen:
            self.begin_report()
        self._seen.add(mount)
        self._mount, self._titles, self._operation, self._parts = mount, [], "", []

    def _take_row(self, text: str, offset: int) -> Outcome:
        if ONE_NUMBER.fullmatch(text) is not None and len(self._titles) > 1:
            self._parts_at = self._parts_at if self._parts else offset
            self._parts.append(text)
            if len(self._parts) < len(self._titles):
                return LineKind.SINCE_BOOT if self._is_first else LineKind.SAMPLE
            text, offset, self._parts = " ".join(self._parts), self._parts_at, []
        titles, self._titles = self._titles, []
        cells = CELL.findall(text)
        columns, words = [], []
        for title in titles:
            if not cells or cells[0].startswith("("):
                break
            columns.append(title)
            words.append(cells.pop(0))
            if cells and cells[0].startswith("("):
                columns.append(f"{title}%")
                words.append(cells.pop(0).strip("()").strip())
        if cells or len([column for column in columns if column in titles]) != len(titles):
            return Rejected(f"the numbers do not fit the {len(titles)} titles")
        stat = self.layout.operation if self._operation else self.layout.mount
        instance = f"{self._mount} {self._operation}".strip()
        reason = self.add_row(stat, columns, words, instance=instance, offset=offset, is_since_boot=self._is_first)
        return reason or (LineKind.SINCE_BOOT if self._is_first else LineKind.SAMPLE)

    def _take_counts(self, counts: dict[str, str], offset: int) -> Outcome:
        """Return a line of counts: those of a file system are one row."""
        names = self.layout.after.get(next(reversed(self._counts), ""), {})
        counts = {names.get(column, column): word for column, word in counts.items()}
        fields = {field.column: field for field in self.layout.counts.fields}
        for column, word in counts.items():
            if column in fields and read_number(word, fields[column]) is None:
                return Rejected(f"{word}: not a number that {column} can hold")
        if not self._counts:
            self._counts_at = offset
        self._counts |= counts
        return LineKind.SINCE_BOOT if self._is_first else LineKind.SAMPLE

    def _flush(self) -> None:
        counts, self._counts = self._counts, {}
        if counts:
            self.add_row(
                self.layout.counts,
                list(counts),
                list(counts.values()),
                instance=self._mount,
                offset=self._counts_at,
                is_since_boot=self._is_first,
            )
