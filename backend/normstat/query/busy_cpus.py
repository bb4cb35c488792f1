"""How evenly the CPUs of a host are used: the busy share of each in steps of time, and the imbalance of each step.

The busy share of a CPU is 100 minus its idle share, and minus the share in which it was idle while a disk request was outstanding,
where the tool reports that. The percent imbalance of a step is (largest / mean - 1) * 100 over the CPUs: 0 where all are equally
busy, and 300 where one of four has all the work. It is undefined where hardly any CPU does anything.

Source: Pearce, Gamblin, de Supinski, Schulz, Amato, Quantifying the Effectiveness of Load Balance Algorithms, ICS 2012.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.codecs.rollup_codec import EMPTY, Buckets
from normstat.errors import BadRequest
from normstat.query.host_steps import HostColumn, read_longest_interval_us, read_steps
from normstat.query.step_reduction import StepGrid, choose_step_us
from normstat.runtime.arrays import distinct_values
from normstat.runtime.field_docs import Documented
from normstat.samples.lookup import StatRef, list_latest_instances
from normstat.samples.sample_pages import Float64Array
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field
from normstat.window import Window

# Not the row for all CPUs together.
CPU: Final = re.compile(r"(?:cpu)?\d+", re.ASCII | re.IGNORECASE)
MAX_CPUS: Final = 2_000
# Maximum number of cells in an answer.
MAX_CELLS: Final = 200_000
# With a lower mean the ratio to it is meaningless: one CPU at 4 % among idle ones would be a large imbalance.
MIN_MEAN: Final = 5.0
MIN_CPUS: Final = 2
WHOLE: Final = 100.0


@dataclass(frozen=True, slots=True)
class CpuBalance(Documented):
    """The busy shares of CPUs in steps of time. Lists over steps have only those with samples."""

    host: str
    stat: str
    start: datetime
    end: datetime
    step_ms: int
    cpus: list[str]
    starts: list[int]
    """When each step starts, in ms since the epoch."""

    busy: list[list[float | None]]
    """For each CPU, its mean busy share in each step, in percent; null without a sample."""

    mean: list[float]
    """Over the CPUs, for each step."""

    imbalance: list[float | None]
    """Percent imbalance of each step: (largest / mean - 1) * 100; null with one CPU, and below 5 % mean busy share."""

    is_wait_known: bool
    """Whether time idle with outstanding disk requests is known, and not busy; else it may be in the busy share."""


async def read_balance(
    session: AsyncSession, host: str, host_id: int, stat: StatRef, *, idle: Field, wait: Field | None, window: Window, width: int
) -> CpuBalance:
    """Return the busy share of each CPU, in steps no narrower than a pixel column.

    Raises: BadRequest for more CPUs than an answer holds
    """
    found, n_all = await list_latest_instances(session, host_id, stat, window, limit=MAX_CPUS)
    if n_all > len(found):
        raise BadRequest(f"{host} has {n_all:,} instances of {stat.name}; at most {MAX_CPUS:,} can be compared")
    instances = {instance.id: instance.name for instance in found if CPU.fullmatch(instance.name)}
    ids = np.array(sorted(instances), dtype=np.int64)
    empty = CpuBalance(host, stat.name, window.start, window.end, 0, [], [], [], [], [], is_wait_known=wait is not None)
    if not len(ids):
        return empty
    n_columns = max(1, min(width, MAX_CELLS // len(ids)))
    column = HostColumn(host_id, host, stat, idle)
    interval_us = await read_longest_interval_us(session, column, window, ids)
    grid = StepGrid(0, choose_step_us(-(-(window.end_us - window.start_us) // n_columns), interval_us))
    idle_steps = await read_steps(session, column, grid.align(window), ids, grid)
    wait_steps = EMPTY
    if wait is not None:
        wait_steps = await read_steps(session, HostColumn(host_id, host, stat, wait), grid.align(window), ids, grid)

    def answer() -> CpuBalance:
        steps, busy = find_busy(idle_steps, wait_steps, ids)
        mean, imbalance = find_imbalance(busy)
        # CPUs in the order of their numbers, which is not that of their ids.
        order = sorted(range(len(ids)), key=lambda place: int(re.sub(r"\D", "", instances[int(ids[place])])))
        return CpuBalance(
            host,
            stat.name,
            window.start,
            window.end,
            grid.step_us // 1000,
            [instances[int(ids[place])] for place in order],
            (steps * grid.step_us // 1000).tolist(),
            [_to_list(busy[place]) for place in order],
            np.round(mean, 2).tolist(),
            _to_list(imbalance),
            is_wait_known=len(wait_steps) > 0,
        )

    return await anyio.to_thread.run_sync(answer)


def find_busy(idle: Buckets, wait: Buckets, ids: Int64Array) -> tuple[Int64Array, Float64Array]:
    """Return the steps with a sample, and the mean busy share of each instance (ids ascending) in them.

    A cell whose idle and waiting times are of different samples has no value. Shape: (n_ids, n_steps). Missing: NaN
    """
    steps = distinct_values(idle.bucket)
    busy = np.full((len(ids), len(steps)), np.nan)
    rows, columns = np.searchsorted(ids, idle.instance), np.searchsorted(steps, idle.bucket)
    busy[rows, columns] = WHOLE - idle.total / idle.n
    if len(wait):
        waiting, n_idle, n_wait = np.zeros_like(busy), np.zeros_like(busy), np.zeros_like(busy)
        n_idle[rows, columns] = idle.n
        own = wait.take(np.isin(wait.bucket, steps))
        places = np.searchsorted(ids, own.instance), np.searchsorted(steps, own.bucket)
        waiting[places], n_wait[places] = own.total / own.n, own.n
        busy = np.where(n_idle == n_wait, busy - waiting, np.nan)
    # Tools round each share.
    return steps, np.clip(busy, 0, WHOLE)


def find_imbalance(busy: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the mean busy share and the percent imbalance of each step.

    Shape: busy (n_cpus, n_steps); both results (n_steps,). Missing: NaN in busy for a CPU without a sample, and for an undefined
    imbalance

    >>> find_imbalance(np.array([[100.0, 50.0, 4.0], [0.0, 50.0, 0.0]]))[1].tolist()
    [100.0, 0.0, nan]
    """
    n = np.sum(~np.isnan(busy), axis=0)
    mean = np.where(n > 0, np.nansum(busy, axis=0) / np.maximum(n, 1), 0.0)
    largest = np.max(np.where(np.isnan(busy), 0.0, busy), axis=0)
    is_defined = (n >= MIN_CPUS) & (mean >= MIN_MEAN)
    return mean, np.where(is_defined, (largest / np.where(is_defined, mean, 1.0) - 1) * WHOLE, np.nan)


def _to_list(values: Float64Array) -> list[float | None]:
    return [None if value != value else value for value in np.round(values, 1).tolist()]  # noqa: PLR0124 (NaN)
