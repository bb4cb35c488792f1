"""A page of an artefact's raw text, as the browser shows it: whole lines, whatever the bytes are."""

from dataclasses import dataclass
from typing import Final

from normstat.runtime.field_docs import Documented

PAGE_BYTES: Final = 64 << 10


@dataclass(frozen=True, slots=True)
class ArtefactText(Documented):
    """A page of the raw text."""

    text: str
    """Whole lines, but for lines longer than a page; bytes that are no UTF-8 are shown as \ufffd, and NUL as \u2400."""

    offset: int
    """Of its first byte in the raw text."""

    next_offset: int | None
    """Of the page after it; null at the end."""

    n_bytes: int
    """Of the whole raw text."""


def cut_page(data: bytes, offset: int, n_bytes: int) -> ArtefactText:
    """Return the page that begins with `data`, the text from `offset` on; it ends with the last whole line."""
    is_last = offset + len(data) >= n_bytes
    end = len(data) if is_last else data.rfind(b"\n") + 1
    if end == 0:
        end = _whole_character(data)
    text = data[:end].decode("utf-8", errors="replace").replace("\x00", "\u2400")
    return ArtefactText(text=text, offset=offset, next_offset=None if is_last else offset + end, n_bytes=n_bytes)


def _whole_character(data: bytes) -> int:
    """Return where the last character that began ends or, if that is cut, begins.

    >>> _whole_character("ab\u00e9".encode()), _whole_character("ab\u00e9".encode()[:3])
    (4, 2)
    """
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            is_cut = back < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4)
            return len(data) - back if is_cut and back < len(data) else len(data)
        if byte < 0x80:
            break
    return len(data)
