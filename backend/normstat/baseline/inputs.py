"""Reads what is compared: the samples of a stat in the windows of one side, instance by instance."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baseline.compare import FloatArray, InstanceInput, StatInput
from normstat.baseline.windows import Windows, length_s, thin_out
from normstat.query.counts import count_samples
from normstat.query.coverage import read_stat_coverage
from normstat.query.pages import Page, PageQuery, read_pages, to_codes, to_floats
from normstat.query.tables import StatRef, list_instances
from normstat.stats.spec import Field
from normstat.window import Window

# Where there is too much to read, this many pieces stand for the whole.
N_PIECES: Final = 120
COVERAGE_STEPS: Final = 1000
SECOND_US: Final = 1_000_000
# A distance of more usual intervals than this is a gap, and not covered.
GAP_FACTOR: Final = 3
# What one page foretells may be wrong by so much before it is counted exactly.
ROUGHLY: Final = 1.2


@dataclass(frozen=True, slots=True)
class SideSamples:
    """One side of a stat. `by_instance`: name -> (n_samples, n_fields) in the order of time; Missing: NaN."""

    by_instance: Mapping[str, FloatArray]
    n_samples: int
    n_rows_skipped: int
    covered_s: float


@dataclass(frozen=True, slots=True)
class StatSamples:
    """Both sides of a stat, with the fields that have a value on either."""

    stat: StatRef
    fields: Sequence[Field]
    baseline: SideSamples
    incident: SideSamples

    def to_input(self) -> StatInput:
        """What is compared."""
        nothing = np.empty((0, len(self.fields)))
        sides = self.baseline.by_instance, self.incident.by_instance
        names = dict.fromkeys([*sides[0], *sides[1]])
        instances = [InstanceInput(name, sides[0].get(name, nothing), sides[1].get(name, nothing)) for name in names]
        return StatInput(self.stat.name, self.fields, instances)


async def read_stat_samples(
    session: AsyncSession,
    host_id: int,
    stat: StatRef,
    baseline: Windows,
    incident: Windows,
    *,
    fields: Sequence[Field],
    max_rows: int,
) -> StatSamples:
    """Both sides of a stat; of a side with more than `max_rows` rows only evenly spaced pieces, and the rest is counted."""
    found = [
        await _read_side(session, host_id, stat, windows, fields=fields, max_rows=max_rows) for windows in (baseline, incident)
    ]
    present = [
        number
        for number in range(len(fields))
        if any(page.has_values[number] for side in found for page in side.pages if len(page))
    ]
    chosen = [fields[number] for number in present]
    sides = []
    for side in found:
        names = {item.id: item.name for item in await list_instances(session, host_id, stat.id, window=side.whole)}
        by_instance, covered_s = await anyio.to_thread.run_sync(_split, side.pages, dict(zip(present, chosen, strict=True)), names)
        n_samples = sum(map(len, side.pages))
        # What was read goes before the other side is split: it is half of what is held.
        side.pages.clear()
        if side.n_rows is None:
            sides.append(SideSamples(by_instance, n_samples, 0, covered_s))
        else:
            sides.append(SideSamples(by_instance, n_samples, side.n_rows - n_samples, side.covered_s))
    return StatSamples(stat, chosen, *sides)


@dataclass(frozen=True, slots=True)
class _Side:
    """What was read of a side; `n_rows` is None where that is all of it, else how many rows there are, and what they cover."""

    whole: Window
    pages: list[Page]
    n_rows: int | None = None
    covered_s: float = 0.0


async def _read_side(
    session: AsyncSession, host_id: int, stat: StatRef, windows: Windows, *, fields: Sequence[Field], max_rows: int
) -> _Side:
    whole = Window(windows[0].start, windows[-1].end)
    pages = await _read_windows(session, host_id, stat, windows, fields=fields, max_rows=max_rows)
    if pages is not None:
        return _Side(whole, pages)
    n_rows = sum([(await count_samples(session, stat.name, host_id, window)).n_rows for window in windows])
    if n_rows <= max_rows:
        # The first page was denser than the rest.
        return _Side(whole, await _read_windows(session, host_id, stat, windows, fields=fields) or [])
    thinned = thin_out(windows, max_rows / n_rows, N_PIECES)
    # Pieces do not say how much the whole covers; two looks into the index for each step of time do.
    found = [await read_stat_coverage(session, host_id, stat, window, COVERAGE_STEPS) for window in windows]
    covered_s = length_s(piece for coverage in found for piece in coverage.covered)
    return _Side(whole, await _read_windows(session, host_id, stat, thinned, fields=fields) or [], n_rows, covered_s)


async def _read_windows(
    session: AsyncSession, host_id: int, stat: StatRef, windows: Windows, *, fields: Sequence[Field], max_rows: int | None = None
) -> list[Page] | None:
    """All pages of the windows. Missing: None when they hold more rows than `max_rows`, or their first page says that they will."""
    pages: list[Page] = []
    n_rows = 0
    for window in windows:
        async with aclosing(read_pages(session, PageQuery(stat.name, host_id, window, fields))) as coming:
            async for page in coming:
                pages.append(page)
                n_rows += len(page)
                if max_rows is not None and max(n_rows, _expect(pages, windows)) > max_rows:
                    return None
    return pages


def _expect(pages: Sequence[Page], windows: Windows) -> float:
    """How many rows the windows hold if all is like the only page so far; 0 with other than one page of some length."""
    if len(pages) != 1:
        return 0.0
    times = pages[0].time_us
    span_s = (int(times[-1]) - int(times[0])) / SECOND_US
    return len(times) / span_s * length_s(windows) / ROUGHLY if span_s else 0.0


def _split(pages: Sequence[Page], fields: Mapping[int, Field], names: Mapping[int, str]) -> tuple[dict[str, FloatArray], float]:
    """The rows of each instance, and how many seconds they cover. `fields` by their place in the pages."""
    if not pages:
        return {}, 0.0
    ids, codes = to_codes(np.concatenate([page.instance_id for page in pages]))
    # A radix sort, where the codes have two bytes.
    order = np.argsort(codes, kind="stable")
    # Field by field: a series is one piece of memory then.
    values = np.empty((len(fields), len(codes)))
    for place, (number, field) in enumerate(fields.items()):
        column = np.concatenate([page.values[number] for page in pages])
        values[place] = to_floats(field, column[order])
    bounds = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(ids)))]).tolist()
    by_instance = {
        names[id_]: values[:, start:end].T for id_, start, end in zip(ids.tolist(), bounds[:-1], bounds[1:], strict=True)
    }
    return by_instance, _covered_s(pages)


def _covered_s(pages: Sequence[Page]) -> float:
    times = np.concatenate([page.time_us for page in pages])
    # The pages follow each other in time.
    distances = np.diff(times)
    distances = distances[distances > 0]
    if len(distances) == 0:
        return 0.0
    usual = float(np.median(distances))
    # Each report covers the time to the next one, or the usual time where that is far away.
    return float(np.where(distances > GAP_FACTOR * usual, usual, distances).sum() + usual) / SECOND_US
