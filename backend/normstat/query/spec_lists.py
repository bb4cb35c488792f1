"""Specs as the page lists them, with the number of streams that use each."""

from dataclasses import dataclass

import anyio.to_thread
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.errors import NotFound, SpecError, shorten
from normstat.stats.catalogue import UserSpecText, load_catalogue, parse_user_spec, read_built_in
from normstat.stats.spec import Spec
from normstat.storage.schema.models import UserSpec
from normstat.storage.user_specs import (
    NO_STREAMS,
    SpecStreams,
    count_streams,
    count_streams_of,
    find_user_spec,
    list_user_specs,
    refresh_catalogue,
)


@dataclass(frozen=True, slots=True)
class SpecRecord:
    """A spec, and how many streams name it; `n_streams_outdated` of them were read with another version.

    `disabled_reason`: why this program cannot read it although an older one could; its streams are stored unread.
    """

    name: str
    title: str
    tool: str
    os: str
    version: int
    is_builtin: bool
    stats: list[str]
    n_streams: int
    n_streams_outdated: int
    disabled_reason: str = ""


async def list_specs(session: AsyncSession) -> list[SpecRecord]:
    """Return all specs by name: those of the catalogue, and user specs that this program cannot read."""
    await refresh_catalogue(session)
    counts = await count_streams(session)
    catalogue = load_catalogue()
    found = [
        _to_record(spec, counts.get(spec.name, NO_STREAMS), is_builtin=spec.name not in catalogue.user_specs)
        for spec in catalogue.specs.values()
    ]
    unreadable = [row for row in await list_user_specs(session) if row.name not in catalogue.user_specs]
    found += [
        _unreadable(row, counts.get(row.name, NO_STREAMS), catalogue.troubles.get(row.name, "it is not installed yet"))
        for row in unreadable
        if row.name not in catalogue.specs
    ]
    return sorted(found, key=lambda record: record.name)


async def read_spec(session: AsyncSession, name: str) -> tuple[SpecRecord, str]:
    """Return a spec and its text.

    Raises: NotFound
    """
    await refresh_catalogue(session)
    spec = load_catalogue().specs.get(name)
    row = await find_user_spec(session, name)
    if spec is None and row is None:
        raise NotFound(f"There is no spec {shorten(name)}; GET /api/v1/specs lists all", {"spec": name})
    if row is None or (spec is not None and name not in load_catalogue().user_specs):
        assert spec is not None
        return _to_record(spec, await count_streams_of(session, spec), is_builtin=True), read_built_in(name)
    return await describe(session, row), row.toml


async def describe(session: AsyncSession, row: UserSpec) -> SpecRecord:
    """Return a user spec as its row describes it, installed or not."""
    try:
        spec = await anyio.to_thread.run_sync(parse_user_spec, UserSpecText(row.name, row.toml, row.version))
    except SpecError as trouble:
        return _unreadable(row, NO_STREAMS, trouble.message)
    return _to_record(spec, await count_streams_of(session, spec), is_builtin=False)


def _to_record(spec: Spec, streams: SpecStreams, *, is_builtin: bool) -> SpecRecord:
    return SpecRecord(
        name=spec.name,
        title=spec.title,
        tool=spec.tool,
        os=spec.os,
        version=spec.version,
        is_builtin=is_builtin,
        stats=[stat.name for stat in spec.stats],
        n_streams=streams.n_streams,
        n_streams_outdated=streams.n_streams_outdated,
    )


def _unreadable(row: UserSpec, streams: SpecStreams, reason: str) -> SpecRecord:
    """Return a spec that this program cannot read, though the program it was added with could."""
    return SpecRecord(
        name=row.name,
        title=f"Disabled: {reason}",
        tool="",
        os="",
        version=row.version,
        is_builtin=False,
        stats=[],
        n_streams=streams.n_streams,
        n_streams_outdated=0,
        disabled_reason=reason,
    )
