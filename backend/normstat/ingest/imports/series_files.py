"""Files that hold one series or chart each: gathered, and put together into one text in the order of its times.

collectd's csv plugin writes a file for each series and day, whose name is HOST/PLUGIN-INSTANCE/TYPE-INSTANCE-YYYY-MM-DD. Netdata
gives the data of one chart, without its name, and with the newest rows first. Samples of many files belong into one row, so the
lines of all files are sorted by time, on a disk where they are many, and written as the readers `collectd` and `netdata` know them.
A line that cannot be understood is passed on, so that the reader rejects it visibly.

Source: collectd.conf(5), plugin csv; Netdata 1.37, web/api/formatters.
"""

import csv
import datetime as dt
import heapq
import json
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from normstat.errors import TooLarge
from normstat.ingest.imports.archives import MAX_SPOOLED, MIN_FREE, without_packing
from normstat.ingest.imports.unpacking import Peekable, Source, TooMuch, Unreadable, read_full
from normstat.runtime.bounded_decoding import NotJson, load_json_as_printed
from normstat.runtime.readable import count_of, format_bytes
from normstat.stats.engine.times.timeline import require_zone

READ_BYTES: Final = 1 << 18
# Lines that are sorted in memory: about 40 MB.
SORTED_LINES: Final = 150_000
# A document that is parsed as a whole: a day of a chart with ten dimensions each second has 8 MB.
MAX_DOCUMENT: Final = 32 << 20
MAX_VALUES: Final = 5_000_000
MAX_LINE: Final = 1 << 16
MILLI: Final = 1000
# 13 digits are milliseconds.
MILLISECONDS: Final = 10**11

COLLECTD_PATH: Final = re.compile(
    r"(?:(?P<folder>.*)/)?(?P<host>[^/]+)/(?P<plugin>[^/]+)/(?P<type>[^/]+)-(?P<day>\d{4}-\d\d-\d\d)", re.DOTALL
)
COLLECTD_NAME: Final = re.compile(r".+-\d{4}-\d\d-\d\d")
COLLECTD_HEAD: Final = b"epoch,"
CHART_NAME: Final = re.compile(r"(?:.*/)?(?:netdata[-_])?(?P<chart>[A-Za-z]\w*\.[^/]+?)(?:\.wrap)?\.(?:csv|json|tsv)", re.DOTALL)
CHART_HEAD: Final = re.compile(rb'"?time"?(?P<comma>[,\t])"?[^\n]+\n')
CHART_ROW: Final = re.compile(
    r'"?(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\d{9,13})"?(?:[,\t]"?(?:-?[\d.]+(?:e[-+]?\d+)?|null|)"?)+', re.IGNORECASE
)
DATA_HEAD: Final = re.compile(rb'\s*\{(?:[^{}\[\]]|\[[^{}\[\]]*\])*?(?:"result"\s*:\s*\{\s*)?"labels"\s*:\s*\[\s*"time"')
WRAPPED_HEAD: Final = re.compile(rb'\s*\{\s*"api"\s*:\s*\d')
ALL_METRICS: Final = re.compile(rb'\s*\{\s*"[^"]+"\s*:\s*\{\s*"name"\s*:\s*"[^"]*"\s*,\s*"family"\s*:\s*"[^"]*"\s*,\s*"context"')
SHELL_HEAD: Final = re.compile(rb"\s*# chart: .*\nNETDATA_")
NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)

NO_SERIES: Final = "a file of collectd's csv plugin alone, which does not name the host and plugin: import its folders HOST/PLUGIN/"
NO_CHART: Final = "data of a Netdata chart, which does not say of which: name the file after it (system.cpu.csv)"
SHELL_NOTE: Final = "metrics of Netdata for a shell, which have no time: export them with format=json or format=prometheus"


@dataclass(frozen=True, slots=True)
class SeriesFile:
    """The set that a file belongs to. `key` identifies the set; `note` is set where it cannot be read."""

    kind: str = ""
    spec: str = ""
    key: tuple[str, ...] = ()
    series: str = ""
    note: str = ""


class SortedText:
    """Lines put in the order of their times, in a temporary file without a name."""

    def __init__(self, sorted_lines: int = SORTED_LINES) -> None:
        self._sorted_lines = sorted_lines
        self._lines: list[tuple[int, bytes]] = []
        self._runs: list[tuple[int, int]] = []
        self._spool: BinaryIO | None = None
        self._text: BinaryIO | None = None
        self.n_bytes = 0

    def add(self, time_ms: int, line: str) -> None:
        """Add a line.

        Raises: TooMuch
        """
        data = line.encode("utf-8", "replace")
        self.n_bytes += len(data) + 1
        if self.n_bytes > MAX_SPOOLED:
            raise TooMuch(f"together larger than {format_bytes(MAX_SPOOLED)}, and they must be sorted: import some of the days")
        self._lines.append((time_ms, data))
        if len(self._lines) >= self._sorted_lines:
            self._write_run()

    def close(self) -> None:
        """Close the files."""
        for file in (self._spool, self._text):
            if file is not None:
                file.close()

    def open(self) -> Source:
        """Return the text from its beginning; it is made when it is asked for first."""
        if self._text is None:
            self._text = self._temporary_file()
            self._lines.sort()
            runs = [self._read_run(begin, end) for begin, end in self._runs]
            for _, data in heapq.merge(*runs, self._lines):
                self._text.write(data + b"\n")
            self._lines = []
            if self._spool is not None:
                self._spool.close()
        return _Positioned(self._text)

    def _temporary_file(self) -> BinaryIO:
        file = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the text)
        weakref.finalize(self, file.close)
        return file

    def _write_run(self) -> None:
        if shutil.disk_usage(tempfile.gettempdir()).free < MIN_FREE:
            raise TooMuch("the disk of temporary files is nearly full")
        if self._spool is None:
            self._spool = self._temporary_file()
        begin = self._spool.seek(0, 2)
        self._lines.sort()
        for time_ms, data in self._lines:
            self._spool.write(b"%d %s\n" % (time_ms, data))
        self._runs.append((begin, self._spool.tell()))
        self._lines = []

    def _read_run(self, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a run; several are read side by side."""
        assert self._spool is not None
        rest = b""
        while begin < end:
            self._spool.seek(begin)
            data = self._spool.read(min(READ_BYTES, end - begin))
            begin += len(data)
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                time_ms, _, text = line.partition(b" ")
                yield int(time_ms), text


class _Positioned:
    """A reader of a file with a position of its own."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._at = 0

    def read(self, size: int, /) -> bytes:
        self._file.seek(self._at)
        data = self._file.read(size)
        self._at += len(data)
        return data


@dataclass(slots=True)
class Gathered:
    """Files that were put together."""

    spec: str
    key: tuple[str, ...]
    text: SortedText = field(default_factory=SortedText)
    n_files: int = 0
    note: str = ""
    is_without_zone: bool = False

    @property
    def host(self) -> str:
        """The host that the files name. Missing: "" where they name none"""
        return self.key[2] if self.spec == "collectd" else ""

    @property
    def path(self) -> str:
        """What people see."""
        what = "collectd csv" if self.spec == "collectd" else "Netdata"
        return f"{'/'.join(part for part in self.key[1:] if part)} ({count_of(self.n_files, 'file')} of {what})"


class SeriesFiles:
    """Gathers the files of an import. `zone`: of times that have a date and no zone."""

    def __init__(self, zone: str | None = None) -> None:
        self._zone = require_zone(zone or "UTC")
        self._has_zone = zone is not None
        self._found: dict[tuple[str, ...], Gathered] = {}

    def take(self, file: SeriesFile, source: Peekable) -> int:
        """Read a file that `find_series_file` knows; give its number of bytes.

        Raises: Unreadable, TooMuch
        """
        gathered = self._found.setdefault(file.key, Gathered(file.spec, file.key))
        gathered.n_files += 1
        reader = _Reader(file.series, gathered, self._zone)
        if file.kind == "csv" and file.spec == "collectd":
            reader.read_collectd(source)
        elif file.kind == "csv":
            reader.read_rows(source)
        else:
            reader.read_document(source)
        if reader.is_without_zone and not self._has_zone:
            gathered.is_without_zone = True
        return source.n_read

    def close(self, host: str) -> list[Gathered]:
        """Return the gathered files, in the order of their first ones; of several hosts, those of the wanted one."""
        hosts = sorted({one.host for one in self._found.values() if one.host})
        for one in self._found.values():
            if len(hosts) > 1 and one.host and one.host != host:
                others = ", ".join(hosts[:10])
                one.note = f"of host {one.host}: import it with --host {one.host} ({len(hosts)} hosts: {others})"
            elif one.is_without_zone:
                one.note = "its times have no zone and were taken as UTC: give --zone, or export with options=seconds"
        return list(self._found.values())


def find_series_file(path: str, head: bytes) -> SeriesFile | None:
    """Return what a file with this beginning holds. Missing: None for any other file.

    >>> find_series_file("csv/web1/cpu-0/cpu-user-2026-11-28", b"epoch,value\\n1795879271.489,2900616\\n").key
    ('collectd', 'csv', 'web1', '2026-11-28')
    >>> find_series_file("x/system.cpu.csv", b"time,user\\n1795879271,1.5\\n").series
    'system.cpu'
    """
    path = without_packing(path)
    if head.startswith(COLLECTD_HEAD):
        name = path.rpartition("/")[2].removesuffix(".csv")
        if COLLECTD_NAME.fullmatch(name) is None:
            return None
        found = COLLECTD_PATH.fullmatch(path.removesuffix(".csv"))
        if found is None:
            return SeriesFile(note=NO_SERIES)
        series = f"{found['host']}/{found['plugin']}/{found['type']}"
        return SeriesFile("csv", "collectd", ("collectd", found["folder"] or "", found["host"], found["day"]), series)
    if SHELL_HEAD.match(head):
        return SeriesFile(note=SHELL_NOTE)
    folder = path.rpartition("/")[0]
    if ALL_METRICS.match(head):
        return SeriesFile("document", "netdata", ("netdata-metrics", folder, "allmetrics"))
    is_rows = CHART_HEAD.match(head) is not None
    lines = head.split(b"\n", 2)
    if is_rows and (len(lines) < 2 or CHART_ROW.fullmatch(lines[1].decode("utf-8", "replace").strip()) is None):
        return None
    if not is_rows and DATA_HEAD.match(head) is None and WRAPPED_HEAD.match(head) is None:
        return None
    chart = CHART_NAME.fullmatch(path)
    if chart is None:
        return SeriesFile(note=NO_CHART)
    return SeriesFile("csv" if is_rows else "document", "netdata", ("netdata-data", folder), chart["chart"])


class _Reader:
    """Reads one file into the text of those that belong together."""

    def __init__(self, series: str, gathered: Gathered, zone: dt.tzinfo) -> None:
        self._series = series
        self._text = gathered.text
        self._zone = zone
        self.is_without_zone = False
        self._last_ms = 0

    def read_collectd(self, source: Source) -> None:
        name = self._series.replace("\\", "\\\\").replace('"', '\\"')
        columns = "value"
        for line in _lines_of(source):
            if line.startswith("epoch,"):
                columns = line.removeprefix("epoch,")
                continue
            time, _, values = line.partition(",")
            self._text.add(self._time_of(time), f'PUTVAL "{name}" csv={columns} {time}:{values.replace(",", ":")}')

    def read_rows(self, source: Source) -> None:
        names: list[str] = []
        for line in _lines_of(source):
            cells = next(csv.reader([line], delimiter="\t" if "\t" in line and "," not in line else ","), [])
            if not names:
                names = cells[1:]
            elif cells and len(cells) == len(names) + 1:
                self._add_row(self._series, "", cells[0], dict(zip(names, cells[1:], strict=True)))
            else:
                self._add_odd(line)

    def read_document(self, source: Source) -> None:
        """Read JSON as a whole.

        Raises: TooMuch, Unreadable
        """
        data = read_full(source, MAX_DOCUMENT + 1)
        if len(data) > MAX_DOCUMENT:
            raise TooMuch(f"larger than {format_bytes(MAX_DOCUMENT)}: export fewer points at a time, or as CSV")
        try:
            found = load_json_as_printed(data, MAX_VALUES)
        except NotJson as error:
            raise Unreadable(f"not JSON: {error}") from None
        except TooLarge:
            raise TooMuch(f"more than {MAX_VALUES:,} values: export fewer points at a time, or as CSV") from None
        if self._series:
            result = found.get("result", found) if isinstance(found, dict) else {}
            labels, rows = result.get("labels"), result.get("data")
            if not isinstance(labels, list) or not isinstance(rows, list):
                raise Unreadable("not data of a Netdata chart: expected labels and data")
            for row in rows:
                # Version 2 of the API has a list of value, anomaly rate and flags.
                cells = [cell[0] if isinstance(cell, list) and cell else cell for cell in row] if isinstance(row, list) else []
                if cells and len(cells) == len(labels):
                    self._add_row(self._series, "", str(cells[0]), dict(zip(map(str, labels[1:]), cells[1:], strict=True)))
                else:
                    self._add_odd(json.dumps(row))
            return
        for chart, own in found.items():
            dimensions = own.get("dimensions") if isinstance(own, dict) else None
            if not isinstance(dimensions, dict):
                self._add_odd(json.dumps({chart: own}))
                continue
            values = {str(one.get("name", key)): one.get("value") for key, one in dimensions.items() if isinstance(one, dict)}
            self._add_row(str(chart), str(own.get("family", "")), str(own.get("last_updated", "")), values)

    def _add_row(self, chart: str, family: str, time: str, values: dict[str, object]) -> None:
        time_ms = self._time_of(time)
        if time_ms < 0:
            self._add_odd(f"{time} {json.dumps(values)}")
            return
        own = f'"family":{json.dumps(family)},' if family else ""
        parts = ",".join(f"{json.dumps(name)}:{_number(value)}" for name, value in values.items())
        self._text.add(time_ms, f'{{"chart":{json.dumps(chart)},{own}"timestamp":{time_ms // MILLI},"values":{{{parts}}}}}')

    def _add_odd(self, line: str) -> None:
        """Pass a line that is not a row to the reader, which rejects it next to the rows before it."""
        self._text.add(self._last_ms, json.dumps({"chart": self._series, "line": line[:MAX_LINE]}))

    def _time_of(self, word: str) -> int:
        """Return a time, or -1 for another word; such a line stays after the line before it."""
        try:
            if "-" in word[1:]:
                self.is_without_zone = True
                time_ms = int(dt.datetime.fromisoformat(word).replace(tzinfo=self._zone).timestamp() * MILLI)
            else:
                number = float(word)
                time_ms = round(number if number >= MILLISECONDS else number * MILLI)
        except (ValueError, OverflowError):
            return self._last_ms if self._series.count("/") == 2 else -1
        self._last_ms = time_ms
        return time_ms


def _number(value: object) -> str:
    """Return a value as JSON, digit for digit."""
    if isinstance(value, str) and NUMBER.fullmatch(value) is not None:
        return value
    return json.dumps(None if value in (None, "", "null") else value)


def _lines_of(source: Source) -> Iterator[str]:
    """Yield the lines that are not empty, cut to MAX_LINE."""
    rest = b""
    while data := source.read(READ_BYTES):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            if line.strip():
                yield line[:MAX_LINE].decode("utf-8", "replace").strip()
        rest = rest[:MAX_LINE]
    if rest.strip():
        yield rest[:MAX_LINE].decode("utf-8", "replace").strip()
