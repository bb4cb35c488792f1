"""Baselines: periods that a person marked as normal."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.window import Window


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
    raise NotImplementedError


async def list_baselines(session: AsyncSession, host: str | None = None) -> list[BaselineRecord]:
    """All baselines, or those of one host, the newest first.

    Raises: NotFound for an unknown host
    """
    raise NotImplementedError


async def read_baseline(session: AsyncSession, baseline_id: int) -> BaselineRecord:
    """One baseline.

    Raises: NotFound
    """
    raise NotImplementedError


async def update_baseline(session: AsyncSession, baseline_id: int, change: BaselineChange) -> BaselineRecord:
    """The baseline after the change; its version grows when its windows changed.

    Raises: NotFound; Conflict when the name is taken; BadRequest for no windows
    """
    raise NotImplementedError


async def delete_baseline(session: AsyncSession, baseline_id: int) -> None:
    """Removes a baseline; samples stay.

    Raises: NotFound
    """
    raise NotImplementedError
