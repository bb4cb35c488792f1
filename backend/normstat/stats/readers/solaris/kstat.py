"""kstat of Solaris and illumos: `kstat -p`, a statistic a line, the form for people, and JSON (`kstat -j`).

cpu_stat:0:cpu_stat0:idle       2325343762
cpu_stat:0:cpu_stat0:class      misc

module: cpu_stat                        instance: 0
name:   cpu_stat0                       class:    misc
        idle                            2325343762

The instance is the full name, MODULE:INSTANCE:NAME:STATISTIC. Texts are not samples. A report ends where its first name
repeats.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = __doc__.split("\\n\\n")[1].encode() + b"\\n"
>>> block = read(require_spec("kstat_solaris"), excerpt, state={}, offset=0, is_final=True).blocks[0]
>>> block.instances, block.values[0].tolist()
(['cpu_stat:0:cpu_stat0:idle'], [2325343762.0])
"""

import re
from typing import Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.series.report_numbers import spell_out
from normstat.stats.layout import OneStatLayout
from normstat.stats.records import LineKind, State

NAME: Final = re.compile(r"[^:\s]{1,100}:\d{1,10}:[^\t]{1,200}:[^:\t]{1,200}", re.ASCII)
MODULE: Final = re.compile(r"module:\s+(?P<module>\S{1,100})\s+instance:\s+(?P<instance>\d{1,10})\s*", re.ASCII)
GROUP: Final = re.compile(r"name:\s+(?P<name>\S.{0,200}?)\s+class:\s+\S+\s*", re.ASCII)
NUMBER: Final = re.compile(r"-?\d{1,20}(?:[.,]\d{1,12})?", re.ASCII)
EXPONENT: Final = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?[eE][-+]?\d{1,2}", re.ASCII)
# `kstat -j` prints each name and each value in a line of its own.
JSON: Final = re.compile(
    r'[\[\]{},\s]+|"(?P<name>[^"]{1,200})"\s*:\s*(?:(?P<number>-?\d{1,20}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,2})?)'
    r'|"(?P<text>(?:[^"\\]|\\.)*)"|[\[{][\s\]}]*|true|false|null)?\s*,?',
    re.ASCII,
)
MAX_LINE_LENGTH: Final = 1000
COLUMNS: Final = ("value",)


LAYOUT: Final = OneStatLayout


class Reader(LineReader[OneStatLayout]):
    """One call of the reader: `_first` is the name that began the report, `_group` the one that statistics stand under."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        self._first = str(own.get("first", ""))
        self._module = str(own.get("module", ""))
        self._group = str(own.get("group", ""))
        json = own.get("json")
        self._json = {str(key): str(value) for key, value in json.items()} if isinstance(json, dict) else {}
        self._is_in_data = own.get("in_data") is True

    def load_after_gap(self, own: State) -> None:
        """Keep the first name; the group that lines belong to is lost."""
        self.load({"first": own.get("first", "")})

    def save(self) -> State:
        """Return the state for `load`."""
        return {
            "first": self._first,
            "module": self._module,
            "group": self._group,
            "json": self._json,
            "in_data": self._is_in_data,
        }

    def take_line(self, line: Line) -> Outcome:
        """Return a statistic, the beginning of a group, or a time."""
        text = line.text.strip(" \t")
        if not text:
            self._group = ""
            return LineKind.IGNORED
        if len(text) > MAX_LINE_LENGTH:
            return Rejected("not a known line of kstat")
        if self.see_time_line(text):
            self._first = ""
            return LineKind.TIMESTAMP
        if (module := MODULE.fullmatch(text)) is not None:
            self._module, self._group = f"{module['module']}:{module['instance']}", ""
            return LineKind.HEADER
        if self._module and (group := GROUP.fullmatch(text)) is not None:
            self._group = f"{self._module}:{group['name']}"
            return LineKind.HEADER
        if (json := JSON.fullmatch(text)) is not None:
            return self._take_json(json, line.offset)
        name, value = _split(text)
        if self._group and value and line.text[:1] in " \t":
            return self._add_statistic(f"{self._group}:{name}", value, line.offset)
        if NAME.fullmatch(name) is None:
            return Rejected("not a known line of kstat")
        return self._add_statistic(name, value, line.offset)

    def _take_json(self, found: re.Match[str], offset: int) -> Outcome:
        """Take a line of `kstat -j`: brackets, a name of the statistics below, or one of them."""
        name, value = found["name"], found["text"] if found["number"] is None else found["number"]
        if name is None:
            if "}" in found[0]:
                self._is_in_data = False
            return LineKind.HEADER
        if name == "data" and value is None:
            self._is_in_data = True
            self._group = ":".join(self._json.get(key, "") for key in ("module", "instance", "name"))
            return LineKind.HEADER
        if not self._is_in_data:
            if name in ("module", "instance", "name") and value is not None:
                self._json[name] = value
            return LineKind.HEADER
        if found["number"] is None:
            # A text.
            return LineKind.IGNORED
        return self._add_statistic(f"{self._group}:{name}", found["number"], offset)

    def _add_statistic(self, name: str, value: str, offset: int) -> Outcome:
        printed = value
        if EXPONENT.fullmatch(value):
            value = spell_out(value)
        if NUMBER.fullmatch(value) is None:
            # A text, or nothing.
            return LineKind.IGNORED
        if name == self._first or not self._first:
            self.begin_report()
            self._first = name
        refused = self.add_row(self.spec.stats[0], COLUMNS, [value], instance=name, offset=offset, as_printed=[printed])
        return refused or LineKind.SAMPLE


def _split(text: str) -> tuple[str, str]:
    """Return name and value, separated by a tab, by several blanks, or by the only blank.

    >>> _split("sderr:0:sd0,err:Soft Errors\\t0"), _split("a:0:b:c 7"), _split("a:0:b:Product ST 18"), _split("a:0:b:c d    1 2")
    (('sderr:0:sd0,err:Soft Errors', '0'), ('a:0:b:c', '7'), ('a:0:b:Product ST 18', ''), ('a:0:b:c d', '1 2'))
    """
    name, tab, value = text.partition("\t")
    if tab:
        return name.rstrip(" "), value.strip(" \t")
    name, blanks, value = text.partition("  ")
    if not blanks and text.count(" ") == 1:
        name, _, value = text.partition(" ")
    return name, value.lstrip(" ")
