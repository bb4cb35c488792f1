"""Host groups. The baselines of a group cover its present hosts; each change of them creates new versions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field
from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.baseline_versions import add_version, lock_baselines
from normstat.db.named_rows import flush_name
from normstat.db.schema.baseline_models import Baseline, BaselineHost, HostGroup, HostGroupHost
from normstat.db.schema.models import Host
from normstat.errors import BadRequest, NotFound, shorten
from normstat.runtime.body import Body, Name, Note

NAME_CONSTRAINT: Final = "uq_host_groups__name"


@dataclass(frozen=True, slots=True)
class HostGroupInfo:
    """A host group, and the names of the baselines that use it."""

    id: int
    name: str
    note: str
    hosts: list[str]
    baselines: list[str]


Hosts = Annotated[list[Name], Field(min_length=1, max_length=10_000)]


class HostGroupUpdate(Body):
    """Changes to a group; members left out stay unchanged. Other hosts give the group's baselines a new version."""

    name: Name | None = None
    note: Note | None = None
    hosts: Hosts | None = None


async def create_group(session: AsyncSession, name: str, note: str, hosts: Sequence[str], *, created_by: str = "") -> HostGroupInfo:
    """Return the new group.

    Raises: Conflict when the name is taken; NotFound for an unknown host; BadRequest without a host
    """
    await lock_baselines(session)
    found = await _require_hosts(session, hosts)
    group = HostGroup(name=name, note=note, created_by=created_by)
    session.add(group)
    await flush_name(session, name, constraint=NAME_CONSTRAINT, what="Host group")
    session.add_all(HostGroupHost(group_id=group.id, host_id=host_id) for host_id in found.values())
    await session.flush()
    return await read_group(session, group.id)


async def list_groups(session: AsyncSession) -> list[HostGroupInfo]:
    """Return all groups, by name."""
    query = select(HostGroup).order_by(HostGroup.name).execution_options(populate_existing=True)
    return await _to_records(session, (await session.scalars(query)).all())


async def read_group(session: AsyncSession, group_id: int) -> HostGroupInfo:
    """Return one group.

    Raises: NotFound
    """
    [record] = await _to_records(session, [await _require(session, group_id)])
    return record


async def find_group(session: AsyncSession, name: str) -> HostGroupInfo:
    """Return the group of that name.

    Raises: NotFound
    """
    group = await session.scalar(select(HostGroup).where(HostGroup.name == name))
    if group is None:
        raise _unknown(name)
    [record] = await _to_records(session, [group])
    return record


async def lock_group(session: AsyncSession, name: str) -> tuple[int, list[int]]:
    """Return the id and the hosts of the group of that name, locked until the transaction ends.

    Raises: NotFound; BadRequest for a group without hosts
    """
    group_id = await session.scalar(select(HostGroup.id).where(HostGroup.name == name).with_for_update(read=True))
    if group_id is None:
        raise _unknown(name)
    host_ids = (await session.scalars(select(HostGroupHost.host_id).where(HostGroupHost.group_id == group_id))).all()
    if not host_ids:
        raise BadRequest(f"Host group {shorten(name)} has no hosts; a baseline covers at least one", {"group": name})
    return group_id, sorted(host_ids)


def _unknown(name: str) -> NotFound:
    return NotFound(f"There is no host group {shorten(name)}; GET /api/v1/host-groups lists them", {"group": name})


async def update_group(session: AsyncSession, group_id: int, body: HostGroupUpdate, *, by: str) -> HostGroupInfo:
    """Return the changed group; other hosts give its baselines a new version.

    Raises: NotFound; Conflict when the name is taken; BadRequest without hosts
    """
    await lock_baselines(session)
    group = await _require(session, group_id, is_locked=True)
    if body.name is not None:
        group.name = body.name
    if body.note is not None:
        group.note = body.note
    await flush_name(session, group.name, constraint=NAME_CONSTRAINT, what="Host group")
    if body.hosts is not None:
        await _change_hosts(session, group, body.hosts, changed_by=by)
    return await read_group(session, group_id)


async def delete_group(session: AsyncSession, group_id: int) -> None:
    """Delete the group; its baselines keep covering the hosts that it had.

    Raises: NotFound
    """
    await lock_baselines(session)
    await session.delete(await _require(session, group_id, is_locked=True))
    await session.flush()


async def _change_hosts(session: AsyncSession, group: HostGroup, names: Sequence[str], *, changed_by: str) -> None:
    wanted = await _require_hosts(session, names)
    query = (
        select(Host.name, Host.id).join(HostGroupHost, HostGroupHost.host_id == Host.id).where(HostGroupHost.group_id == group.id)
    )
    present = dict((await session.execute(query)).all())
    added, gone = sorted(wanted.keys() - present.keys()), sorted(present.keys() - wanted.keys())
    if not added and not gone:
        return
    gone_ids = [present[name] for name in gone]
    await session.execute(
        delete(HostGroupHost).where(HostGroupHost.group_id == group.id, HostGroupHost.host_id.in_(gone_ids))
    )  # fmt: skip
    session.add_all(HostGroupHost(group_id=group.id, host_id=wanted[name]) for name in added)
    words = ", ".join([*(f"{name} came" for name in added), *(f"{name} went" for name in gone)])
    query_baselines = (
        select(Baseline)
        .where(Baseline.group_id == group.id)
        .order_by(Baseline.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    for baseline in (await session.scalars(query_baselines)).all():
        await session.execute(delete(BaselineHost).where(BaselineHost.baseline_id == baseline.id))
        session.add_all(BaselineHost(baseline_id=baseline.id, host_id=host_id) for host_id in wanted.values())
        baseline.version += 1
        await session.flush()
        await add_version(session, baseline, reason=f"host group {group.name}: {words}", made_by=changed_by)
    await session.flush()


async def _require(session: AsyncSession, group_id: int, *, is_locked: bool = False) -> HostGroup:
    group = await session.get(HostGroup, group_id, with_for_update=is_locked or None, populate_existing=True)
    if group is None:
        raise NotFound(f"There is no host group {group_id}; GET /api/v1/host-groups lists them", {"group": group_id})
    return group


async def _require_hosts(session: AsyncSession, names: Sequence[str]) -> dict[str, int]:
    """Return the hosts by name, locked so that they cannot be deleted in the meantime."""
    if not names:
        raise BadRequest("A host group needs at least one host; give the names in `hosts`")
    query = select(Host.name, Host.id).where(Host.name.in_(names)).with_for_update(key_share=True, read=True)
    found = dict((await session.execute(query)).all())
    for name in names:
        if name not in found:
            raise NotFound(f"There is no host {shorten(name)}; GET /api/v1/hosts lists them", {"host": name})
    return found


async def _to_records(session: AsyncSession, groups: Sequence[HostGroup]) -> list[HostGroupInfo]:
    ids = [group.id for group in groups]
    hosts = select(HostGroupHost.group_id, func.array_agg(Host.name.distinct())).join(Host, Host.id == HostGroupHost.host_id)
    hosts_of = dict((await session.execute(hosts.where(HostGroupHost.group_id.in_(ids)).group_by(HostGroupHost.group_id))).all())
    names = select(Baseline.group_id, func.array_agg(Baseline.name.distinct())).where(Baseline.group_id.in_(ids))
    names_of = dict((await session.execute(names.group_by(Baseline.group_id))).all())
    return [
        HostGroupInfo(group.id, group.name, group.note, sorted(hosts_of.get(group.id, [])), sorted(names_of.get(group.id, [])))
        for group in groups
    ]
