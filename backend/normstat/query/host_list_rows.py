"""The JSON of each host in the list of all hosts: its texts are kept, its numbers are written again."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import anyio.to_thread
import numpy as np
import orjson
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.query.host_lists import MANY, HostInfo, read_infos
from normstat.query.host_numbers import NO_TIME, STATES, HostNumbers, HostsVersion, Ints, read_numbers
from normstat.query.reject_rise import RejectCounts
from normstat.runtime.readable import natural_key

TIMES: Final = {"last_seen_at": "last_seen_us", "first_sample_at": "first_sample_us", "last_sample_at": "last_sample_us"}
NUMBERS: Final = ("clock_offset_s", "n_streams_live", "n_streams", "n_rejected", "n_rejected_last_hour", "n_rejected_hour_before")
CHANGING: Final = (*TIMES, *NUMBERS, "state", "has_reject_rise")
# All else of a host is texts, which change with one of their hashes.
TEXTS: Final = tuple(name for name in HostInfo.__dataclass_fields__ if name not in CHANGING)
ROW: Final = b"%b" + b"".join(b',"%b":%%b' % name.encode() for name in CHANGING) + b"}"
STATES_JSON: Final = np.array([orjson.dumps(state) for state in STATES], object)
JSON_TIMES: Final = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z

Objects = NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class HostListRows:
    """All hosts by name. `rows`: the JSON of each, as `HostInfo` has it, in any order of fields.

    Arrays are by ascending id: `hashes` (n_hosts, 2) of the texts, and `texts`, their JSON without its last brace. `order`: the
    positions of `rows` in them.
    """

    version: HostsVersion
    names: list[str]
    rows: list[bytes]
    ids: Ints
    hashes: Ints
    texts: Objects
    names_by_id: Objects
    order: Ints


async def read_rows(session: AsyncSession, now: datetime, kept: HostListRows | None) -> HostListRows:
    """Return the list at `now`. `kept`: an earlier one, of which the texts are taken that have not changed."""
    numbers = await read_numbers(session, now, None)
    hashes = np.column_stack([numbers.texts_hash, numbers.stats_hash])
    texts, names = np.empty((2, len(hashes)), object)
    is_new = np.ones(len(hashes), bool)
    if kept is not None and len(kept.ids):
        places = np.minimum(np.searchsorted(kept.ids, numbers.ids), len(kept.ids) - 1)
        is_new = (kept.ids[places] != numbers.ids) | (kept.hashes[places] != hashes).any(axis=1)
        texts, names = kept.texts[places], kept.names_by_id[places]
    chosen = np.flatnonzero(is_new)
    infos = await read_infos(session, numbers, chosen)

    def make() -> HostListRows:
        for position, info in zip(chosen.tolist(), infos, strict=True):
            texts[position] = orjson.dumps({name: getattr(info, name) for name in TEXTS}, option=orjson.OPT_UTC_Z)[:-1]
            names[position] = info.name
        if kept is not None and np.array_equal(kept.names_by_id, names):
            order, in_order = kept.order, kept.names
        else:
            keys = [natural_key(name) for name in names]
            order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
            in_order = names[order].tolist()
        cells = [values[order].tolist() for values in (texts, *_dump_changing(numbers))]
        rows = [ROW % own for own in zip(*cells, strict=True)]
        return HostListRows(numbers.version, in_order, rows, numbers.ids, hashes, texts, names, order)

    return make() if len(names) < MANY else await anyio.to_thread.run_sync(make)


def _dump_changing(numbers: HostNumbers) -> list[Objects]:
    """Return the JSON of CHANGING. Shape: (n_hosts,) each."""
    is_rise = np.full(len(numbers.ids), b"false", object)
    for position in np.flatnonzero(numbers.n_rejected_last_hour).tolist():
        counts = RejectCounts(int(numbers.n_rejected_last_hour[position]), int(numbers.n_rejected_hour_before[position]))
        is_rise[position] = orjson.dumps(counts.is_rise)
    times = [_dump_times(getattr(numbers, column)) for column in TIMES.values()]
    return [*times, *(_dump(getattr(numbers, column)) for column in NUMBERS), STATES_JSON[numbers.states], is_rise]


def _dump(values: NDArray[Any]) -> Objects:
    """Return the JSON of each value. Missing: null for NaN"""
    return np.array(orjson.dumps(values, option=JSON_TIMES)[1:-1].split(b",") if len(values) else [], object)


def _dump_times(times_us: Ints) -> Objects:
    is_missing = times_us == NO_TIME
    cells = _dump(np.where(is_missing, 0, times_us).astype("datetime64[us]"))
    cells[is_missing] = b"null"
    return cells
