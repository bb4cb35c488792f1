"""Build HTML and SVG. Text becomes markup only through `tag`, which escapes it."""

import html
import unicodedata
from collections.abc import Iterable
from typing import Final

# Elements that have no end tag.
VOID: Final = frozenset({"meta", "br", "hr", "link", "img"})
_KEPT: Final = frozenset("\n\t")


class Markup(str):
    """Text that is markup. Operations of str (joining, adding) return plain text, which `tag` escapes."""

    __slots__ = ()


Child = str | Markup | None | Iterable["str | Markup | None"]


def tag(name: str, /, *children: Child, **attributes: str | float | None) -> Markup:
    """Return an element; text in it and in its attributes is escaped. `class_` is class, `data_kind` data-kind. None is left
    out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(visible(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(*children)}</{name}>")


def join(*children: Child) -> Markup:
    """Return the concatenation of children."""
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, Markup):
            parts.append(str(child))
        elif isinstance(child, str):
            parts.append(html.escape(visible(child)))
        else:
            parts.append(str(join(*child)))
    return Markup("".join(parts))


def visible(text: str) -> str:
    r"""Return the text with invisible characters escaped (\u202e), so that no name can look like another."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(sign if sign in _KEPT or _is_seen(sign) else _written(sign) for sign in text)


def _is_seen(sign: str) -> bool:
    category = unicodedata.category(sign)
    return category[0] != "C" and category not in ("Zl", "Zp")


def _written(sign: str) -> str:
    code = ord(sign)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
