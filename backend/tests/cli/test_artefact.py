"""`normstat trace-log`: logs are analysed, filtered, written and drawn; `artefact`: kept, listed, shown, compared, deleted."""

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from normstat.cli import app
from tests.artefacts.test_trace_log import LKST, STRACE
from tests.cli.commands import Commands
from tests.databases import on_either_database
from tests.generated import PLOCKSTAT

pytestmark = on_either_database

AFTER = b"""Mutex block

Count     nsec Lock                         Caller
-------------------------------------------------------------------------------
    2    60000 libc.so.1`libc_malloc_lock   libzip.so`deflate+0x29c
    5     1000 libc.so.1`fresh_lock         mqd`send\x1b[31m+0x8
"""
FOLDED = b"java;start_thread;run;read 12\njava;start_thread;GC 55\njava;start_thread;run;read 3\n"
DISTRIBUTION = b"""
           value  ------------- Distribution ------------- count
               0 |                                         0
               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@              10
               2 |@@@@@@@@@@@@@                            5
               4 |                                         0

"""
SLIDES = """| 時刻 | cpu | コマンド名 | lock/unlock | 関数 |
|---------------------------|-----|-----------|-------------|--------------|
| 10:59:59.109884679 | 0 | kdm_greet | lock | |
| 11:00:15.543851385 | 3 | iozone | unlock | schedule() |
""".encode()


def call(*arguments: str, text: bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["trace-log", *arguments], input=text)


def do(*arguments: str, text: bytes | None = None) -> str:
    result = call(*arguments, text=text)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.fixture
def slide(tmp_path: Path) -> str:
    path = tmp_path / "lkst.txt"
    path.write_text(LKST)
    return str(path)


def test_analyze_says_what_the_slide_shows(slide: str) -> None:
    told = do("analyze", slide)
    assert "Time: 10:59:59.109884679 to 11:00:15.543862258, 16.43 s" in told
    assert "Not counted: 0 beginnings without an end, 1 end without a beginning." in told
    rows = [line.split() for line in told.splitlines() if line.startswith(("key", "all"))]
    assert rows == [
        ["key", "count", "average", "longest", "total", "share", "%", "~1", "µs", "~10", "µs"],
        ["all", "2", "4.298", "µs", "8.387", "µs", "8.596", "µs", "100", "1", "1"],
    ]
    strace = do("analyze", "-", "--group", "pid", "--event", "futex", text=STRACE)
    assert "Only: event=futex" in strace
    assert any(line.split()[:2] == ["4711", "1"] for line in strace.splitlines())


def test_filter_and_format(slide: str, tmp_path: Path) -> None:
    output = tmp_path / "some.txt"
    told = call("filter", slide, "--from", "+1s", "--where", "event=lock,unlock", "-o", str(output))
    assert (told.exit_code, "3 of 5 events" in told.stderr) == (0, True)
    again = do("format", str(output), "--as", "csv", "--cpu", "1")
    rows = list(csv.DictReader(again.splitlines()))
    assert [(row["time_ns"], row["event"]) for row in rows] == [("39615543853871", "lock"), ("39615543862258", "unlock")]
    table = call("format", slide, "--rows", "2")
    assert (len(table.stdout.splitlines()), "The first 2 of 5 events" in table.stderr) == (3, True)
    assert do("format", slide, "--as", "json", "--command", "crond").count('"time_ns":"39615') == 2


@pytest.mark.parametrize("what", ["lanes", "latencies"])
@pytest.mark.parametrize(("ending", "start"), [("svg", b"<svg"), ("pdf", b"%PDF")])
def test_plot(slide: str, tmp_path: Path, what: str, ending: str, start: bytes) -> None:
    output = tmp_path / f"x.{ending}"
    do("plot", slide, "--what", what, "-o", str(output))
    assert output.read_bytes().startswith(start)


def test_what_is_wrong_is_said(slide: str, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("nothing that a tool prints\n")
    for code, said, arguments in (
        (1, "Name one log", ("analyze",)),
        (1, "Cannot read", ("analyze", str(tmp_path / "none"))),
        (1, "is not a log of events", ("filter", str(other))),
        (1, "Part 3 of", ("format", slide, "--part", "3")),
        (1, "cannot be read from", ("filter", slide, "--where", "cpu ?")),
        (1, "There is no pair", ("analyze", slide, "--pair", "nonsense")),
        (1, "is not a time", ("analyze", slide, "--from", "noon")),
        (1, "Cannot write", ("filter", slide, "-o", str(tmp_path / "none" / "x"))),
        (2, "ends in neither .svg nor .pdf", ("plot", slide, "-o", "x.png")),
    ):
        result = call(*arguments)
        assert (result.exit_code, said in result.stderr) == (code, True), (arguments, result.stderr)


async def test_an_artefact_is_a_log_too(normstat: Commands, tmp_path: Path) -> None:
    await put(normstat, tmp_path / "a.txt", SLIDES, "--title", "who waits?")
    code, out, err = await normstat("trace-log", "filter", "--artefact", "1", "--command", "iozone")
    assert (code, err) == (0, "1 of 2 events\n")
    assert out.encode() == b"".join(SLIDES.splitlines(keepends=True)[at] for at in (0, 1, 3))
    code, out, _ = await normstat("trace-log", "analyze", "--artefact", "1")
    assert (code, out.startswith("Log: artefact 1, who waits?\nTool: lkst on web1 at ")) == (0, True)
    code, _, err = await normstat("trace-log", "analyze", "--artefact", "9")
    assert (code, "artefact 9" in err) == (1, True)


async def put(normstat: Commands, path: Path, text: bytes, *arguments: str) -> str:
    path.write_bytes(text)  # noqa: ASYNC240 (a test waits for nothing else)
    return await normstat.do("artefact", "put", str(path), "--host", "web1", *arguments)


async def test_a_table_from_file_to_restore(normstat: Commands, tmp_path: Path) -> None:
    command = ("--command", "plockstat -A -e 10 -p 4711", "--start", "2026-11-22T00:00:00Z")
    made = await put(normstat, tmp_path / "a.txt", PLOCKSTAT, *command, "--question", "who waits?", "--title", "malloc")
    assert made == "Artefact 1: plockstat on web1 at 2026-11-22 00:00:00Z: table plockstat\n"
    listed = (await normstat.do("artefact", "list")).splitlines()
    assert [line.split() for line in listed] == [
        ["id", "host", "start", "tool", "what"],
        ["1", "web1", "2026-11-22", "00:00:00Z", "plockstat", "malloc"],
    ]
    shown = (await normstat.do("artefact", "show", "1")).splitlines()
    assert shown[0] == "Artefact 1: malloc"
    assert shown[1].startswith("web1, 2026-11-22 00:00:00Z, 10 s, plockstat, effect light, by ")
    assert shown[2:4] == ["Question: who waits?", "Command: plockstat -A -e 10 -p 4711"]
    # The costliest row first: 78 x 69,427 ns.
    assert [line.split()[0] for line in shown[-3:]] == ["55.1%", "44.7%", "0.1%"]
    assert "5,415,306" in shown[-3]
    assert await normstat.do("artefact", "get", "1") == PLOCKSTAT.decode()
    assert await normstat.do("artefact", "get", "1", "-o", str(tmp_path / "b.txt")) == ""
    assert (tmp_path / "b.txt").read_bytes() == PLOCKSTAT
    assert await normstat.do("artefact", "reparse", "1") == "Artefact 1: plockstat, 1 part\n"
    assert "brings it back" in await normstat.do("artefact", "delete", "1")
    assert await normstat.do("artefact", "restore", "1") == "Artefact 1 is back.\n"


async def test_the_command_is_added_and_changed_afterwards(normstat: Commands, tmp_path: Path) -> None:
    await put(normstat, tmp_path / "a.txt", PLOCKSTAT)
    again = await put(normstat, tmp_path / "a.txt", PLOCKSTAT, "--command", "plockstat -e 10 -p 7")
    assert again.startswith("Artefact 1: plockstat on web1")
    assert "10 s, plockstat" in await normstat.do("artefact", "show", "1")
    changed = await normstat.do("artefact", "set", "1", "--command", "plockstat -e 20 -p 7", "--title", "malloc")
    assert changed.startswith("Artefact 1: malloc, plockstat at ")
    assert changed.endswith(", 20 s\n")
    # The same command a day later prints a text of its own, even if it is the same one.
    assert "Artefact 2" in await put(normstat, tmp_path / "a.txt", PLOCKSTAT, "--command", "plockstat -e 20 -p 7")
    above = b"# plockstat -e 5 -p 8\n" + PLOCKSTAT
    assert "Artefact 3" in await put(normstat, tmp_path / "b.txt", above)
    assert "Command: plockstat -e 5 -p 8" in await normstat.do("artefact", "show", "3")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Ranked by what a function took itself.
        (FOLDED, ["78.6%  55", "21.4%  15"]),
        (DISTRIBUTION, [f"|{'#' * 40}| 10", f"|{'#' * 20}{' ' * 20}| 5"]),
        (SLIDES, ["39599109884679  0", "39615543851385  3"]),
        (b"nothing that a tool prints\n", ["No parser recognises this text of 27 bytes", "`normstat artefact get 1`"]),
    ],
    ids=["stacks", "histogram", "log", "unknown"],
)
async def test_each_kind_is_shown(normstat: Commands, text: bytes, expected: list[str]) -> None:
    code, said, _ = await normstat("artefact", "put", "-", "--host", "web1", "--title", "bell\x07", standard_input=text)
    assert (code, said.startswith("Artefact 1: ")) == (0, True), said
    shown = await normstat.do("artefact", "show", "1")
    assert "Artefact 1: bell?" in shown
    for part in expected:
        assert part in shown, shown


async def test_two_are_compared(normstat: Commands, tmp_path: Path) -> None:
    await put(normstat, tmp_path / "a.txt", PLOCKSTAT, "--command", "plockstat -A -e 10 -p 1", "--title", "before")
    await put(normstat, tmp_path / "b.txt", AFTER, "--command", "plockstat -A -e 10 -p 1", "--title", "after")
    told = await normstat.do("artefact", "diff", "1", "2")
    assert told.startswith("Before: artefact 1, before, on web1")
    assert "\x1b" not in told
    rows = [line for line in told.splitlines() if "Mutex block libc" in line and "fell" not in line]
    # The largest change first, of whatever sign; a long key keeps its end.
    ends = [(row.split("+")[0].rsplit("`", 1)[1], row.split()[-1]) for row in rows]
    assert ends == [("deflate", "%"), ("deflate", "gone"), ("netconfig_free", "gone"), ("send", "new")], told
    assert ("+0x29c" in rows[0], "+0x36c" in rows[1]) == (True, True)


async def test_what_is_wrong_with_an_artefact_is_said(normstat: Commands, tmp_path: Path) -> None:
    for arguments in (("show", "9"), ("get", "9"), ("delete", "9"), ("restore", "9"), ("reparse", "9"), ("diff", "9", "8")):
        code, _, problem = await normstat("artefact", *arguments)
        assert (code, "artefact 9" in problem.lower()) == (1, True), (arguments, problem)
    code, _, problem = await normstat("artefact", "put", str(tmp_path / "none"), "--host", "web1")
    assert (code, "Cannot read" in problem) == (1, True)
    await put(normstat, tmp_path / "a.txt", PLOCKSTAT)
    code, _, problem = await normstat("artefact", "get", "1", "-o", str(tmp_path / "none" / "a"))
    assert (code, "Cannot write" in problem) == (1, True)
