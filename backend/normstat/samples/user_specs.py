"""User specs, and keeping the catalogue of this process in sync with them.

Several server processes share the table. Each compares a short revision with what it has installed, at every request of an agent
and whenever the database announces a change; so no sample is ever read with a replaced spec.
"""

from dataclasses import dataclass
from typing import Final

import anyio.to_thread
import structlog
from sqlalchemy import delete, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Stream, UserSpec
from normstat.errors import BadRequest, Conflict, NotFound, SpecError, shorten
from normstat.runtime.readable import format_bytes
from normstat.samples.spec_refresh import SPECS_CHANNEL, refresh_catalogue
from normstat.samples.stat_tables import CSV_COLUMNS, keys_without_decimals, read_stored_stats, require_names
from normstat.samples.stream_rows import clean_text
from normstat.stats.catalogue import Catalogue, UserSpecText, built_in_catalogue, load_catalogue
from normstat.stats.metric_names import find_shared_names
from normstat.stats.spec import Spec
from normstat.stats.user_spec import find_name, require_user_spec

log = structlog.get_logger()

# More would make every start of the server slow.
MAX_USER_SPECS: Final = 1000
MAX_TOTAL_BYTES: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class SpecStreams:
    """How many streams name a spec, and how many of them were read with another version of it."""

    n_streams: int
    n_streams_outdated: int


NO_STREAMS: Final = SpecStreams(0, 0)


async def find_user_spec(session: AsyncSession, name: str) -> UserSpec | None:
    """Return the row of that spec, or None."""
    return await session.get(UserSpec, name, populate_existing=True)


async def list_user_specs(session: AsyncSession) -> list[UserSpec]:
    """Return all user specs by name."""
    return list(await session.scalars(select(UserSpec).order_by(UserSpec.name)))


async def put_user_spec(session: AsyncSession, *, name: str, toml: str, created_by: str) -> UserSpec:
    """Return the present spec: added, or changed with the next version, or unchanged if the text is the same.

    Raises: BadRequest for an invalid spec, saying where, or one whose columns do not fit those of its tables
    """
    await _lock(session)
    await refresh_catalogue(session)
    known = await find_user_spec(session, name)
    if known is not None and known.toml == toml:
        return known
    if known is None and len(load_catalogue().user_specs) >= MAX_USER_SPECS:
        raise BadRequest(f"There are already {MAX_USER_SPECS} user specs, the maximum; remove unused ones")
    others = await session.scalar(select(func.sum(func.octet_length(UserSpec.toml))).where(UserSpec.name != name)) or 0
    if others + len(toml.encode("utf-8", "surrogatepass")) > MAX_TOTAL_BYTES:
        raise BadRequest(f"All user specs together may have {format_bytes(MAX_TOTAL_BYTES)}; remove unused ones")
    version = 1 if known is None else known.version + 1
    await _require_right(session, UserSpecText(name, toml, version))
    values = {"toml": toml, "version": version, "updated_at": func.clock_timestamp()}
    await session.execute(
        insert(UserSpec)
        .values(name=name, created_by=created_by, **values)
        .on_conflict_do_update(index_elements=["name"], set_=values)
    )
    await _announce(session)
    found = await find_user_spec(session, name)
    assert found is not None
    return found


async def check_text(session: AsyncSession, toml: str) -> str:
    """Return the name of the spec in the text, if it could be added.

    Raises: BadRequest as put_user_spec
    """
    await refresh_catalogue(session)
    try:
        name = await anyio.to_thread.run_sync(find_name, toml)
    except SpecError as error:
        raise BadRequest(error.message) from error
    await _require_right(session, UserSpecText(name, toml, 1))
    return name


async def delete_user_spec(session: AsyncSession, name: str) -> None:
    """Delete a user spec.

    Raises: NotFound for an unknown name; Conflict for a built-in spec, and while streams name it
    """
    await _lock(session)
    if name in built_in_catalogue().specs:
        raise Conflict(f"{shorten(name)} is built in; only user specs can be removed")
    if await find_user_spec(session, name) is None:
        raise NotFound(f"There is no spec {shorten(name)}", {"spec": name})
    n_streams = await session.scalar(select(func.count()).where(Stream.spec == name))
    if n_streams:
        raise Conflict(
            f"{n_streams} {'stream has' if n_streams == 1 else 'streams have'} bytes that only the spec {shorten(name)} can read; "
            "it stays as long as they do",
            {"spec": name, "n_streams": n_streams},
        )
    await session.execute(delete(UserSpec).where(UserSpec.name == name))
    await _announce(session)


async def count_streams(session: AsyncSession) -> dict[str, SpecStreams]:
    """Return the streams of each spec that any stream names."""
    has_bytes = Stream.acked_offset > Stream.n_gap_bytes
    query = select(Stream.spec, Stream.spec_version, has_bytes, func.count()).group_by(Stream.spec, Stream.spec_version, has_bytes)
    specs = load_catalogue().specs
    counts: dict[str, SpecStreams] = {}
    for name, version, is_filled, n in await session.execute(query):
        known = counts.get(name, NO_STREAMS)
        spec = specs.get(name)
        is_outdated = is_filled and spec is not None and spec.version != version
        counts[name] = SpecStreams(known.n_streams + n, known.n_streams_outdated + (n if is_outdated else 0))
    return counts


async def count_streams_of(session: AsyncSession, spec: Spec) -> SpecStreams:
    """Return the streams of one spec, whether it is in the catalogue or not."""
    is_outdated = (Stream.acked_offset > Stream.n_gap_bytes) & (Stream.spec_version != spec.version)
    query = select(func.count(), func.count().filter(is_outdated)).where(Stream.spec == spec.name)
    n_streams, n_outdated = (await session.execute(query)).one()
    return SpecStreams(n_streams, n_outdated)


async def _lock(session: AsyncSession) -> None:
    # Changes are serialised: each increments the previous version, and its instant is the latest.
    await session.execute(text("LOCK TABLE user_specs IN SHARE ROW EXCLUSIVE MODE"))


async def _announce(session: AsyncSession) -> None:
    await session.execute(text("SELECT pg_notify(:channel, '')"), {"channel": SPECS_CHANNEL})


async def _require_right(session: AsyncSession, item: UserSpecText) -> Spec:
    if clean_text(item.toml) != item.toml:
        raise BadRequest(
            f"{item.name}.toml: contains NUL or halves of surrogate pairs, which are not valid text", {"spec": item.name}
        )
    try:
        spec = await anyio.to_thread.run_sync(require_user_spec, item, _without(load_catalogue(), item.name))
        require_names(spec)
    except SpecError as error:
        raise BadRequest(error.message, {"spec": item.name}) from error
    shared = await anyio.to_thread.run_sync(_find_shared_names, spec)
    if shared:
        raise BadRequest(f"{item.name}.toml: {shared[0]}", {"spec": item.name})
    stored = await read_stored_stats(session, [stat.name for stat in spec.stats])
    for stat in spec.stats:
        found = stored.get(stat.name)
        wider = keys_without_decimals(found, stat.fields) if found is not None else []
        if wider:
            raise BadRequest(
                f"{item.name}.toml: the table {stat.name} keeps whole numbers in {', '.join(wider)}, and they cannot get decimals "
                "any more; give the field another key",
                {"spec": item.name, "stat": stat.name},
            )
    return spec


def _find_shared_names(spec: Spec) -> list[str]:
    """Return a sentence for each field of the spec that has the name of another one, as a metric or in a CSV file."""
    own = {stat.name for stat in spec.stats}
    stats = load_catalogue().stats
    near = [
        name
        for name in stats
        if name not in own and any(name.startswith(f"{each}_") or each.startswith(f"{name}_") for each in own)
    ]
    in_files = [
        f"the key {field.key!r} of {stat.name} is a column of every CSV file; choose another"
        for stat in spec.stats
        for field in stat.fields
        if field.key in CSV_COLUMNS
    ]
    return in_files + find_shared_names([*spec.stats, *(stats[name][1] for name in near)])


def _without(catalogue: Catalogue, name: str) -> Catalogue:
    """Return the catalogue without one spec."""
    return Catalogue(
        {key: spec for key, spec in catalogue.specs.items() if key != name},
        {key: found for key, found in catalogue.stats.items() if found[0].name != name},
        catalogue.user_specs - {name},
        catalogue.revision,
    )
