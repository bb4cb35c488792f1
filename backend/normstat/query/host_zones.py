"""The time zones of hosts, from the newest facts of their agents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Host, Stream
from normstat.db.schema.retention_models import HostDeletionRow
from normstat.query.fact_history import SPEC
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import natural_key
from normstat.samples.chunks import ByteRange, read_ranges
from normstat.stats.fact_lines import AGENT, TIME_ZONE, parse_fact

# The agent prints the zone among its last facts.
TAIL_BYTES: Final = 16 * 1024
# The newest stream may have just begun.
MAX_STREAMS_A_HOST: Final = 2


@dataclass(frozen=True, slots=True)
class HostZone(Documented):
    """The time zone of a host."""

    host: str
    time_zone: str | None
    """As its agent reported it: a name such as `Europe/Berlin`, or the offset from UTC such as `+0530` where the system has no
    name; null if no agent reported either."""


async def read_host_zones(session: AsyncSession, names: Sequence[str] | None) -> list[HostZone]:
    """Return the zones of the hosts of these names (None: of all hosts), by name. Names that no host has are left out."""
    is_there = Host.id.not_in(select(HostDeletionRow.host_id))
    chosen = [is_there] if names is None else [is_there, Host.name.in_(names)]
    hosts = (await session.execute(select(Host.id, Host.name).where(*chosen))).all()
    known = await _read_zones(session, None if names is None else [host.id for host in hosts])
    return [HostZone(host.name, known.get(host.id)) for host in sorted(hosts, key=lambda host: natural_key(host.name))]


async def _read_zones(session: AsyncSession, host_ids: Sequence[int] | None) -> dict[int, str | None]:
    last_heard = func.coalesce(Stream.last_received_at, Stream.created_at)
    place = func.row_number().over(partition_by=Stream.host_id, order_by=(last_heard.desc(), Stream.id.desc()))
    of_hosts = [] if host_ids is None else [Stream.host_id.in_(host_ids)]
    streams = (
        select(Stream.id, Stream.host_id, Stream.acked_offset, place.label("place"))
        .where(Stream.spec == SPEC, *of_hosts)
        .subquery()
    )
    rows = (
        await session.execute(
            select(streams).where(streams.c.place <= MAX_STREAMS_A_HOST).order_by(streams.c.host_id, streams.c.place)
        )
    ).all()
    ranges = [ByteRange(row.id, max(0, row.acked_offset - TAIL_BYTES), row.acked_offset) for row in rows]
    tails = await read_ranges(session, ranges)
    zones: dict[int, str | None] = {}
    for row in rows:
        if row.host_id in zones:
            continue
        text = b"".join(chunk.data for chunk in tails.get(row.id, []))[-TAIL_BYTES:].decode("utf-8", "replace")
        is_complete, zone = find_zone(text)
        if is_complete:
            zones[row.host_id] = zone
    return zones


def find_zone(text: str) -> tuple[bool, str | None]:
    r"""Return whether the text has the end of a report of facts, and the time zone of the last such report.

    >>> find_zone("1795305600\ntime_zone\tEurope/Berlin\nagent\t0.1.0\n1795309200\nos\tLinux\n")
    (True, 'Europe/Berlin')
    >>> find_zone("1795305600\ntime_zone\tEurope/Berlin\nagent\t0.1.0\n1795309200\nos\tLinux\nagent\t0.1.0\n")
    (True, None)
    >>> find_zone("1795305600\nos\tLinux\n")
    (False, None)
    """
    is_complete = False
    for line in reversed(text.split("\n")):
        fact = parse_fact(line.rstrip("\r"))
        if not is_complete:
            is_complete = fact is not None and fact.name.key == AGENT
        elif "\t" not in line:
            break
        elif fact is not None and fact.name.key == TIME_ZONE:
            return True, fact.value or None
    return is_complete, None
