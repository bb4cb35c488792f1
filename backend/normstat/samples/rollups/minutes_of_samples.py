"""Minutes made of samples: for the job that stores them, and for readers where they are left to the samples."""

from collections.abc import Sequence
from contextlib import aclosing

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.codecs.rollup_codec import Buckets, merge, reduce_sorted
from normstat.samples.rollups.rollup_rows import MINUTE_US
from normstat.samples.sample_pages import Page, PageQuery, read_pages, to_floats, to_missing
from normstat.stats.spec import Field


async def read_minutes(session: AsyncSession, query: PageQuery) -> dict[str, Buckets]:
    """Return the minutes of the samples of a query, for each field that has a value in it."""
    parts: dict[str, list[Buckets]] = {}
    async with aclosing(read_pages(session, query)) as pages:
        async for page in pages:
            for key, buckets in (await anyio.to_thread.run_sync(roll_page, page, query.fields)).items():
                parts.setdefault(key, []).append(buckets)
    return await anyio.to_thread.run_sync(lambda: {key: merge(own) for key, own in parts.items()})


def roll_page(page: Page, fields: Sequence[Field]) -> dict[str, Buckets]:
    """Return the minutes of a page of samples, for each field that has a value in it."""
    ids, codes = np.unique(page.instance_id, return_inverse=True)
    minute = page.time_us // MINUTE_US
    places = codes * (int(minute[-1] - minute[0]) + 1) + (minute - minute[0])
    # A stable sort of 16 bits is ten times as fast.
    is_small = len(ids) * (int(minute[-1] - minute[0]) + 1) < 2**15
    order = np.argsort(places.astype(np.int16) if is_small else places, kind="stable")
    instance, minute, time_us = page.instance_id[order], minute[order], page.time_us[order]
    found = {}
    for field, column in zip(fields, page.values, strict=True):
        own = column[order]
        is_there = ~to_missing(own)
        values = to_floats(field, own)
        if is_there.all():
            found[field.key] = reduce_sorted(instance, minute, values, time_us)
        elif is_there.any():
            found[field.key] = reduce_sorted(instance[is_there], minute[is_there], values[is_there], time_us[is_there])
    return found
