"""The lines of one graph, filled with samples and rollup buckets in order of time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from normstat.codecs.rollup_codec import Buckets
from normstat.query.envelope import GapFinder, SeriesEnvelope
from normstat.query.report_intervals import Intervals
from normstat.samples.lookup import InstanceRef
from normstat.samples.rollups.rollup_reader import BUCKET_US, Grain, Span
from normstat.samples.sample_pages import Float64Array, Page, to_floats
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field
from normstat.window import Window

Source = Literal["raw", "rollup_minute", "rollup_hour", "mixed"]
SOURCES: Final[Mapping[Grain, Source]] = {Grain.RAW: "raw", Grain.MINUTE: "rollup_minute", Grain.HOUR: "rollup_hour"}


@dataclass(frozen=True, slots=True)
class GraphLine:
    """Points of one series, in order of time; `n_raw` samples sum up to `total`.

    Shape: times (n,) int64, values (n,) float64. Missing: NaN is a gap; the line is not joined across it. Units: times in ms.
    """

    instance: str
    field: str
    unit: str
    times: Int64Array
    values: Float64Array
    n_raw: int
    total: float


@dataclass(frozen=True, slots=True)
class GraphLines:
    """The lines of a graph; `n_points` counts points without gaps."""

    resolution: Literal["raw", "envelope"]
    source: Source
    column_ms: int
    n_points: int
    series: list[GraphLine]


@dataclass(frozen=True, slots=True)
class PixelColumns:
    """The pixel columns of a graph: at most `n`, each `width_us` wide, the first starting at `start_us`."""

    start_us: int
    width_us: int
    n: int


def make_pixel_columns(window: Window, width: int, grain: Grain) -> PixelColumns:
    """Return columns that fill the window: whole milliseconds from its start on, or whole buckets from the one that contains its
    start.
    """
    step_us = 1000 if grain is Grain.RAW else BUCKET_US[grain]
    width_us = max(1, -(-(window.end_us - window.start_us) // (step_us * width))) * step_us
    start_us = window.start_us if grain is Grain.RAW else window.start_us // step_us * step_us
    return PixelColumns(start_us, width_us, width)


class Graph:
    """The lines of one graph while it is read; `grain` is the coarsest resolution that its samples may have. `intervals` are those
    of the reports that an instance could be in, by instance.
    """

    def __init__(
        self,
        columns: PixelColumns,
        fields: Sequence[Field],
        instances: Sequence[InstanceRef],
        grain: Grain,
        intervals: Mapping[int, Intervals],
    ) -> None:
        self._columns = columns
        self._fields = fields
        self._instances = instances
        self._grain = grain
        self._seen: set[Grain] = set()
        self.ids = np.sort(np.array([instance.id for instance in instances], dtype=np.int64))
        self._gap_finders = {instance.id: GapFinder(intervals.get(instance.id)) for instance in instances}
        bucket_us = 0 if grain is Grain.RAW else BUCKET_US[grain]
        self._traces = {
            (instance.id, field.key): SeriesEnvelope(
                columns.start_us, columns.width_us, columns.n, bucket_us, intervals.get(instance.id)
            )
            for instance in instances
            for field in fields
        }

    def add(self, page: Page) -> None:
        """Add the samples of the next page."""
        self._seen.add(Grain.RAW)
        # Small integers, so that the stable sort is a radix sort.
        codes = np.searchsorted(self.ids, page.instance_id).astype(np.int16)
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(self.ids) + 1)).tolist()
        time_us = page.time_us[order]
        columns = [to_floats(field, column[order]) for field, column in zip(self._fields, page.values, strict=True)]
        for code, instance_id in enumerate(self.ids.tolist()):
            rows = slice(bounds[code], bounds[code + 1])
            if rows.start == rows.stop:
                continue
            after_gap = self._gap_finders[instance_id].find(time_us[rows])
            for field, column in zip(self._fields, columns, strict=True):
                self._traces[instance_id, field.key].add(time_us[rows], column[rows], after_gap)

    def add_buckets(self, buckets: Mapping[str, Buckets], span: Span) -> None:
        """Add the buckets of the next span, by field."""
        bucket_us = BUCKET_US[span.grain]
        first, last = -(-span.start_us // bucket_us), span.end_us // bucket_us
        for field in self._fields:
            own = buckets.get(field.key)
            if own is None:
                continue
            keys = (own.instance << 32) + own.bucket
            firsts = np.searchsorted(keys, (self.ids << 32) + first).tolist()
            lasts = np.searchsorted(keys, (self.ids << 32) + last).tolist()
            for instance_id, begin, end in zip(self.ids.tolist(), firsts, lasts, strict=True):
                if begin == end:
                    continue
                self._seen.add(span.grain)
                piece = own.take(slice(begin, end))
                self._traces[instance_id, field.key].add_buckets(piece, bucket_us)
                self._gap_finders[instance_id].skip_to(int(piece.bucket[-1] + 1) * bucket_us - 1000)

    def finish(self, *, with_empty: bool) -> GraphLines:
        """Return the lines; `with_empty`: also those without a point."""
        is_envelope = self._grain is not Grain.RAW or any(trace.has_too_many for trace in self._traces.values())
        series, n_points = [], 0
        for instance in self._instances:
            for field in self._fields:
                trace = self._traces[instance.id, field.key]
                if trace.n_raw == 0 and not with_empty:
                    continue
                if is_envelope:
                    trace.thin()
                times, values, n_own = trace.points()
                n_points += n_own
                series.append(GraphLine(instance.name, field.key, field.unit, times, values, trace.n_raw, trace.total))
        return GraphLines("envelope" if is_envelope else "raw", self._source(), self._columns.width_us // 1000, n_points, series)

    def _source(self) -> Source:
        if self._grain is Grain.RAW:
            return "raw"
        # The columns are those of rollups even where the only samples are in spans that are not rolled up.
        return "mixed" if Grain.RAW in self._seen else SOURCES[max(self._seen, default=self._grain)]
