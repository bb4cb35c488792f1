"""Data inside the windows of a baseline: how much of them has samples, and which instances appeared or disappeared since."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import AnyInstance
from normstat.query.report_coverage import find_covered, probe, read_steps
from normstat.query.sample_counts import count_samples
from normstat.runtime.readable import natural_key
from normstat.samples.lookup import StatRef, was_present
from normstat.window import Window, from_us

# Total number of probes over all windows, and the minimum per window.
STEPS: Final = 600
MIN_STEPS: Final = 20
# Above this, counting is too slow, and the number is estimated from a few probes.
COUNT_LIMIT: Final = 500_000
MAX_NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class StatContents:
    """The content of the windows by stat. `n_samples` is an estimate where counting would take too long."""

    n_samples: int
    is_estimate: bool
    covered: list[Window]
    newest_at: datetime | None


@dataclass(frozen=True, slots=True)
class InstanceChanges:
    """Instances that only one of two periods has: the first names of each in natural order, and the total of each."""

    n_before: int
    n_gone: int
    gone: list[str]
    n_new: int
    new: list[str]


async def read_contents(session: AsyncSession, host_id: int, stat: StatRef, windows: Sequence[Window]) -> StatContents:
    """Return how much of the windows one stat covers. Missing: coverage 0 and 0 samples where the stat has no data."""
    total_s = sum(window.length_s for window in windows)
    found = []
    for window in windows:
        n_steps = max(MIN_STEPS, round(STEPS * window.length_s / total_s))
        first_us, last_us = await read_steps(session, host_id, stat, window, n_steps)
        if len(first_us):
            found.append((window, first_us, last_us))
    if not found:
        return StatContents(0, is_estimate=False, covered=[], newest_at=None)
    window, first_us, _ = max(found, key=lambda item: len(item[1]))
    probed = await probe(session, host_id, stat, Window(from_us(int(first_us[0])), window.end), first_us)
    covered_by = [(window, find_covered(first, last, probed.interval_us, window)) for window, first, last in found]
    n_samples = sum(probed.estimate(covered) for _, covered in covered_by)
    is_estimate = n_samples > COUNT_LIMIT
    if not is_estimate:
        n_samples = sum([(await count_samples(session, stat.name, host_id, window)).n_rows for window, _ in covered_by])
    return StatContents(
        n_samples=n_samples,
        is_estimate=is_estimate,
        covered=[piece for _, covered in covered_by for piece in covered],
        newest_at=from_us(int(found[-1][2][-1])),
    )


async def read_instance_changes(
    session: AsyncSession, host_id: int, stat: StatRef, before: Sequence[Window], recent: Window
) -> InstanceChanges:
    """Return the instances of a stat that `before` has and `recent` lacks, and the reverse.

    An instance counts as present from its first to its last sample.
    """
    of_stat, was = await was_present(session, host_id, stat, before)
    _, is_there = await was_present(session, host_id, stat, [recent])
    n_before = await session.scalar(select(func.count()).select_from(AnyInstance).where(of_stat, was))
    counts, names = [], []
    for condition in (was & ~is_there, is_there & ~was):
        counts.append(await session.scalar(select(func.count()).select_from(AnyInstance).where(of_stat, condition)) or 0)
        query = select(AnyInstance.name).where(of_stat, condition).order_by(AnyInstance.id).limit(MAX_NAMED)
        names.append(sorted(await session.scalars(query), key=natural_key))
    return InstanceChanges(n_before=n_before or 0, n_gone=counts[0], gone=names[0], n_new=counts[1], new=names[1])
