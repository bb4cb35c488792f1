"""A name in stats/ means one thing: no two modules and no two classes share one."""

import ast
from collections import defaultdict
from pathlib import Path

import normstat.stats

FOLDER = Path(str(normstat.stats.__file__)).parent
# Every reader module exports a class of this name.
SHARED = {"Reader"}


def test_no_two_modules_share_a_name() -> None:
    places: dict[str, list[Path]] = defaultdict(list)
    for path in FOLDER.rglob("*.py"):
        if path.stem != "__init__":
            places[path.stem].append(path)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_two_classes_share_a_name() -> None:
    places: dict[str, list[Path]] = defaultdict(list)
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name not in SHARED:
                places[node.name].append(path)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
