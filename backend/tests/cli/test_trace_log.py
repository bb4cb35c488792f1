"""`normstat trace-log`: a file, standard input or an artefact is analysed, filtered, written and drawn."""

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from normstat.cli import app
from tests.artefacts.test_trace_log import LKST, STRACE
from tests.cli.commands import Commands
from tests.cli.test_artefact import SLIDES, put
from tests.databases import on_either_database

pytestmark = on_either_database


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
    assert "100.0 % within 10 µs." in told
    assert "Not counted: 0 beginnings without an end, 1 end without a beginning." in told
    assert "waited at most 16.43 s: crond got the lock 2.486 µs after iozone released it in schedule()" in told
    rows = [line.split() for line in told.splitlines() if line.startswith(("key", "all"))]
    assert rows == [
        ["key", "count", "average", "longest", "total", "share", "%", "~1", "µs", "~10", "µs"],
        ["all", "2", "4.298", "µs", "8.387", "µs", "8.596", "µs", "100", "1", "1"],
    ]
    strace = do("analyze", "-", "--group", "pid", "--event", "futex", text=STRACE)
    assert "Only: event=futex" in strace
    assert any(line.split()[:2] == ["4711", "1"] for line in strace.splitlines())
    assert "python3 4711 waited 300.5 ms for futex 0x55d0 until python3 4712 woke it" in strace


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
        (1, "is no log of events", ("filter", str(other))),
        (1, "Part 3 of", ("format", slide, "--part", "3")),
        (1, "cannot be read from", ("filter", slide, "--where", "cpu ?")),
        (1, "There is no pair", ("analyze", slide, "--pair", "nonsense")),
        (1, "is no time", ("analyze", slide, "--from", "noon")),
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
