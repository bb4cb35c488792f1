"""A report as PDF: report.typ lays out the blocks that block_html.py writes as HTML."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from markdown_it.tree import SyntaxTreeNode

from normstat.comparison.model import Comparison
from normstat.errors import NormstatError
from normstat.report.blocks import (
    Block,
    FigureBlock,
    FileBlock,
    ImageBlock,
    LinkBlock,
    PrintedBlock,
    ReportDocument,
    ReportSection,
    SaidBlock,
    StoredFile,
    StoryBlock,
    TextBlock,
)
from normstat.report.comparison_blocks import comparison_blocks
from normstat.report.markdown import parse_markdown, safe_link
from normstat.report.report_page import Cover, version
from normstat.report.svg_subset import SvgNode, read_svg, write_svg
from normstat.report.typesetting import typeset
from normstat.runtime.readable import format_instant

SVG_TYPE: Final = "image/svg+xml"
ENDINGS: Final = {"image/png": "png", "image/jpeg": "jpg"}
SIZE: Final = re.compile(r"\d{1,6}(\.\d{1,6})?")
MAX_PRINTED_LINES: Final = 400


# What style.css says of the graphs of findings, in its light colours; their words are larger, for they are drawn small.
GRAPH_STYLE: Final = """
text { fill: #55606e; font-size: 14px } .left { text-anchor: end } .grid { stroke: #d6dde5; stroke-width: 0.8 }
.band { fill: #dce8f2 }
.median { stroke: #2a6fa8; stroke-dasharray: 5 3 }
.baseline { fill: #dce8f2; stroke: #2a6fa8; stroke-width: 0.7; stroke-dasharray: 3 2 }
.incident { fill: #dd9a66; stroke: #b04e00; stroke-width: 0.8 } .bars { stroke: none } .baseline.bars { fill: #2a6fa8 }
.incident.bars { fill: #b04e00 }
"""
# A node of Markdown as report.typ draws it: a text, or an object with its kind.
Node = str | dict[str, Any]


def render_pdf(document: ReportDocument) -> bytes:
    """Return the PDF.

    Raises: TooLarge for what cannot be laid out in time
    """
    where = f" · {document.address}" if document.address else ""
    data = {
        "title": document.title,
        "author": document.made_by,
        "foot": f"{document.title} · normstat {version()} · {document.made_at}{where}",
        "facts": [pair for pair in document.facts if pair[1]],
        "sections": [
            {"title": section.title, "blocks": [_data(block, document) for block in section.blocks]}
            for section in document.sections
        ],
    }
    pictures = {_file_name(file): file.body for file in document.files.values() if file.media_type in ENDINGS}
    return typeset("report.typ", data, "pdf", pictures)


def render_comparison_pdf(record: Comparison, cover: Cover) -> bytes:
    """Return a comparison as PDF: a report with one note.

    Raises: TooLarge for what cannot be laid out in time
    """
    note: list[Block] = [SaidBlock(line) for line in cover.note.strip().split("\n") if line]
    window = f"{format_instant(record.start)} to {format_instant(record.end)}"
    facts = [
        ("Hosts", ", ".join(record.hosts)),
        ("Window", window),
        ("Compared with", record.against.name),
        ("Method", f"version {record.method_version}; the same inputs give the same numbers"),
    ]
    section = ReportSection("", [*note, *comparison_blocks(record)])
    return render_pdf(
        ReportDocument(cover.title, facts, [section], {}, cover.made_by, format_instant(cover.made_at), cover.address, base="")
    )


def svg_to_png(svg: str) -> bytes:
    """Return an SVG of ours as PNG, on white, two pixels for each unit of the SVG.

    Raises: BadRequest for what is not SVG; TooLarge
    """
    return typeset("picture.typ", _drawable(svg), "png")


def _file_name(file: StoredFile) -> str:
    return f"{file.id}.{ENDINGS[file.media_type]}"


def _data(block: Block, document: ReportDocument) -> dict[str, Any]:
    match block:
        case TextBlock(markdown):
            return {"kind": "text", "tree": _nodes(parse_markdown(markdown), document.base)}
        case FigureBlock():
            more = f" The numbers are in {block.csv_name} inside the HTML file." if block.csv else ""
            return {"kind": "figure", "graph": _graph(block.svg), "caption": block.caption + more, "share": 1.0}
        case StoryBlock():
            return asdict(block) | {"graph": _graph(block.svg) if block.svg else None}
        case PrintedBlock(text):
            return {"kind": "printed", "lines": _lines(text)}
        case LinkBlock(text, path):
            return {"kind": "link", "text": text, "to": _address(path, document.base)}
        case ImageBlock(number, alt, share):
            return _image(document.files.get(number), alt, share)
        case FileBlock(number):
            return asdict(SaidBlock(_file_text(document.files.get(number)), "soft"))
        case _:
            return asdict(block)


def _image(file: StoredFile | None, alt: str, share: float) -> dict[str, Any]:
    if file is None:
        return asdict(SaidBlock(f"The image {alt!r} was removed from this report.", "soft"))
    if file.media_type == SVG_TYPE:
        return {"kind": "figure", "graph": _graph(file.body.decode("utf-8", "replace")), "caption": "", "share": share}
    return {"kind": "image", "file": _file_name(file), "share": share}


def _file_text(file: StoredFile | None) -> str:
    if file is None:
        return "The file was removed from this report."
    return f"{file.name} ({len(file.body):,} bytes), attached to the report on the page and inside the HTML file"


def _graph(svg: str) -> dict[str, str]:
    try:
        return {"svg": _drawable(svg), "problem": ""}
    except NormstatError as error:
        return {"svg": "", "problem": f"This graph cannot be drawn: {error.message}"}


def _drawable(svg: str) -> str:
    """Return the SVG with the style of its graph, a size, and no reference to a group: nested ones grow without limit.

    Raises: BadRequest for what is not SVG
    """
    root = read_svg(svg)
    named = {node.attributes["id"]: node for node in _all(root) if "id" in node.attributes}
    for node in _all(root):
        node.children = [child for child in node.children if child.name != "use" or _draws_shape(child, named)]
    box = root.attributes.get("viewBox", "").replace(",", " ").split()
    is_graph = "graph" in root.attributes.get("class", "").split()
    if len(box) != 4 or not all(map(_is_size, box[2:])):
        # As browsers draw an SVG without a size.
        root.attributes.pop("viewBox", None)
        for key, missing in (("width", "300"), ("height", "150")):
            if not _is_size(root.attributes.get(key, "")):
                root.attributes[key] = missing
    elif is_graph or not all(_is_size(root.attributes.get(key, "1")) for key in ("width", "height")):
        root.attributes |= {"width": box[2], "height": box[3]}
    written = str(write_svg(root))
    return written.replace(">", f"><style>{GRAPH_STYLE}</style>", 1) if is_graph else written


def _is_size(text: str) -> bool:
    return SIZE.fullmatch(text) is not None and float(text) > 0


def _all(node: SvgNode) -> Iterator[SvgNode]:
    yield node
    for child in node.children:
        yield from _all(child)


def _draws_shape(use: SvgNode, named: Mapping[str, SvgNode]) -> bool:
    target = named.get(use.attributes.get("href", "").removeprefix("#"))
    return target is not None and target.name not in {"use", "g", "svg", "defs"}


def _lines(text: str) -> list[str]:
    lines = text.expandtabs(8).split("\n")
    left = len(lines) - MAX_PRINTED_LINES
    return lines if left <= 0 else [*lines[:MAX_PRINTED_LINES], f"… {left:,} more lines"]


def _nodes(node: SyntaxTreeNode, base: str) -> list[Node]:
    return [n for child in node.children for n in _node(child, base)]


def _node(node: SyntaxTreeNode, base: str) -> list[Node]:  # noqa: C901, PLR0912 (a case for each kind)
    match node.type:
        case "text":
            return [node.content]
        case "softbreak":
            return [" "]
        case "hardbreak":
            return [{"kind": "break"}]
        case "hr":
            return [{"kind": "hr"}]
        case "code_inline":
            return [{"kind": "code", "text": node.content}]
        case "fence" | "code_block":
            return [{"kind": "printed", "lines": _lines(node.content.rstrip("\n"))}]
        case "table":
            rows = [row for part in node.children for row in part.children]
            cells = [[_nodes(cell, base) for cell in row.children] for row in rows]
            right = ["right" in str(c.attrs.get("style", "")) for c in rows[0].children]
            return [{"kind": "table", "head": cells[0], "rows": cells[1:], "right": right}]
    children = _nodes(node, base)
    match node.type:
        case "paragraph" | "em" | "strong" | "s" | "bullet_list":
            return [{"kind": node.type, "children": children}]
        case "list_item":
            return [{"kind": "item", "children": children}]
        case "blockquote":
            return [{"kind": "quote", "children": children}]
        case "heading":
            return [{"kind": "heading", "level": int(node.tag[1]), "children": children}]
        case "ordered_list":
            return [{"kind": "ordered_list", "start": int(node.attrs.get("start", 1)), "children": children}]
        case "link":
            to = _address(str(node.attrs.get("href", "")), base)
            return [{"kind": "link", "to": to, "children": children}] if to else children
        case _:
            return children


def _address(address: str, base: str) -> str:
    safe = safe_link(address)
    if safe is None or (safe.startswith("/") and not base) or safe.startswith(("#", "?")):
        return ""
    return f"{base}{safe}" if safe.startswith("/") else safe
