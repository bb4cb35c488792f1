"""Slow tests are listed, and the list only shrinks."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.costs import SLOW_LIST

TESTS = Path(__file__).parent
# Lower it when a test gets faster. Never raise it: make the test cheaper, or leave it to `make test-all` (mark `matrix`).
MAX_SLOW_TESTS = 32


def test_the_list_names_the_slow_tests() -> None:
    marked = {name for path in TESTS.rglob("test_*.py") for name in marked_slow(path)}
    listed = SLOW_LIST.read_text().split()
    assert listed == sorted(marked), f"{SLOW_LIST.name} must name what is marked slow, in order"
    assert len(listed) <= MAX_SLOW_TESTS, "more tests are slow than before (CONTRIBUTING.md)"


def marked_slow(path: Path) -> Iterator[str]:
    """Yield FILE::TEST or FILE::CLASS for what has the decorator `pytest.mark.slow`, and FILE where the mark stands elsewhere."""
    text = path.read_text()
    if "mark.slow" not in text:
        return
    nodes = list(ast.walk(ast.parse(text)))
    decorated = [
        f"{path.relative_to(TESTS)}::{node.name}"
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and any(map(is_slow_mark, node.decorator_list))
    ]
    yield from decorated
    if sum(map(is_slow_mark, nodes)) > len(decorated):
        yield str(path.relative_to(TESTS))


def is_slow_mark(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node) == "pytest.mark.slow"
