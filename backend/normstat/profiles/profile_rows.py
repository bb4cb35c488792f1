"""The rows of `profile_pieces` and `profiles`; profiles/sketch.py and profiles/profile_codec.py define their bodies.

A piece is claimed before its samples are read, and stored only while the claim stands: see profile_marks.py.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.baseline_records import to_ranges, to_windows
from normstat.baselines.covering_rows import read_windows
from normstat.db.schema.baseline_models import BaselineHost, Profile, ProfilePiece
from normstat.db.schema.models import StatTable
from normstat.db.session import WriteSession, driver_of
from normstat.samples.stream_rows import lock_host_by_id
from normstat.window import Window

# The slot of all hours; seasonal slots are counted from 0.
WHOLE_SLOT: Final = -1
# Maximum time for which we block ingest on the host's row.
LOCK_WAIT: Final = "SET LOCAL lock_timeout = '5s'"
READ_PIECES: Final = """
    SELECT start_at, end_at, stat_id, made_at, spec_version, n_rows, length(body) FROM profile_pieces
    WHERE host_id = %(host_id)s AND method = %(method)s AND start_at < %(end)s AND end_at > %(start)s
    ORDER BY start_at, end_at, stat_id
"""
READ_BODIES: Final = """
    SELECT p.body FROM unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS span(start_at, end_at)
    JOIN profile_pieces AS p ON p.host_id = %(host_id)s AND p.stat_id = %(stat_id)s AND p.start_at = span.start_at
      AND p.end_at = span.end_at AND p.method = %(method)s AND length(p.body) > 0
    ORDER BY p.start_at
"""
READ_PROFILES: Final = """
    SELECT p.baseline_id, p.version, p.host_id, p.slot, p.method, p.made_at, p.until_at, p.effective::text, p.is_stale, p.sources
    FROM unnest(%(baselines)s::int8[], %(versions)s::int4[], %(hosts)s::int8[], %(slots)s::int2[], %(others)s::int2[])
      AS wanted(baseline_id, version, host_id, slot, other)
    JOIN profiles AS p ON p.baseline_id = wanted.baseline_id AND p.version = wanted.version AND p.host_id = wanted.host_id
      AND p.slot IN (-1, wanted.slot, wanted.other) AND p.method = %(method)s
"""
READ_BANDS: Final = """
    SELECT p.baseline_id, p.version, p.host_id, p.slot, p.band
    FROM unnest(%(baselines)s::int8[], %(versions)s::int4[], %(hosts)s::int8[], %(slots)s::int2[])
      AS wanted(baseline_id, version, host_id, slot)
    JOIN profiles AS p ON p.baseline_id = wanted.baseline_id AND p.version = wanted.version AND p.host_id = wanted.host_id
      AND p.slot = wanted.slot AND p.method = %(method)s
"""


@dataclass(frozen=True, slots=True)
class PieceKey:
    """Key of a piece: a stat of a host in a span."""

    stat_id: int
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class StoredPiece:
    """A piece without its body. One with 0 bytes is claimed: being built, or left by a process that died."""

    key: PieceKey
    made_at: datetime
    spec_version: int
    n_rows: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class ProfileKey:
    """Key of a profile: a version of a baseline for a host, in a seasonal slot, by a method."""

    baseline_id: int
    version: int
    host_id: int
    slot: int
    method: int


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """A stored profile. `effective`: the windows before `until` that it was built from; `sources`: see `hash_sources`."""

    key: ProfileKey
    made_at: datetime
    until: datetime
    effective: tuple[Window, ...]
    is_stale: bool
    spec_versions: Mapping[str, int]
    sources: str
    body: bytes


def hash_sources(pieces: Iterable[StoredPiece]) -> str:
    """Return a hash that changes with the pieces, or when they are rebuilt."""
    parts = sorted(f"{piece.key.stat_id} {piece.key.start.timestamp()} {piece.made_at.timestamp()}" for piece in pieces)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


async def claim_pieces(
    session: WriteSession, host_id: int, span: Window, versions: Mapping[int, int], method: int
) -> dict[int, datetime]:
    """Claim pieces of these stats; return the time of each claim by stat. Read the samples after the commit.

    `versions`: stat -> version of its spec. Missing: empty when the host was deleted
    """
    await (await driver_of(session)).execute(LOCK_WAIT)
    host = await lock_host_by_id(session, host_id)
    if host is None or not versions:
        return {}
    if host.profiled_until is None or host.profiled_until < span.end:
        host.profiled_until = span.end
        await session.flush()
    now = func.clock_timestamp()
    rows = [
        {
            "host_id": host_id,
            "stat_id": stat_id,
            "start_at": span.start,
            "end_at": span.end,
            "method": method,
            "n_rows": 0,
            "spec_version": version,
            "made_at": now,
            "body": b"",
        }
        for stat_id, version in sorted(versions.items())
    ]
    put = insert(ProfilePiece).values(rows)
    names = ("n_rows", "spec_version", "made_at", "body")
    put = put.on_conflict_do_update(
        index_elements=["host_id", "stat_id", "start_at", "end_at", "method"], set_={name: put.excluded[name] for name in names}
    )
    claimed = await session.execute(put.returning(ProfilePiece.stat_id, ProfilePiece.made_at))
    return dict(claimed.all())


async def put_piece(
    session: WriteSession, host_id: int, key: PieceKey, claim: datetime, *, method: int, n_rows: int, body: bytes
) -> bool:
    """Store the body of a piece; return False and discard it when its samples changed since it was claimed."""
    done = await session.execute(
        update(ProfilePiece)
        .where(*_is(host_id, key, method), ProfilePiece.made_at == claim, func.length(ProfilePiece.body) == 0)
        .values(body=body, n_rows=n_rows)
        .returning(ProfilePiece.stat_id)
    )
    return done.first() is not None


async def delete_piece(session: WriteSession, host_id: int, key: PieceKey, method: int) -> None:
    """Delete a piece, so that it is rebuilt."""
    await session.execute(delete(ProfilePiece).where(*_is(host_id, key, method)))


async def list_pieces(session: AsyncSession, host_id: int, window: Window, method: int) -> dict[PieceKey, StoredPiece]:
    """Return the host's pieces that overlap the window."""
    cursor = await (await driver_of(session)).execute(
        READ_PIECES, {"host_id": host_id, "method": method, "start": window.start, "end": window.end}
    )
    found = {}
    for start, end, stat_id, made_at, spec_version, n_rows, n_bytes in await cursor.fetchall():
        assert isinstance(start, datetime)
        assert isinstance(end, datetime)
        assert isinstance(made_at, datetime)
        key = PieceKey(int(str(stat_id)), start, end)
        found[key] = StoredPiece(key, made_at, int(str(spec_version)), int(str(n_rows)), int(str(n_bytes)))
    return found


async def read_bodies(session: AsyncSession, host_id: int, stat_id: int, spans: Sequence[Window], method: int) -> list[bytes]:
    """Return the bodies of a stat's pieces of these spans, in order of time, without missing ones."""
    parameters = {
        "host_id": host_id,
        "stat_id": stat_id,
        "method": method,
        "starts": [span.start for span in spans],
        "ends": [span.end for span in spans],
    }
    bodies = []
    async with (await driver_of(session)).cursor(binary=True) as cursor:
        await cursor.execute(READ_BODIES, parameters)
        async for (body,) in cursor:
            assert isinstance(body, bytes)
            bodies.append(body)
    return bodies


async def put_profile(session: WriteSession, row: ProfileRow, pieces: Iterable[StoredPiece], band: bytes) -> bool:
    """Store a profile; return False when one of its pieces was invalidated since it was read."""
    if not await _lock_with_pieces(session, row.key, pieces):
        return False
    key = row.key
    values = {**_to_values(row), "made_at": func.clock_timestamp(), "band": band, "body": row.body}
    of_profile = {
        "baseline_id": key.baseline_id,
        "version": key.version,
        "host_id": key.host_id,
        "slot": key.slot,
        "method": key.method,
    }
    put = insert(Profile).values(**of_profile, **values)
    await session.execute(put.on_conflict_do_update(index_elements=list(of_profile), set_=values))
    return True


async def confirm_profile(session: WriteSession, row: ProfileRow, pieces: Iterable[StoredPiece]) -> bool:
    """Mark a stored profile, built from these pieces, as still valid; return False when it is not."""
    if not await _lock_with_pieces(session, row.key, pieces):
        return False
    done = await session.execute(update(Profile).where(*_of(row.key)).values(**_to_values(row)).returning(Profile.slot))
    return done.first() is not None


async def _lock_with_pieces(session: WriteSession, key: ProfileKey, pieces: Iterable[StoredPiece]) -> bool:
    """Return whether all these pieces exist; while the host's row is locked none can be invalidated."""
    await (await driver_of(session)).execute(LOCK_WAIT)
    if await lock_host_by_id(session, key.host_id) is None:
        return False
    wanted = {piece.key: piece.made_at for piece in pieces}
    if not wanted:
        return True
    span = Window(min(piece.start for piece in wanted), max(piece.end for piece in wanted))
    there = await list_pieces(session, key.host_id, span, key.method)
    return all(own in there and there[own].made_at == made_at for own, made_at in wanted.items())


def _to_values(row: ProfileRow) -> dict[str, object]:
    return {
        "until_at": row.until,
        "effective": to_ranges(row.effective),
        "is_stale": False,
        "spec_versions": dict(row.spec_versions),
        "sources": row.sources,
    }


async def delete_profiles(session: WriteSession, baseline_id: int, host_id: int, keep: Sequence[ProfileKey]) -> None:
    """Delete the profiles of a baseline for a host except `keep`: those of older versions and of former slots."""
    slots = [key.slot for key in keep]
    of_host = (Profile.baseline_id == baseline_id) & (Profile.host_id == host_id)
    stays: ColumnElement[bool] = Profile.slot.in_(slots)
    if keep:
        stays &= (Profile.version == keep[0].version) & (Profile.method == keep[0].method)
    await session.execute(delete(Profile).where(of_host, ~stays))


async def read_profile(session: AsyncSession, key: ProfileKey) -> ProfileRow | None:
    """Return a stored profile, stale or not. Missing: None when there is none."""
    found = (await session.execute(select(*_COLUMNS, Profile.body).where(*_of(key)))).one_or_none()
    return None if found is None else _to_row(key, found[:-1], found[-1])


async def read_bands(
    session: AsyncSession, key: ProfileKey, slots: Sequence[int] | None = None
) -> dict[int, tuple[ProfileRow, bytes]]:  # fmt: skip
    """Return the bands of a profile and of its slots (all of them, or these), by slot; rows come without bodies."""
    of_baseline = _of(key)[:-1]
    query = select(Profile.slot, *_COLUMNS, Profile.band).where(*of_baseline)
    if slots is not None:
        query = query.where(Profile.slot.in_(slots))
    found = {}
    for slot, *columns, band in await session.execute(query):
        own = ProfileKey(key.baseline_id, key.version, key.host_id, slot, key.method)
        found[slot] = (_to_row(own, columns, b""), band)
    return found


async def list_slots(session: AsyncSession, key: ProfileKey) -> dict[int, ProfileRow]:
    """Return all profiles of the key's baseline, version, host and method without their bodies, by slot."""
    query = select(Profile.slot, *_COLUMNS).where(*_of(key)[:-1])
    return {
        slot: _to_row(ProfileKey(key.baseline_id, key.version, key.host_id, slot, key.method), columns, b"")
        for slot, *columns in await session.execute(query)
    }


async def read_spec_versions(session: AsyncSession, specs: Iterable[str]) -> dict[str, int]:
    """Return the current versions of these specs."""
    rows = await session.execute(
        select(StatTable.spec, func.max(StatTable.spec_version)).where(StatTable.spec.in_(list(specs))).group_by(StatTable.spec)
    )
    return dict(rows.all())


async def keep_pieces(session: WriteSession, host_id: int, wanted: set[tuple[datetime, datetime]], method: int) -> int:
    """Delete pieces of a host that no baseline needs, and those of other methods; return their number."""
    rows = await session.execute(
        select(ProfilePiece.start_at, ProfilePiece.end_at, ProfilePiece.method).where(ProfilePiece.host_id == host_id).distinct()
    )
    gone = [(start, end) for start, end, own in rows if own != method or (start, end) not in wanted]
    n = 0
    for start, end in gone:
        of_span = (ProfilePiece.host_id == host_id, ProfilePiece.start_at == start, ProfilePiece.end_at == end)
        is_old = ProfilePiece.method != method
        condition = is_old if (start, end) in wanted else ProfilePiece.start_at == start
        found = await session.execute(delete(ProfilePiece).where(*of_span, condition).returning(ProfilePiece.stat_id))
        n += len(found.all())
    return n


async def list_baselines_of(session: AsyncSession, host_id: int) -> list[int]:
    """Return the ids of the baselines that cover a host, including archived ones."""
    return list(await session.scalars(select(BaselineHost.baseline_id).where(BaselineHost.host_id == host_id)))


_COLUMNS: Final = (
    Profile.made_at,
    Profile.until_at,
    Profile.effective,
    Profile.is_stale,
    Profile.spec_versions,
    Profile.sources,
)


def _to_row(key: ProfileKey, columns: Sequence[object], body: bytes) -> ProfileRow:
    made_at, until, effective, is_stale, spec_versions, sources = columns
    assert isinstance(made_at, datetime)
    assert isinstance(until, datetime)
    assert isinstance(spec_versions, dict)
    windows = tuple(to_windows(effective))  # type: ignore[arg-type]
    return ProfileRow(key, made_at, until, windows, bool(is_stale), spec_versions, str(sources), body)


def _of(key: ProfileKey) -> tuple[ColumnElement[bool], ...]:
    return (
        Profile.baseline_id == key.baseline_id,
        Profile.version == key.version,
        Profile.host_id == key.host_id,
        Profile.method == key.method,
        Profile.slot == key.slot,
    )


def _is(host_id: int, key: PieceKey, method: int) -> tuple[ColumnElement[bool], ...]:
    return (
        ProfilePiece.host_id == host_id,
        ProfilePiece.stat_id == key.stat_id,
        ProfilePiece.start_at == key.start,
        ProfilePiece.end_at == key.end,
        ProfilePiece.method == method,
    )


async def read_profile_heads(
    session: AsyncSession, wanted: Sequence[tuple[ProfileKey, int, int]]
) -> dict[tuple[int, int], dict[int, ProfileRow]]:  # fmt: skip
    """Return the profiles of all hours and of two seasonal slots, without bodies, by baseline and host, then by slot."""
    if not wanted:
        return {}
    asked = {
        "baselines": [key.baseline_id for key, _, _ in wanted],
        "versions": [key.version for key, _, _ in wanted],
        "hosts": [key.host_id for key, _, _ in wanted],
        "slots": [slot for _, slot, _ in wanted],
        "others": [other for _, _, other in wanted],
        "method": wanted[0][0].method,
    }
    cursor = await (await driver_of(session)).execute(READ_PROFILES, asked)
    found: dict[tuple[int, int], dict[int, ProfileRow]] = {}
    for baseline_id, version, host_id, slot, method, made_at, until_at, effective, is_stale, sources in await cursor.fetchall():
        assert isinstance(made_at, datetime)
        assert isinstance(until_at, datetime)
        key = ProfileKey(*(int(str(number)) for number in (baseline_id, version, host_id, slot, method)))
        row = ProfileRow(key, made_at, until_at, read_windows(str(effective)), bool(is_stale), {}, str(sources), b"")
        found.setdefault((key.baseline_id, key.host_id), {})[key.slot] = row
    return found


async def read_band_bodies(session: AsyncSession, keys: Sequence[ProfileKey]) -> Mapping[ProfileKey, bytes]:
    """Return the bytes of the bands of these profiles."""
    if not keys:
        return {}
    asked = {
        "baselines": [key.baseline_id for key in keys],
        "versions": [key.version for key in keys],
        "hosts": [key.host_id for key in keys],
        "slots": [key.slot for key in keys],
        "method": keys[0].method,
    }
    bodies = {}
    async with (await driver_of(session)).cursor(binary=True) as cursor:
        await cursor.execute(READ_BANDS, asked)
        for baseline_id, version, host_id, slot, body in await cursor.fetchall():
            assert isinstance(body, bytes)
            numbers = (int(str(number)) for number in (baseline_id, version, host_id, slot, keys[0].method))
            bodies[ProfileKey(*numbers)] = body
    return bodies
