"""Read the samples of a sketch and build it."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Final

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.session import open_read_session
from normstat.errors import TooLarge
from normstat.profiles.sketch import Sketch, pack_sketch
from normstat.profiles.sketch_builder import Column, StatRows, build_sketch, join_fields
from normstat.samples.lookup import StatRef, read_instance_names, read_possible_window
from normstat.samples.sample_pages import Page, PageQuery, read_pages, to_codes, to_floats
from normstat.stats.spec import Field, Kind
from normstat.window import Window

Sessions = async_sessionmaker[AsyncSession]
# Values of a stat that are in memory at once.
MAX_VALUES: Final = 60_000_000
# Rows of a stat in a span, an hour at most: 3,000 instances a second.
MAX_ROWS: Final = 12_000_000


def is_profiled(field: Field) -> bool:
    """Return whether a profile has the field: not ids, which have no unit, nor counters, which only grow."""
    return bool(field.unit) and field.kind is not Kind.COUNTER


async def read_sketch(sessions: Sessions, host_id: int, stat: StatRef, span: Window) -> tuple[int, bytes]:
    """Return the number of rows and the bytes of a sketch of the current samples."""
    fields = [field for field in stat.fields if is_profiled(field)]
    parts = []
    async with open_read_session(sessions) as session:
        found = await read_possible_window(session, host_id, stat.id, span)
        # At most a sample a second of each instance.
        at_once = max(1, int(MAX_VALUES / max(1.0, (0 if found is None else found[1]) * span.length_s)))
        names: dict[int, str] = {}
        for first in range(0, max(1, len(fields)), at_once):
            some = fields[first : first + at_once]
            async with aclosing(read_pages(session, PageQuery(stat.name, host_id, span, some))) as coming:
                pages: list[Page] = []
                async for page in coming:
                    pages.append(page)
                    if sum(map(len, pages)) > MAX_ROWS:
                        raise TooLarge(
                            f"{stat.name} has more than {MAX_ROWS:,} rows from {span.start:%Y-%m-%dT%H:%M:%SZ}"
                            f" to {span.end:%Y-%m-%dT%H:%M:%SZ}; a sketch takes at most that many. Exclude this time"
                        )
            ids = {id_ for page in pages for id_ in to_codes(page.instance_id)[0].tolist()}
            names.update(await read_instance_names(session, sorted(ids - names.keys())))
            parts.append(await anyio.to_thread.run_sync(_make_part, pages, some, names, span))
    sketch = join_fields(parts)
    return sketch.keys.n_rows, await anyio.to_thread.run_sync(pack_sketch, sketch)


def to_rows(pages: Sequence[Page], fields: Sequence[Field], names: Mapping[int, str]) -> StatRows:
    """Return the samples of consecutive pages, for fields that have any value."""
    if not pages:
        nothing = np.empty(0, np.int64)
        return StatRows(nothing, nothing, (), {})
    ids, codes = to_codes(np.concatenate([page.instance_id for page in pages]))

    def column(number: int) -> Column:
        return lambda: to_floats(fields[number], np.concatenate([page.values[number] for page in pages]))

    return StatRows(
        np.concatenate([page.time_us for page in pages]),
        codes.astype(np.int64),
        [names[id_] for id_ in ids.tolist()],
        {field.key: column(number) for number, field in enumerate(fields) if any(page.has_values[number] for page in pages)},
    )


def _make_part(pages: Sequence[Page], fields: Sequence[Field], names: Mapping[int, str], span: Window) -> Sketch:
    return build_sketch(to_rows(pages, fields, names), span)
