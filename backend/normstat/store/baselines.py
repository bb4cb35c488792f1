"""Baselines: periods that a person marked as normal."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import Range
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.errors import BadRequest, Conflict, NotFound, shorten
from normstat.store.baseline_models import Baseline, BaselineHost
from normstat.store.models import Host
from normstat.window import Window

NAME_CONSTRAINT: Final = "uq_baselines__name"


@dataclass(frozen=True, slots=True)
class BaselineRecord:
    """A baseline; `windows` do not overlap and are in order."""

    id: int
    name: str
    note: str
    hosts: list[str]
    windows: list[Window]
    version: int
    created_by: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class BaselineDraft:
    """A baseline that does not stand yet."""

    name: str
    note: str
    hosts: tuple[str, ...]
    windows: tuple[Window, ...]
    created_by: str


@dataclass(frozen=True, slots=True)
class BaselineChange:
    """What to change; None stays as it is."""

    name: str | None = None
    note: str | None = None
    windows: tuple[Window, ...] | None = None


async def create_baseline(session: AsyncSession, draft: BaselineDraft) -> BaselineRecord:
    """The new baseline; windows that overlap or touch are merged.

    Raises: Conflict when the name is taken; NotFound for an unknown host; BadRequest without a host or window
    """
    host_ids = await _require_hosts(session, draft.hosts)
    baseline = Baseline(name=draft.name, note=draft.note, windows=_to_ranges(draft.windows), created_by=draft.created_by)
    session.add(baseline)
    await _flush_name(session, draft.name)
    session.add_all(BaselineHost(baseline_id=baseline.id, host_id=host_id) for host_id in host_ids)
    await session.flush()
    return await read_baseline(session, baseline.id)


async def list_baselines(session: AsyncSession, host: str | None = None) -> list[BaselineRecord]:
    """All baselines, or those of one host, the newest first.

    Raises: NotFound for an unknown host
    """
    statement = select(Baseline).order_by(Baseline.created_at.desc(), Baseline.id.desc())
    if host is not None:
        [host_id] = await _require_hosts(session, [host])
        own = select(BaselineHost.baseline_id).where(BaselineHost.host_id == host_id)
        statement = statement.where(Baseline.id.in_(own))
    return await _to_records(session, (await session.scalars(statement)).all())


async def read_baseline(session: AsyncSession, baseline_id: int) -> BaselineRecord:
    """One baseline.

    Raises: NotFound
    """
    baseline = await _require(session, baseline_id)
    # The database merged the windows and set the times: what it holds counts.
    await session.refresh(baseline)
    [record] = await _to_records(session, [baseline])
    return record


async def update_baseline(session: AsyncSession, baseline_id: int, change: BaselineChange) -> BaselineRecord:
    """The baseline after the change; its version grows when its windows changed.

    Raises: NotFound; Conflict when the name is taken; BadRequest for no windows
    """
    baseline = await _require(session, baseline_id, is_locked=True)
    baseline.updated_at = (await session.scalars(select(func.now()))).one()
    if change.windows is not None:
        baseline.windows = _to_ranges(change.windows)
        baseline.version += 1
    if change.note is not None:
        baseline.note = change.note
    if change.name is not None:
        baseline.name = change.name
    await _flush_name(session, baseline.name)
    return await read_baseline(session, baseline_id)


async def delete_baseline(session: AsyncSession, baseline_id: int) -> None:
    """Removes a baseline; samples stay.

    Raises: NotFound
    """
    await session.delete(await _require(session, baseline_id, is_locked=True))
    await session.flush()


async def _require(session: AsyncSession, baseline_id: int, *, is_locked: bool = False) -> Baseline:
    baseline = await session.get(Baseline, baseline_id, with_for_update=is_locked or None)
    if baseline is None:
        raise NotFound(f"There is no baseline {baseline_id}; GET /api/v1/baselines lists them", {"baseline": baseline_id})
    return baseline


async def _require_hosts(session: AsyncSession, names: Sequence[str]) -> list[int]:
    if not names:
        raise BadRequest("A baseline speaks of at least one host; give the names in `hosts`")
    found = dict((await session.execute(select(Host.name, Host.id).where(Host.name.in_(names)))).all())
    for name in names:
        if name not in found:
            raise NotFound(f"There is no host {shorten(name)}; GET /api/v1/hosts lists them", {"host": name})
    return sorted(set(found.values()))


def _to_ranges(windows: Sequence[Window]) -> list[Range[datetime]]:
    """A multirange; PostgreSQL merges ranges that overlap or touch and puts them in order."""
    if not windows:
        raise BadRequest("A baseline has at least one window; give start and end in `windows`")
    return [Range(window.start, window.end, bounds="[)") for window in windows]


async def _flush_name(session: AsyncSession, name: str) -> None:
    try:
        await session.flush()
    except IntegrityError as error:
        if NAME_CONSTRAINT not in str(error.orig):
            raise
        raise Conflict(f"There is a baseline {shorten(name)} already; choose another name", {"name": name}) from None


async def _to_records(session: AsyncSession, baselines: Sequence[Baseline]) -> list[BaselineRecord]:
    rows = await session.execute(
        select(BaselineHost.baseline_id, Host.name)
        .join(Host, Host.id == BaselineHost.host_id)
        .where(BaselineHost.baseline_id.in_([baseline.id for baseline in baselines]))
        .order_by(Host.name)
    )
    hosts: dict[int, list[str]] = {}
    for baseline_id, name in rows:
        hosts.setdefault(baseline_id, []).append(name)
    return [
        BaselineRecord(
            id=baseline.id,
            name=baseline.name,
            note=baseline.note,
            hosts=hosts.get(baseline.id, []),
            windows=[Window(piece.lower, piece.upper) for piece in baseline.windows if piece.lower and piece.upper],
            version=baseline.version,
            created_by=baseline.created_by,
            created_at=baseline.created_at,
            updated_at=baseline.updated_at,
        )
        for baseline in baselines
    ]
