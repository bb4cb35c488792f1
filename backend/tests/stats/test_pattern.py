"""Patterns of users: linear whatever they say, with the groups that Python's engine finds."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import normstat.ingest
import normstat.stats
from normstat.stats.catalogue import load_catalogue
from normstat.stats.pattern import (
    MAX_CHARACTERS,
    MAX_JOINED_CHARACTERS,
    MAX_TEXT,
    PatternError,
    compile_linear,
    compile_pattern,
    join_patterns,
    require_linear,
)


class Made:
    """An owner of patterns."""

    def __init__(self, *, is_user_made: bool) -> None:
        self.is_user_made = is_user_made


USER, PROGRAM = Made(is_user_made=True), Made(is_user_made=False)
SIMPLE = [
    r"^#|^Total: \d+",
    r"^\s*-*procs-*\s+-*memory-*\s",
    r"(?:ab)+c",
    r"(?P<date>\S+) .*",
    r"(?P<z>\w+)=(?P<a>\d+)(?P<m>ms|s)?",
    r"(a+)+b",
    r"(?i)total",
    r"^.{0,3}$",
]


@pytest.mark.parametrize("pattern", SIMPLE)
@pytest.mark.parametrize(
    "text", ["", "# x", "Total: 12", "procs memory x", "ababc", "now and then", "x=1ms", "x=12", "aaab", "TOTAL", "ab", "é€x=7s"]
)
def test_it_finds_what_python_finds(pattern: str, text: str) -> None:
    linear, known = compile_pattern(USER, pattern), re.compile(pattern, re.ASCII)
    assert dict(linear.groupindex) == dict(known.groupindex)
    assert list(linear.groupindex) == list(known.groupindex)
    for method in ("fullmatch", "match", "search"):
        found, expected = getattr(linear, method)(text), getattr(known, method)(text)
        assert (found is None) == (expected is None), method
        if expected is not None:
            assert list(found.groupdict().items()) == list(expected.groupdict().items())
            assert (found.groups(), found.span(), found[0], found.group()) == (
                expected.groups(), expected.span(), expected[0], expected.group(),
            )  # fmt: skip
    assert [found.span() for found in linear.finditer(text)] == [found.span() for found in known.finditer(text)]


@given(st.text(alphabet="ab1 .=", max_size=30))
def test_it_finds_what_python_finds_in_any_text(text: str) -> None:
    for pattern in (r"(?P<a>a*)(?P<b>b*).*", r"(\d+|a)+ ?=?", r"\b\w+\b"):
        found, expected = compile_linear(pattern).search(text), re.search(pattern, text)
        assert (found and found.span()) == (expected and expected.span())


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(?=a)b", "look-ahead"),
        (r"(?!a)b", "linear time"),
        (r"(?<=a)b", "look-behind"),
        (r"(a)\1", "references back"),
        (r"(?P<a>x)(?P=a)", "linear time"),
        (r"a++", "linear time"),
        (r"(?>a)", "linear time"),
        (r"a{,3}", r"write \{0,N\} instead"),
        (r"[[:alpha:]]", r"write \[a-z\] instead"),
        (r"\pL", "is no regular expression"),
        (r"\Qa.b\E", "is no regular expression"),
        ("(", "is no regular expression"),
        ("a{99999999999}", "too large"),
        ("(?:.{0,30}){0,30}", "repeats too much"),
        ("((a{1,100}){1,100}){1,100}", "repeats too much|linear time"),
        ("x" * (MAX_CHARACTERS + 1), "longer than 1000"),
        ("\ud800", "nested|expression"),
    ],
)
def test_what_cannot_be_matched_in_linear_time_says_why(pattern: str, reason: str) -> None:
    with pytest.raises(PatternError, match=reason):
        require_linear(pattern)


def test_joined_patterns_are_tried_as_one() -> None:
    for owner in (USER, PROGRAM):
        joined = join_patterns(owner, ["a|b", "c"])
        assert joined is not None
        assert [joined.fullmatch(text) is not None for text in ("a", "b", "c", "ab", "bc")] == [True, True, True, False, False]
        assert join_patterns(owner, []) is None
    both = join_patterns(USER, ["(?i)a", "b"])
    assert both is not None
    assert [both.fullmatch(text) is not None for text in ("A", "b", "B")] == [True, True, False]
    with pytest.raises(PatternError, match="together"):
        join_patterns(USER, ["x" * MAX_CHARACTERS] * (MAX_JOINED_CHARACTERS // MAX_CHARACTERS + 1))


def test_lines_beyond_the_limit_match_nothing() -> None:
    pattern = compile_linear("x*")
    assert pattern.fullmatch("x" * MAX_TEXT) is not None
    for method in (pattern.fullmatch, pattern.match, pattern.search):
        assert method("x" * (MAX_TEXT + 1)) is None
    assert list(pattern.finditer("x" * (MAX_TEXT + 1))) == []


def test_built_in_patterns_are_those_of_python() -> None:
    assert isinstance(compile_pattern(PROGRAM, r"(?=a)"), re.Pattern)
    assert not any(spec.is_user_made for spec in load_catalogue().specs.values())


def test_no_reader_compiles_a_text_of_a_spec_by_itself() -> None:
    """`re` must never see a pattern of a user: what it is given beside stats/pattern.py stands in the program."""
    found = []
    for folder in (Path(normstat.stats.__file__).parent, Path(normstat.ingest.__file__).parent):
        for path in sorted(folder.rglob("*.py")):
            found += [f"{path.name}:{line}" for line in find_calls(path.read_text()) if path.name not in MAY_COMPILE]
    assert not found, "compile it with stats.pattern.compile_pattern"


# The second one tries the patterns of built-in specs.
MAY_COMPILE = {"pattern.py", "spec_table.py"}


def find_calls(source: str) -> list[int]:
    """Return the lines in which `re` is given something else than a constant."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr != "escape"
        and not is_constant(node.args[0])
    ]


def is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return is_constant(node.left) and is_constant(node.right)
    if isinstance(node, ast.Attribute):
        return node.attr.isupper()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return is_constant(node.func.value) and all(map(is_constant, node.args))
    if isinstance(node, ast.JoinedStr):
        return all(is_constant(part.value) for part in node.values if isinstance(part, ast.FormattedValue))
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.isupper())


def test_the_search_for_calls_finds_some() -> None:
    assert find_calls("re.compile(pattern)\nre.fullmatch(rf'{TEXT} {text}', x)\nre.search('x', y)\nre.match(CONSTANT, z)") == [1, 2]
