"""Read SVG and keep only what draws: no scripts, no links out, no styles that load anything. All SVG of others passes here.

Reports keep graphs as SVG, people upload SVG, bundles bring SVG: all pass here before HTML or PDF shows them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final
from xml.etree import ElementTree as ET

from normstat.errors import BadRequest
from normstat.report.markup import Markup, tag

MAX_BYTES: Final = 8 << 20
MAX_ELEMENTS: Final = 200_000
MAX_DEPTH: Final = 60
ELEMENTS: Final = frozenset({
    "svg", "g", "path", "rect", "line", "circle", "ellipse", "polyline", "polygon", "text", "tspan", "title", "desc", "defs",
    "linearGradient", "radialGradient", "stop", "clipPath", "use",
})  # fmt: skip
DRAWING: Final = frozenset({
    "fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-dasharray", "stroke-dashoffset", "stroke-linecap",
    "stroke-linejoin", "stroke-miterlimit", "stroke-opacity", "opacity", "font-family", "font-size", "font-weight", "font-style",
    "text-anchor", "dominant-baseline", "clip-path", "clip-rule", "stop-color", "stop-opacity", "color", "visibility", "display",
})  # fmt: skip
PLACING: Final = frozenset({
    "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "cx", "cy", "r", "rx", "ry", "width", "height", "d", "points", "transform",
    "viewBox", "offset", "gradientUnits", "gradientTransform", "fx", "fy", "clipPathUnits", "preserveAspectRatio", "id", "class",
    "role", "aria-label", "textLength", "lengthAdjust",
})  # fmt: skip
# A reference inside the file is the only address that stays.
LOCAL: Final = re.compile(r"url\(\s*['\"]?#[\w.-]+['\"]?\s*\)")
HREF: Final = re.compile(r"#[\w.-]+")


@dataclass(slots=True)
class SvgNode:
    """An element that draws, with its attributes. `text` is the text in front of its children, `tail` that behind it."""

    name: str
    attributes: dict[str, str]
    text: str = ""
    tail: str = ""
    children: "list[SvgNode]" = field(default_factory=list)


def read_svg(body: str | bytes) -> SvgNode:
    """Return the drawing elements of an SVG.

    Raises: BadRequest for what is not SVG, declares a document type or entities, or is too large
    """
    if len(body) > MAX_BYTES:
        raise BadRequest(f"The SVG has {len(body):,} bytes; at most {MAX_BYTES:,} are drawn. Upload it as PNG")
    start = body[:4096].encode("utf-8", "replace") if isinstance(body, str) else body[:4096]
    if b"<!ENTITY" in (body.encode("utf-8", "replace") if isinstance(body, str) else body):
        raise BadRequest("The SVG declares entities, which are not read. Export it as plain SVG, or upload it as PNG")
    try:
        root = ET.fromstring(body)  # noqa: S314 (expat has limits against entities, and those with any were refused above)
    except (ET.ParseError, ValueError, LookupError) as error:
        raise BadRequest(f"This SVG cannot be read: {error}. It begins with {start[:40]!r}") from None
    counted = [0]
    node = _clean(root, 0, counted)
    if node is None or node.name != "svg":
        raise BadRequest(f"This is not SVG: its first element is {_local(root)!r}, not svg")
    return node


def write_svg(node: SvgNode) -> Markup:
    """Return the elements as markup."""
    attributes: dict[str, str | float | None] = dict(node.attributes)
    if node.name == "svg":
        attributes["xmlns"] = "http://www.w3.org/2000/svg"
    return tag(node.name, node.text, *_written(node), **attributes)


def clean_svg(body: str | bytes) -> Markup:
    """Return the SVG with nothing but what draws.

    Raises: BadRequest
    """
    return write_svg(read_svg(body))


def _written(node: SvgNode) -> Iterator[str | Markup]:
    for child in node.children:
        yield write_svg(child)
        yield child.tail


def _local(element: ET.Element) -> str:
    # Comments and instructions have a function as their tag, whatever the types say.
    tag: object = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _clean(element: ET.Element, depth: int, counted: list[int]) -> SvgNode | None:
    name = _local(element)
    counted[0] += 1
    if depth > MAX_DEPTH or counted[0] > MAX_ELEMENTS:
        raise BadRequest(f"The SVG has more than {MAX_ELEMENTS:,} elements, or more than {MAX_DEPTH} levels. Upload it as PNG")
    if name not in ELEMENTS:
        return None
    has_text = name in {"text", "tspan", "title", "desc"}
    node = SvgNode(name, _attributes(element), (element.text or "") if has_text else "")
    for child in element:
        found = _clean(child, depth + 1, counted)
        if found is not None:
            found.tail = (child.tail or "") if has_text else ""
            node.children.append(found)
    return node


def _attributes(element: ET.Element) -> dict[str, str]:
    kept: dict[str, str] = {}
    given: list[tuple[str, str]] = []
    for key, value in element.attrib.items():
        name = key.rpartition("}")[2]
        if name == "style":
            given += [(part.partition(":")[0].strip(), part.partition(":")[2].strip()) for part in value.split(";")]
        elif name == "href" and _local(element) == "use" and HREF.fullmatch(value):
            kept["href"] = value
        elif name in PLACING or name in DRAWING:
            given.append((name, value))
    return kept | {name: value for name, value in given if name in PLACING or (name in DRAWING and _loads_nothing(value))}


def _loads_nothing(value: str) -> bool:
    return "(" not in value or LOCAL.fullmatch(value) is not None or value.startswith("rgb")
