"""The call trees that `perf report --stdio -g` prints below its rows, as stacks.

    # Children      Self  Command  Shared Object      Symbol
    # ........  ........  .......  .................  ..............................
    #
        65.73%     0.00%  ls       [kernel.kallsyms]  [k] entry_SYSCALL_64_after_hwframe
                |
                ---entry_SYSCALL_64_after_hwframe
                   do_syscall_64
                   |
                   |--50.40%--__x64_sys_getdents64
                   |          |
                   |           --50.21%--iterate_dir

A branch has a percentage of all samples (graph) or of the branch above it (fractal); what the branches below it leave belongs to
itself. With the column Children every function of a stack has a row with what it calls; only the rows that stand in no other row's
tree are taken, so that nothing is counted twice. Without it a row is where the samples fell, and its tree leads to its callers, or
from them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Final

from normstat.artefacts.parts import StackPart
from normstat.artefacts.stack_reading import MAX_FRAMES, clean_frame, weight_column
from normstat.artefacts.stack_tree import StackTreeBuilder
from normstat.stats.spec import Kind

COLUMNS: Final = re.compile(r"\s{2,}")
EVENT: Final = re.compile(r"#\s*(?:Samples|Events):.* of events? '(?P<event>[^']{1,200})'.*")
ROW: Final = re.compile(r"\s*\d{1,3}\.\d\d%")
NUMBER: Final = re.compile(r"(\d{1,3}\.\d\d)%")
# Dashes after the column of the branch above; perf 3 prints a blank after them.
BRANCH: Final = re.compile(r"(?P<lead>[ |]*)--(?P<share>\d{1,3}\.\d\d)%-- ?(?P<name>\S.*)")
FIRST: Final = re.compile(r"(?P<lead>[ |]*)--- ?(?P<name>\S.*)")
PLAIN: Final = re.compile(r"(?P<lead>[ |]*)(?P<name>[^\s|].*)")
# Sums of rounded percentages are over 100 by this much at most for each branch.
ROUNDING: Final = 0.011
KINDS: Final = re.compile(r"\[([k.gGuH])\] ")
MAX_ROWS: Final = 200_000


@dataclass(slots=True)
class _Node:
    name: str
    share: float | None = None
    below: list["_Node"] = field(default_factory=list)


@dataclass(slots=True)
class _Row:
    command: str
    symbol: str
    share: float
    is_kernel: bool
    trees: list[_Node] = field(default_factory=list)
    # The names below, with the column of each: (column, the last node in this column).
    open: list[tuple[int, _Node]] = field(default_factory=list)
    n_nodes: int = 0


@dataclass(slots=True)
class _Report:
    """The rows of one event. `names`: the header's columns."""

    event: str
    names: Sequence[str] = ()
    rows: list[_Row] = field(default_factory=list)


def read_call_graphs(data: bytes) -> list[StackPart]:
    """Return a part for each event with call trees. Missing: none where the report has no trees."""
    parts = []
    for report in _reports(data):
        if not any(row.trees for row in report.rows):
            continue
        column = weight_column(
            "share_pct", "share of the samples", "%", "Share of the samples of the event that the report is of.", Kind.PERCENT
        )
        builder = StackTreeBuilder([column])
        for frames, share in _stacks(report):
            builder.add(frames, [share])
        if builder.n_stacks:
            title = f"Call graph: {report.event}" if report.event else "Call graph"
            parts.append(builder.build(stat="perf_call_graph", title=title, weight=column.key))
    return parts


def _reports(data: bytes) -> Iterator[_Report]:
    report = _Report("")
    for raw in BytesIO(data):
        line = raw.rstrip().decode("utf-8", "replace").expandtabs()
        if line.startswith("#"):
            if (found := EVENT.fullmatch(line)) is not None:
                yield report
                report = _Report(clean_frame(found["event"]))
            elif {"Overhead", "Children"} & set(line[1:].split()[:1]):
                report.names = COLUMNS.split(line[1:].strip())
            continue
        if not line.strip():
            continue
        if ROW.match(line) is not None:
            _add_row(report, line)
        elif report.rows:
            _add_frame(report.rows[-1], line)
    yield report


def _add_row(report: _Report, line: str) -> None:
    words = COLUMNS.split(line.strip(), maxsplit=max(0, len(report.names) - 1))
    found = NUMBER.match(words[0])
    if found is None or len(words) != len(report.names) or len(report.rows) >= MAX_ROWS:
        return
    cells = dict(zip(report.names, words, strict=True))
    symbol = cells.get("Symbol", words[-1])
    kind = KINDS.match(symbol)
    name = clean_frame(symbol[kind.end() :] if kind is not None else symbol)
    is_kernel = kind is not None and kind[1] == "k"
    report.rows.append(_Row(clean_frame(cells.get("Command", "")), name, float(found[1]), is_kernel))


def _add_frame(row: _Row, line: str) -> None:
    """Put a line of a tree where its column says. A line that fits nowhere is not part of a tree."""
    found, share = BRANCH.fullmatch(line), None
    if found is not None:
        share, at = float(found["share"]), len(found["lead"])
        # Its branch begins below the name above, or one to the right.
        while row.open and row.open[-1][0] > at:
            row.open.pop()
    elif (found := FIRST.fullmatch(line)) is not None:
        row.open.clear()
    elif (found := PLAIN.fullmatch(line)) is not None:
        while row.open and row.open[-1][0] > found.start("name") + 1:
            row.open.pop()
        if not row.open or row.open[-1][0] < found.start("name") - 1:
            return
    if found is None or row.n_nodes >= MAX_FRAMES * 10:
        return
    node = _Node(clean_frame(found["name"]), share)
    row.n_nodes += 1
    (row.open[-1][1].below if row.open else row.trees).append(node)
    column = found.start("name")
    if share is None and row.open:
        # The next frame of the same stretch.
        column = row.open.pop()[0]
    row.open.append((column, node))


def _stacks(report: _Report) -> Iterator[tuple[list[str], float]]:
    """Yield stacks from the root with what ends in them."""
    has_children = report.names[:1] == ["Children"]
    inner = {(row.command, name) for row in report.rows for name in _inner_names(row)} if has_children else set()
    is_fractal = any(_is_fractal(row.trees, row.share) for row in report.rows)
    for row in report.rows:
        root = [row.command] if row.command else []
        if not has_children:
            yield from _of_leaf(row, root, is_fractal=is_fractal)
        elif row.trees and (row.command, row.symbol) not in inner:
            for frames, share in _walk(row.trees, row.share, is_fractal=is_fractal):
                yield root + frames, share


def _of_leaf(row: _Row, root: list[str], *, is_fractal: bool) -> Iterator[tuple[list[str], float]]:
    """Yield the stacks of a row where samples fell."""
    leaf = f"{row.symbol}_[k]" if row.is_kernel else row.symbol
    if not row.trees:
        yield [*root, leaf], row.share
        return
    left = row.share
    for frames, share in _walk(row.trees, row.share, is_fractal=is_fractal):
        left -= share
        if frames[0] == row.symbol:
            yield [*root, *reversed(frames[1:]), leaf], share
        elif frames[-1] == row.symbol:
            yield [*root, *frames[:-1], leaf], share
        else:
            # Sorted by symbol, perf does not print it again.
            yield [*root, *reversed(frames), leaf], share
    if left > ROUNDING:
        yield [*root, leaf], left


def _walk(trees: Sequence[_Node], share: float, *, is_fractal: bool) -> Iterator[tuple[list[str], float]]:
    """Yield the paths of trees that have this share together, with what each path does not hand on."""
    open_nodes = [(node, [node.name], _share_of(node, share, is_fractal=is_fractal)) for node in reversed(trees)]
    while open_nodes:
        node, frames, own = open_nodes.pop()
        below = [(each, _share_of(each, own, is_fractal=is_fractal)) for each in node.below]
        left = own - sum(part for _, part in below)
        if left > ROUNDING * len(below):
            yield frames, left
        open_nodes += [(each, [*frames, each.name], part) for each, part in reversed(below) if len(frames) < MAX_FRAMES]


def _share_of(node: _Node, above: float, *, is_fractal: bool) -> float:
    if node.share is None:
        return above
    return above * node.share / 100 if is_fractal else min(node.share, above)


def _is_fractal(trees: Sequence[_Node], share: float) -> bool:
    """Return whether the branches of a tree have more than the row itself: their percentages are of the branch above."""
    todo = [(trees, share)]
    while todo:
        nodes, above = todo.pop()
        shares = [node.share for node in nodes if node.share is not None]
        if sum(shares) > above + ROUNDING * (len(shares) + 1):
            return True
        todo += [(node.below, above if node.share is None else node.share) for node in nodes if node.below]
    return False


def _inner_names(row: _Row) -> Iterator[str]:
    """Yield the names in the tree of a row below its own."""
    todo = [node for tree in row.trees for node in tree.below]
    while todo:
        node = todo.pop()
        yield node.name
        todo += node.below
