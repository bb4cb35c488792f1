"""A comparison as PDF in two pages: the answer, then the ranked findings. All the rest is on the page of normstat."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from reportlab.platypus import Flowable, KeepInFrame, PageBreak, Paragraph, Spacer

from normstat.comparison.model import Comparison
from normstat.report.block_pdf import BookmarkedHeading, build_pdf, draw_block, table_flowables
from normstat.report.blocks import Block, BlockColumn, ReportDocument, SaidBlock, TableBlock
from normstat.report.comparison_blocks import RANKED, answer_blocks, finding_table, story_blocks
from normstat.report.markdown_pdf import link_markup
from normstat.report.pdf_fonts import shorten_to
from normstat.report.pdf_look import HEIGHT, STYLES, WIDTH, said
from normstat.report.report_page import Cover, version
from normstat.report.words import count, instant

MAX_NOTE: Final = 900
MAX_STORIES: Final = 7
MAX_HOSTS: Final = 6
CELL_SIZE: Final = 7.8


def render_comparison_pdf(record: Comparison, cover: Cover) -> bytes:
    """Return the PDF: always two pages, however much was found."""
    document = ReportDocument(cover.title, [], [], {}, cover.made_by, instant(cover.made_at), cover.address, "")
    first = _fill(_head(record, cover, document), _stories(record, document), "more on the page of this comparison")
    parts = [KeepInFrame(WIDTH, HEIGHT, first, mode="shrink"), PageBreak(), *_second(record, cover)]
    return build_pdf(
        parts, title=cover.title, author=cover.made_by,
        foot=f"{cover.title} · normstat {version()} · {instant(cover.made_at)}{f' · {cover.address}' if cover.address else ''}",
    )  # fmt: skip


def _head(record: Comparison, cover: Cover, document: ReportDocument) -> list[Flowable]:
    hosts = ", ".join(record.hosts[:MAX_HOSTS]) + (f" and {len(record.hosts) - MAX_HOSTS} more" if record.hosts[MAX_HOSTS:] else "")
    window = f"{hosts} · {instant(record.start)} to {instant(record.end)} · compared with {record.against.name}"
    blocks: list[Block] = answer_blocks(record)
    parts: list[Flowable] = [said(cover.title, "title"), said(window, "soft")]
    parts += [flowable for block in blocks for flowable in draw_block(block, document)]
    if cover.note.strip():
        note = cover.note.strip()
        parts.append(said(note if len(note) <= MAX_NOTE else f"{note[:MAX_NOTE]}… (cut; all of it is on the page)", "small"))
    if not record.n_findings:
        parts.append(said("No series changed more than its natural variability.", "text"))
    else:
        parts.append(said("What happened", "h2"))
    return parts


def _stories(record: Comparison, document: ReportDocument) -> list[list[Flowable]]:
    found = story_blocks(record, MAX_STORIES)
    return [draw_block(block, document) for block in found if not isinstance(block, SaidBlock)]


def height_of(parts: Sequence[Flowable]) -> float:
    """Return the height that flowables take, with the space between them. Units: points."""
    heights = (part.wrap(WIDTH, 10 * HEIGHT)[1] + part.getSpaceBefore() + part.getSpaceAfter() for part in parts)
    return float(sum(heights))


def _fill(head: list[Flowable], pieces: Sequence[Sequence[Flowable]], more: str) -> list[Flowable]:
    """Return the head and as many of the pieces as the page holds, and how many are left out."""
    used, parts = height_of(head), list(head)
    # Room for the last line.
    room = HEIGHT - 16
    for place, piece in enumerate(pieces):
        used += height_of(piece)
        if used > room and place:
            return [*parts, said(f"{len(pieces) - place} {more}.", "soft")]
        parts += piece
    return parts


def _second(record: Comparison, cover: Cover) -> list[Flowable]:
    if not record.groups:
        return [BookmarkedHeading("Findings"), said("There are none."), *_inputs(record, cover)]
    table = finding_table(record, limit=len(record.groups))
    head, foot = BookmarkedHeading("All findings, ranked"), _inputs(record, cover)
    room = HEIGHT - height_of([head, said(table.caption, "soft"), *foot]) - 8
    widths = _widths(table.columns)
    rows = [[shorten_to(cell, width - 7, CELL_SIZE) for cell, width in zip(row, widths, strict=True)] for row in table.rows]
    one = height_of(table_flowables(replace(table, rows=rows[:1], caption="")))
    two = height_of(table_flowables(replace(table, rows=rows[:2], caption=""))) if len(rows) > 1 else one
    n = min(len(rows), 1 + int((room - one) / max(1.0, two - one)))
    left = record.n_groups - n
    caption = RANKED
    if left > 0:
        caption += f" The first {n} of {count(record.n_groups, 'group')}; all are on the page of this comparison."
    shown = TableBlock(table.columns, rows[:n], caption)
    return [KeepInFrame(WIDTH, HEIGHT, [head, *table_flowables(shown), *foot], mode="shrink")]


def _widths(columns: Sequence[BlockColumn]) -> list[float]:
    whole = sum(column.share for column in columns)
    return [WIDTH * column.share / whole for column in columns]


def _inputs(record: Comparison, cover: Cover) -> list[Flowable]:
    counts = record.counts
    others = [
        f"{n:,} {what}"
        for n, what in (
            (counts.appeared, "appeared"),
            (counts.disappeared, "disappeared"),
            (counts.insufficient_data, "with insufficient data"),
            (counts.muted, "muted"),
        )
        if n
    ]
    summary = (
        f"{count(record.n_series, 'series', 'series')} compared: {record.n_findings:,} changed in"
        f" {count(record.n_groups, 'group')}, {record.n_unchanged:,} unchanged{''.join(f', {one}' for one in others)}."
        f" Method version {record.method_version}, normstat {version()}. The same inputs give the same numbers."
    )
    parts: list[Flowable] = [Spacer(1, 4), said(summary, "soft")]
    if cover.address.startswith(("http://", "https://")):
        shown = cover.address if len(cover.address) <= 110 else "the page of this comparison"
        parts.append(Paragraph(f"Everything else: {link_markup(shorten_address(shown), cover.address, '')}", STYLES["soft"]))
    return parts


def shorten_address(text: str) -> str:
    """Return an address as the markup of a paragraph."""
    return text.replace("&", "&amp;").replace("<", "&lt;")
