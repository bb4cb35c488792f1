"""Markdown of notes as flowables of a PDF: the same tree as markdown.py writes as HTML."""

from typing import Any
from xml.sax.saxutils import escape, quoteattr

from markdown_it.tree import SyntaxTreeNode
from reportlab.lib.units import mm
from reportlab.platypus import Flowable, HRFlowable, Indenter, ListFlowable, ListItem, Paragraph

from normstat.report.markdown import parse_markdown, safe_link
from normstat.report.pdf_fonts import MONO, OBLIQUE, printable
from normstat.report.pdf_look import LINE, SOFT, STYLES, grid, printed


def to_flowables(text: str, base: str) -> list[Flowable]:
    """Return the text as flowables. `base`: the address of normstat, for links inside it; without one they are plain text."""
    return _blocks(parse_markdown(text), base)


def _blocks(node: SyntaxTreeNode, base: str) -> list[Flowable]:
    return [flowable for child in node.children for flowable in _block(child, base)]


def _block(node: SyntaxTreeNode, base: str) -> list[Flowable]:
    match node.type:
        case "paragraph":
            return [Paragraph(_inline(node, base), STYLES["text"])]
        case "heading":
            return [Paragraph(_inline(node, base), STYLES["h3" if node.tag in {"h1", "h2"} else "h4"])]
        case "hr":
            return [HRFlowable(width="100%", color=LINE, thickness=0.6, spaceBefore=4, spaceAfter=4)]
        case "fence" | "code_block":
            return [printed(node.content.rstrip("\n"))]
        case "blockquote":
            inner = _blocks(node, base)
            return [Indenter(left=6 * mm), *inner, Indenter(left=-6 * mm)]
        case "bullet_list" | "ordered_list":
            return [_list(node, base)]
        case "table":
            return [_table(node, base)]
        case _:
            return _blocks(node, base)


def _list(node: SyntaxTreeNode, base: str) -> Flowable:
    items = [ListItem(_blocks(item, base) or [Paragraph("", STYLES["text"])]) for item in node.children]
    look: dict[str, Any] = {"bulletFontSize": 8, "leftIndent": 14, "bulletColor": SOFT}
    if node.type == "ordered_list":
        return ListFlowable(items, bulletType="1", start=int(node.attrs.get("start", 1)), bulletFontName=OBLIQUE, **look)
    return ListFlowable(items, bulletType="bullet", start="•", bulletFontName=OBLIQUE, **look)


def _table(node: SyntaxTreeNode, base: str) -> Flowable:
    rows: list[list[Paragraph]] = []
    right: set[int] = set()
    for row in (row for part in node.children for row in part.children):
        cells = []
        for place, cell in enumerate(row.children):
            style = "cell"
            if "right" in str(cell.attrs.get("style", "")):
                right.add(place)
                style = "number"
            text = _inline(cell, base)
            cells.append(Paragraph(f"<b>{text}</b>" if cell.type == "th" else text, STYLES[style]))
        rows.append(cells)
    return grid(rows, [1.0] * max(map(len, rows)), is_natural=True)


def _inline(node: SyntaxTreeNode, base: str) -> str:
    """Return the inline content as the little markup of Paragraph, every text escaped."""
    match node.type:
        case "text":
            return escape(printable(node.content))
        case "softbreak":
            return " "
        case "hardbreak":
            return "<br/>"
        case "code_inline":
            return f'<font face="{MONO}" size="8">{escape(printable(node.content))}</font>'
    inner = "".join(_inline(child, base) for child in node.children)
    match node.type:
        case "em":
            return f"<i>{inner}</i>"
        case "strong":
            return f"<b>{inner}</b>"
        case "s":
            return f"<strike>{inner}</strike>"
        case "link":
            return link_markup(inner, str(node.attrs.get("href", "")), base)
        case _:
            return inner


def link_markup(inner: str, address: str, base: str) -> str:
    """Return a link around markup; the markup alone where the address is not allowed, or leads nowhere from paper."""
    safe = safe_link(address)
    if safe is None or (safe.startswith("/") and not base) or safe.startswith(("#", "?")):
        return inner
    full = f"{base}{safe}" if safe.startswith("/") else safe
    return f'<a href={quoteattr(printable(full))} color="#0b5fa5">{inner}</a>'
