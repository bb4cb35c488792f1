"""Stored reports: titles, notes in their order, and the bytes of uploaded files."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import zstandard
from sqlalchemy import delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.row_records import to_record
from normstat.db.schema.report_models import ReportFileBytes, ReportFileRow, ReportNoteRow, ReportRow
from normstat.errors import BadRequest, Conflict, NotFound, TooLarge
from normstat.runtime.bounded_decoding import unpack_zstd
from normstat.runtime.field_docs import Documented
from normstat.window import Window

PIECE_BYTES: Final = 1 << 20
LEVEL: Final = 9
# A deleted report or note can be restored for this long.
RESTORABLE: Final = timedelta(days=1)
MAX_NOTES: Final = 200
MAX_FILES_BYTES: Final = 200 << 20
MAX_FROZEN_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class ReportInfo(Documented):
    """A report without its notes."""

    id: int
    title: str
    is_template: bool
    """Whether people start new reports with it."""

    hosts: list[str]
    start: datetime | None
    end: datetime | None
    author: str
    revision: int
    """Counts changes of the title, hosts, window and order; a change names the one that it saw."""

    created_at: datetime
    updated_at: datetime
    updated_by: str
    n_notes: int


@dataclass(frozen=True, slots=True)
class StoredNote(Documented):
    """A note as it is stored."""

    id: int
    content: dict[str, Any]
    frozen_at: datetime | None
    n_frozen_bytes: int
    revision: int
    author: str
    updated_at: datetime
    updated_by: str


@dataclass(frozen=True, slots=True)
class ReportFile(Documented):
    """A file of a report, without its bytes."""

    id: int
    report: int
    name: str
    media_type: str
    """As the server found it, not as it was claimed."""

    n_bytes: int
    sha256: str
    author: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ReportChange:
    """What people may change of a report."""

    title: str
    hosts: Sequence[str]
    start: datetime | None
    end: datetime | None

    def __post_init__(self) -> None:
        """Raise BadRequest for an end before the start, or one of both alone."""
        if (self.start is None) != (self.end is None):
            raise BadRequest("Give both `start` and `end` of the report's window, or neither")
        if self.start is not None and self.end is not None and self.end <= self.start:
            raise BadRequest(f"end {self.end.isoformat()} is not after start {self.start.isoformat()}")


async def list_reports(session: AsyncSession, *, templates: bool, limit: int = 500) -> list[ReportInfo]:
    """Return reports, or the templates of people; last changed first."""
    query = (
        select(ReportRow)
        .where(ReportRow.deleted_at.is_(None), ReportRow.is_template == templates)
        .order_by(ReportRow.updated_at.desc(), ReportRow.id.desc())
        .limit(limit)
    )
    return await _to_infos(session, (await session.scalars(query)).all())


async def read_several_reports(session: AsyncSession, ids: Sequence[int]) -> list[ReportInfo]:
    """Return the reports with these ids, in no order."""
    return await _to_infos(session, (await session.scalars(select(ReportRow).where(ReportRow.id.in_(ids)))).all())


async def create_report(
    session: AsyncSession, change: ReportChange, contents: Sequence[Mapping[str, Any]], *, author: str, is_template: bool = False
) -> ReportInfo:  # fmt: skip
    """Return the new report with these notes."""
    row = ReportRow(
        title=change.title, is_template=is_template, hosts=list(change.hosts), start_at=change.start, end_at=change.end,
        author=author, updated_by=author,
    )  # fmt: skip
    session.add(row)
    await session.flush()
    for place, content in enumerate(contents):
        session.add(ReportNoteRow(report_id=row.id, position=place, content=dict(content), author=author, updated_by=author))
    await session.flush()
    return await read_report(session, row.id)


async def read_report(session: AsyncSession, report_id: int) -> ReportInfo:
    """Return a report.

    Raises: NotFound
    """
    [found] = await _to_infos(session, [await _require(session, report_id)])
    return found


async def update_report(session: AsyncSession, report_id: int, revision: int, change: ReportChange, *, author: str) -> ReportInfo:
    """Return the changed report.

    Raises: NotFound; Conflict when it was changed since
    """
    row = await _require_revision(session, report_id, revision)
    row.title, row.hosts, row.start_at, row.end_at = change.title, list(change.hosts), change.start, change.end
    return await _touched(session, row, author)


async def delete_report(session: AsyncSession, report_id: int) -> None:
    """Delete a report; it can be restored for a day.

    Raises: NotFound
    """
    row = await _require(session, report_id)
    row.deleted_at = func.now()
    await session.flush()
    await session.execute(delete(ReportRow).where(ReportRow.deleted_at < func.now() - RESTORABLE))
    await session.execute(delete(ReportNoteRow).where(ReportNoteRow.deleted_at < func.now() - RESTORABLE))


async def restore_report(session: AsyncSession, report_id: int) -> ReportInfo:
    """Return the deleted report, which is listed again.

    Raises: NotFound when it was deleted long ago, or never existed
    """
    row = await session.get(ReportRow, report_id, with_for_update=True, populate_existing=True)
    if row is None:
        raise NotFound(f"There is no report {report_id} any more", {"report": report_id})
    row.deleted_at = None
    await session.flush()
    return await read_report(session, report_id)


async def list_notes(session: AsyncSession, report_id: int) -> list[StoredNote]:
    """Return the notes of a report in their order."""
    note = ReportNoteRow
    query = (
        select(
            note.id, note.content, note.frozen_at, func.coalesce(func.octet_length(note.frozen), 0).label("n_frozen_bytes"),
            note.revision, note.author, note.updated_at, note.updated_by,
        )
        .where(note.report_id == report_id, note.deleted_at.is_(None))
        .order_by(note.position, note.id)
    )  # fmt: skip
    return [StoredNote(*row) for row in (await session.execute(query)).all()]


async def add_note(
    session: AsyncSession, report_id: int, content: Mapping[str, Any], frozen: bytes | None, *, place: int | None, author: str
) -> int:  # fmt: skip
    """Store a note at a place, counted from 0, or at the end; return its id.

    Raises: NotFound; TooLarge for too many notes
    """
    row = await _require(session, report_id, for_update=True)
    ids = [note.id for note in await list_notes(session, report_id)]
    if len(ids) >= MAX_NOTES:
        raise TooLarge(f"The report has {len(ids)} notes; at most {MAX_NOTES} are allowed. Start another report")
    note = ReportNoteRow(
        report_id=report_id, position=len(ids), content=dict(content), author=author, updated_by=author, frozen=_pack(frozen),
        frozen_at=None if frozen is None else func.now(),
    )  # fmt: skip
    session.add(note)
    await session.flush()
    ids.insert(len(ids) if place is None else min(place, len(ids)), note.id)
    await _number(session, ids)
    await _touched(session, row, author)
    return note.id


async def update_note(
    session: AsyncSession, report_id: int, note_id: int, content: Mapping[str, Any], frozen: bytes | None, *,
    revision: int, is_frozen_kept: bool, author: str,
) -> None:  # fmt: skip
    """Replace the content of a note, and what is frozen of it unless that is kept.

    Raises: NotFound; Conflict when it was changed since
    """
    report = await _require(session, report_id)
    note = await _require_note(session, report_id, note_id)
    if note.revision != revision:
        raise Conflict(
            f"{note.updated_by} changed this note at {note.updated_at:%H:%M:%S} UTC, while you were editing it."
            " Load it again; copy your text first",
            {"note": note_id, "revision": note.revision},
        )
    note.content, note.updated_by = dict(content), author
    note.revision += 1
    note.updated_at = func.now()
    if not is_frozen_kept:
        note.frozen = _pack(frozen)
        note.frozen_at = None if frozen is None else func.now()
    report.updated_at, report.updated_by = func.now(), author
    await session.flush()


async def delete_note(session: AsyncSession, report_id: int, note_id: int, *, author: str) -> None:
    """Delete a note; it can be restored for a day.

    Raises: NotFound
    """
    row = await _require(session, report_id, for_update=True)
    note = await _require_note(session, report_id, note_id)
    note.deleted_at = func.now()
    await _touched(session, row, author)


async def restore_note(session: AsyncSession, report_id: int, note_id: int, *, author: str) -> None:
    """Undo the deletion of a note; it stands where it was.

    Raises: NotFound
    """
    row = await _require(session, report_id, for_update=True)
    note = await session.get(ReportNoteRow, note_id, populate_existing=True)
    if note is None or note.report_id != report_id:
        raise NotFound(f"There is no note {note_id} of report {report_id} any more", {"report": report_id, "note": note_id})
    note.deleted_at = None
    await _touched(session, row, author)


async def order_notes(session: AsyncSession, report_id: int, revision: int, ids: Sequence[int], *, author: str) -> None:
    """Give the notes another order.

    Raises: NotFound; BadRequest unless all notes are named once; Conflict when the report was changed since
    """
    row = await _require_revision(session, report_id, revision)
    known = [note.id for note in await list_notes(session, report_id)]
    if sorted(ids) != sorted(known):
        raise BadRequest(f"The order must name each of the {len(known)} notes of the report once; it names {len(ids)}")
    await _number(session, ids)
    await _touched(session, row, author)


async def read_frozen(session: AsyncSession, report_id: int) -> dict[int, bytes]:
    """Return the frozen content of the notes of a report, unpacked, by note."""
    query = select(ReportNoteRow.id, ReportNoteRow.frozen).where(
        ReportNoteRow.report_id == report_id, ReportNoteRow.deleted_at.is_(None), ReportNoteRow.frozen.is_not(None)
    )
    return {
        note_id: unpack_zstd(body, MAX_FROZEN_BYTES) for note_id, body in (await session.execute(query)).all() if body is not None
    }


async def add_file(session: AsyncSession, report_id: int, name: str, media_type: str, body: bytes, *, author: str) -> ReportFile:
    """Store a file of a report; the same one if the report has these bytes under this name already.

    Raises: NotFound; TooLarge for too many bytes in all files of the report
    """
    await _require(session, report_id, for_update=True)
    sha256 = hashlib.sha256(body).hexdigest()
    files = await list_files(session, report_id)
    same = next((file for file in files if (file.sha256, file.name) == (sha256, name)), None)
    if same is not None:
        return same
    held = sum(file.n_bytes for file in files)
    if held + len(body) > MAX_FILES_BYTES:
        raise TooLarge(
            f"The files of this report have {held:,} bytes; with {len(body):,} more there would be more than {MAX_FILES_BYTES:,}."
            " Remove some, or start another report"
        )
    row = ReportFileRow(
        report_id=report_id, name=name, media_type=media_type, n_bytes=len(body), sha256=sha256, author=author
    )  # fmt: skip
    session.add(row)
    await session.flush()
    for place, at in enumerate(range(0, len(body), PIECE_BYTES)):
        piece = body[at : at + PIECE_BYTES]
        session.add(ReportFileBytes(file_id=row.id, position=place, n_bytes=len(piece), body=piece))
    await session.flush()
    return await read_file(session, row.id)


async def list_files(session: AsyncSession, report_id: int) -> list[ReportFile]:
    """Return the files of a report."""
    query = select(ReportFileRow).where(ReportFileRow.report_id == report_id).order_by(ReportFileRow.id)
    return [_to_file(row) for row in await session.scalars(query.execution_options(populate_existing=True))]


async def read_file(session: AsyncSession, file_id: int) -> ReportFile:
    """Return a file without its bytes.

    Raises: NotFound
    """
    row = await session.get(ReportFileRow, file_id, populate_existing=True)
    report = None if row is None else await session.get(ReportRow, row.report_id, populate_existing=True)
    if row is None or report is None or report.deleted_at is not None:
        raise NotFound(f"There is no file {file_id} of a report", {"file": file_id})
    return _to_file(row)


async def read_file_body(session: AsyncSession, file_id: int) -> bytes:
    """Return the bytes of a file."""
    query = select(ReportFileBytes.body).where(ReportFileBytes.file_id == file_id).order_by(ReportFileBytes.position)
    return b"".join(await session.scalars(query))


# --- what bundles carry ---


@dataclass(frozen=True, slots=True)
class CarriedNote:
    """A note as a bundle carries it; `frozen` as it is kept, unpacked."""

    content: dict[str, Any]
    frozen: bytes | None
    frozen_at: datetime | None
    author: str
    updated_at: datetime
    updated_by: str


@dataclass(frozen=True, slots=True)
class CarriedReport:
    """A report as a bundle carries it: the instant of its making tells it from all others."""

    change: ReportChange
    author: str
    created_at: datetime
    updated_at: datetime
    updated_by: str


async def list_reports_of(
    session: AsyncSession, host: str, windows: Sequence[Window], chosen: Sequence[int]
) -> list[ReportInfo]:  # fmt: skip
    """Return the reports whose host and window overlap one of the windows, and the chosen ones; no templates."""
    row = ReportRow
    stands = row.hosts.contains([host]) & or_(*((row.start_at < window.end) & (row.end_at > window.start) for window in windows))
    query = (
        select(row)
        .where(row.deleted_at.is_(None), row.is_template.is_(False), or_(stands, row.id.in_(chosen)))
        .order_by(row.id)
        .execution_options(populate_existing=True)
    )
    return await _to_infos(session, (await session.scalars(query)).all())


async def read_frozen_note(session: AsyncSession, note_id: int) -> bytes:
    """Return the frozen content of one note that has some, unpacked."""
    body = await session.scalar(select(ReportNoteRow.frozen).where(ReportNoteRow.id == note_id))
    return b"" if body is None else unpack_zstd(body, MAX_FROZEN_BYTES)


async def find_carried_report(session: AsyncSession, carried: CarriedReport) -> int | None:
    """Return the id of a report that exists here, identified by the instant of its creation. Missing: None without it."""
    query = select(ReportRow.id).where(ReportRow.created_at == carried.created_at, ReportRow.deleted_at.is_(None))
    return (await session.scalars(query.order_by(ReportRow.id).limit(1))).one_or_none()


async def put_report(session: AsyncSession, carried: CarriedReport) -> int:
    """Store a report of a bundle without its notes; return its id here."""
    row = ReportRow(
        title=carried.change.title, is_template=False, hosts=list(carried.change.hosts), start_at=carried.change.start,
        end_at=carried.change.end, author=carried.author, created_at=carried.created_at, updated_at=carried.updated_at,
        updated_by=carried.updated_by,
    )  # fmt: skip
    session.add(row)
    await session.flush()
    return row.id


async def put_note(session: AsyncSession, report_id: int, place: int, note: CarriedNote) -> None:
    """Store a note of a bundle as it was.

    Raises: TooLarge for more frozen bytes than a note may have
    """
    row = ReportNoteRow(
        report_id=report_id, position=place, content=note.content, frozen=_pack(note.frozen), frozen_at=note.frozen_at,
        author=note.author, updated_at=note.updated_at, updated_by=note.updated_by,
    )  # fmt: skip
    session.add(row)
    await session.flush()
    # A bundle may have 200 notes of many MiB: none stays in the session.
    session.expunge(row)


def _pack(frozen: bytes | None) -> bytes | None:
    if frozen is None:
        return None
    if len(frozen) > MAX_FROZEN_BYTES:
        raise TooLarge(f"The note would freeze {len(frozen):,} bytes; the limit is {MAX_FROZEN_BYTES:,}. Choose fewer lines")
    return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(frozen)


async def _number(session: AsyncSession, ids: Sequence[int]) -> None:
    for place, note_id in enumerate(ids):
        note = await session.get(ReportNoteRow, note_id)
        if note is not None:
            note.position = place
    await session.flush()


async def _touched(session: AsyncSession, row: ReportRow, author: str) -> ReportInfo:
    row.revision += 1
    row.updated_at, row.updated_by = func.now(), author
    await session.flush()
    return await read_report(session, row.id)


async def _require(session: AsyncSession, report_id: int, *, for_update: bool = False) -> ReportRow:
    row = await session.get(ReportRow, report_id, populate_existing=True, with_for_update=for_update)
    if row is None or row.deleted_at is not None:
        raise NotFound(f"There is no report {report_id}; GET /api/v1/reports lists them", {"report": report_id})
    return row


async def _require_revision(session: AsyncSession, report_id: int, revision: int) -> ReportRow:
    row = await _require(session, report_id, for_update=True)
    if row.revision != revision:
        raise Conflict(
            f"{row.updated_by} changed this report at {row.updated_at:%H:%M:%S} UTC. Load it again, and repeat your change",
            {"report": report_id, "revision": row.revision},
        )
    return row


async def _require_note(session: AsyncSession, report_id: int, note_id: int) -> ReportNoteRow:
    note = await session.get(ReportNoteRow, note_id, populate_existing=True, with_for_update=True)
    if note is None or note.report_id != report_id or note.deleted_at is not None:
        raise NotFound(f"There is no note {note_id} in report {report_id}", {"report": report_id, "note": note_id})
    return note


async def _to_infos(session: AsyncSession, rows: Sequence[ReportRow]) -> list[ReportInfo]:
    query = (
        select(ReportNoteRow.report_id, func.count())
        .where(ReportNoteRow.report_id.in_([row.id for row in rows]), ReportNoteRow.deleted_at.is_(None))
        .group_by(ReportNoteRow.report_id)
    )
    counts = {row[0]: row[1] for row in (await session.execute(query)).all()}
    return [to_record(ReportInfo, row, start=row.start_at, end=row.end_at, n_notes=counts.get(row.id, 0)) for row in rows]


def _to_file(row: ReportFileRow) -> ReportFile:
    return to_record(ReportFile, row, report=row.report_id)
