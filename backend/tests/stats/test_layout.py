"""Layouts are parsed into the models of their readers, and the discovery finds every reader."""

import re
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest

from normstat.stats.catalogue import built_in_catalogue
from normstat.stats.layout import (
    ASCII,
    JOINED,
    NON_EMPTY,
    Alternatives,
    AnyPattern,
    LayoutError,
    Shaped,
    StatName,
    parse_layout,
    toml_key,
)
from normstat.stats.readers import READERS, find_readers
from normstat.stats.spec import Layout, Shape, Stat

STATS = (Stat("rows", "", "", (), ()), Stat("keys", "", "", (), (), shape=Shape.KEYS))


@dataclass(frozen=True)
class Table:
    stat: StatName
    header: Annotated[tuple[Alternatives, ...], NON_EMPTY]


@dataclass(frozen=True)
class Model(Layout):
    tables: tuple[Table, ...]
    kind: Literal["", "one"] = ""
    keys: Annotated[Stat | None, Shaped(Shape.KEYS)] = None
    head: Annotated[re.Pattern[str] | None, JOINED, ASCII] = None
    ignored: AnyPattern = None
    has_text: bool = toml_key("text", default=False)
    limit: int | None = None
    units: Mapping[str, int] | None = None


GOOD = {"tables": [{"stat": "rows", "header": ["a|b", "c"]}]}


def test_a_layout_is_filled() -> None:
    layout = parse_layout(
        Model,
        {**GOOD, "kind": "one", "keys": "keys", "head": [r"\d", "x"], "text": True, "limit": 3, "units": {"K": 2}},
        stats=STATS,
    )
    assert layout.tables == (Table("rows", (frozenset({"a", "b"}), frozenset({"c"}))),)
    assert (layout.kind, layout.keys, layout.has_text, layout.limit, layout.units) == ("one", STATS[1], True, 3, {"K": 2})
    assert layout.head is not None
    assert [bool(layout.head.fullmatch(word)) for word in ("7", "x", "\u0667")] == [True, True, False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tabels": []}, "tabels: is not known; the keys are head, ignored, keys"),
        ({"tables": [{"stat": "rows"}]}, "tables[0].header: is missing"),
        ({"tables": [{"stat": "rows", "header": []}]}, "tables[0].header: at least one is needed"),
        ({"tables": [{"stat": "rows", "header": [1]}]}, "tables[0].header[0]: must be a text, not 1"),
        ({"tables": [{"stat": "none", "header": ["a"]}]}, "tables[0].stat: 'none' is no stat of this spec"),
        ({"tables": [{"stat": "", "header": ["a"]}]}, "tables[0].stat: '' is no stat of this spec"),
        ({"tables": {}}, "tables: must be a list, not {}"),
        ({"tables": ["a"]}, "tables[0]: must be a table, not 'a'"),
        ({"kind": "two"}, "kind: 'two' is none of \"\", one"),
        ({"keys": "rows"}, "keys: 'rows' has the shape table; keys expected"),
        ({"head": "("}, "head: must be a list, not '('"),
        ({"head": ["("]}, "head: missing ), unterminated subpattern"),
        ({"text": 1}, "text: must be true or false, not 1"),
        ({"limit": True}, "limit: must be a whole number, not True"),
        ({"units": {"K": "2"}}, "units.K: must be a whole number, not '2'"),
    ],
)
def test_a_mistake_is_named_by_its_key(change: dict[str, object], message: str) -> None:
    with pytest.raises(LayoutError, match=f"^{re.escape(message)}"):
        parse_layout(Model, {**GOOD, **change}, stats=STATS)


def test_the_patterns_of_users_are_linear() -> None:
    with pytest.raises(LayoutError, match=r"ignored: the pattern '\(a\)"):
        parse_layout(Model, {**GOOD, "ignored": [r"(a)\1"]}, stats=STATS, is_user_made=True)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(?P<m>x)", "lines[0].pattern: 'm' is not a field of rows"),
        ("x", "lines[0].pattern: names no field"),
        ("((?P<n>x)", "lines[0].pattern: "),
    ],
)
def test_patterns_of_lines_name_fields(pattern: str, message: str) -> None:
    with pytest.raises(LayoutError, match=re.escape(message)):
        parse_layout(READERS["bcc"].layout, {"lines": [{"stat": "rows", "pattern": pattern}]}, stats=STATS)


@pytest.mark.parametrize("name", sorted(READERS))
def test_every_reader_refuses_a_key_that_it_does_not_know(name: str) -> None:
    with pytest.raises(LayoutError, match=r"^no_such_key: is not known; the keys are "):
        parse_layout(READERS[name].layout, {"no_such_key": 1}, stats=())


def test_every_reader_is_found_and_used() -> None:
    folder = Path(str(sys.modules["normstat.stats.readers"].__file__)).parent
    assert set(READERS) == {path.stem for path in folder.glob("*/*.py") if path.stem != "__init__"}
    assert set(READERS) - {spec.reader for spec in built_in_catalogue().specs.values()} == {"fixed_columns"}


def test_a_module_without_a_reader_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    family = tmp_path / "some_readers" / "family"
    family.mkdir(parents=True)
    (family.parent / "__init__.py").touch()
    (family / "__init__.py").touch()
    (family / "half.py").write_text("LAYOUT = int\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    package = types.ModuleType("some_readers")
    package.__path__ = [str(family.parent)]
    with pytest.raises(TypeError, match=r"some_readers\.family\.half: a reader exports LAYOUT and Reader"):
        find_readers(package)["half"]
    for name in [name for name in sys.modules if name.startswith("some_readers")]:
        monkeypatch.delitem(sys.modules, name)
