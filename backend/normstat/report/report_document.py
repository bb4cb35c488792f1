"""Put a stored report together as it is drawn: its facts, a section for each note, and its files."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from urllib.parse import quote, urlencode

from normstat.report.blocks import (
    Block,
    FileBlock,
    ImageBlock,
    LinkBlock,
    ReportDocument,
    ReportSection,
    SaidBlock,
    StoredFile,
    TextBlock,
    unpack_blocks,
)
from normstat.report.note_freezing import csv_blocks
from normstat.report.note_models import (
    NOTE,
    ArtefactNote,
    ExperimentNote,
    FileNote,
    GraphNote,
    ImageNote,
    ReportNoteContent,
    TableNote,
    TextNote,
)
from normstat.report.report_rows import ReportInfo, StoredNote
from normstat.report.report_templates import without_placeholders
from normstat.runtime.readable import format_instant, to_iso

MISSING: Final = "Nothing is frozen of this note yet. Freeze it on the report's page."


def build_document(
    report: ReportInfo, notes: Sequence[StoredNote], frozen: Mapping[int, bytes], files: dict[int, StoredFile], *,
    who: str, now: datetime, public_url: str,
) -> ReportDocument:  # fmt: skip
    """Return the report as it is drawn."""
    base = public_url.rstrip("/") if public_url.startswith(("http://", "https://")) else ""
    window = (
        f"{format_instant(report.start)} to {format_instant(report.end)}"
        if report.start is not None and report.end is not None
        else ""
    )
    return ReportDocument(
        title=report.title,
        facts=[
            ("Hosts", ", ".join(report.hosts)),
            ("Window", window),
            ("Author", report.author),
            ("Last change", f"{format_instant(report.updated_at.replace(microsecond=0))} by {report.updated_by}"),
        ],
        sections=[to_section(note, frozen.get(note.id)) for note in notes if not _is_unwritten(note)],
        files=files,
        made_by=who,
        made_at=format_instant(now),
        address=f"{base}/reports/{report.id}" if base else "",
        base=base,
    )


def _is_unwritten(note: StoredNote) -> bool:
    """Return whether a note has nothing but what its template says to write there."""
    content = NOTE.validate_python(note.content)
    if not isinstance(content, TextNote) or not content.markdown.strip() or content.comment.strip():
        return False
    return not without_placeholders(content.markdown)


def to_section(note: StoredNote, frozen: bytes | None) -> ReportSection:
    """Return a note as a section."""
    content = NOTE.validate_python(note.content)
    blocks = unpack_blocks(frozen) if frozen is not None else live_blocks(content)
    if frozen is not None and isinstance(content, TextNote):
        # It came in a bundle without what it shows: its text says so.
        blocks = [*blocks, *live_blocks(content)]
    if note.frozen_at is not None:
        blocks = [*blocks, SaidBlock(f"Frozen {format_instant(note.frozen_at.replace(microsecond=0))}.", "soft")]
    if content.comment.strip():
        blocks = [*blocks, TextBlock(content.comment)]
    return ReportSection(content.title, blocks, content.kind)


def live_blocks(content: ReportNoteContent) -> list[Block]:
    """Return the blocks of a note of which nothing is frozen: text, files, and links."""
    match content:
        case TextNote():
            return [TextBlock(without_placeholders(content.markdown))]
        case TableNote():
            return csv_blocks(content.csv)
        case ImageNote():
            return [ImageBlock(content.file, content.title, content.share)]
        case FileNote():
            return [FileBlock(content.file)]
        case GraphNote():
            span = f"{format_instant(content.start)} to {format_instant(content.end)}"
            said = f"{content.host} {content.stat}: {', '.join(content.fields)}, {span}"
            return [LinkBlock(f"Graph on the page, with the data of now: {said}", graph_path(content))]
        case ArtefactNote():
            return [LinkBlock(f"Artefact {content.artefact} on its page", f"/artefacts/{content.artefact}")]
        case ExperimentNote():
            return [LinkBlock(f"Experiment {content.experiment} on its page", f"/experiments/{content.experiment}")]
        case _:
            return [SaidBlock(MISSING, "warning")]


def graph_path(note: GraphNote) -> str:
    """Return the path of the host's page with the note's window."""
    ends = {"from": note.start, "to": note.end}
    query = {name: to_iso(at) for name, at in ends.items()}
    return f"/hosts/{quote(note.host, safe='')}?{urlencode(query)}"
