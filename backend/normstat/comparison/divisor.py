"""Normalise a comparison by load: divide every series by one that counts work (per transaction, per system call)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.window_sets import Windows
from normstat.comparison.read_side import StatSide, read_side
from normstat.errors import BadRequest
from normstat.scoring.summary import FloatArray
from normstat.stats.spec import Field, Kind
from normstat.storage.lookup import StatRef, list_host_stats

# A report is divided by the nearest value of the divisor, at most this many of its intervals away.
MAX_INTERVALS: Final = 2.0
MAX_DECIMALS: Final = 12


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
    """Return all values divided by the divisor at that time. Missing: NaN where it has no value near, or is zero."""
    if not len(rate.times_s) or not side.n_rows:
        return replace(side, values={key: np.full(side.n_rows, np.nan) for key in side.values})
    interval = float(np.median(np.diff(rate.times_s))) if len(rate.times_s) > 1 else np.inf
    after = np.clip(np.searchsorted(rate.times_s, side.times_s), 0, len(rate.times_s) - 1)
    before = np.maximum(after - 1, 0)
    is_before = np.abs(rate.times_s[before] - side.times_s) < np.abs(rate.times_s[after] - side.times_s)
    nearest = np.where(is_before, before, after)
    by = np.where(np.abs(rate.times_s[nearest] - side.times_s) <= MAX_INTERVALS * interval, rate.values[nearest], np.nan)
    by = np.where(by == 0, np.nan, by)[side.report]
    return replace(side, values={key: values / by for key, values in side.values.items()})


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
