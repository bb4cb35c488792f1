"""Look up hosts, stats with their fields, and instances by name."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Final

import orjson
from sqlalchemy import BigInteger, ColumnElement, Text, Uuid, and_, cast, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.limited_session import limited_account
from normstat.db.schema.models import AnyInstance, Host, Instance, PackedInstances, StatField, StatTable
from normstat.db.session import driver_of
from normstat.errors import NotFound, shorten
from normstat.runtime.readable import natural_key
from normstat.samples.instance_cache import LAST_STEP
from normstat.samples.packed_instances import PackedInstance, find_packed, read_packed
from normstat.samples.sample_pages import load_sql
from normstat.samples.sample_source import open_source
from normstat.samples.sealed.sealed_reader import SealedQuery
from normstat.samples.stat_tables import earlier_types
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field, Kind, Semantics, Storage, Worse
from normstat.stats.spec_defaults import usual_semantics
from normstat.window import MICROSECOND, Window, from_us

# Maximum number of instances in one list.
MAX_LISTED: Final = 10_000
NAMES_AT_ONCE: Final = 10_000
# The levels of rollup blocks: minutes of an hour, minutes of a day, hours (samples/rollups/rollup_rows.py).
ROLLUP_LEVELS: Final = (0, 1, 2)
# The id of a stat, and the key of one of its columns.
ColumnKey = tuple[int, str]
# Names that an export caches from page to page.
MAX_NAMES: Final = 50_000


@dataclass(frozen=True, slots=True)
class StatRef:
    """A stat whose wide table exists, with all its columns, including undocumented ones and families of this database."""

    id: int
    name: str
    spec: str
    spec_version: int
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class InstanceRef:
    """An instance of a stat on one host."""

    id: int
    name: str
    first_sample_at: datetime
    last_sample_at: datetime


async def require_host(session: AsyncSession, name: str) -> int:
    """Return the id of a host.

    Raises: NotFound
    """
    host_id = await session.scalar(select(Host.id).where(Host.name == name))
    if host_id is None:
        raise NotFound(f"There is no host {shorten(name)}; GET /api/v1/hosts lists them", {"host": name})
    return host_id


async def read_host_name(session: AsyncSession, host_id: int | None) -> str | None:
    """Return the name of a host. Missing: None without one"""
    name: str | None = await session.scalar(select(Host.name).where(Host.id == host_id))
    return name


async def find_stat(session: AsyncSession, name: str) -> StatRef | None:
    """Return a stat with its columns. Missing: None for a stat of the catalogue of which no host has sent a sample yet.

    Raises: NotFound for a name that neither the catalogue nor the database knows
    """
    found = await _read_stats(session, [name])
    if found:
        return found[0]
    if name not in load_catalogue().stats:
        raise NotFound(f"There is no stat {shorten(name)}; GET /api/v1/stats lists them", {"stat": name})
    return None


async def list_stats(session: AsyncSession) -> list[StatRef]:
    """Return the stats with samples of any host, by name."""
    return await _read_stats(session, (await session.scalars(select(StatTable.name))).all())


async def find_stats(session: AsyncSession, names: Sequence[str]) -> list[StatRef]:
    """Return those of the stats of which any host has sent a sample, by name."""
    return await _read_stats(session, names)


async def read_stats_mark(session: AsyncSession) -> tuple[int, ...]:
    """Return what changes whenever a stat or a field is new, or a stat is of another version of its spec."""
    versions = cast(func.coalesce(func.sum(StatTable.spec_version), 0), BigInteger)
    n_fields = select(func.count()).select_from(StatField).scalar_subquery()
    return tuple((await session.execute(select(func.count(StatTable.id), versions, n_fields))).one())


async def find_hosts(session: AsyncSession, names: Sequence[str]) -> dict[str, int]:
    """Return the ids of the hosts that exist, by name."""
    rows = await session.execute(select(Host.name, Host.id).where(Host.name.in_(names)))
    return {name: host_id for name, host_id in rows}  # noqa: C416 (rows are no pairs to the type checker)


def has_samples() -> ColumnElement[bool]:
    """Return the condition that a host has sent samples of a stat."""
    return or_(
        *(
            select(model.host_id).where(model.host_id == Host.id, model.stat_id == StatTable.id).exists()
            for model in (Instance, PackedInstances)
        )
    )


async def list_stats_of_hosts(session: AsyncSession, host_ids: Sequence[int]) -> dict[int, list[str]]:
    """Return the names of the stats with samples, by host: one lookup in the index for each host and stat."""
    statement = select(Host.id, StatTable.name).join(StatTable, has_samples()).where(Host.id.in_(host_ids)).order_by(StatTable.name)
    names: dict[int, list[str]] = {}
    for host_id, stat in await session.execute(statement):
        names.setdefault(host_id, []).append(stat)
    return names


async def list_host_stats(session: AsyncSession, host_id: int) -> list[StatRef]:
    """Return the stats with samples of the host, by name."""
    # One lookup in the index of instances per stat, however many instances the host has had.
    statement = select(StatTable.name).join(Host, has_samples()).where(Host.id == host_id)
    names = (await session.scalars(statement)).all()
    return await _read_stats(session, names)


async def find_instances(session: AsyncSession, host_id: int, stat_id: int, names: Sequence[str]) -> list[InstanceRef]:
    """Return the instances of a stat with these names, in natural order."""
    statement = select(Instance.id, Instance.name, Instance.first_sample_at, Instance.last_sample_at).where(
        Instance.host_id == host_id,
        Instance.stat_id == stat_id,
        # The index is over the hash of the names.
        Instance.name.in_(names),
        cast(func.md5(Instance.name), Uuid).in_([cast(func.md5(name), Uuid) for name in names]),
    )
    found = [InstanceRef(*row) for row in await session.execute(statement)]
    missing = set(names) - {instance.name for instance in found}
    packed = await find_packed(await driver_of(session), [(host_id, stat_id, name) for name in missing])
    return sorted([*found, *map(_to_ref, packed)], key=lambda instance: natural_key(instance.name))


async def list_instances_by_id(session: AsyncSession, ids: Sequence[int]) -> list[InstanceRef]:
    """Return these instances in the order of the ids."""
    columns = (Instance.id, Instance.name, Instance.first_sample_at, Instance.last_sample_at)
    found = {row[0]: InstanceRef(*row) for row in await session.execute(select(*columns).where(Instance.id.in_(ids)))}
    found |= {own.id: _to_ref(own) for own in await read_packed(await driver_of(session), set(ids) - found.keys())}
    return [found[id_] for id_ in ids if id_ in found]


def _to_ref(own: PackedInstance) -> InstanceRef:
    return InstanceRef(own.id, own.name, from_us(own.first_us), from_us(own.last_us))


async def list_latest_instances(
    session: AsyncSession, host_id: int, stat: StatRef, window: Window, *, limit: int = MAX_LISTED
) -> tuple[list[InstanceRef], int]:
    """Return the instances that were present in the window, in natural order, and their total number.

    Above `limit`, those with the latest samples, as their rows record them: a host may have had hundreds of thousands (processes,
    stacks).
    """
    statement = (
        select(AnyInstance.id, AnyInstance.name, AnyInstance.first_sample_at, AnyInstance.last_sample_at, func.count().over())
        .where(*await was_present(session, host_id, stat, [window]))
        .order_by(AnyInstance.last_sample_at.desc(), AnyInstance.id)
        .limit(limit)
    )
    rows = (await session.execute(statement)).all()
    found = sorted((InstanceRef(*row[:4]) for row in rows), key=lambda instance: natural_key(instance.name))
    return found, int(rows[0][4]) if rows else 0


async def list_latest_instances_of_hosts(
    session: AsyncSession, host_ids: Sequence[int], stat: StatRef, window: Window, *, limit: int = MAX_LISTED
) -> dict[int, tuple[list[InstanceRef], int]]:
    """Return what `list_latest_instances` returns, for several hosts at once. Missing: no entry for a host without instances"""
    own = and_(AnyInstance.host_id.in_(host_ids), AnyInstance.stat_id == stat.id)
    sure = _is_sure([window])
    ended = await session.execute(select(AnyInstance.host_id, AnyInstance.id).where(own, ~sure, _just_ended(window)))
    candidates: dict[int, list[int]] = {}
    for host_id, id_ in ended:
        candidates.setdefault(host_id, []).append(id_)
    late: set[int] = set()
    for host_id, ids in candidates.items():
        late |= await _find_late(session, host_id, stat, window, ids)
    newest = (AnyInstance.last_sample_at.desc(), AnyInstance.id)
    rows = (
        select(
            AnyInstance.host_id, AnyInstance.id, AnyInstance.name, AnyInstance.first_sample_at, AnyInstance.last_sample_at,
            func.count().over(partition_by=AnyInstance.host_id).label("n_all"),
            func.row_number().over(partition_by=AnyInstance.host_id, order_by=newest).label("place"),
        )
        .where(own, or_(sure, AnyInstance.id.in_(late)) if late else sure)
        .subquery()
    )  # fmt: skip
    found: dict[int, tuple[list[InstanceRef], int]] = {}
    columns = (rows.c.host_id, rows.c.n_all, rows.c.id, rows.c.name, rows.c.first_sample_at, rows.c.last_sample_at)
    for host_id, n_all, *ref in await session.execute(select(*columns).where(rows.c.place <= limit)):
        found.setdefault(host_id, ([], int(n_all)))[0].append(InstanceRef(*ref))
    for instances, _ in found.values():
        instances.sort(key=lambda instance: natural_key(instance.name))
    return found


def _is_sure(windows: Sequence[Window]) -> ColumnElement[bool]:
    """Return the condition that an instance has samples before the end of a window, and in it or after it."""
    return or_(
        *(
            and_(
                AnyInstance.first_sample_at < window.end,
                AnyInstance.last_sample_at >= window.start,
                *_in_pack(window.start, window.end),
            )
            for window in windows
        )
    )


def _in_pack(start: datetime, end: datetime) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return the conditions of the packs in which an instance with samples in [start, end) may be."""
    return AnyInstance.pack_first_at < end, AnyInstance.pack_last_at >= start


def _just_ended(window: Window) -> ColumnElement[bool]:
    """Return the condition that the last sample of an instance is before the window by the rows, which may be behind."""
    start = window.start - LAST_STEP
    return and_(AnyInstance.last_sample_at >= start, AnyInstance.last_sample_at < window.start, *_in_pack(start, window.start))


async def was_present(
    session: AsyncSession, host_id: int, stat: StatRef, windows: Sequence[Window]
) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return the conditions that an instance belongs to the stat of the host, and was present in one of the windows.

    An instance is present from its first to its last sample. Where its row leaves the last one open, the samples decide.
    """
    sure = _is_sure(windows)
    own = and_(AnyInstance.host_id == host_id, AnyInstance.stat_id == stat.id)
    just_ended = or_(*map(_just_ended, windows))
    # One question for all windows: a baseline may have hundreds, and nearly always none of them has such an instance.
    ended = (await session.execute(select(AnyInstance.id, AnyInstance.last_sample_at).where(own, ~sure, just_ended))).all()
    late: set[int] = set()
    for window in windows:
        candidates = [id_ for id_, last in ended if window.start - LAST_STEP <= last < window.start]
        if candidates:
            late |= await _find_late(session, host_id, stat, window, candidates)
    return own, or_(sure, AnyInstance.id.in_(late)) if late else sure


async def _find_late(session: AsyncSession, host_id: int, stat: StatRef, window: Window, candidates: Sequence[int]) -> set[int]:
    """Return which of the instances have a sample in the first LAST_STEP of the window."""
    connection = await driver_of(session)
    part = Window(window.start, min(window.end, window.start + LAST_STEP + MICROSECOND))
    source = await open_source(connection, SealedQuery(host_id, stat.name, part, instance_ids=candidates))
    asked = {"host_id": host_id, "start": part.start, "end": part.end, "instance_ids": list(candidates), **source.parameters}
    cursor = await connection.execute(load_sql("present_instances").format(table=source.table), asked, prepare=False)
    return {int(str(id_)) for (id_,) in await cursor.fetchall()}


async def read_possible_window(session: AsyncSession, host_id: int, stat_id: int, window: Window) -> tuple[Window, int] | None:
    """Return the part of the window outside of which the stat has no samples, and the largest number of instances with some.

    Missing: None when there is no sample in the window
    """
    # The last sample of an active instance may be LAST_STEP later than its row says.
    first, last, n = (
        await session.execute(
            select(func.min(AnyInstance.first_sample_at), func.max(AnyInstance.last_sample_at), func.count()).where(
                AnyInstance.host_id == host_id,
                AnyInstance.stat_id == stat_id,
                AnyInstance.first_sample_at < window.end,
                AnyInstance.last_sample_at >= window.start - LAST_STEP,
                *_in_pack(window.start - LAST_STEP, window.end),
            )
        )
    ).one()
    if not n:
        return None
    # Hosts that sent samples of the year 9999 are in databases of older versions: nothing may be added to such a time.
    end = window.end if last >= window.end else min(window.end, last + LAST_STEP + MICROSECOND)
    return Window(max(window.start, first), end), n


async def read_instance_names(session: AsyncSession, ids: Sequence[int]) -> dict[int, str]:
    """Return the names of instances by id, read in parts so that a long list does not block the event loop."""
    connection = await driver_of(session)
    names: dict[int, str] = {}
    for start in range(0, len(ids), NAMES_AT_ONCE):
        cursor = await connection.execute(
            "SELECT id, name FROM instances WHERE id = ANY(%(ids)s::int8[])", {"ids": list(ids[start : start + NAMES_AT_ONCE])}
        )
        names.update((int(str(id_)), str(name)) for id_, name in await cursor.fetchall())
    names |= {own.id: own.name for own in await read_packed(connection, set(ids) - names.keys())}
    return names


class InstanceNames:
    """The names of instances, which never change: looked up on demand, and dropped when there are too many."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}

    async def of(self, session: AsyncSession, ids: Sequence[int]) -> Mapping[int, str]:
        """Return the names of these instances, and perhaps of others."""
        missing = [id_ for id_ in ids if id_ not in self._names]
        if missing:
            if len(self._names) + len(missing) > MAX_NAMES:
                self._names, missing = {}, list(ids)
            self._names.update(await read_instance_names(session, missing))
        return self._names


async def _read_stats(session: AsyncSession, names: Sequence[str]) -> list[StatRef]:
    if not names:
        return []
    rows = await session.execute(
        select(
            StatTable.id,
            StatTable.name,
            StatTable.spec,
            StatTable.spec_version,
            cast(StatField.definition, Text),
            StatField.is_documented,
            StatField.key,
            StatField.host_id,
        )
        .join(StatField, StatField.stat_id == StatTable.id)
        .where(StatTable.name.in_(names))
        .order_by(StatTable.name, StatField.position)
    )
    found = rows.all()
    brought_by = {(stat_id, key): host_id for stat_id, _, _, _, _, is_documented, key, host_id in found if not is_documented}
    hidden = await _find_hidden_columns(session, brought_by)
    known = load_catalogue().stats
    today = {name: {field.key: field for field in known[name][1].fields} for name in names if name in known}
    stats: dict[str, tuple[int, str, int, list[Field]]] = {}
    for stat_id, name, spec, version, definition, is_documented, key, _ in found:
        if (stat_id, key) in hidden:
            continue
        _, _, _, fields = stats.setdefault(name, (stat_id, spec, version, []))
        made = _to_field(definition, is_documented)
        fields.append(_described(made, today.get(name, {}).get(made.key)))
    return [StatRef(stat_id, name, spec, version, tuple(fields)) for name, (stat_id, spec, version, fields) in stats.items()]


async def _find_hidden_columns(session: AsyncSession, brought_by: Mapping[ColumnKey, int | None]) -> Set[ColumnKey]:
    """Return the columns unknown to the specs that the account of this task does not see: those that none of its hosts
    sent first or has values of in its rollups.
    """
    if limited_account() is None or not brought_by:
        return frozenset()
    visible = set(await session.scalars(select(Host.id)))
    asked = [column for column, host_id in brought_by.items() if host_id not in visible]
    connection = await driver_of(session)
    cursor = await connection.execute(
        load_sql("sent_columns"),
        {
            "hosts": list(visible),
            "stats": [stat_id for stat_id, _ in asked],
            "keys": [key for _, key in asked],
            "levels": list(ROLLUP_LEVELS),
        },
        prepare=False,
    )
    return set(asked) - {(stat_id, key) for stat_id, key in await cursor.fetchall()}


def _described(made: Field, today: Field | None) -> Field:
    """Return the field as today's spec describes it (unit, help, direction), with the types and decimals of its column."""
    return made if today is None else replace(today, storage=made.storage, decimals=made.decimals, earlier=made.earlier)


@lru_cache(maxsize=4096)
def _to_field(stored: str, is_documented: bool) -> Field:  # noqa: FBT001 - a key of the cache
    """Return the field of a column, from its stored definition: the same few hundred are asked for every few seconds."""
    definition: dict[str, object] = orjson.loads(stored)
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
        # Columns created before fields had semantics.
        semantics=Semantics(text["semantics"]) if "semantics" in text else usual_semantics(Kind(text["kind"])),
        earlier=earlier_types(definition),
    )
