"""Documents laid out by typst, with the fonts of normstat: Latin with all of Europe, Greek, Cyrillic, arrows and mathematics.

Data goes to a template as JSON, so no text of a user is ever code.
"""

import functools
import json
import struct
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

from normstat.errors import TooLarge
from normstat.report.markup import visible
from normstat.runtime.isolated_module import run_isolated

# The fonts of running text; a character counts as known where all of them have it.
FILES: Final = ("DejaVuSansCondensed.ttf", "DejaVuSansCondensed-Bold.ttf", "DejaVuSansCondensed-Oblique.ttf")
# 100 kB of Markdown at its worst took 5 s of CPU (docs/adr/0035-typst.md).
MAX_S: Final = 60


def typeset(template: str, data: object, output: Literal["pdf", "png"], files: Mapping[str, bytes] | None = None) -> bytes:
    """Return the document that a template of this package makes of the data.

    Raises: TooLarge when it needs more than 60 s or 3 GiB, or typst refuses it
    """
    with TemporaryDirectory(prefix="normstat-report-") as name:
        folder = Path(name)
        (folder / "main.typ").write_bytes((resources.files("normstat.report") / template).read_bytes())
        (folder / "data.json").write_text(json.dumps(_printable(data)), encoding="utf-8")
        for file, body in (files or {}).items():
            (folder / file).write_bytes(body)
        try:
            status, problem = run_isolated("normstat.report.typeset_process", name, output, timeout_s=MAX_S)
        except TimeoutError:
            raise TooLarge(f"The document is not laid out after {MAX_S} s. Shorten its notes, or take the HTML file") from None
        if status:
            # Killed at its limit, it prints nothing.
            said = problem[-200:] or f"it needs more than {MAX_S} s of CPU"
            raise TooLarge(f"The document cannot be laid out: {said}. Shorten its notes, or take the HTML file")
        return (folder / "out").read_bytes()


def _printable(data: Any) -> Any:
    match data:
        case str():
            return printable(data)
        case dict():
            return {key: _printable(value) for key, value in data.items()}
        case list() | tuple():
            return [_printable(value) for value in data]
        case _:
            return data


def printable(text: str) -> str:
    r"""Return the text with characters that the fonts lack, or that are invisible, written as \u30c6."""
    if text.isascii() and text.isprintable():
        return text
    known = known_characters()
    return "".join(sign if sign in "\n\t" or ord(sign) in known else _written(sign) for sign in visible(text))


def _written(sign: str) -> str:
    code = ord(sign)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@functools.cache
def known_characters() -> frozenset[int]:
    """Return the code points that all fonts of running text have."""
    folder = resources.files("normstat.report") / "fonts"
    return frozenset.intersection(*(_characters((folder / name).read_bytes()) for name in FILES))


def _characters(font: bytes) -> frozenset[int]:
    """Return the code points in a font's `cmap` table, of format 4 (Source: OpenType specification, cmap)."""
    n_tables = struct.unpack_from(">H", font, 4)[0]
    tables = {font[at : at + 4]: struct.unpack_from(">I", font, at + 8)[0] for at in range(12, 12 + 16 * n_tables, 16)}
    cmap = tables[b"cmap"]
    records = [struct.unpack_from(">HHI", font, cmap + 4 + 8 * i) for i in range(struct.unpack_from(">H", font, cmap + 2)[0])]
    at = next(cmap + offset for _, _, offset in records if struct.unpack_from(">H", font, cmap + offset)[0] == 4)
    n = struct.unpack_from(">H", font, at + 6)[0] // 2
    ends = struct.unpack_from(f">{n}H", font, at + 14)
    starts = struct.unpack_from(f">{n}H", font, at + 16 + 2 * n)
    # The last segment is 0xffff alone, which is no character.
    return frozenset(code for start, end in zip(starts[:-1], ends[:-1], strict=True) for code in range(start, end + 1))
