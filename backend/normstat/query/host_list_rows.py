"""The JSON of each host in the list of all hosts, kept: of a host that only sends, its times alone are written again."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import anyio.to_thread
import numpy as np
import orjson
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.query.host_lists import MANY, HostInfo, read_infos
from normstat.query.host_numbers import NO_TIME, HostsVersion, Ints, read_numbers
from normstat.runtime.readable import natural_key

# What each request of an agent changes. All else of a host is its calm part, which is a function of these numbers of it:
MOVING: Final = ("last_seen_at", "last_sample_at", "clock_offset_s")
CALM: Final = (
    "texts_hash", "stats_hash", "n_streams", "n_streams_live", "n_rejected", "n_rejected_last_hour", "n_rejected_hour_before",
    "first_sample_us", "states",
)  # fmt: skip
CALM_FIELDS: Final = tuple(name for name in HostInfo.__dataclass_fields__ if name not in MOVING)
JSON_TIMES: Final = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z

Objects = NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class HostListRows:
    """All hosts by name. `rows`: the JSON of each, as `HostInfo` has it, in any order of fields.

    Arrays are by ascending id: `calm` (n_hosts, len(CALM)), and `parts`, the calm part of each host's JSON without its last brace.
    `order`: the positions of `rows` in them.
    """

    version: HostsVersion
    names: list[str]
    rows: list[bytes]
    ids: Ints
    calm: Ints
    parts: Objects
    names_by_id: Objects
    order: Ints


async def read_rows(session: AsyncSession, now: datetime, kept: HostListRows | None) -> HostListRows:
    """Return the list at `now`. `kept`: an earlier one, of which the calm parts are taken."""
    numbers = await read_numbers(session, now, None)
    calm = np.column_stack([getattr(numbers, name) for name in CALM])
    parts, names = np.empty((2, len(numbers.ids)), object)
    is_new = np.ones(len(numbers.ids), bool)
    if kept is not None and len(kept.ids):
        places = np.minimum(np.searchsorted(kept.ids, numbers.ids), len(kept.ids) - 1)
        is_new = (kept.ids[places] != numbers.ids) | (kept.calm[places] != calm).any(axis=1)
        parts, names = kept.parts[places], kept.names_by_id[places]
    chosen = np.flatnonzero(is_new)
    infos = await read_infos(session, numbers, chosen)

    def make() -> HostListRows:
        for position, info in zip(chosen.tolist(), infos, strict=True):
            parts[position] = orjson.dumps({name: getattr(info, name) for name in CALM_FIELDS}, option=orjson.OPT_UTC_Z)[:-1]
            names[position] = info.name
        if kept is not None and np.array_equal(kept.names_by_id, names):
            order, in_order = kept.order, kept.names
        else:
            keys = [natural_key(name) for name in names]
            order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
            in_order = names[order].tolist()
        cells = zip(
            parts[order].tolist(),
            _dump_times(numbers.last_seen_us[order]),
            _dump_times(numbers.last_sample_us[order]),
            _dump(numbers.clock_offset_s[order]),
            strict=True,
        )
        rows = [b'%b,"last_seen_at":%b,"last_sample_at":%b,"clock_offset_s":%b}' % own for own in cells]
        return HostListRows(numbers.version, in_order, rows, numbers.ids, calm, parts, names, order)

    return make() if len(names) < MANY else await anyio.to_thread.run_sync(make)


def _dump(values: NDArray[Any]) -> list[bytes]:
    """Return the JSON of each value. Missing: null for NaN"""
    return orjson.dumps(values, option=JSON_TIMES)[1:-1].split(b",") if len(values) else []


def _dump_times(times_us: Ints) -> list[bytes]:
    is_missing = times_us == NO_TIME
    cells = _dump(np.where(is_missing, 0, times_us).astype("datetime64[us]"))
    for position in np.flatnonzero(is_missing).tolist():
        cells[position] = b"null"
    return cells
