"""The rows that a search looks through: hosts, instances, baselines, saved comparisons."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.baseline_models import Baseline, SavedComparisonRow
from normstat.db.schema.models import AnyInstance, Host, StatTable
from normstat.db.schema.retention_models import HostDeletionRow
from normstat.records.host_tag_rows import sort_tags
from normstat.samples.lookup import has_samples

# Maximum number of instances in one search, the latest. With more, the words are too unspecific.
MAX_INSTANCES: Final = 2000
MAX_NAMED: Final = 10_000


@dataclass(frozen=True, slots=True)
class HostRow:
    """A host that is not being deleted."""

    id: int
    name: str
    os: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InstanceRow:
    """An instance of a stat on a host."""

    host: str
    stat: str
    name: str
    last_sample_at: datetime


@dataclass(frozen=True, slots=True)
class NamedRow:
    """A baseline or a saved comparison."""

    id: int
    name: str
    note: str
    is_archived: bool = False


@dataclass(frozen=True, slots=True)
class Senders:
    """The hosts that send a stat: their number, and the one whose agent was heard last."""

    n_hosts: int
    latest: str


async def list_host_rows(session: AsyncSession) -> list[HostRow]:
    """Return all hosts that are not being deleted, by name."""
    columns = select(Host.id, Host.name, Host.os, Host.tags, Host.agent_tags)
    statement = columns.where(Host.id.not_in(select(HostDeletionRow.host_id))).order_by(Host.name)
    return [
        HostRow(id_, name, os, tuple(sort_tags([*tags, *agent_tags])))
        for id_, name, os, tags, agent_tags in await session.execute(statement)
    ]


async def find_senders(session: AsyncSession, stats: Sequence[str]) -> dict[str, Senders]:
    """Return the hosts that send each of these stats. Missing: stats that no host sends."""
    if not stats:
        return {}
    names = func.array_agg(Host.name.op("ORDER BY")(func.coalesce(Host.last_seen_at, Host.created_at).desc()))
    statement = (
        select(StatTable.name, func.count(), names)
        .join(Host, has_samples())
        .where(StatTable.name.in_(stats), Host.id.not_in(select(HostDeletionRow.host_id)))
        .group_by(StatTable.name)
    )
    return {name: Senders(n, hosts[0]) for name, n, hosts in await session.execute(statement)}


async def find_instance_rows(
    session: AsyncSession, hosts: Sequence[HostRow], stats: Sequence[str], words: Sequence[str]
) -> tuple[list[InstanceRow], int]:
    """Return the instances of these stats on these hosts with one of the words in their name, the latest first, and their number.

    Above MAX_INSTANCES the earlier ones are only counted.
    """
    if not hosts or not stats or not words:
        return [], 0
    names = {host.id: host.name for host in hosts}
    statement = (
        select(AnyInstance.host_id, StatTable.name, AnyInstance.name, AnyInstance.last_sample_at, func.count().over())
        .join(StatTable, StatTable.id == AnyInstance.stat_id)
        .where(
            AnyInstance.host_id.in_(names),
            StatTable.name.in_(stats),
            or_(*(AnyInstance.name.icontains(word, autoescape=True) for word in words)),
        )
        .order_by(AnyInstance.last_sample_at.desc(), AnyInstance.id)
        .limit(MAX_INSTANCES)
    )
    rows = (await session.execute(statement)).all()
    return [InstanceRow(names[row[0]], *row[1:4]) for row in rows], int(rows[0][4]) if rows else 0


async def list_baseline_rows(session: AsyncSession) -> list[NamedRow]:
    """Return all baselines, the newest first."""
    statement = select(Baseline.id, Baseline.name, Baseline.note, Baseline.archived_at.is_not(None)).order_by(Baseline.id.desc())
    return [NamedRow(*row) for row in await session.execute(statement.limit(MAX_NAMED))]


async def list_comparison_rows(session: AsyncSession) -> list[NamedRow]:
    """Return all saved comparisons, the newest first."""
    statement = select(SavedComparisonRow.id, SavedComparisonRow.name, SavedComparisonRow.note).order_by(
        SavedComparisonRow.id.desc()
    )
    return [NamedRow(*row) for row in await session.execute(statement.limit(MAX_NAMED))]
