"""Which panels of a host have nothing to show in a window: those without samples, and those whose every sample is zero.

A stat is read only until each field of its panels has had another value: mostly one page of samples. Hours that are rolled up are
not read at all, for a bucket has the lowest and the highest sample.
"""

from collections.abc import Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.codecs.rollup_codec import Buckets
from normstat.db.session import driver_of
from normstat.query.line_statistics import MINUTES_UP_TO_US
from normstat.runtime.field_docs import Documented
from normstat.samples.lookup import StatRef, list_host_stats, require_host
from normstat.samples.rollups.rollup_reader import BUCKET_US, LEVELS, Grain, Span, plan, read_buckets, read_heads, read_rolled
from normstat.samples.rollups.rollup_rows import Place
from normstat.samples.sample_pages import PageQuery, read_pages, to_floats
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field
from normstat.window import Window

# More rows of a page would be read for nothing, where the first one is not zero.
VALUES_PER_PAGE: Final = 200_000


@dataclass(frozen=True, slots=True)
class QuietStat(Documented):
    """A stat with panels that show nothing in the window."""

    stat: str
    has_samples: bool
    zero_fields: list[str]
    """Fields of its panels with samples that are all zero, of each instance."""


@dataclass(frozen=True, slots=True)
class QuietStats(Documented):
    """The stats of a host with panels that show nothing in the window."""

    stats: list[QuietStat]


async def read_quiet_stats(session: AsyncSession, host: str, window: Window) -> QuietStats:
    """Return the stats of a host with panels that show nothing in a window.

    Raises: NotFound for an unknown host
    """
    host_id = await require_host(session, host)
    found = []
    for stat in await list_host_stats(session, host_id):
        fields = _fields_of_panels(stat)
        if fields:
            seen = await _read_stat(session, stat, Place(host_id, stat.id), fields, window)
            zero = [field.key for field in fields if seen.get(field.key) is False]
            if zero or not seen:
                found.append(QuietStat(stat.name, bool(seen), zero))
    return QuietStats(found)


def _fields_of_panels(stat: StatRef) -> list[Field]:
    known = load_catalogue().stats.get(stat.name)
    shown = {key for panel in known[1].panels for key in panel.fields} if known is not None else set()
    return [field for field in stat.fields if field.key in shown]


# By key of a field: whether it has a sample that is not zero. Missing: a field without a sample
Seen = dict[str, bool]


async def _read_stat(session: AsyncSession, stat: StatRef, place: Place, fields: Iterable[Field], window: Window) -> Seen:
    connection = await driver_of(session)
    grain = Grain.HOUR if window.end_us - window.start_us > MINUTES_UP_TO_US else Grain.MINUTE
    seen: Seen = {}
    for span in plan(window, await read_rolled(connection, place, window), grain):
        left = [field for field in fields if not seen.get(field.key)]
        if not left:
            break
        if span.grain is Grain.RAW:
            wanted = PageQuery(stat.name, place.host_id, span.window, left, values_per_page=VALUES_PER_PAGE)
            await _read_samples(session, wanted, seen)
        else:
            blocks = await read_heads(connection, place, LEVELS[span.grain], [field.key for field in left], span.window)
            _look_at_buckets(await read_buckets(session, place, stat, blocks, None, grain=span.grain), span, seen)
    return seen


async def _read_samples(session: AsyncSession, query: PageQuery, seen: Seen) -> None:
    """Note what the samples have, until each field had a value that is not zero."""
    async with aclosing(read_pages(session, query)) as pages:
        async for page in pages:
            for field, column, has_any in zip(query.fields, page.values, page.has_values, strict=True):
                if has_any and not seen.get(field.key):
                    values = to_floats(field, column)
                    values = values[~np.isnan(values)]
                    if len(values):
                        seen[field.key] = bool(values.any())
            if all(seen.get(field.key) for field in query.fields):
                return


def _look_at_buckets(buckets: Mapping[str, Buckets], span: Span, seen: Seen) -> None:
    """Note what the buckets inside the span have."""
    first, last = -(-span.start_us // BUCKET_US[span.grain]), span.end_us // BUCKET_US[span.grain]
    for key, own in buckets.items():
        is_inside = (own.bucket >= first) & (own.bucket < last)
        if is_inside.any():
            seen[key] = seen.get(key, False) or bool(own.low[is_inside].any() or own.high[is_inside].any())
