"""The newest values of hosts, for a page that other systems scrape (exposition.py)."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.errors import BadRequest, NotFound, TooLarge, shorten
from normstat.samples.lookup import StatRef, find_hosts, find_stats, list_stats_of_hosts, read_instance_names
from normstat.samples.pages_of_hosts import read_pages_of_hosts
from normstat.samples.sample_pages import PageQuery, to_floats
from normstat.stats.spec import Field
from normstat.window import Window

MAX_VALUES: Final = 100_000
# Hosts times stats: each is looked up.
MAX_PAIRS: Final = 2000
MAX_AGE_S: Final = 3600


@dataclass(frozen=True, slots=True)
class NewestRow:
    """The newest row of an instance. Missing: NaN in `values`."""

    host: str
    instance: str
    time_ms: int
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class NewestValues:
    """The newest rows of a stat, by host and instance."""

    stat: StatRef
    rows: tuple[NewestRow, ...]


async def read_newest_values(
    session: AsyncSession, hosts: Sequence[str], stats: Sequence[str], *, now: datetime, max_age_s: int
) -> list[NewestValues]:
    """Return the newest row of each instance with a sample in the last `max_age_s` seconds; without `stats`, of all.

    Raises: NotFound for an unknown host; BadRequest without any; TooLarge
    """
    if not hosts:
        raise BadRequest("Name at least one host; `host` may be given several times, and GET /api/v1/hosts lists them")
    ids = await find_hosts(session, hosts)
    for name in hosts:
        if name not in ids:
            raise NotFound(f"There is no host {shorten(name)}; GET /api/v1/hosts lists them", {"host": name})
    names = await list_stats_of_hosts(session, list(ids.values()))
    wanted = sorted({name for own in names.values() for name in own if not stats or name in stats})
    if sum(name in wanted for own in names.values() for name in own) > MAX_PAIRS:
        raise TooLarge(f"More than {MAX_PAIRS} stats of hosts; name fewer hosts, or stats")
    window = Window(now - timedelta(seconds=max_age_s), now + timedelta(seconds=1))
    found: list[NewestValues] = []
    n_left = MAX_VALUES
    for stat in await find_stats(session, wanted):
        own = {name: host_id for name, host_id in ids.items() if stat.name in names.get(host_id, ())}
        newest = await _read_stat(session, stat, own, window)
        n_left -= len(newest.rows) * len(stat.fields)
        if n_left < 0:
            raise TooLarge(f"More than {MAX_VALUES} values; name fewer hosts, or stats")
        found.append(newest)
    return found


async def _read_stat(session: AsyncSession, stat: StatRef, hosts: dict[str, int], window: Window) -> NewestValues:
    ordered = sorted(hosts.items())
    queries = [PageQuery(stat.name, host_id, window, stat.fields) for _, host_id in ordered]
    newest: dict[tuple[int, int], tuple[int, tuple[float, ...]]] = {}
    async with aclosing(read_pages_of_hosts(session, queries)) as pages:
        async for number, page in pages:
            columns = [to_floats(field, column) for field, column in zip(stat.fields, page.values, strict=True)]
            # Rows are in the order of time: of several of an instance the last one stays.
            last = dict(zip(page.instance_id.tolist(), range(len(page)), strict=True))
            for instance_id, row in last.items():
                newest[number, instance_id] = int(page.time_us[row]), tuple(float(column[row]) for column in columns)
                if len(newest) * len(stat.fields) > MAX_VALUES:
                    raise TooLarge(f"More than {MAX_VALUES} values; name fewer hosts, or stats")
    labels = await read_instance_names(session, sorted({instance_id for _, instance_id in newest}))
    rows = [
        NewestRow(ordered[number][0], labels.get(instance_id, ""), time_us // 1000, values)
        for (number, instance_id), (time_us, values) in newest.items()
    ]
    return NewestValues(stat, tuple(sorted(rows, key=lambda row: (row.host, row.instance))))


def labels_of(row: NewestRow) -> dict[str, str]:
    """Return the labels of the series of a row."""
    return {"host": row.host} | ({"instance": row.instance} if row.instance else {})


def help_of(field: Field) -> str:
    """Return what a field measures and its unit, escaped for a line of the text format."""
    text = f"{field.help} Unit: {field.unit}." if field.unit else field.help
    return text.replace("\\", "\\\\").replace("\n", "\\n")
