"""The fonts of a PDF, which carries them: Latin with all of Europe, Greek, Cyrillic, arrows and mathematics."""

import functools
from importlib import resources
from typing import Final

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

from normstat.report.markup import visible

PLAIN: Final = "Report"
BOLD: Final = "Report-Bold"
OBLIQUE: Final = "Report-Oblique"
MONO: Final = "Report-Mono"
_FILES: Final = {
    PLAIN: "DejaVuSansCondensed.ttf",
    BOLD: "DejaVuSansCondensed-Bold.ttf",
    OBLIQUE: "DejaVuSansCondensed-Oblique.ttf",
    MONO: "DejaVuSansMono.ttf",
}


@functools.cache
def register_fonts() -> frozenset[int]:
    """Register the fonts, and return the code points that all of them have."""
    folder = resources.files("normstat.report") / "fonts"
    for name, file in _FILES.items():
        with resources.as_file(folder / file) as path:
            pdfmetrics.registerFont(TTFont(name, str(path)))
    # There is no bold oblique: bold stands for it.
    pdfmetrics.registerFontFamily(PLAIN, normal=PLAIN, bold=BOLD, italic=OBLIQUE, boldItalic=BOLD)
    pdfmetrics.registerFontFamily(MONO, normal=MONO, bold=MONO, italic=MONO, boldItalic=MONO)
    return frozenset.intersection(*(frozenset(pdfmetrics.getFont(name).face.charToGlyph) for name in (PLAIN, BOLD, OBLIQUE)))


def printable(text: str) -> str:
    r"""Return the text with characters that the fonts lack, or that are invisible, written as \u30c6."""
    if text.isascii() and text.isprintable():
        return text
    known = register_fonts()
    return "".join(sign if sign in "\n\t" or ord(sign) in known else _written(sign) for sign in visible(text))


def _written(sign: str) -> str:
    code = ord(sign)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def text_width(text: str, size: float, font: str = PLAIN) -> float:
    """Return the width of a text in points."""
    register_fonts()
    return float(pdfmetrics.stringWidth(printable(text), font, size))


def shorten_to(text: str, width: float, size: float, font: str = PLAIN) -> str:
    """Return the text, its end replaced by … where it is wider than `width` points."""
    if text_width(text, size, font) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if text_width(f"{text[:middle]}…", size, font) <= width:
            low = middle
        else:
            high = middle - 1
    return f"{text[:low].rstrip()}…"
