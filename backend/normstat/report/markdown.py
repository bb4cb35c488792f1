"""Markdown of notes as a tree: CommonMark and tables, without HTML, images or links other than http, https and inside normstat.

`to_html` writes it with `tag`, which escapes every text; the PDF draws the same tree.
"""

from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from normstat.report.markup import Markup, join, tag

MAX_NESTING: Final = 20
_PLAIN: Final = {"em": "em", "strong": "strong", "s": "del", "blockquote": "blockquote", "bullet_list": "ul", "list_item": "li"}
_TABLE: Final = {"table": "table", "thead": "thead", "tbody": "tbody", "tr": "tr"}


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False, "maxNesting": MAX_NESTING})
    return parser.enable(["table", "strikethrough"]).disable(["image", "html_block", "html_inline"])


def parse_markdown(text: str) -> SyntaxTreeNode:
    """Return the tree of a text."""
    return SyntaxTreeNode(_parser().parse(text))


def safe_link(address: str) -> str | None:
    """Return a link's address if a report may have it: http, https, or inside normstat. Missing: None for all others."""
    lowered = address.strip().lower()
    if lowered.startswith(("http://", "https://")):
        return address.strip()
    # Two slashes would lead to another server; a colon before any slash to another scheme. Browsers read \ as /.
    if lowered.startswith(("//", "/\\", "\\")) or not lowered.startswith(("/", "#", "?")):
        return None
    return address.strip() if address.isprintable() else None


def to_html(text: str, base: str = "") -> Markup:
    """Return the text as HTML. `base`: the address of normstat, for links inside it; "" leaves them relative."""
    return _html(parse_markdown(text), base)


def _html(node: SyntaxTreeNode, base: str) -> Markup:  # noqa: C901, PLR0912 (a case for each kind)
    inner = [_html(child, base) for child in node.children] if node.type not in {"text", "code_inline"} else []
    match node.type:
        case "text":
            return join(node.content)
        case "softbreak":
            return join("\n")
        case "hardbreak":
            return tag("br")
        case "hr":
            return tag("hr")
        case "code_inline":
            return tag("code", node.content)
        case "fence" | "code_block":
            return tag("pre", node.content.rstrip("\n"))
        case "paragraph":
            return tag("p", *inner)
        case "heading":
            # The report's own headings are h1 and h2.
            return tag(f"h{min(6, int(node.tag[1]) + 2)}", *inner)
        case "ordered_list":
            start = str(node.attrs.get("start", 1))
            return tag("ol", *inner, start=None if start == "1" else start)
        case "link":
            address = safe_link(str(node.attrs.get("href", "")))
            if address is None:
                return join(*inner)
            full = f"{base}{address}" if address.startswith("/") else address
            return tag("a", *inner, href=full, rel="noreferrer noopener")
        case "th" | "td":
            return tag(node.type, *inner, class_="n" if "right" in str(node.attrs.get("style", "")) else None)
        case kind if kind in _PLAIN:
            return tag(_PLAIN[kind], *inner)
        case kind if kind in _TABLE:
            return tag(_TABLE[kind], *inner)
        case _:
            return join(*inner)
