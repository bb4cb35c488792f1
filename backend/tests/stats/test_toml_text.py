"""TOML of users: what is simple is parsed, what could cost much is refused before it is parsed."""

import tomllib
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.errors import SpecError
from normstat.stats.catalogue import built_in_catalogue, read_built_in
from normstat.stats.toml_text import MAX_BYTES, parse_toml

LONG = MAX_BYTES // 2


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (".".join("a" * 20_000) + " = 1", "a key of more than 8 parts in line 1"),
        ("x = 1\n[" + ".".join("a" * 20_000) + "]", "a key of more than 8 parts in line 2"),
        ("[[" + " . ".join("a" * 20_000) + "]]", "a key of more than 8 parts"),
        ("x = {" + ".".join(["'a'"] * 20_000) + " = 1}", "a key of more than 8 parts"),
        (".".join(['"a.b"'] * 9) + " = 1", "a key of more than 8 parts"),
        ("x = " + "[" * LONG, "more than 16 brackets"),
        ("x = " + "{a = " * (LONG // 5), "more than 16 brackets"),
        ("x = " + "[{a = " * (LONG // 6), "more than 16 brackets"),
        ("x = " + "1" * LONG, "a word of more than 200 characters"),
        ("x = 0x" + "f" * LONG, "a word of more than 200 characters"),
        ("x = 1." + "1" * LONG, "a word of more than 200 characters"),
        ("x = 1e" + "9" * LONG, "a word of more than 200 characters"),
        ("x" * LONG + " = 1", "a word of more than 200 characters"),
        ("x = 1979-05-27T07:32:00." + "9" * LONG, "a word of more than 200 characters"),
        ("# " + "x" * MAX_BYTES, "more than 256 KiB"),
        ("x = ", "is not TOML: "),
        ('x = "never ends', "is not TOML: "),
        ("x = '''never ends", "is not TOML: "),
        ('"""' * (LONG // 3), "is not TOML: "),
        ('"""\\"""' * (LONG // 7), "is not TOML: "),
    ],
)
def test_what_could_cost_much_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(SpecError, match=complaint):
        parse_toml(text)


@pytest.mark.parametrize(
    "text",
    [
        "a.b.c.d.e.f.g.h = 1",
        'x = "a.b.c.d.e.f.g.h.i.j [[[[[[[[[[[[[[[[[["',
        "x = 'a.b.c.d.e.f.g.h.i.j {{{{{{{{{{{{{{{{{{'",
        'x = """\n' + "a." * 500 + '\\" "" \n"""',
        "x = '''\n" + "[" * 500 + "\n'''",
        "# " + "a." * 500 + "\nx = 1",
        "x = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5]",
        'x = "' + "1" * 1000 + '"',
        "x = [" + "[]," * 1000 + "]",
    ],
)
def test_what_is_simple_is_parsed(text: str) -> None:
    assert parse_toml(text) == tomllib.loads(text)


def test_built_in_specs_are_simple() -> None:
    assert resources.files("normstat.stats").is_dir()
    for name in built_in_catalogue().specs:
        text = read_built_in(name)
        assert parse_toml(text) == tomllib.loads(text)


@given(st.text(alphabet="ab.=[]{},\"'\\#\n 01", max_size=60))
def test_any_text_is_parsed_as_it_was_or_refused(text: str) -> None:
    try:
        expected = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        with pytest.raises(SpecError):
            parse_toml(text)
    else:
        assert parse_or_refuse(text) in (expected, "more than")


def parse_or_refuse(text: str) -> object:
    try:
        return parse_toml(text)
    except SpecError as refusal:
        return "more than" if "more than" in refusal.message else refusal.message
