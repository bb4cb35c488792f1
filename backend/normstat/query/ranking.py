"""How much of a field each instance has in a window: from rollups where there are some, from samples elsewhere."""

from collections import Counter
from typing import Final

import numpy as np
import psycopg
from psycopg import sql

from normstat.query.pages import load_sql
from normstat.query.rolled import BUCKET_US, LEVELS, Grain, Rolled, Span, plan, read_buckets, read_heads
from normstat.stats.spec import Field, Storage
from normstat.store.rollups import HOUR_US, Place
from normstat.store.stat_tables import table_of
from normstat.window import Window, from_us

# Up to there the samples are read; up to a few days, minutes are as quick as hours.
RAW_UP_TO_US: Final = HOUR_US
MINUTES_UP_TO_US: Final = 48 * HOUR_US


async def read_totals(
    connection: psycopg.AsyncConnection, place: Place, stat: str, field: Field, *, window: Window, rolled: Rolled
) -> dict[int, float]:
    """The sum of the field over the window by instance; those without a value are left out."""
    length_us = window.end_us - window.start_us
    grain = Grain.RAW if length_us <= RAW_UP_TO_US else Grain.MINUTE if length_us <= MINUTES_UP_TO_US else Grain.HOUR
    spans = plan(window, rolled, grain)
    totals: Counter[int] = Counter()
    for span in spans:
        if span.grain is Grain.RAW:
            totals.update(await _sum_samples(connection, place, stat, field, span))
        elif span.grain is not grain:
            totals.update(await _sum_buckets(connection, place, field, [span]))
    whole = [span for span in spans if span.grain is grain and grain is not Grain.RAW]
    if whole:
        totals.update(await _sum_buckets(connection, place, field, whole))
    return dict(totals)


async def _sum_samples(connection: psycopg.AsyncConnection, place: Place, stat: str, field: Field, span: Span) -> dict[int, float]:
    statement = load_sql("top_instances").format(table=table_of(stat), field=sql.Identifier(field.key))
    places = {"host_id": place.host_id, "start": from_us(span.start_us), "end": from_us(span.end_us)}
    cursor = await connection.execute(statement, places, prepare=False)
    power = 10.0**field.decimals if field.storage is Storage.DEC4 else 1.0
    return {int(str(id_)): float(str(total)) / power for id_, total in await cursor.fetchall()}


async def _sum_buckets(connection: psycopg.AsyncConnection, place: Place, field: Field, spans: list[Span]) -> dict[int, float]:
    """The sums over spans of one grain, which are in order."""
    grain = spans[0].grain
    window = Window(from_us(spans[0].start_us), from_us(spans[-1].end_us))
    blocks = await read_heads(connection, place, LEVELS[grain], [field.key], window)
    buckets = (await read_buckets(connection, place, blocks, None, grain)).get(field.key)
    if buckets is None:
        return {}
    firsts = np.array([span.start_us for span in spans]) // BUCKET_US[grain]
    lasts = np.array([span.end_us for span in spans]) // BUCKET_US[grain]
    places = np.searchsorted(firsts, buckets.bucket, side="right") - 1
    buckets = buckets.take((places >= 0) & (buckets.bucket < lasts[places]))
    ids, codes = np.unique(buckets.instance, return_inverse=True)
    return dict(zip(ids.tolist(), np.bincount(codes, weights=buckets.total).tolist(), strict=True))
