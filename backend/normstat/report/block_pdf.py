"""A report as PDF: vector graphs, real text, fonts inside. The same blocks as block_html.py draws."""

import io
from collections.abc import Sequence
from functools import partial
from typing import Any, Final
from xml.sax.saxutils import escape

from PIL import Image as Picture
from reportlab.graphics import renderPDF
from reportlab.graphics.shapes import Drawing
from reportlab.lib.pagesizes import A4
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    Image,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

from normstat.errors import NormstatError
from normstat.report.blocks import (
    Block,
    FigureBlock,
    FileBlock,
    HeadingBlock,
    ImageBlock,
    LinkBlock,
    ListBlock,
    PairsBlock,
    PrintedBlock,
    ReportDocument,
    SaidBlock,
    SidesBlock,
    StoredFile,
    StoryBlock,
    TableBlock,
    TextBlock,
)
from normstat.report.markdown_pdf import link_markup, to_flowables
from normstat.report.pdf_fonts import BOLD, printable, text_width
from normstat.report.pdf_look import (
    BLUE,
    BOTTOM_MARGIN,
    CARD,
    HEIGHT,
    LINE,
    MARGIN,
    ORANGE,
    SOFT,
    STYLES,
    TOP_MARGIN,
    WIDTH,
    NumberedCanvas,
    grid,
    printed,
    said,
)
from normstat.report.report_page import version
from normstat.report.svg_canvas import draw_svg
from normstat.report.svg_subset import read_svg

MAX_FIGURE_HEIGHT: Final = HEIGHT * 0.75
STORY_GRAPH: Final = 0.4
# As in the styles of cells, and the space beside their text.
CELL_SIZE: Final = 7.8
CELL_PADDING: Final = 7.0
SVG_TYPE: Final = "image/svg+xml"
TONES: Final = {"lead": "lead", "plain": "text", "soft": "soft", "warning": "warning"}


def render_pdf(document: ReportDocument) -> bytes:
    """Return the PDF."""
    parts: list[Flowable] = [said(document.title, "title"), *pairs_flowables(document.facts), Spacer(1, 4)]
    for section in document.sections:
        blocks = [flowable for block in section.blocks for flowable in draw_block(block, document)]
        if section.title:
            parts.append(BookmarkedHeading(section.title))
        parts += blocks
    where = f" · {document.address}" if document.address else ""
    foot = f"{document.title} · normstat {version()} · {document.made_at}{where}"
    return build_pdf(parts, title=document.title, author=document.made_by, foot=foot)


def build_pdf(parts: Sequence[Flowable], *, title: str, author: str, foot: str) -> bytes:
    """Return pages of the parts."""
    file = io.BytesIO()
    template = BaseDocTemplate(
        file, pagesize=A4, leftMargin=MARGIN, rightMargin=MARGIN, topMargin=TOP_MARGIN, bottomMargin=BOTTOM_MARGIN,
        title=title, author=author, creator=f"normstat {version()}", subject="normstat report",
    )  # fmt: skip
    frame = Frame(MARGIN, BOTTOM_MARGIN, WIDTH, HEIGHT, 0, 0, 0, 0)
    template.addPageTemplates(PageTemplate("page", [frame]))
    template.build(list(parts), canvasmaker=partial(NumberedCanvas, foot=foot, pageCompression=1))
    return file.getvalue()


class BookmarkedHeading(Paragraph):
    """The title of a section, which the reader's outline lists."""

    def __init__(self, text: str) -> None:
        super().__init__(escape(printable(text)), STYLES["h2"])
        self._outline = printable(text)

    def draw(self) -> None:
        """Draw it, and note its place."""
        key = f"n{id(self)}"
        self.canv.bookmarkHorizontal(key, 0, self.height)
        self.canv.addOutlineEntry(self._outline, key, 0, closed=0)
        super().draw()


def draw_block(block: Block, document: ReportDocument) -> list[Flowable]:  # noqa: C901, PLR0912 (a case for each kind)
    """Return a block as flowables."""
    match block:
        case HeadingBlock(text):
            return [said(text, "h3")]
        case TextBlock(markdown):
            return to_flowables(markdown, document.base)
        case SaidBlock(text, tone):
            return [said(text, TONES[tone])]
        case FigureBlock():
            return figure(block)
        case TableBlock():
            return table_flowables(block)
        case PairsBlock(pairs):
            return pairs_flowables(pairs)
        case SidesBlock():
            return [sides_flowable(block)]
        case StoryBlock():
            return [story_flowable(block)]
        case ListBlock(lines):
            return [_bullet(line) for line in lines]
        case PrintedBlock(text):
            return [printed(text)]
        case LinkBlock(text, path):
            return [Paragraph(link_markup(escape(printable(text)), path, document.base), STYLES["text"])]
        case ImageBlock(file, alt, share):
            return [_image(document.files.get(file), alt, share)]
        case FileBlock(file):
            return [_file(document.files.get(file))]


class DrawnGraph(Flowable):
    """A drawing that stays with what is below it."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__()
        self._drawing = drawing
        self.width, self.height = drawing.width, drawing.height
        self.keepWithNext = 1

    def wrap(self, _width: float, _height: float) -> tuple[float, float]:
        """Return its size."""
        return self.width, self.height

    def draw(self) -> None:
        """Draw it."""
        renderPDF.draw(self._drawing, self.canv, 0, 0)


def _drawing(svg: str, width: float, height: float = MAX_FIGURE_HEIGHT) -> Flowable:
    try:
        return DrawnGraph(draw_svg(read_svg(svg), width, height))
    except NormstatError as error:
        return said(f"This graph cannot be drawn: {error.message}", "warning")


def figure(block: FigureBlock) -> list[Flowable]:
    """Return a graph with its caption, together on a page."""
    drawing = _drawing(block.svg, WIDTH)
    caption = block.caption + (f" The numbers are in {block.csv_name} inside the HTML file." if block.csv else "")
    return [drawing, said(caption, "soft"), Spacer(1, 4)]


def table_flowables(block: TableBlock) -> list[Flowable]:
    """Return a table below its caption."""
    shares = [column.share for column in block.columns]
    head: list[Flowable] = [said(column.title, "head_number" if column.is_number else "head") for column in block.columns]
    styles = ["number" if column.is_number else "cell" for column in block.columns]
    rows: list[list[Flowable]] = [[said(text, style) for text, style in zip(row, styles, strict=True)] for row in block.rows]
    if block.bars:
        head.insert(0, said("share", "head"))
        shares = [sum(shares) * 0.12, *shares]
        for place, row in enumerate(rows):
            row.insert(0, Bar(block.bars[place] if place < len(block.bars) else 0.0))
    body = grid([head, *rows], _shares_of(block, shares))
    return [said(block.caption, "soft"), body] if block.caption else [body]


def _shares_of(block: TableBlock, shares: list[float]) -> list[float]:
    """Return the widths of columns: a number is never folded, the other columns share what is left."""
    first = len(shares) - len(block.columns)
    wanted = {
        first + place: max(
            max((text_width(row[place], CELL_SIZE) for row in block.rows), default=0.0),
            max((text_width(word, CELL_SIZE, BOLD) for word in column.title.split()), default=0.0),
        )
        + CELL_PADDING
        for place, column in enumerate(block.columns)
        if column.is_number
    }
    others = sum(share for place, share in enumerate(shares) if place not in wanted)
    left = WIDTH - sum(wanted.values())
    # Where numbers take nearly all of the width, texts still need some: then all shrink alike.
    if others and left < WIDTH * 0.2:
        left = WIDTH * 0.2
    return [wanted.get(place, left * share / others if others else 0.0) for place, share in enumerate(shares)]


class Bar(Flowable):
    """A bar in a cell."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self._share = max(0.0, min(1.0, share))

    def wrap(self, available_width: float, _height: float) -> tuple[float, float]:
        """Return its size."""
        self.width, self.height = available_width, 8
        return self.width, self.height

    def draw(self) -> None:
        """Draw it."""
        self.canv.setFillColor(BLUE)
        self.canv.rect(0, 0, self.width * self._share, 6, stroke=0, fill=1)


def pairs_flowables(pairs: Sequence[tuple[str, str]]) -> list[Flowable]:
    """Return names and values in two columns. Missing: empty without any value."""
    rows = [[said(name, "soft"), said(value, "small")] for name, value in pairs if value]
    if not rows:
        return []
    look = TableStyle([
        ("VALIGN", (0, 0), (-1, -1), "TOP"), ("LEFTPADDING", (0, 0), (-1, -1), 0), ("TOPPADDING", (0, 0), (-1, -1), 0.5),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 0),
    ])  # fmt: skip
    return [Table(rows, colWidths=[WIDTH * 0.2, WIDTH * 0.8], style=look, hAlign="LEFT", spaceAfter=3)]


def sides_flowable(block: SidesBlock) -> Flowable:
    """Return baseline and incident beside each other."""
    cells = [
        [Paragraph(f"<b>{name}</b> {escape(printable(lines[0]))}", STYLES["small"]), *(said(line, "soft") for line in lines[1:])]
        for name, lines in (("Baseline", block.baseline), ("Incident", block.incident))
    ]
    look: list[tuple[Any, ...]] = [
        ("VALIGN", (0, 0), (-1, -1), "TOP"), ("BACKGROUND", (0, 0), (-1, -1), CARD), ("BOX", (0, 0), (0, 0), 0.5, LINE),
        ("BOX", (2, 0), (2, 0), 0.5, LINE), ("BACKGROUND", (1, 0), (1, 0), "#ffffff"), ("LINEBEFORE", (0, 0), (0, 0), 2.5, BLUE),
        ("LINEBEFORE", (2, 0), (2, 0), 2.5, ORANGE), ("TOPPADDING", (0, 0), (-1, -1), 4), ("BOTTOMPADDING", (0, 0), (-1, -1), 3),
    ]  # fmt: skip
    half = (WIDTH - 8) / 2
    return Table([[cells[0], "", cells[1]]], colWidths=[half, 8, half], style=TableStyle(look), spaceBefore=3, spaceAfter=5)


def story_flowable(block: StoryBlock) -> Flowable:
    """Return a story: words on the left, its graph on the right."""
    words: list[Flowable] = [said(block.title, "h3")]
    if block.facts:
        words.append(said(block.facts, "soft"))
    words.append(said(block.sentence, "bold"))
    if block.values:
        words.append(said(block.values, "small"))
    words += [_bullet(line) for line in block.lines]
    if not block.svg:
        return Table([[words]], colWidths=[WIDTH], style=_story_look())
    width = WIDTH * STORY_GRAPH
    graph = [said(block.caption, "soft"), _drawing(block.svg, width - 8, 120)]
    return Table([[words, graph]], colWidths=[WIDTH - width, width], style=_story_look())


def _story_look() -> TableStyle:
    return TableStyle([
        ("VALIGN", (0, 0), (-1, -1), "TOP"), ("LEFTPADDING", (0, 0), (0, 0), 0), ("LEFTPADDING", (1, 0), (1, 0), 8),
        ("RIGHTPADDING", (0, 0), (-1, -1), 0), ("LINEBELOW", (0, 0), (-1, -1), 0.4, LINE), ("TOPPADDING", (0, 0), (-1, -1), 1),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 4),
    ])  # fmt: skip


def _bullet(text: str) -> Paragraph:
    style = STYLES["small"].clone("bullet", leftIndent=10, bulletIndent=1, bulletFontName=STYLES["text"].fontName, bulletColor=SOFT)
    return Paragraph(escape(printable(text)), style, bulletText="•")


def _image(file: StoredFile | None, alt: str, share: float) -> Flowable:
    if file is None:
        return said(f"The image {alt!r} was removed from this report.", "soft")
    width = WIDTH * share
    if file.media_type == SVG_TYPE:
        return _drawing(file.body.decode("utf-8", "replace"), width)
    with Picture.open(io.BytesIO(file.body)) as picture:
        ratio = picture.height / max(1, picture.width)
    height = min(width * ratio, MAX_FIGURE_HEIGHT)
    return Image(io.BytesIO(file.body), width=height / ratio, height=height, hAlign="LEFT")


def _file(file: StoredFile | None) -> Flowable:
    if file is None:
        return said("The file was removed from this report.", "soft")
    return said(f"{file.name} ({len(file.body):,} bytes), attached to the report on the page and inside the HTML file")
