"""What other collectors of metrics recorded: files of one host whose lines say their times, and where their named series go.

The first of a layout's groups whose pattern matches a name says stat, instance and column. Keys of `[[layout.groups]]`:
    stat       the stat
    names      pattern of the whole name
    column     the column, with the pattern's groups as in re.expand: '%\\g<mode>'
    instance   the instance, likewise
    factor, divisor    whole numbers that make the column's unit of the value
    is_gauge   a value, though it looks like a counter
    is_absolute    of values below 0 (what was sent, drawn below a chart's axis) the amount

>>> group = SeriesGroup("disks", re.compile("disk/(?P<name>.*)/(?P<way>read|write)"), r"\\g<way>s/s", r"\\g<name>")
>>> find_place([group], "disk/sda/read", is_rate=True)[0]
SeriesPlace(stat='disks', instance='sda', column='reads/s', is_rate=True, factor=1.0)
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.hosts import is_same_host
from normstat.stats.engine.outcome import Rejected
from normstat.stats.engine.series.single_series import SeriesLayoutT, SeriesPlace, SeriesReader
from normstat.stats.layout import StatName
from normstat.stats.records import State

NO_JSON: Final = Rejected("broken JSON")


class RecordedSeriesReader(SeriesReader[SeriesLayoutT]):
    """The part of such a reader that is not about the collector. A row appears when two later ones have begun, or at the end."""

    may_be_quoted = False
    waits_for_newer = True

    def load_recorded(self, own: State) -> None:
        """Restore the host and the series of the previous piece."""
        host = own.get("host")
        self._host = host if isinstance(host, str) else ""
        self.load_series(own)

    def save_recorded(self) -> State:
        """Return what `load_recorded` restores."""
        return {"host": self._host, **self.save_series()}

    def load_after_gap(self, own: State) -> None:
        """Keep everything: values stand for themselves, and the times of counters tell how long ago the last one was."""
        self.load(own)

    def begin_call(self) -> None:
        """Do nothing: each line has its own time."""

    def names_another_host(self, host: str) -> bool:
        """Return whether the host is not the first one of the file; the first one that is asked for is."""
        self._host = self._host or host
        return not is_same_host(host, self._host)


def read_json(text: str) -> object:
    """Return what a text of JSON holds, its numbers as they are printed, or NO_JSON."""
    try:
        return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        return NO_JSON


@dataclass(frozen=True)
class SeriesGroup:
    """Series of one stat; the module's docstring explains the keys."""

    stat: StatName
    names: re.Pattern[str]
    column: str
    instance: str = ""
    factor: int = 1
    divisor: int = 1
    is_gauge: bool = False
    is_absolute: bool = False


def find_place(groups: Sequence[SeriesGroup], name: str, *, is_rate: bool) -> tuple[SeriesPlace, SeriesGroup] | None:
    """Return where a series goes, with its group. Missing: None where no group knows it."""
    for group in groups:
        found = group.names.fullmatch(name)
        if found is not None:
            column, instance = found.expand(group.column), found.expand(group.instance)
            is_own_rate = is_rate and not group.is_gauge
            return SeriesPlace(group.stat, instance, column, is_own_rate, group.factor / group.divisor), group
    return None
