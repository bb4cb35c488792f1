"""Sketches: the statistics of a stat of one host in an hour or less, which profiles of baselines are built from.

A sketch depends only on its samples, so all baselines that hold the hour share it, and a recurring baseline needs only new ones. It
has a few windows of each length, for natural change, and the means of minutes, for the load model. Each series is measured from its
own level in the sketch; `rebase` moves it to another one.
"""

from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from typing import Final

import numpy as np

from normstat.baselines.window_sets import Windows, length_s
from normstat.codecs.array_codec import Sections, pack_sections
from normstat.profiles.summary_codec import pack_minutes, pack_summaries, unpack_minutes, unpack_summary
from normstat.runtime.arrays import distinct_values
from normstat.scoring.summary import Float32Array, FloatArray, IntArray, Summary
from normstat.window import Window

# Increase it with every change to the contents of a sketch; those of other methods are built again.
SKETCH_METHOD: Final = 1
HOUR_S: Final = 3600
MINUTE_S: Final = 60
WINDOW_LENGTHS: Final = (60, 300, 900)
# From here on a sketch counts as an hour.
WHOLE_S: Final = 3500
PER_HOUR: Final = 3
# A shorter sketch is of a short baseline, which has few.
PER_SHORT_SKETCH: Final = 16
# Baselines shorter than this have sketches of at most half an hour.
SHORT_BASELINE_S: Final = 4 * HOUR_S
# Windows begin at other minutes from hour to hour, or all of them would meet the job that runs at the full hour, or none.
TURN: Final = 0.6180339887
# Of zstd. On sketches of bench/data, level 15 saves 6 % of the space at a seventh of the speed, and level 1 takes twice as much.
LEVEL: Final = 9


@dataclass(frozen=True, slots=True)
class SketchKeys:
    """The series of a sketch, and their levels.

    Shape: instance, field (n_series,) codes; level, digit (n_series,). `interval_s`: median distance of two reports, 0 with one
    """

    start_s: float
    end_s: float
    instances: tuple[str, ...]
    fields: tuple[str, ...]
    instance: IntArray
    field: IntArray
    level: FloatArray
    digit: FloatArray
    n_rows: int
    n_left_out: int
    covered_s: float
    interval_s: float

    def __len__(self) -> int:
        return len(self.level)


@dataclass(frozen=True, slots=True)
class SketchWindow:
    """A window of a sketch, as distances from its levels."""

    start_s: float
    length_s: int
    summary: Summary


@dataclass(frozen=True, slots=True)
class Sketch:
    """The statistics of a stat in a span. Shape: minutes (n_series, n_minutes), from the start of the first minute"""

    keys: SketchKeys
    whole: Summary
    windows: tuple[SketchWindow, ...]
    minutes: Float32Array


TYPES: Final = (SketchKeys, Summary)


def sketch_spans(effective: Windows) -> list[Window]:
    """Return the spans of a baseline's sketches: its windows cut at full hours (UTC), those of short baselines at half hours
    too.
    """
    step = timedelta(minutes=30 if length_s(effective) < SHORT_BASELINE_S else 60)
    spans = []
    for window in effective:
        start = window.start
        while start < window.end:
            hour = start.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
            end = min(hour + ((start - hour) // step + 1) * step, window.end)
            spans.append(Window(start, end))
            start = end
    return spans


def window_starts(start_s: float, end_s: float, window_s: int) -> list[float]:
    """Return the starts of the windows of that length in a sketch."""
    span = end_s - start_s
    if window_s > span:
        return []
    if span < WHOLE_S:
        n = int(np.clip(2 * span // window_s - 1, 1, PER_SHORT_SKETCH))
        return [float(start) for start in distinct_values(np.rint(np.linspace(start_s, end_s - window_s, n)))]
    n_places = int(span // window_s)
    turn = (int(start_s // HOUR_S) * TURN) % 1.0
    places = sorted({int((number + turn) * n_places / PER_HOUR) % n_places for number in range(PER_HOUR)})
    return [start_s + place * window_s for place in places]


def rebase(summary: Summary, delta: FloatArray, digit: FloatArray) -> Summary:
    """Return the same window as distances from another level, `delta` below the current one; less than a digit becomes 0.

    Shape: delta, digit (n_series,)
    """
    moved = np.flatnonzero(delta != 0)
    if len(moved) == 0:
        return summary
    own, by = summary.take(moved), delta[moved]
    # Tolerance for the rounding of four-byte distances.
    near = np.maximum(1e-3 * digit[moved], 1e-6 * np.abs(by))

    def move(values: Float32Array) -> Float32Array:
        wide = values.ndim == 2
        shifted = values.astype(np.float64) + (by[:, None] if wide else by)
        return np.where(np.abs(shifted) <= (near[:, None] if wide else near), 0.0, shifted).astype(np.float32)

    quantiles = move(own.quantiles)
    # The share of samples at the new level was not counted: estimate it from the quantiles.
    away = np.where(np.isnan(own.away), np.nan, 1 - (quantiles == 0).mean(axis=1)).astype(np.float32)
    # The mean square of x + d is that of x, and 2 d times the mean, and d * d.
    square = own.deviation.astype(np.float64) ** 2 + 2 * by * own.mean + by**2
    changed = replace(
        own,
        quantiles=quantiles,
        top=move(own.top),
        bottom=move(own.bottom),
        mean=move(own.mean),
        deviation=np.sqrt(np.maximum(square, 0)).astype(np.float32),
        parts=move(own.parts),
        away=away,
    )
    return _put(summary, changed, moved)


def pack_sketch(sketch: Sketch) -> bytes:
    """Return the sketch as bytes, in sections that are read one by one; windows of one length are one."""
    keys = sketch.keys
    sections: dict[str, object] = {
        "keys": (keys, tuple((window.start_s, window.length_s) for window in sketch.windows)),
        "whole": pack_summaries([sketch.whole], keys.digit),
        "minutes": pack_minutes(sketch.minutes, keys.digit),
    }
    for window_s in dict.fromkeys(window.length_s for window in sketch.windows):
        own = [window.summary for window in sketch.windows if window.length_s == window_s]
        sections[f"windows{window_s}"] = pack_summaries(own, keys.digit, sketch.whole)
    return pack_sections(sections, level=LEVEL)


class PackedSketch:
    """A sketch whose parts are unpacked on access.

    Raises: BrokenBytes for bytes that are not a sketch, also on access
    """

    def __init__(self, body: bytes) -> None:
        self._sections = Sections(body, TYPES)
        self.keys: SketchKeys
        self.places: tuple[tuple[float, int], ...]
        self.keys, self.places = self._sections.read("keys")
        self._whole: Summary | None = None
        self._keeps_whole = False

    def keep_whole(self) -> None:
        """Keep the summary of the whole once it is unpacked: each window needs it."""
        self._keeps_whole = True

    @property
    def is_hour(self) -> bool:
        """Whether the whole sketch is a window of an hour."""
        return bool(len(self.keys)) and self.keys.end_s - self.keys.start_s >= WHOLE_S

    @property
    def whole(self) -> Summary:
        """All of it."""
        if self._whole is not None:
            return self._whole
        found = self._sections.read("whole")
        # Sketches of earlier versions have their arrays as they are, and a section for each window.
        whole = found if isinstance(found, Summary) else unpack_summary(found, 0, self.keys.digit)
        if self._keeps_whole:
            self._whole = whole
        return whole

    @property
    def minutes(self) -> Float32Array:
        """The means of its minutes. Shape: (n_series, n_minutes)"""
        found = self._sections.read("minutes")
        return found if isinstance(found, np.ndarray) else unpack_minutes(found, self.keys.digit)

    def window(self, start_s: float, window_s: int) -> Summary | None:
        """Return a window; for an hour, the whole sketch. Missing: None where it has no such window."""
        if window_s == HOUR_S and start_s == self.keys.start_s and self.is_hour:
            return self.whole
        if (start_s, window_s) not in self.places:
            return None
        number = self.places.index((start_s, window_s))
        if f"window{number}" in self._sections:
            summary: Summary = self._sections.read(f"window{number}")
            return summary
        starts = [start for start, length_s in self.places if length_s == window_s]
        packed = self._sections.read(f"windows{window_s}")
        return unpack_summary(packed, starts.index(start_s), self.keys.digit, self.whole)

    def unpack(self) -> Sketch:
        """Return all of it at once."""
        windows = []
        for start_s, window_s in self.places:
            summary = self.window(start_s, window_s)
            assert summary is not None
            windows.append(SketchWindow(start_s, window_s, summary))
        return Sketch(self.keys, self.whole, tuple(windows), self.minutes)


def _put(summary: Summary, changed: Summary, rows: np.ndarray) -> Summary:
    names = ("quantiles", "top", "bottom", "mean", "deviation", "parts", "away")
    new = {name: np.array(getattr(summary, name)) for name in names}
    for name, array in new.items():
        array[rows] = getattr(changed, name)
    return replace(summary, **new)
