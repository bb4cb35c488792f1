"""A picture as PNG, for chats and documents that take no SVG. It is the same everywhere: normstat carries its fonts."""

from contextlib import ExitStack
from importlib import resources
from typing import Final

import resvg_py

from normstat.report.pdf_fonts import printable

# Pixels for each unit of the SVG: letters stay sharp on screens of two pixels a point.
ZOOM: Final = 2
# The family of the files below, of which only the condensed width is carried.
FAMILY: Final = "DejaVu Sans"
FILES: Final = ("DejaVuSansCondensed.ttf", "DejaVuSansCondensed-Bold.ttf")


def svg_to_png(svg: str) -> bytes:
    r"""Return an SVG of ours as PNG, on white. Signs that the fonts do not have are written as \u30c6."""
    folder = resources.files("normstat.report") / "fonts"
    with ExitStack() as stack:
        files = [str(stack.enter_context(resources.as_file(folder / name))) for name in FILES]
        return resvg_py.svg_to_bytes(
            svg_string=printable(svg),
            background="#ffffff",
            skip_system_fonts=True,
            zoom=ZOOM,
            font_family=FAMILY,
            sans_serif_family=FAMILY,
            font_files=files,
        )
