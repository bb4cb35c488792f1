"""Normalise a comparison by load: divide every series by one that counts work (per transaction, per system call)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.window_sets import Windows
from normstat.comparison.read_side import StatSide, read_side
from normstat.comparison.score import StatPair
from normstat.errors import BadRequest
from normstat.samples.lookup import StatRef, list_host_stats
from normstat.scoring.summary import FloatArray
from normstat.stats.spec import Field, Kind

# A report is divided by the nearest value of the divisor, at most this many of its intervals away.
MAX_INTERVALS: Final = 2.0
MAX_DECIMALS: Final = 12

# Reports that were left out of all reports, in the baseline and in the incident.
LeftOut = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Rate:
    """The divisor over time. Shape: times_s, values (n,), ascending, without missing ones."""

    times_s: FloatArray
    values: FloatArray


@dataclass(frozen=True, slots=True)
class Divisor:
    """The divisor on both sides. `name`: as given"""

    name: str
    baseline: Rate
    incident: Rate


def parse_divisor(text: str) -> tuple[str, str, str | None]:
    """Return stat, field and instance (None: the sum over all) of `stat.field` or `stat.field@instance`.

    Raises: BadRequest
    """
    name, at, instance = text.partition("@")
    stat, dot, field = name.partition(".")
    if not dot or not stat or not field or (at and not instance):
        raise BadRequest(f"The divisor {text!r} is not of the form stat.field or stat.field@instance", {"divisor": text})
    return stat, field, instance if at else None


async def read_rate(session: AsyncSession, host_id: int, text: str, windows: Windows) -> Rate:
    """Return the divisor in a set of windows.

    Raises: BadRequest when the host does not have the series
    """
    name, key, instance = parse_divisor(text)
    stats: Sequence[StatRef] = await list_host_stats(session, host_id)
    for stat in stats:
        for field in stat.fields:
            if stat.name == name and field.key == key:
                side = await read_side(session, host_id, stat, windows, fields=[field], max_rows=None)
                return _to_rate(side, key, instance)
    raise BadRequest(f"The host has no series {text} to divide by; GET /api/v1/hosts/HOST names its stats", {"divisor": text})


def divide(side: StatSide, rate: Rate) -> StatSide:
    """Return all values divided by the divisor at that time, without the reports that have no such value near, or zero.

    A report without load says nothing about the cost of a unit of work, so it counts neither as a value nor as missing.
    """
    loads = _loads_at(side.times_s, rate)
    is_kept = ~np.isnan(loads) & (loads != 0)
    if not is_kept.any():
        nothing = np.empty(0, np.int64)
        return replace(side, times_s=np.empty(0), report=nothing, instance=nothing, values={})
    rows = is_kept[side.report]
    # The reports that stay are numbered again from zero.
    report = (np.cumsum(is_kept) - 1)[side.report[rows]].astype(np.int64)
    by = loads[side.report[rows]]
    values = {key: np.asarray(column[rows] / by, np.float64) for key, column in side.values.items()}
    return replace(side, times_s=side.times_s[is_kept], report=report, instance=side.instance[rows], values=values)


def _loads_at(times_s: FloatArray, rate: Rate) -> FloatArray:
    """Return the nearest value of the divisor at these times. Missing: NaN where none is near."""
    if not len(rate.times_s):
        return np.full(len(times_s), np.nan)
    interval = float(np.median(np.diff(rate.times_s))) if len(rate.times_s) > 1 else np.inf
    after = np.clip(np.searchsorted(rate.times_s, times_s), 0, len(rate.times_s) - 1)
    before = np.maximum(after - 1, 0)
    is_before = np.abs(rate.times_s[before] - times_s) < np.abs(rate.times_s[after] - times_s)
    nearest = np.where(is_before, before, after)
    is_near = np.abs(rate.times_s[nearest] - times_s) <= MAX_INTERVALS * interval
    return np.asarray(np.where(is_near, rate.values[nearest], np.nan), np.float64)


def divide_pair(pair: StatPair, divisor: Divisor) -> tuple[StatPair, LeftOut]:
    """Return both sides of a stat divided, and how many reports of each were left out."""
    fields = {key: divide_field(field, divisor) for key, field in pair.fields.items()}
    baseline = None if pair.baseline is None else divide(pair.baseline, divisor.baseline)
    incident = divide(pair.incident, divisor.incident)
    left_out = (_count(pair.baseline, baseline), _count(pair.incident, incident))
    return StatPair(fields, baseline, incident), left_out


def _count(before: StatSide | None, after: StatSide | None) -> tuple[int, int]:
    if before is None or after is None:
        return 0, 0
    return len(before.times_s) - len(after.times_s), len(before.times_s)


def describe_left_out(name: str, stats: Sequence[LeftOut]) -> str:
    """Return how many reports are left out of the stat that lost the most of them; empty when there are none."""
    parts: list[str] = []
    n_last = 0
    for side, word in enumerate(("baseline", "incident")):
        n, n_reports = max((left_out[side] for left_out in stats), default=(0, 0))
        if n:
            noun = "" if parts else f" {'report' if n_reports == 1 else 'reports'}"
            parts.append(f"{n:,} of {n_reports:,}{noun} of the {word}")
            n_last = n_reports
    if not parts:
        return ""
    is_one = n_last == 1 and len(parts) == 1
    verbs = ("has", "is") if is_one else ("have", "are")
    return f"{' and '.join(parts)} {verbs[0]} no load ({name} is zero or missing) and {verbs[1]} left out."


def divide_field(field: Field, divisor: Divisor) -> Field:
    """Return the field of the quotients: a gauge with its own unit, and more decimals for a large divisor."""
    sizes = np.abs(divisor.baseline.values[divisor.baseline.values != 0])
    finer = max(0, math.ceil(math.log10(float(np.median(sizes))))) if len(sizes) else 0
    return replace(
        field, unit=f"{field.unit} / {divisor.name}", kind=Kind.GAUGE, decimals=min(field.decimals + finer, MAX_DECIMALS)
    )


def _to_rate(side: StatSide, key: str, instance: str | None) -> Rate:
    values = side.values.get(key)
    if values is None or (instance is not None and instance not in side.names):
        return Rate(np.empty(0), np.empty(0))
    chosen = ~np.isnan(values)
    if instance is not None:
        chosen &= side.instance == list(side.names).index(instance)
    sums = np.bincount(side.report[chosen], weights=values[chosen], minlength=len(side.times_s)).astype(np.float64)
    has = np.bincount(side.report[chosen], minlength=len(side.times_s)) > 0
    return Rate(side.times_s[has], sums[has])
