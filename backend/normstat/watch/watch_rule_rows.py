"""Stored watch rules: users' own, changes of built-in ones, and limits for some hosts in place of a rule's own."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field
from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.host_group_rows import find_group
from normstat.db.row_records import to_record
from normstat.db.schema.baseline_models import HostGroup
from normstat.db.schema.models import Host
from normstat.db.schema.watch_models import RuleChange, RuleLimitRow, StoredRule
from normstat.errors import BadRequest, NotFound, shorten
from normstat.runtime.body import Body, Name, Note, Tag
from normstat.samples.lookup import require_host

MAX_RULES: Final = 200
MAX_CHANGES: Final = 200


@dataclass(frozen=True, slots=True)
class RuleUpdate:
    """A change of a rule: what to store, and how to name the change. `toml` is None for a built-in rule."""

    name: str
    toml: str | None
    version: int
    is_enabled: bool
    change: str
    changed_by: str


@dataclass(frozen=True, slots=True)
class LimitRecord:
    """Another value for a limit of a rule: on one host, on the hosts of a group, or on the hosts with a tag."""

    id: int
    rule: str
    name: str
    value: float
    host: str | None
    tag: str | None
    group: str | None
    reason: str
    created_by: str
    created_at: datetime


class RuleLimitSet(Body):
    """Another value for a limit, for one host, for the hosts of a group, or for the hosts with a tag."""

    name: Name
    value: Annotated[float, Field(allow_inf_nan=False)]
    host: Name | None = None
    tag: Tag | None = None
    group: Name | None = None
    reason: Note = ""


async def list_stored_rules(session: AsyncSession) -> list[StoredRule]:
    """Return the stored rules that are not deleted, by name."""
    query = select(StoredRule).where(StoredRule.deleted_at.is_(None)).order_by(StoredRule.name)
    return list(await session.scalars(query, execution_options={"populate_existing": True}))


async def lock_stored_rule(session: AsyncSession, name: str) -> StoredRule | None:
    """Return a stored rule, also a deleted one, locked until the transaction ends. Missing: None without one"""
    query = select(StoredRule).where(StoredRule.name == name).with_for_update()
    row: StoredRule | None = await session.scalar(query, execution_options={"populate_existing": True})
    return row


async def save_rule(session: AsyncSession, wanted: RuleUpdate) -> None:
    """Store a rule's new state, and the change; a stopped one may run again.

    Raises: BadRequest with too many rules
    """
    n_rules = await session.scalar(select(func.count()).select_from(StoredRule).where(StoredRule.deleted_at.is_(None)))
    if (n_rules or 0) > MAX_RULES:
        raise BadRequest(f"There are {n_rules} rules; at most {MAX_RULES} can be stored. Delete some first")
    values = {
        "toml": wanted.toml,
        "version": wanted.version,
        "is_enabled": wanted.is_enabled,
        "updated_by": wanted.changed_by,
        "updated_at": func.now(),
        "stopped_at": None,
        "stopped_why": "",
        "deleted_at": None,
    }
    put = insert(StoredRule).values(name=wanted.name, **values)
    await session.execute(put.on_conflict_do_update(index_elements=["name"], set_=values))
    await note_change(session, wanted)


async def note_change(session: AsyncSession, wanted: RuleUpdate) -> None:
    """Add a change to the history of a rule."""
    session.add(
        RuleChange(rule=wanted.name, version=wanted.version, toml=wanted.toml, change=wanted.change, changed_by=wanted.changed_by)
    )
    await session.flush()


async def delete_rule(session: AsyncSession, name: str, version: int, *, by: str) -> None:
    """Delete a user's rule; its history and its episodes stay."""
    values = {"deleted_at": func.now(), "is_enabled": False, "updated_by": by, "updated_at": func.now()}
    await session.execute(update(StoredRule).where(StoredRule.name == name).values(values))
    await note_change(session, RuleUpdate(name, None, version, is_enabled=False, change="deleted", changed_by=by))


async def stop_rule(session: AsyncSession, name: str, toml: str | None, version: int, *, why: str) -> None:
    """Stop a rule that exceeded a limit until it is changed or enabled again."""
    values = {"stopped_at": func.now(), "stopped_why": why}
    put = insert(StoredRule).values(name=name, toml=toml, version=version, is_enabled=True, updated_by="", **values)
    await session.execute(put.on_conflict_do_update(index_elements=["name"], set_=values))
    await note_change(session, RuleUpdate(name, None, version, is_enabled=True, change=f"stopped: {why}", changed_by="normstat"))


async def list_changes(session: AsyncSession, name: str) -> list[RuleChange]:
    """Return the changes of a rule, the latest first."""
    query = select(RuleChange).where(RuleChange.rule == name).order_by(RuleChange.id.desc()).limit(MAX_CHANGES)
    return list(await session.scalars(query))


async def list_limits(session: AsyncSession, rule: str | None = None) -> list[LimitRecord]:
    """Return the limits that are set for some hosts, of one rule or of all: those of tags first, then those of
    groups and of hosts.
    """
    query = (
        select(RuleLimitRow, Host.name, HostGroup.name)
        .outerjoin(Host, Host.id == RuleLimitRow.host_id)
        .outerjoin(HostGroup, HostGroup.id == RuleLimitRow.group_id)
    )
    if rule is not None:
        query = query.where(RuleLimitRow.rule == rule)
    order = (RuleLimitRow.host_id.is_not(None), RuleLimitRow.group_id.is_not(None), RuleLimitRow.id)
    return [
        to_record(LimitRecord, row, host=host, group=group) for row, host, group in await session.execute(query.order_by(*order))
    ]


async def set_limit(session: AsyncSession, rule: str, body: RuleLimitSet, *, by: str) -> LimitRecord:
    """Return the limit, set in place of the one that the same hosts had.

    Raises: NotFound for an unknown host or group
    """
    host_id = None if body.host is None else await require_host(session, body.host)
    group_id = None if body.group is None else (await find_group(session, body.group)).id
    same = (
        (RuleLimitRow.rule == rule)
        & (RuleLimitRow.name == body.name)
        & RuleLimitRow.host_id.is_not_distinct_from(host_id)
        & RuleLimitRow.tag.is_not_distinct_from(body.tag)
        & RuleLimitRow.group_id.is_not_distinct_from(group_id)
    )
    await session.execute(delete(RuleLimitRow).where(same))
    given = body.model_dump(exclude={"host", "group"})
    row = RuleLimitRow(rule=rule, host_id=host_id, group_id=group_id, created_by=by, **given)
    session.add(row)
    await session.flush()
    await session.refresh(row)
    return to_record(LimitRecord, row, host=body.host, group=body.group)


async def delete_limit(session: AsyncSession, limit_id: int) -> LimitRecord:
    """Remove a limit that was set for some hosts, and return it: the rule's own applies again.

    Raises: NotFound
    """
    row = await session.get(RuleLimitRow, limit_id, with_for_update=True)
    if row is None:
        raise NotFound(f"There is no limit {limit_id}; GET /api/v1/rules/NAME lists those of a rule", {"id": limit_id})
    host = await session.scalar(select(Host.name).where(Host.id == row.host_id))
    group = await session.scalar(select(HostGroup.name).where(HostGroup.id == row.group_id))
    record = to_record(LimitRecord, row, host=host, group=group)
    await session.delete(row)
    await session.flush()
    return record


def unknown_rule(name: str) -> NotFound:
    """Return the error for a rule that does not exist."""
    return NotFound(f"There is no rule {shorten(name)}; GET /api/v1/rules lists them", {"rule": name})


async def read_now(session: AsyncSession) -> datetime:
    """Return the time of the transaction."""
    now: datetime | None = await session.scalar(select(func.now()))
    assert now is not None
    return now
