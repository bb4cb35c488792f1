"""The reports of a bundle: notes with their frozen content, images and files. Their notes get the ids and names here."""

import json
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Final

import anyio.to_thread
from pydantic import AwareDatetime, BaseModel, Field, StringConstraints, TypeAdapter, ValidationError

from normstat.bundles.bundle_format import BundleMember, BundleSection
from normstat.bundles.bundle_sections import BundleSource, BundleTarget, section_result
from normstat.bundles.bundle_writer import to_text
from normstat.bundles.record_sections import MAX_NAME
from normstat.db.session import WriteSession, open_read_session, open_write_session
from normstat.errors import BadRequest, NormstatError, TooLarge, shorten
from normstat.report import report_rows
from normstat.report.blocks import pack_blocks, unpack_blocks
from normstat.report.note_models import ReportNoteContent
from normstat.report.report_rows import MAX_FROZEN_BYTES, MAX_NOTES, CarriedNote, CarriedReport, ReportChange, ReportInfo
from normstat.report.uploads import OTHER_TYPE, read_upload, safe_file_name
from normstat.runtime.bounded_decoding import load_in_turn
from normstat.runtime.input_limits import MAX_REPORT_FILE_BYTES
from normstat.runtime.readable import count_of

NO_NUL: Final = r"^[^\x00]*$"
LIST: Final = "reports.json.zst"
Short = Annotated[str, StringConstraints(max_length=MAX_NAME, pattern=NO_NUL)]


class NoteEntry(BaseModel):
    """A note in the list; `frozen`: the member with its blocks."""

    content: ReportNoteContent
    frozen: str | None
    frozen_at: AwareDatetime | None
    author: Short
    updated_at: AwareDatetime
    updated_by: Short


class FileEntry(BaseModel):
    """A file of a report; `id` as it was where the bundle was made."""

    id: int
    member: str
    name: Annotated[str, StringConstraints(max_length=1000, pattern=NO_NUL)]
    is_image: bool
    author: Short


class ReportEntry(BaseModel):
    """A report in the list."""

    id: int
    title: Annotated[str, StringConstraints(min_length=1, max_length=300, pattern=NO_NUL)]
    hosts: Annotated[list[Short], Field(max_length=100)]
    start: AwareDatetime | None
    end: AwareDatetime | None
    author: Short
    created_at: AwareDatetime
    updated_at: AwareDatetime
    updated_by: Short
    notes: Annotated[list[NoteEntry], Field(max_length=MAX_NOTES)]
    files: Annotated[list[FileEntry], Field(max_length=10_000)]


_ENTRIES: Final = TypeAdapter(list[ReportEntry])


class WrittenReportSection:
    """Reports of the host's window, and those that were chosen."""

    name = "reports"
    version = 1

    async def write(self, source: BundleSource) -> AsyncIterator[None]:
        """Write a member for the frozen content of each note, one for each file, and the list of all."""
        rows = []
        for report in source.reports:
            notes = []
            for note in await report_rows.list_notes(source.session, report.id):
                member = None
                if note.frozen_at is not None:
                    body = await report_rows.read_frozen_note(source.session, note.id)
                    member = await self._add(source, body)
                    yield
                notes.append({
                    "content": note.content, "frozen": member, "frozen_at": to_text(note.frozen_at), "author": note.author,
                    "updated_at": to_text(note.updated_at), "updated_by": note.updated_by,
                })  # fmt: skip
            files = []
            for file in await report_rows.list_files(source.session, report.id):
                member = await self._add(source, await report_rows.read_file_body(source.session, file.id))
                is_image = file.media_type != OTHER_TYPE
                files.append({"id": file.id, "member": member, "name": file.name, "is_image": is_image, "author": file.author})
                yield
            rows.append(_row_of(report, notes, files))
        source.counts["reports"] = len(rows)
        if rows:
            source.members.append(source.writer.add_member(LIST, [json.dumps(rows).encode()]))
        yield

    async def _add(self, source: BundleSource, body: bytes) -> str:
        name = f"reports/{len(source.members) + 1:06d}.zst"
        source.members.append(await anyio.to_thread.run_sync(source.writer.add_member, name, [body]))
        return name

    async def open(self, target: BundleTarget, section: BundleSection) -> AsyncIterator[int]:
        """Add the reports that are not here; last, because their notes name all other things."""
        members = {member.name: member for member in section.members}
        if LIST not in members:
            return
        try:
            entries = _ENTRIES.validate_python(await load_in_turn(partial(target.bundle.read_json, members[LIST])))
        except ValidationError:
            raise BadRequest("The section reports of the bundle has a row that is not a report; it was left out") from None
        for entry in entries:
            carried = _carried_of(entry, target)
            async with open_read_session(target.sessions) as session:
                known = await report_rows.find_carried_report(session, carried)
            if known is not None:
                target.references.reports[entry.id] = known
                note = "already here; it stays as it is here"
            else:
                note = target.provenance
                try:
                    await self._put(target, carried, entry, members)
                except NormstatError as error:
                    target.references.reports.pop(entry.id, None)
                    note = f"not added: {error.message}"
            is_new = note == target.provenance
            counted = count_of(len(entry.notes), "note")
            target.told(section_result(f"report {entry.title}", counted, note, n=1, n_new=int(is_new)))
        yield sum(member.n_bytes for member in section.members)

    async def _put(
        self, target: BundleTarget, carried: CarriedReport, entry: ReportEntry, members: Mapping[str, BundleMember]
    ) -> None:
        """Store a report whole, or not at all."""
        async with open_write_session(target.sessions) as session:
            report_id = await report_rows.put_report(session, carried)
            target.references.reports[entry.id] = report_id
            try:
                files = {file.id: await self._put_file(session, target, report_id, file, members) for file in entry.files}
                for place, note in enumerate(entry.notes):
                    frozen = None
                    if note.frozen is not None:
                        body = await _read(target, members, note.frozen, MAX_FROZEN_BYTES)
                        frozen = await anyio.to_thread.run_sync(_to_frozen, target, body)
                    content = target.references.to_note(note.content, files).model_dump(mode="json")
                    when = None if frozen is None else note.frozen_at or note.updated_at
                    author = target.author_of(note.author)
                    carried_note = CarriedNote(content, frozen, when, author, note.updated_at, note.updated_by)
                    await report_rows.put_note(session, report_id, place, carried_note)
            except (ValueError, TypeError, OverflowError):
                raise BadRequest(f"A note of the report {shorten(entry.title)} in the bundle is damaged") from None

    async def _put_file(
        self, session: WriteSession, target: BundleTarget, report_id: int, file: FileEntry, members: Mapping[str, BundleMember]
    ) -> int:
        """Store a file; an image is decoded and written again, as an uploaded one is."""
        body = await _read(target, members, file.member, MAX_REPORT_FILE_BYTES)
        media_type, kept = await anyio.to_thread.run_sync(lambda: read_upload(body, as_image=file.is_image))
        name = safe_file_name(file.name)
        return (await report_rows.add_file(session, report_id, name, media_type, kept, author=target.author_of(file.author))).id


def _to_frozen(target: BundleTarget, body: bytes) -> bytes:
    return pack_blocks(target.references.to_blocks(unpack_blocks(body)))


async def _read(target: BundleTarget, members: Mapping[str, BundleMember], name: str, max_bytes: int) -> bytes:
    member = members.get(name)
    if member is None:
        raise BadRequest(f"The bundle has no member {shorten(name)} for its report")
    if member.n_bytes > max_bytes:
        raise TooLarge(f"The member {shorten(name)} of the bundle has {member.n_bytes:,} bytes; the limit is {max_bytes:,}")
    return await anyio.to_thread.run_sync(lambda: b"".join(target.bundle.read(member)))


def _row_of(report: ReportInfo, notes: list[dict[str, Any]], files: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": report.id, "title": report.title, "hosts": report.hosts, "start": to_text(report.start),
        "end": to_text(report.end), "author": report.author, "created_at": to_text(report.created_at),
        "updated_at": to_text(report.updated_at), "updated_by": report.updated_by, "notes": notes, "files": files,
    }  # fmt: skip


def _carried_of(entry: ReportEntry, target: BundleTarget) -> CarriedReport:
    hosts = [target.references.to_host(host) for host in entry.hosts]
    start, end = (None if at is None else _utc(at) for at in (entry.start, entry.end))
    change = ReportChange(entry.title, hosts, start, end)
    return CarriedReport(change, target.author_of(entry.author), _utc(entry.created_at), _utc(entry.updated_at), entry.updated_by)


def _utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise BadRequest(f"The time {at.isoformat()} of a report in the bundle is invalid") from None
