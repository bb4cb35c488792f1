"""Reads what is compared: the samples of a stat in the windows of one side, instance by instance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baseline.compare import FloatArray, InstanceInput, StatInput
from normstat.baseline.windows import Windows, length_s, thin_out
from normstat.query.counts import count_samples
from normstat.query.coverage import read_stat_coverage
from normstat.query.pages import Page, PageQuery, read_pages, to_floats
from normstat.query.tables import StatRef, list_instances
from normstat.stats.spec import Field
from normstat.window import Window

# Where there is too much to read, this many pieces stand for the whole.
N_PIECES: Final = 120
COVERAGE_STEPS: Final = 1000
SECOND_US: Final = 1_000_000
# A distance of more usual intervals than this is a gap, and not covered.
GAP_FACTOR: Final = 3


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
    n_rows: list[int] = []
    present: set[str] = set()
    for windows in (baseline, incident):
        counts = [await count_samples(session, stat.name, host_id, window, fields) for window in windows]
        n_rows.append(sum(count.n_rows for count in counts))
        present |= {field.key for count in counts for field in count.fields}
    chosen = [field for field in fields if field.key in present]
    sides = []
    for windows, n in zip((baseline, incident), n_rows, strict=True):
        if n <= max_rows:
            sides.append(await _read_side(session, host_id, stat, windows, chosen))
            continue
        pieces = await _read_side(session, host_id, stat, thin_out(windows, max_rows / n, N_PIECES), chosen)
        # Pieces do not say how much the whole covers; two looks into the index for each step of time do.
        found = [await read_stat_coverage(session, host_id, stat, window, COVERAGE_STEPS) for window in windows]
        covered = (piece for coverage in found for piece in coverage.covered)
        sides.append(replace(pieces, n_rows_skipped=n - pieces.n_samples, covered_s=length_s(covered)))
    return StatSamples(stat, chosen, *sides)


async def _read_side(session: AsyncSession, host_id: int, stat: StatRef, windows: Windows, fields: Sequence[Field]) -> SideSamples:
    pages = [page for window in windows async for page in read_pages(session, PageQuery(stat.name, host_id, window, fields))]
    whole = Window(windows[0].start, windows[-1].end)
    names = {item.id: item.name for item in await list_instances(session, host_id, stat.id, window=whole)}
    by_instance, covered_s = await anyio.to_thread.run_sync(_split, pages, fields, names)
    return SideSamples(by_instance, sum(map(len, pages)), 0, covered_s)


def _split(pages: Sequence[Page], fields: Sequence[Field], names: Mapping[int, str]) -> tuple[dict[str, FloatArray], float]:
    """The rows of each instance, and how many seconds they cover."""
    if not pages:
        return {}, 0.0
    ids, codes = np.unique(np.concatenate([page.instance_id for page in pages]), return_inverse=True)
    order = np.argsort(codes.astype(np.int32), kind="stable")
    # Field by field: a series is one piece of memory then.
    values = np.empty((len(fields), len(codes)))
    for number, field in enumerate(fields):
        column = np.concatenate([page.values[number] for page in pages])
        values[number] = to_floats(field, column[order])
    bounds = np.searchsorted(codes[order], np.arange(len(ids) + 1)).tolist()
    by_instance = {
        names[id_]: values[:, start:end].T for id_, start, end in zip(ids.tolist(), bounds[:-1], bounds[1:], strict=True)
    }
    return by_instance, _covered_s(pages)


def _covered_s(pages: Sequence[Page]) -> float:
    reports = np.unique(np.concatenate([page.time_us for page in pages]))
    distances = np.diff(reports)
    if len(distances) == 0:
        return 0.0
    usual = float(np.median(distances))
    # Each report covers the time to the next one, or the usual time where that is far away.
    return float(np.where(distances > GAP_FACTOR * usual, usual, distances).sum() + usual) / SECOND_US
