"""Exports of Netdata.

    {"prefix":"netdata","hostname":"web1",...,"chart_id":"disk.vda","chart_family":"/","units":"KiB/s","id":"reads","name":"reads",
     "value":17.79,"timestamp": 1795879471}                                     (one line; the exporting engine, type json)
    netdata_disk_io_KiB_persec_average{chart="disk.vda",family="/",dimension="reads"} 17.79 1795879471000
                                                                                (allmetrics?format=prometheus)
    {"chart":"disk.vda","timestamp":1795879471,"values":{"reads":17.79,"writes":-6362.4}}

The last form is what an import makes of a chart's data (`/api/v1/data`, as JSON or CSV: they do not name the chart, so the name of
the file does) and of `allmetrics?format=json`. Values are rates and sizes already. A dimension belongs to the first group
(engine/named_series.py) that knows its name, `CHART DIMENSION`; any other one goes to the general stat, where it is the instance.
A chart of a file system has its mount point as family; where that is unknown, it is what the chart's name says, with / for _.

Keys of `[layout]`: those of engine/single_series.py and engine/named_series.py, and
    families   the stats whose instance is the chart's family
    ignored    pattern of metrics for Prometheus that are no dimensions of charts

Source: Netdata 1.37: exporting/json/json.c, exporting/prometheus/prometheus.c, web/api/formatters/json/json.c.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.hosts import ANOTHER_HOST
from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.proc.counters import pack_state, unpack_state
from normstat.stats.engine.series.exposition_line import parse_line, parse_series
from normstat.stats.engine.series.recorded_series import NO_JSON, RecordedSeriesReader, SeriesGroup, find_place, read_json
from normstat.stats.engine.series.single_series import NO_NUMBER, ODD_TIME, SeriesLayout, SeriesPlace, to_finite
from normstat.stats.layout import AnyPattern, StatName
from normstat.stats.records import LineKind, State

MILLI: Final = 1000
METRIC: Final = re.compile(r"netdata_\w+")
OF_AN_INTERVAL: Final = ("_average", "_sum")
NO_VALUE: Final = ("null", "nan", "NaN", "")

NO_LINE: Final = Rejected("not a line of an export of Netdata")
NO_CHART: Final = Rejected("no chart, time or value")
NO_TIME: Final = Rejected("no time: leave out timestamps=no")
AS_COLLECTED: Final = Rejected("as it was collected, and nothing says in which unit: export with source=average")


# Compared by identity: it is part of a key.
@dataclass(frozen=True, eq=False)
class NetdataLayout(SeriesLayout):
    """The keys that the module's docstring explains."""

    groups: tuple[SeriesGroup, ...] = ()
    families: frozenset[StatName] = frozenset()
    ignored: AnyPattern = None


LAYOUT: Final = NetdataLayout


class Reader(RecordedSeriesReader[NetdataLayout]):
    """One call of the reader."""

    ticks = 1

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        self._places: dict[tuple[str, str, str], tuple[SeriesPlace, bool]] = {}
        self.load_recorded(unpack_state(own))

    def save(self) -> State:
        """Return the state for the next piece."""
        return pack_state(self.save_recorded())

    def take_line(self, line: Line) -> Outcome:
        """Return the kind of the line, after adding the rows that it completes."""
        text = line.text.strip().strip(",")
        if text.startswith("{"):
            return self._take_json(text, line.offset)
        if not text or text in ("[", "]"):
            return LineKind.IGNORED
        if text.startswith("#"):
            return LineKind.HEADER
        return self._take_metric(text, line.offset)

    # Internals.

    def _take_json(self, text: str, offset: int) -> Outcome:
        found = read_json(text)
        if not isinstance(found, dict):
            return NO_JSON
        host = found.get("hostname")
        chart, time = found.get("chart_id") or found.get("chart"), found.get("timestamp")
        family = str(found.get("chart_family") or found.get("family") or "")
        values = found.get("values")
        if "value" in found:
            values = {str(found.get("name") or found.get("id")): found["value"]}
        if not (isinstance(chart, str) and isinstance(time, str) and time.isdigit() and isinstance(values, dict)):
            return NO_CHART
        if isinstance(host, str) and self.names_another_host(host):
            return ANOTHER_HOST
        return self._take_values(chart, family, int(time), values, offset)

    def _take_metric(self, text: str, offset: int) -> Outcome:
        words = parse_line(text)
        series = None if words is None else parse_series(words.series)
        if words is None or series is None or METRIC.fullmatch(series[0]) is None:
            return NO_LINE
        name, labels = series[0], dict(series[1])
        if self.layout.ignored is not None and self.layout.ignored.fullmatch(name) is not None:
            return LineKind.IGNORED
        if not name.endswith(OF_AN_INTERVAL):
            return AS_COLLECTED
        if words.time_ms is None:
            return NO_TIME
        chart, dimension = labels.get("chart"), labels.get("dimension")
        if not chart or not dimension:
            return NO_CHART
        return self._take_values(chart, labels.get("family", ""), words.time_ms // MILLI, {dimension: words.value}, offset)

    def _take_values(self, chart: str, family: str, time_s: int, values: Mapping[str, object], offset: int) -> Outcome:
        if self.is_odd_time(time_s):
            return ODD_TIME
        outcome: Outcome = LineKind.IGNORED
        for dimension, value in values.items():
            word = "null" if value is None else str(value)
            if word in NO_VALUE:
                continue
            number = to_finite(word)
            if number is None:
                return NO_NUMBER
            place, is_absolute = self._place(chart, family, dimension)
            if is_absolute and number < 0:
                word, number = word.lstrip("-"), -number
            word = word if place.factor == 1 else repr(number * place.factor)
            own = self.take_value(place, time_s, word, None, offset)
            if isinstance(own, Rejected):
                return own
            outcome = LineKind.SAMPLE if LineKind.SAMPLE in (own, outcome) else own
        return outcome

    def _place(self, chart: str, family: str, dimension: str) -> tuple[SeriesPlace, bool]:
        """Return where the values of a dimension go, and whether their sign has no meaning."""
        key = chart, family, dimension
        known = self._places.get(key)
        if known is None:
            found = find_place(self.layout.groups, f"{chart} {dimension}", is_rate=False)
            if found is None:
                known = SeriesPlace(self.layout.gauges, f"{chart} {dimension}", "value", is_rate=False, factor=1.0), False
            else:
                place, group = found
                if place.stat in self.layout.families:
                    place = place._replace(instance=family or place.instance.replace("_", "/"))
                known = place, group.is_absolute
            self._places[key] = known
        return known
