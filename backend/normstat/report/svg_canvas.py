"""Draw SVG on a page of a PDF as vectors: the subset that svg_subset.py lets through, without gradients and clipping."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from reportlab.graphics import shapes
from reportlab.lib import colors

from normstat.report.pdf_fonts import BOLD, PLAIN, printable
from normstat.report.svg_subset import SvgNode

# What style.css says of the graphs of comparisons, in its light colours.
CLASSES: Final[Mapping[str, Mapping[str, str]]] = {
    "grid": {"stroke": "#d6dde5", "stroke-width": "0.8"},
    "band": {"fill": "#dce8f2", "stroke": "none"},
    "median": {"stroke": "#2a6fa8", "stroke-width": "1", "stroke-dasharray": "5 3"},
    "baseline": {"fill": "#dce8f2", "stroke": "#2a6fa8", "stroke-width": "0.7", "stroke-dasharray": "3 2"},
    "baseline bars": {"fill": "#2a6fa8", "stroke": "none"},
    "incident bars": {"fill": "#b04e00", "stroke": "none"},
    "incident": {"fill": "#dd9a66", "stroke": "#b04e00", "stroke-width": "0.8"},
    "left": {"text-anchor": "end"},
}
NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
PATH_PART: Final = re.compile(r"[MmLlHhVvCcSsQqTtAaZz]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
TRANSFORM: Final = re.compile(r"(matrix|translate|scale|rotate)\s*\(([^)]*)\)")
INHERITED: Final = frozenset({
    "fill", "stroke", "stroke-width", "stroke-dasharray", "fill-opacity", "stroke-opacity", "opacity", "font-size", "font-weight",
    "text-anchor", "stroke-linecap", "stroke-linejoin", "visibility", "display",
})  # fmt: skip
MAX_USES: Final = 20_000
Style = dict[str, str]


def draw_svg(root: SvgNode, width: float, max_height: float) -> shapes.Drawing:
    """Return the drawing, as wide as asked for unless it would be higher than `max_height`. Units: points."""
    box = [float(text) for text in NUMBER.findall(root.attributes.get("viewBox", ""))]
    if len(box) != 4 or box[2] <= 0 or box[3] <= 0:
        box = [0, 0, _number(root.attributes.get("width"), 300) or 300, _number(root.attributes.get("height"), 150) or 150]
    scale = min(width / box[2], max_height / box[3])
    drawing = shapes.Drawing(box[2] * scale, box[3] * scale)
    # SVG counts y downwards.
    group = shapes.Group(transform=(scale, 0, 0, -scale, -box[0] * scale, (box[1] + box[3]) * scale))
    is_graph = "graph" in root.attributes.get("class", "").split()
    # The graphs of findings are drawn small: their words are not.
    style: Style = {"fill": "#55606e", "font-size": "14"} if is_graph else {"fill": "#000000", "font-size": "10"}
    named = {node.attributes["id"]: node for node in _all(root) if "id" in node.attributes}
    _Drawer(named).draw_children(root, group, _style_of(root, style, is_graph=False))
    drawing.add(group)
    return drawing


def _all(node: SvgNode) -> Iterator[SvgNode]:
    yield node
    for child in node.children:
        yield from _all(child)


class _Drawer:
    def __init__(self, named: Mapping[str, SvgNode]) -> None:
        self._named = named
        self._n_uses = 0

    def draw_children(self, node: SvgNode, group: shapes.Group, style: Style) -> None:
        for child in node.children:
            self.draw(child, group, style)

    def draw(self, node: SvgNode, group: shapes.Group, inherited: Style) -> None:
        style = _style_of(node, inherited)
        if style.get("display") == "none" or style.get("visibility") == "hidden":
            return
        given = node.attributes
        if "transform" in given:
            inner = shapes.Group(transform=_matrix(given["transform"]))
            group.add(inner)
            group = inner
        match node.name:
            case "g" | "svg":
                self.draw_children(node, group, style)
            case "use":
                self._draw_use(given, group, style)
            case "text":
                _draw_text(node, group, style)
            case _:
                shape = _shape(node.name, given)
                if shape is not None:
                    _paint(shape, style)
                    group.add(shape)

    def _draw_use(self, given: Mapping[str, str], group: shapes.Group, style: Style) -> None:
        target = self._named.get(given.get("href", "").removeprefix("#"))
        self._n_uses += 1
        # Nested uses could grow without limit.
        if target is None or target.name in {"use", "g", "svg", "defs"} or self._n_uses > MAX_USES:
            return
        inner = shapes.Group(transform=(1, 0, 0, 1, _number(given.get("x"), 0), _number(given.get("y"), 0)))
        group.add(inner)
        self.draw(target, inner, style)


def _style_of(node: SvgNode, inherited: Style, *, is_graph: bool = True) -> Style:
    style = {key: value for key, value in inherited.items() if key in INHERITED and key != "opacity"}
    names = node.attributes.get("class", "").split()
    if is_graph and names:
        for name in [*names, " ".join(names)]:
            style |= CLASSES.get(name, {})
    return style | {key: value for key, value in node.attributes.items() if key in INHERITED}


def _number(text: str | None, missing: float) -> float:
    found = NUMBER.match(text.strip()) if text else None
    return missing if found is None else _finite(float(found[0]))


def _finite(value: float) -> float:
    """Return the number in a range that PDF readers take."""
    return max(-1e6, min(1e6, value)) if math.isfinite(value) else 0.0


def _numbers(text: str | None) -> list[float]:
    return [_finite(float(part)) for part in NUMBER.findall(text or "")]


def _colour(text: str | None, opacity: float) -> Any:
    if text is None or text in {"none", "transparent"} or text.startswith("url("):
        return None
    text = "#000000" if text == "currentColor" else text
    try:
        colour = _rgb(text) if text.startswith("rgb") else colors.toColor(text) if re.fullmatch(r"#?[A-Za-z0-9]+", text) else None
    except ValueError:
        colour = None
    colour = colour or colors.black
    return colors.Color(colour.red, colour.green, colour.blue, alpha=max(0.0, min(1.0, opacity)))


def _rgb(text: str) -> Any:
    numbers = _numbers(text)[:3]
    if len(numbers) < 3:
        return None
    most = 100 if "%" in text else 255
    return colors.Color(*(max(0.0, min(1.0, value / most)) for value in numbers))


def _paint(shape: Any, style: Style) -> None:
    whole = _number(style.get("opacity"), 1)
    stroke = _colour(style.get("stroke"), whole * _number(style.get("stroke-opacity"), 1))
    shape.strokeColor = stroke
    shape.strokeWidth = _number(style.get("stroke-width"), 1)
    dashes = _numbers(style.get("stroke-dasharray"))
    shape.strokeDashArray = dashes if stroke is not None and dashes and any(dashes) and min(dashes) >= 0 else None
    shape.strokeLineCap = 1 if style.get("stroke-linecap") == "round" else 0
    shape.strokeLineJoin = 1 if style.get("stroke-linejoin") == "round" else 0
    if hasattr(shape, "fillColor"):
        shape.fillColor = _colour(style.get("fill", "#000000"), whole * _number(style.get("fill-opacity"), 1))


def _shape(name: str, given: Mapping[str, str]) -> Any:
    def at(key: str) -> float:
        return _number(given.get(key), 0)

    match name:
        case "rect":
            return shapes.Rect(at("x"), at("y"), max(0, at("width")), max(0, at("height")), rx=at("rx"), ry=at("ry") or at("rx"))
        case "line":
            return shapes.Line(at("x1"), at("y1"), at("x2"), at("y2"))
        case "circle":
            return shapes.Circle(at("cx"), at("cy"), max(0, at("r")))
        case "ellipse":
            return shapes.Ellipse(at("cx"), at("cy"), max(0, at("rx")), max(0, at("ry")))
        case "polyline" | "polygon":
            points = _numbers(given.get("points"))
            points = points[: len(points) // 2 * 2]
            return None if len(points) < 4 else shapes.PolyLine(points) if name == "polyline" else shapes.Polygon(points)
        case "path":
            return read_path(given.get("d", ""))
        case _:
            return None


def read_path(text: str) -> Any:  # noqa: C901, PLR0912, PLR0915 (a case for each command)
    """Return a path of lines and curves; arcs are drawn as lines. Missing: None without any."""
    path = shapes.Path()
    parts = PATH_PART.findall(text)
    place, x, y, start_x, start_y = 0, 0.0, 0.0, 0.0, 0.0
    command, control = "", (0.0, 0.0)
    counts = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7}
    while place < len(parts):
        if parts[place].isalpha():
            command = parts[place]
            place += 1
        kind = command.upper()
        if kind == "Z":
            if path.points:
                path.closePath()
            x, y = start_x, start_y
            # What follows without a letter is not a path.
            if place < len(parts) and not parts[place].isalpha():
                return path
            continue
        n = counts.get(kind, 0)
        given = parts[place : place + n]
        if not n or len(given) < n or any(part.isalpha() for part in given):
            break
        place += n
        values = [_finite(float(part)) for part in given]
        is_relative = command.islower()
        if kind == "H":
            target = (values[0] + (x if is_relative else 0), y)
        elif kind == "V":
            target = (x, values[0] + (y if is_relative else 0))
        else:
            offset = (x, y) if is_relative else (0.0, 0.0)
            pairs = [(values[i] + offset[0], values[i + 1] + offset[1]) for i in range(0, n - 1, 2)]
            target = (values[5] + offset[0], values[6] + offset[1]) if kind == "A" else pairs[-1]
        if kind == "M":
            path.moveTo(*target)
            start_x, start_y = target
            command = "l" if is_relative else "L"
        elif not path.points:
            break
        elif kind in {"C", "S"}:
            first = pairs[0] if kind == "C" else (2 * x - control[0], 2 * y - control[1])
            path.curveTo(*first, *pairs[-2], *target)
            control = pairs[-2]
        elif kind in {"Q", "T"}:
            middle = pairs[0] if kind == "Q" else (2 * x - control[0], 2 * y - control[1])
            path.curveTo(
                x + 2 / 3 * (middle[0] - x), y + 2 / 3 * (middle[1] - y),
                target[0] + 2 / 3 * (middle[0] - target[0]), target[1] + 2 / 3 * (middle[1] - target[1]), *target,
            )  # fmt: skip
            control = middle
        else:
            path.lineTo(*target)
        x, y = target
        if kind not in {"C", "S", "Q", "T"}:
            control = target
    return path if path.points else None


def _matrix(text: str) -> tuple[float, float, float, float, float, float]:
    whole = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    for name, inner in TRANSFORM.findall(text):
        values = _numbers(inner)
        if not values:
            continue
        if name == "matrix" and len(values) == 6:
            step = (values[0], values[1], values[2], values[3], values[4], values[5])
        elif name == "translate":
            step = (1.0, 0.0, 0.0, 1.0, values[0], values[1] if len(values) > 1 else 0.0)
        elif name == "scale":
            step = (values[0], 0.0, 0.0, values[1] if len(values) > 1 else values[0], 0.0, 0.0)
        elif name == "rotate":
            cos, sin = math.cos(math.radians(values[0])), math.sin(math.radians(values[0]))
            x, y = (values[1], values[2]) if len(values) > 2 else (0.0, 0.0)
            step = (cos, sin, -sin, cos, x - cos * x + sin * y, y - sin * x - cos * y)
        else:
            continue
        whole = shapes.mmult(whole, step)
    return whole


def _draw_text(node: SvgNode, group: shapes.Group, style: Style) -> None:
    texts = [(node, style)] + [(child, _style_of(child, style)) for child in node.children if child.name == "tspan"]
    x, y = _number(node.attributes.get("x"), 0), _number(node.attributes.get("y"), 0)
    for each, own in texts:
        x, y = _number(each.attributes.get("x"), x), _number(each.attributes.get("y"), y)
        text = " ".join(each.text.split())
        if not text:
            continue
        size = _number(own.get("font-size"), 10)
        anchor = own.get("text-anchor", "start")
        string = shapes.String(0, 0, printable(text), fontSize=size, textAnchor=anchor if anchor in {"middle", "end"} else "start")
        string.fontName = BOLD if own.get("font-weight") in {"bold", "600", "700"} else PLAIN
        string.fillColor = _colour(own.get("fill", "#000000"), _number(own.get("opacity"), 1))
        # The group is upside down; texts are turned back.
        group.add(shapes.Group(string, transform=(1, 0, 0, -1, x, y)))
