"""Specs as the page lists them, with the number of streams that use each."""

from dataclasses import asdict, dataclass

import anyio.to_thread
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.row_records import to_record
from normstat.db.schema.models import UserSpec
from normstat.errors import NotFound, SpecError, shorten
from normstat.runtime.field_docs import Documented
from normstat.samples.spec_refresh import refresh_catalogue
from normstat.samples.user_specs import NO_STREAMS, SpecStreams, count_streams, count_streams_of, find_user_spec, list_user_specs
from normstat.stats.catalogue import UserSpecText, load_catalogue, parse_user_spec, read_built_in
from normstat.stats.spec import Spec


@dataclass(frozen=True, slots=True)
class SpecInfo(Documented):
    """A spec, and how many streams use it."""

    name: str
    title: str
    tool: str
    os: str
    version: int
    is_builtin: bool
    stats: list[str]
    n_streams: int
    n_streams_outdated: int
    """Streams whose samples were read with another version of the spec; a reparse reads them again."""

    disabled_reason: str
    """Why a user spec can no longer be read; its streams are stored unread until it is corrected. Empty otherwise."""


@dataclass(frozen=True, slots=True)
class SpecList(Documented):
    """All specs by name: built-in and user specs."""

    specs: list[SpecInfo]


@dataclass(frozen=True, slots=True)
class SpecDetail(SpecInfo):
    """A spec with its text."""

    toml: str


async def list_specs(session: AsyncSession) -> SpecList:
    """Return all specs by name: those of the catalogue, and user specs that this program cannot read."""
    await refresh_catalogue(session)
    counts = await count_streams(session)
    catalogue = load_catalogue()
    found = [
        _to_info(spec, counts.get(spec.name, NO_STREAMS), is_builtin=spec.name not in catalogue.user_specs)
        for spec in catalogue.specs.values()
    ]
    unreadable = [row for row in await list_user_specs(session) if row.name not in catalogue.user_specs]
    found += [
        _unreadable(row, counts.get(row.name, NO_STREAMS), catalogue.troubles.get(row.name, "it is not installed yet"))
        for row in unreadable
        if row.name not in catalogue.specs
    ]
    return SpecList(sorted(found, key=lambda info: info.name))


async def read_spec(session: AsyncSession, name: str) -> SpecDetail:
    """Return a spec with its text.

    Raises: NotFound
    """
    await refresh_catalogue(session)
    spec = load_catalogue().specs.get(name)
    row = await find_user_spec(session, name)
    if spec is None and row is None:
        raise NotFound(f"There is no spec {shorten(name)}; GET /api/v1/specs lists all", {"spec": name})
    if row is None or (spec is not None and name not in load_catalogue().user_specs):
        assert spec is not None
        info, toml = _to_info(spec, await count_streams_of(session, spec), is_builtin=True), read_built_in(name)
    else:
        info, toml = await describe(session, row), row.toml
    return SpecDetail(**asdict(info), toml=toml)


async def describe(session: AsyncSession, row: UserSpec) -> SpecInfo:
    """Return a user spec as its row describes it, installed or not."""
    try:
        spec = await anyio.to_thread.run_sync(parse_user_spec, UserSpecText(row.name, row.toml, row.version))
    except SpecError as trouble:
        return _unreadable(row, NO_STREAMS, trouble.message)
    return _to_info(spec, await count_streams_of(session, spec), is_builtin=False)


def _to_info(spec: Spec, streams: SpecStreams, *, is_builtin: bool) -> SpecInfo:
    return to_record(
        SpecInfo,
        spec,
        is_builtin=is_builtin,
        stats=[stat.name for stat in spec.stats],
        n_streams=streams.n_streams,
        n_streams_outdated=streams.n_streams_outdated,
        disabled_reason="",
    )


def _unreadable(row: UserSpec, streams: SpecStreams, reason: str) -> SpecInfo:
    """Return a spec that this program cannot read, though the program it was added with could."""
    return SpecInfo(
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
