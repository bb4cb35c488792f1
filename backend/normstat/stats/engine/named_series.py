"""Where a series with a name goes: the first of a layout's groups whose pattern matches the name says stat, instance and column.

Keys of `[[layout.groups]]`:
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

import re
from collections.abc import Sequence
from dataclasses import dataclass

from normstat.stats.engine.single_series import SeriesPlace
from normstat.stats.layout import StatName


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
