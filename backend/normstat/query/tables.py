"""What there is to be read: hosts, stats with their fields, and instances, looked up by name."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.errors import NotFound, shorten
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field, Kind, Storage, Worse
from normstat.store.instance_memory import LAST_STEP
from normstat.store.models import Host, Instance, StatField, StatTable
from normstat.window import Window

DIGITS: Final = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class StatRef:
    """A stat whose wide table exists, with all its columns: undocumented ones and families of this database too."""

    id: int
    name: str
    spec: str
    spec_version: int
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class InstanceRef:
    """What rows of a stat are about on one host."""

    id: int
    name: str
    first_sample_at: datetime
    last_sample_at: datetime


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sorts names as people do: texts before numbers (`all` before `0`), and 9 before 10."""
    parts = [part for part in DIGITS.split(name) if part]
    return tuple((1, int(part[:18]), part) if part.isascii() and part.isdecimal() else (0, 0, part) for part in parts)


async def require_host(session: AsyncSession, name: str) -> int:
    """The id of a host.

    Raises: NotFound
    """
    host_id = await session.scalar(select(Host.id).where(Host.name == name))
    if host_id is None:
        raise NotFound(f"There is no host {shorten(name)}; GET /api/v1/hosts lists them", {"host": name})
    return host_id


async def find_stat(session: AsyncSession, name: str) -> StatRef | None:
    """A stat with its columns. Missing: None for a stat of the catalogue of which no host has sent a sample yet.

    Raises: NotFound for a name that neither the catalogue nor the database knows
    """
    found = await _read_stats(session, [name])
    if found:
        return found[0]
    if name not in load_catalogue().stats:
        raise NotFound(f"There is no stat {shorten(name)}; GET /api/v1/stats lists them", {"stat": name})
    return None


async def list_stats(session: AsyncSession) -> list[StatRef]:
    """The stats of which any host has sent a sample, by name."""
    return await _read_stats(session, (await session.scalars(select(StatTable.name))).all())


async def list_host_stats(session: AsyncSession, host_id: int) -> list[StatRef]:
    """The stats of which a host has samples, by name."""
    # One look into the index of instances for each stat, however many instances the host has had.
    has_instances = select(Instance.id).where(Instance.host_id == host_id, Instance.stat_id == StatTable.id).exists()
    names = (await session.scalars(select(StatTable.name).where(has_instances))).all()
    return await _read_stats(session, names)


async def list_instances(
    session: AsyncSession, host_id: int, stat_id: int, *, window: Window | None = None, names: Sequence[str] | None = None
) -> list[InstanceRef]:
    """Instances of a stat in natural order: those of the names, or those that were there in the window.

    The last sample of one that goes on may be LAST_STEP later than its row says: it is in the list, and may have no sample there.
    """
    statement = select(Instance.id, Instance.name, Instance.first_sample_at, Instance.last_sample_at).where(
        Instance.host_id == host_id, Instance.stat_id == stat_id
    )
    if window is not None:
        statement = statement.where(Instance.first_sample_at < window.end, Instance.last_sample_at >= window.start - LAST_STEP)
    if names is not None:
        # The index is over the hash of the names.
        statement = statement.where(Instance.name.in_(names), func.md5(Instance.name).in_([func.md5(name) for name in names]))
    rows = await session.execute(statement)
    return sorted((InstanceRef(*row) for row in rows), key=lambda instance: natural_key(instance.name))


async def _read_stats(session: AsyncSession, names: Sequence[str]) -> list[StatRef]:
    if not names:
        return []
    rows = await session.execute(
        select(StatTable.id, StatTable.name, StatTable.spec, StatTable.spec_version, StatField.definition, StatField.is_documented)
        .join(StatField, StatField.stat_id == StatTable.id)
        .where(StatTable.name.in_(names))
        .order_by(StatTable.name, StatField.position)
    )
    today = {
        name: {field.key: field for field in stat.fields} for name, (_, stat) in load_catalogue().stats.items() if name in names
    }
    stats: dict[str, tuple[int, str, int, list[Field]]] = {}
    for stat_id, name, spec, version, definition, is_documented in rows:
        _, _, _, fields = stats.setdefault(name, (stat_id, spec, version, []))
        made = _to_field(definition, is_documented=is_documented)
        fields.append(_described(made, today.get(name, {}).get(made.key)))
    return [StatRef(stat_id, name, spec, version, tuple(fields)) for name, (stat_id, spec, version, fields) in stats.items()]


def _described(made: Field, today: Field | None) -> Field:
    """The field as today's spec describes it (unit, help, direction), with the type and decimals that its column was made with."""
    return made if today is None else replace(today, storage=made.storage, decimals=made.decimals)


def _to_field(definition: Mapping[str, object], *, is_documented: bool) -> Field:
    """The field that a column was made for, from its stored definition."""
    text = {key: str(value) for key, value in definition.items()}
    return Field(
        key=text["key"],
        column=text["column"],
        printed_key=text["printed_key"],
        group=text["group"],
        unit=text["unit"],
        kind=Kind(text["kind"]),
        worse=Worse(text["worse"]),
        decimals=int(text["decimals"]),
        storage=Storage(text["storage"]),
        help=text["help"],
        source=text["source"],
        is_documented=is_documented,
    )
