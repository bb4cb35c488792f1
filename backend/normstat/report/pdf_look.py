"""The look of a PDF: page, styles, tables and printed text. Every text goes through `printable` and is escaped."""

from collections.abc import Sequence
from typing import Any, Final
from xml.sax.saxutils import escape

from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Paragraph, Preformatted, Table, TableStyle

from normstat.report.pdf_fonts import BOLD, MONO, PLAIN, printable, register_fonts, shorten_to, text_width

MARGIN: Final = 15 * mm
TOP_MARGIN: Final = 19 * mm
BOTTOM_MARGIN: Final = 17 * mm
WIDTH: Final = A4[0] - 2 * MARGIN
HEIGHT: Final = A4[1] - TOP_MARGIN - BOTTOM_MARGIN
TEXT: Final = HexColor("#1c232b")
SOFT: Final = HexColor("#55606e")
LINE: Final = HexColor("#d6dde5")
CARD: Final = HexColor("#f4f7f9")
BLUE: Final = HexColor("#2a6fa8")
ORANGE: Final = HexColor("#b04e00")
# Font size of printed text; longer lines are folded.
MONO_SIZE: Final = 7.4
MAX_PRINTED_LINES: Final = 400


def _styles() -> dict[str, ParagraphStyle]:
    register_fonts()
    text = ParagraphStyle("text", fontName=PLAIN, fontSize=9.2, leading=12.2, textColor=TEXT, spaceAfter=3, splitLongWords=1)

    def like(name: str, **change: Any) -> ParagraphStyle:
        return ParagraphStyle(name, parent=text, **change)

    return {
        "text": text,
        "title": like("title", fontName=BOLD, fontSize=17, leading=20.5, spaceAfter=4),
        "h2": like("h2", fontName=BOLD, fontSize=12.5, leading=15.5, spaceBefore=11, spaceAfter=4, keepWithNext=1),
        "h3": like("h3", fontName=BOLD, fontSize=10.2, leading=13, spaceBefore=5, spaceAfter=2, keepWithNext=1),
        "h4": like("h4", fontName=BOLD, fontSize=9.2, leading=12, spaceBefore=3, spaceAfter=1, keepWithNext=1),
        "lead": like("lead", fontName=BOLD, fontSize=11, leading=14.2, spaceBefore=2, spaceAfter=5),
        "bold": like("bold", fontName=BOLD, spaceAfter=2),
        "soft": like("soft", fontSize=8.2, leading=10.6, textColor=SOFT, spaceAfter=2),
        "small": like("small", fontSize=8.2, leading=10.6, spaceAfter=1.5),
        "warning": like("warning", textColor=ORANGE, leftIndent=6),
        "cell": like("cell", fontSize=7.8, leading=9.8, spaceAfter=0),
        "number": like("number", fontSize=7.8, leading=9.8, spaceAfter=0, alignment=TA_RIGHT),
        "head": like("head", fontName=BOLD, fontSize=7.8, leading=9.8, spaceAfter=0),
        "head_number": like("head_number", fontName=BOLD, fontSize=7.8, leading=9.8, spaceAfter=0, alignment=TA_RIGHT),
        "printed": ParagraphStyle("printed", fontName=MONO, fontSize=MONO_SIZE, leading=9.2, textColor=TEXT),
    }


STYLES: Final = _styles()


def said(text: str, style: str = "text") -> Paragraph:
    """Return a plain text as a paragraph."""
    return Paragraph(escape(printable(text)), STYLES[style])


def printed(text: str) -> Flowable:
    """Return text as a tool printed it, on a card; long lines are folded, and very long texts end with a count."""
    lines = printable(text).expandtabs(8).split("\n")
    n_left = len(lines) - MAX_PRINTED_LINES
    n_signs = int((WIDTH - 14) / text_width("0", MONO_SIZE, MONO))
    folded = [line[at : at + n_signs] for line in lines[:MAX_PRINTED_LINES] for at in range(0, max(1, len(line)), n_signs)]
    if n_left > 0:
        folded.append(f"… {n_left:,} more lines")
    # A row for each line: a table splits between pages, a single text does not.
    rows = [[Preformatted(line, STYLES["printed"])] for line in folded]
    look = TableStyle([
        ("BACKGROUND", (0, 0), (-1, -1), CARD), ("BOX", (0, 0), (-1, -1), 0.5, LINE), ("LEFTPADDING", (0, 0), (-1, -1), 5),
        ("TOPPADDING", (0, 0), (-1, -1), 0), ("BOTTOMPADDING", (0, 0), (-1, -1), 0.6), ("RIGHTPADDING", (0, 0), (-1, -1), 2),
    ])  # fmt: skip
    return Table(rows, colWidths=[WIDTH - 2], style=look, spaceBefore=3, spaceAfter=5, hAlign="LEFT")


def grid(rows: Sequence[Sequence[Flowable]], shares: Sequence[float], *, is_natural: bool = False, width: float = WIDTH) -> Table:
    """Return a table with a head that is repeated on each page. `is_natural`: not wider than its columns need, about."""
    if is_natural:
        wanted = _natural_widths(rows, len(shares), width)
    else:
        whole = sum(shares)
        wanted = [width * share / whole for share in shares]
    widths, padding = _fitted_widths(wanted, width)
    look = TableStyle([
        ("VALIGN", (0, 0), (-1, -1), "TOP"), ("LINEBELOW", (0, 0), (-1, 0), 0.8, SOFT), ("LINEBELOW", (0, 1), (-1, -1), 0.4, LINE),
        ("LEFTPADDING", (0, 0), (-1, -1), padding / 3), ("RIGHTPADDING", (0, 0), (-1, -1), padding * 2 / 3),
        ("TOPPADDING", (0, 0), (-1, -1), 1.6), ("BOTTOMPADDING", (0, 0), (-1, -1), 1.8),
    ])  # fmt: skip
    return Table(rows, colWidths=widths, style=look, repeatRows=1, splitInRow=1, spaceBefore=2, spaceAfter=6, hAlign="LEFT")


MIN_COLUMN: Final = 14.0
PADDING: Final = 6.0


def _fitted_widths(wanted: Sequence[float], width: float) -> tuple[list[float], float]:
    """Return widths that fit into `width`, each with room for its padding and a letter; and the padding."""
    least = min(MIN_COLUMN, width / len(wanted))
    wanted = [max(each, least) for each in wanted]
    spare = sum(wanted) - len(wanted) * least
    scale = min(1.0, (width - len(wanted) * least) / spare) if spare > 0 else 1.0
    return [least + (each - least) * scale for each in wanted], min(PADDING, least / 2)


def _natural_widths(rows: Sequence[Sequence[Flowable]], n: int, width: float) -> list[float]:
    wanted = [20.0] * n
    for row in rows:
        for place, cell in enumerate(row):
            text = cell.getPlainText(identify=0) if isinstance(cell, Paragraph) else ""
            wanted[place] = max(wanted[place], min(width / 2, text_width(text, 7.8, BOLD) + 12))
    return wanted


class NumberedCanvas(Canvas):
    """A canvas that knows the number of pages when it draws the foot of each."""

    def __init__(self, *given: Any, foot: str = "", **named: Any) -> None:
        super().__init__(*given, **named)
        self._foot = foot
        self._pages: list[dict[str, Any]] = []

    def showPage(self) -> None:  # noqa: N802 (its name in reportlab)
        """Keep the page until their number is known."""
        self._pages.append(dict(self.__dict__))
        self._startPage()

    def save(self) -> None:
        """Write all pages."""
        pages = self._pages
        for place, page in enumerate(pages):
            self.__dict__.update(page)
            self._draw_foot(place + 1, len(pages))
            super().showPage()
        super().save()

    def _draw_foot(self, number: int, n: int) -> None:
        self.saveState()
        self.setFont(PLAIN, 7.6)
        self.setFillColor(SOFT)
        self.setStrokeColor(LINE)
        self.setLineWidth(0.5)
        y = 10 * mm
        self.line(MARGIN, y + 9, A4[0] - MARGIN, y + 9)
        self.drawString(MARGIN, y, printable(shorten_to(self._foot, WIDTH - 60, 7.6)))
        self.drawRightString(A4[0] - MARGIN, y, f"{number} / {n}")
        self.restoreState()
