"""Patterns of users against lines of agents: linear, and never in the way of anybody else."""

import pytest

from normstat.stats.catalogue import UserSpecText, install_user_specs, load_catalogue, parse_user_spec
from normstat.stats.guess import guess_spec
from normstat.stats.pattern import MAX_PROGRAM, MAX_TEXT, PatternError, compile_linear, require_linear
from normstat.stats.readers import read
from normstat.stats.spec import Spec
from tests.addons import APP_USER

API = "/api/v1"
# Python needs time like the fourth to the thousandth power of the line's length for these.
TRAPS = [
    "^x*x*x*x*x*x*x*x*y$",
    "(x+x+)+y",
    "(x|xx)*y",
    "(x*)*y",
    "(.*x){12}y",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(x?){30}x{30}y",
    "(?P<one>x*)(?P<two>x*)(?P<three>x*)y",
]
LINES = ["x" * 80, "x" * 30_000, "x" * (MAX_TEXT - 1), "x" * 500_000, "xX" * 10_000, ("x" * 79 + "\n") * 1000]


def spec_with(*patterns: str) -> str:
    return APP_USER.replace(
        "ignored = ['^.{0,3}$']", f"ignored = {list(patterns)}\nbanner = '{patterns[0]}'\nmessages = {list(patterns)}"
    ).replace('os = "any"', f"os = 'any'\nmarks = {list(patterns)}\nrefuses = {list(patterns)}")


def n_accounted(spec: Spec, data: bytes) -> int:
    """Return the number of bytes that the reader accounts for; a reader that hangs meets the time limit of the test."""
    return sum(read(spec, data, state={}, offset=0, is_final=True).accounts.n_bytes.values())


# Three that no engine that goes back ends; the others are of the same kinds.
@pytest.mark.parametrize("pattern", [*TRAPS[:3], *(pytest.param(pattern, marks=pytest.mark.matrix) for pattern in TRAPS[3:])])
def test_a_trap_springs_nowhere(pattern: str) -> None:
    """Marks, refusals, patterns of lines and of headers: each is tried; a test that hangs ends by its time limit."""
    spec = parse_user_spec(UserSpecText("app_user", spec_with(pattern), 1))
    assert spec.is_user_made
    assert install_user_specs([UserSpecText("app_user", spec_with(pattern), 1)], "1") == {}
    assert "app_user" in load_catalogue().specs
    for line in LINES:
        data = b"1795262400\nUser Calls Wait\n" + line.encode() + b"\n"
        assert n_accounted(spec, data) == len(data)
        guess_spec(data)


@pytest.mark.parametrize(
    ("reader", "layout"),
    [
        ("patterns", "[[layout.rows]]\nstat = 'app_user'\npattern = '(?P<Calls>[0-9]*)PATTERN'"),
        ("one_line", "[[layout.lines]]\nstat = 'app_user'\npattern = '(?P<Calls>[0-9]*)PATTERN'"),
        ("fixed_columns", "stat = 'app_user'\ncolumns = ['User', 'Calls', 'Wait']\ninstance = ['User']\nignored = ['PATTERN']"),
        ("named_values", "counts = 'PATTERN'\n[layout.sections]\nx = 'app_user'"),
    ],
)
def test_readers_of_users_specs_are_linear(reader: str, layout: str) -> None:
    head, _, rest = APP_USER.partition("[layout]")
    stats = "[[stats]]" + rest.partition("[[stats]]")[2]
    for pattern in TRAPS[:4]:
        text = (
            head.replace('"columns"', f'"{reader}"') + "[layout]\n" + layout.replace("PATTERN", pattern.strip("^$")) + "\n" + stats
        )
        spec = parse_user_spec(UserSpecText("app_user", text, 1))
        for line in LINES:
            data = line.encode() + b"\n"
            assert n_accounted(spec, data) == len(data)


def test_families_of_columns_are_linear() -> None:
    family = APP_USER.replace('column = "Wait"\n', "pattern = 'x*x*x*x*x*x*x*x*y'\n").replace(
        'header = ["User", "Calls", "Wait"]', 'header = ["User", "Calls"]'
    )
    spec = parse_user_spec(UserSpecText("app_user", family, 1))
    header = "User Calls " + " ".join("x" * n for n in range(500, 520))
    data = f"1795262400\n{header}\na 1{' 2' * 20}\n".encode()
    assert n_accounted(spec, data) == len(data)


def test_a_lone_word_of_the_live_test_is_no_pattern() -> None:
    """Names of subsystems become a part of a pattern of the program: blanks in them must not become repeats in a row."""
    text = APP_USER.replace('reader = "columns"', 'reader = "se_livetest"')
    head, _, rest = text.partition("[layout]")
    layout = "[layout]\nstates = 'app_user'\nmutex = 'app_user'\nsubsystems = ['a" + " " * 60 + "b']\n"
    spec = parse_user_spec(UserSpecText("app_user", head + layout + "[[stats]]" + rest.partition("[[stats]]")[2], 1))
    line = b"Overall current state is red at:   Mon Nov 2 10:00:00 2026\na" + b" " * 4000 + b"c\n"
    assert n_accounted(spec, line) == len(line)


@pytest.mark.heavy
@pytest.mark.parametrize("line", ["xy" * (MAX_TEXT // 2), "x" * MAX_TEXT])
def test_the_most_expensive_pattern_that_passes_ends(line: str) -> None:
    """RE2 keeps many states at once for such: the cost of a byte grows with the pattern, and stays within seconds for a line."""
    for pattern in (".*x.{140}y", "[xy]*x[xy]{900}z", "(?:x{0,24}){0,24}y", "(.*)(.*)(.*)(.*)(.*)x{1,500}$"):
        require_linear(pattern)
        compiled = compile_linear(pattern)
        assert compiled.program_size <= MAX_PROGRAM
        compiled.search(line)
        compiled.fullmatch(line)
    with pytest.raises(PatternError, match="repeats too much"):
        require_linear(".*x.{300}y")
