"""Stored artefacts: the rows, their raw text in compressed pieces, and their packed parts."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import zstandard
from sqlalchemy import ColumnElement, and_, delete, func, or_, select, true, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.row_records import to_record
from normstat.db.schema.artefact_models import ArtefactBytes, ArtefactPartRow, ArtefactRow
from normstat.db.schema.models import Host
from normstat.db.schema.watch_models import EpisodeRow
from normstat.errors import BadRequest, DamagedArtefact, NotFound
from normstat.runtime.bounded_decoding import unpack_zstd
from normstat.runtime.field_docs import Documented

PIECE_BYTES: Final = 4 << 20
LEVEL: Final = 9
# A deleted artefact can be restored for this long.
RESTORABLE: Final = timedelta(days=1)


class ArtefactSource(StrEnum):
    """The source of an artefact."""

    UPLOAD = "upload"
    API = "api"
    CLI = "cli"
    AGENT = "agent"
    IMPORT = "import"
    BUNDLE = "bundle"


@dataclass(frozen=True, slots=True)
class ArtefactPartInfo(Documented):
    """A part of an artefact, without its numbers."""

    position: int
    kind: str
    """table, stacks, histogram or log: how it is drawn."""

    stat: str
    title: str
    n_rows: int
    """Its rows, different stacks, distributions or events."""


@dataclass(frozen=True, slots=True)
class RejectedArtefactLine(Documented):
    """A line that could not be read."""

    line_no: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Artefact(Documented):
    """One run of a tool on a host, and the contents of its output."""

    id: int
    host: str
    start: datetime
    end: datetime | None
    """Null where only its moment is known."""

    duration_s: float | None
    """How long the tool watched, by its own text or its command; totals are compared per second of it. Null if unknown."""

    tool: str
    """Empty where no reader knows the text."""

    exit_status: int | None
    """How the command ended, 0 for success; null where it is unknown."""

    spec: str
    title: str
    question: str
    """What was asked: a sentence, or the program's text."""

    command: str
    file_name: str
    effect: str
    """none, light or heavy: how much the tool disturbs what it watches."""

    source: str
    """upload, api, cli, agent, import or bundle."""

    author: str
    episode_id: int | None
    """The episode as which began its host took it by a line `when` of its stats.conf; null for others."""

    created: datetime
    n_bytes: int
    n_lines: int
    n_rejected: int
    sha256: str
    parts: list[ArtefactPartInfo]


@dataclass(frozen=True, slots=True)
class ArtefactPage(Documented):
    """A page of a list of artefacts."""

    artefacts: list[Artefact]
    """Newest first."""

    n_total: int
    tools: list[str]
    """All tools with artefacts, whatever the filter."""


@dataclass(frozen=True, slots=True)
class ArtefactFilter:
    """Which artefacts to list; None and empty members filter nothing. A window holds what overlaps it; all words must be there."""

    hosts: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    start: datetime | None = None
    end: datetime | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArtefactChange:
    """The members of an artefact that people may change. Its text, tool and parts stay."""

    start: datetime
    end: datetime | None
    duration_s: float | None
    title: str
    question: str
    command: str
    effect: str


async def add_artefact(
    session: AsyncSession, row: ArtefactRow, host: str, pieces: Sequence[tuple[int, bytes]], parts: Sequence[ArtefactPartRow]
) -> Artefact:
    """Store an artefact with its text (sizes and compressed bytes, see `compress_text`) and its parts; make the host if needed.

    An episode that is gone, or of another host, is not its episode.
    """
    row.host_id = await _require_or_add_host(session, host)
    if row.episode_id is not None:
        known = select(EpisodeRow.id).where(EpisodeRow.id == row.episode_id, EpisodeRow.host_id == row.host_id)
        row.episode_id = await session.scalar(known)
    session.add(row)
    await session.flush()
    session.add_all(
        ArtefactBytes(artefact_id=row.id, position=position, n_bytes=n_bytes, body=body)
        for position, (n_bytes, body) in enumerate(pieces)
    )
    _add_parts(session, row.id, parts)
    await session.flush()
    return await read_artefact_row(session, row.id)


def compress_text(data: bytes) -> list[tuple[int, bytes]]:
    """Return the text as pieces: the size and the compressed bytes of each."""
    packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    pieces = (data[at : at + PIECE_BYTES] for at in range(0, len(data), PIECE_BYTES))
    return [(len(piece), packer.compress(piece)) for piece in pieces]


async def read_text(session: AsyncSession, artefact_id: int) -> AsyncIterator[bytes]:
    """Yield the raw text of an artefact, piece by piece.

    Raises: DamagedArtefact
    """
    position = 0
    while True:
        query = select(ArtefactBytes.body).where(ArtefactBytes.artefact_id == artefact_id, ArtefactBytes.position == position)
        body = await session.scalar(query)
        if body is None:
            return
        yield _unpack(body, artefact_id, position)
        position += 1


async def read_text_at(session: AsyncSession, artefact_id: int, offset: int, n_bytes: int) -> bytes:
    """Return up to `n_bytes` of the raw text from an offset on; none beyond its end.

    Raises: DamagedArtefact
    """
    found = b""
    # Pieces have one size, but for the last one.
    position, start = divmod(offset, PIECE_BYTES)
    while len(found) < n_bytes:
        query = select(ArtefactBytes.body).where(ArtefactBytes.artefact_id == artefact_id, ArtefactBytes.position == position)
        body = await session.scalar(query)
        if body is None:
            break
        found += _unpack(body, artefact_id, position)[start : start + n_bytes - len(found)]
        position, start = position + 1, 0
    return found


def _unpack(body: bytes, artefact_id: int, position: int) -> bytes:
    try:
        return unpack_zstd(body, PIECE_BYTES)
    except zstandard.ZstdError as error:
        raise DamagedArtefact(f"The raw text of artefact {artefact_id} cannot be read: piece {position} is damaged") from error


async def read_artefact_row(session: AsyncSession, artefact_id: int) -> Artefact:
    """Return one artefact.

    Raises: NotFound
    """
    [found] = await _to_artefacts(session, [await _require(session, artefact_id)])
    return found


async def read_rejected(session: AsyncSession, artefact_id: int) -> list[RejectedArtefactLine]:
    """Return the first rejected lines of an artefact.

    Raises: NotFound
    """
    row = await _require(session, artefact_id)
    return [RejectedArtefactLine(**line) for line in row.rejected]


async def read_part_body(session: AsyncSession, artefact_id: int, position: int) -> bytes:
    """Return a packed part.

    Raises: NotFound
    """
    query = (
        select(ArtefactPartRow.body)
        .join(ArtefactRow, ArtefactRow.id == ArtefactPartRow.artefact_id)
        .join(Host, Host.id == ArtefactRow.host_id)
        .where(*_conditions(ArtefactFilter()), ArtefactRow.id == artefact_id, ArtefactPartRow.position == position)
    )
    body = await session.scalar(query)
    if body is None:
        raise NotFound(
            f"There is no part {position} of artefact {artefact_id}; GET /api/v1/artefacts/{artefact_id} lists its parts",
            {"artefact": artefact_id, "part": position},
        )
    return body


async def read_part_stamp(session: AsyncSession, artefact_id: int, position: int) -> datetime:
    """Return when the artefact of a part was last changed or read again: a part stays as it is until then.

    Raises: NotFound
    """
    query = (
        select(ArtefactRow.updated_at)
        .join(ArtefactPartRow, ArtefactRow.id == ArtefactPartRow.artefact_id)
        .join(Host, Host.id == ArtefactRow.host_id)
        .where(*_conditions(ArtefactFilter()), ArtefactRow.id == artefact_id, ArtefactPartRow.position == position)
    )
    stamp = await session.scalar(query)
    if stamp is None:
        raise NotFound(
            f"There is no part {position} of artefact {artefact_id}; GET /api/v1/artefacts/{artefact_id} lists its parts",
            {"artefact": artefact_id, "part": position},
        )
    return stamp


async def list_artefacts(session: AsyncSession, wanted: ArtefactFilter, *, limit: int, offset: int) -> ArtefactPage:
    """Return a page of artefacts, newest first."""
    conditions = _conditions(wanted)
    joined = select(ArtefactRow).join(Host, Host.id == ArtefactRow.host_id).where(*conditions)
    query = joined.order_by(ArtefactRow.start_at.desc(), ArtefactRow.id.desc()).limit(limit).offset(offset)
    rows = (await session.scalars(query)).all()
    count = select(func.count()).select_from(ArtefactRow).join(Host, Host.id == ArtefactRow.host_id).where(*conditions)
    n_total = await session.scalar(count)
    known = select(ArtefactRow.tool).join(Host, Host.id == ArtefactRow.host_id)
    tools = known.where(*_conditions(ArtefactFilter()), ArtefactRow.tool != "").distinct()
    return ArtefactPage(await _to_artefacts(session, rows), n_total or 0, sorted(await session.scalars(tools)))


async def find_same(session: AsyncSession, host: str, sha256: str, start: datetime | None) -> Artefact | None:
    """Return the artefact of this host, text and time, without a time the last one. Missing: None if there is none."""
    query = (
        select(ArtefactRow)
        .join(Host, Host.id == ArtefactRow.host_id)
        .where(Host.name == host, ArtefactRow.sha256 == sha256, ArtefactRow.deleted_at.is_(None))
        .where(true() if start is None else ArtefactRow.start_at == start)
        .order_by(ArtefactRow.start_at.desc())
        .limit(1)
    )
    rows = (await session.scalars(query)).all()
    return (await _to_artefacts(session, rows))[0] if rows else None


async def update_artefact(session: AsyncSession, artefact_id: int, change: ArtefactChange) -> Artefact:
    """Return the changed artefact.

    Raises: NotFound; BadRequest when it ends before it starts
    """
    if change.end is not None and change.end < change.start:
        raise BadRequest(f"The artefact ends at {change.end.isoformat()}, before its start {change.start.isoformat()}")
    row = await _require(session, artefact_id)
    row.start_at, row.end_at, row.duration_s = change.start, change.end, change.duration_s
    old = search_text_of(row, "")
    words = row.search_text.removeprefix(old)
    row.title, row.question, row.command, row.effect = change.title, change.question, change.command, change.effect
    row.search_text = search_text_of(row, words)
    row.updated_at = func.now()
    await session.flush()
    return await read_artefact_row(session, artefact_id)


def search_text_of(row: ArtefactRow, words: str) -> str:
    """Return what a search for words looks at: the texts written by people, and the `words` of the parts."""
    return "\n".join([row.title, row.question, row.command, row.file_name, row.tool, row.author]).casefold() + "\n" + words


async def delete_artefact(session: AsyncSession, artefact_id: int) -> None:
    """Delete the artefact; it can be restored for a day.

    Raises: NotFound
    """
    row = await _require(session, artefact_id)
    row.deleted_at = func.now()
    await session.flush()
    await session.execute(delete(ArtefactRow).where(ArtefactRow.deleted_at < func.now() - RESTORABLE))


async def delete_imported(session: AsyncSession, artefact_id: int, since: datetime) -> None:
    """Delete, for good, an artefact that an import made since an instant; one that was there before stays."""
    await session.execute(
        delete(ArtefactRow).where(
            ArtefactRow.id == artefact_id, ArtefactRow.source == ArtefactSource.IMPORT, ArtefactRow.created_at >= since
        )
    )


async def move_imported(session: AsyncSession, artefact_id: int, since: datetime, host_id: int | None, shift: timedelta) -> None:
    """Move an artefact that an import made since an instant to a host (None: it stays), and make it that much later.

    Its text keeps its times.
    """
    changed = {"start_at": ArtefactRow.start_at + shift, "end_at": ArtefactRow.end_at + shift}
    changed |= {} if host_id is None else {"host_id": host_id}
    await session.execute(
        update(ArtefactRow)
        .where(ArtefactRow.id == artefact_id, ArtefactRow.source == ArtefactSource.IMPORT, ArtefactRow.created_at >= since)
        .values(changed)
    )


async def restore_artefact(session: AsyncSession, artefact_id: int) -> Artefact:
    """Return the deleted artefact, which is listed again.

    Raises: NotFound when it was deleted long ago, or never existed
    """
    row = await session.get(ArtefactRow, artefact_id, with_for_update=True, populate_existing=True)
    if row is None:
        raise NotFound(f"Artefact {artefact_id} no longer exists; upload it again", {"artefact": artefact_id})
    row.deleted_at = None
    await session.flush()
    return await read_artefact_row(session, artefact_id)


async def replace_parts(
    session: AsyncSession, artefact_id: int, values: dict[str, Any], words: str, parts: Sequence[ArtefactPartRow]
) -> Artefact:
    """Store what was read again of an artefact's text: columns of its row, and its parts.

    Raises: NotFound
    """
    row = await _require(session, artefact_id)
    for name, value in values.items():
        setattr(row, name, value)
    row.search_text = search_text_of(row, words)
    row.updated_at = func.now()
    await session.execute(delete(ArtefactPartRow).where(ArtefactPartRow.artefact_id == artefact_id))
    _add_parts(session, artefact_id, parts)
    await session.flush()
    return await read_artefact_row(session, artefact_id)


def _add_parts(session: AsyncSession, artefact_id: int, parts: Iterable[ArtefactPartRow]) -> None:
    for position, part in enumerate(parts):
        part.artefact_id, part.position = artefact_id, position
        session.add(part)


async def _require(session: AsyncSession, artefact_id: int) -> ArtefactRow:
    row = await session.get(ArtefactRow, artefact_id, populate_existing=True)
    host = await session.get(Host, row.host_id) if row is not None else None
    # The host of a deletion under way is hidden, and its artefacts with it.
    if row is None or row.deleted_at is not None or host is None or " " in host.name:
        raise NotFound(f"There is no artefact {artefact_id}; GET /api/v1/artefacts lists them", {"artefact": artefact_id})
    return row


async def _require_or_add_host(session: AsyncSession, name: str) -> int:
    await session.execute(insert(Host).values(name=name).on_conflict_do_nothing(index_elements=["name"]))
    query = select(Host.id).where(Host.name == name).with_for_update(key_share=True, read=True)
    return (await session.scalars(query)).one()


def _conditions(wanted: ArtefactFilter) -> list[ColumnElement[bool]]:
    # The name of a host that is being deleted has a blank.
    found: list[ColumnElement[bool]] = [ArtefactRow.deleted_at.is_(None), ~Host.name.contains(" ")]
    if wanted.hosts:
        found.append(Host.name.in_(wanted.hosts))
    if wanted.tools:
        found.append(ArtefactRow.tool.in_(wanted.tools))
    if wanted.start is not None:
        found.append(
            or_(ArtefactRow.start_at >= wanted.start, and_(ArtefactRow.end_at.is_not(None), ArtefactRow.end_at > wanted.start))
        )
    if wanted.end is not None:
        found.append(ArtefactRow.start_at < wanted.end)
    found += [
        or_(ArtefactRow.search_text.contains(word.casefold(), autoescape=True), Host.name.contains(word, autoescape=True))
        for word in wanted.words
    ]
    return found


async def _to_artefacts(session: AsyncSession, rows: Sequence[ArtefactRow]) -> list[Artefact]:
    ids = [row.id for row in rows]
    hosts = dict((await session.execute(select(Host.id, Host.name).where(Host.id.in_({row.host_id for row in rows})))).all())
    query = (
        select(
            ArtefactPartRow.artefact_id, ArtefactPartRow.position, ArtefactPartRow.kind, ArtefactPartRow.stat,
            ArtefactPartRow.title, ArtefactPartRow.n_rows,
        )
        .where(ArtefactPartRow.artefact_id.in_(ids))
        .order_by(ArtefactPartRow.position)
    )  # fmt: skip
    parts: dict[int, list[ArtefactPartInfo]] = {}
    for row in (await session.execute(query)).all():
        info = ArtefactPartInfo(row.position, row.kind, row.stat, row.title, row.n_rows)
        parts.setdefault(row.artefact_id, []).append(info)
    return [_to_artefact(row, hosts[row.host_id], parts.get(row.id, [])) for row in rows]


def _to_artefact(row: ArtefactRow, host: str, parts: list[ArtefactPartInfo]) -> Artefact:
    return to_record(Artefact, row, host=host, start=row.start_at, end=row.end_at, created=row.created_at, parts=parts)
