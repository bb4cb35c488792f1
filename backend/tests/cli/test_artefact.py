"""`normstat artefact`: kept from files and standard input, listed, shown as each kind of part, compared, deleted and restored."""

import asyncio
import functools
from pathlib import Path

import pytest
from typer.testing import CliRunner

from normstat.cli import app
from normstat.settings import load_settings
from tests.cli.test_baseline import run_command
from tests.databases import on_either_database

pytestmark = on_either_database

BEFORE = b"""Mutex block

Count     nsec Lock                         Caller
-------------------------------------------------------------------------------
   78    69427 libc.so.1`libc_malloc_lock   libzip.so`deflate+0x29c
   44    99867 libc.so.1`libc_malloc_lock   libzip.so`deflate+0x36c
    1    10483 libc.so.1`libc_malloc_lock   libnsl.so.1`netconfig_free+0x10
"""
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


async def run(database_url: str, *arguments: str) -> tuple[int, str, str]:
    return await run_command(database_url, "artefact", *arguments)


async def do(database_url: str, *arguments: str) -> str:
    code, out, err = await run(database_url, *arguments)
    assert (code, err) == (0, ""), out
    return out


async def put(database_url: str, path: Path, text: bytes, *arguments: str) -> str:
    path.write_bytes(text)  # noqa: ASYNC240 (a test waits for nothing else)
    return await do(database_url, "put", str(path), "--host", "web1", *arguments)


async def type_in(database_url: str, text: bytes, *arguments: str) -> tuple[int, str]:
    """What the command gives that reads this from standard input."""
    environment = {"NORMSTAT_DATABASE_URL": database_url}
    call = functools.partial(CliRunner().invoke, app, ["artefact", "put", "-", *arguments], env=environment, input=text)
    load_settings.cache_clear()
    try:
        result = await asyncio.to_thread(call)
    finally:
        load_settings.cache_clear()
    return result.exit_code, result.output


async def test_a_table_from_file_to_restore(database_url: str, tmp_path: Path) -> None:
    command = ("--command", "plockstat -A -e 10 -p 4711", "--start", "2026-11-22T00:00:00Z")
    made = await put(database_url, tmp_path / "a.txt", BEFORE, *command, "--question", "who waits?", "--title", "malloc")
    assert made == "Artefact 1: plockstat on web1 at 2026-11-22 00:00:00Z: table plockstat\n"
    listed = (await do(database_url, "list")).splitlines()
    assert [line.split() for line in listed] == [
        ["id", "host", "start", "tool", "what"],
        ["1", "web1", "2026-11-22", "00:00:00Z", "plockstat", "malloc"],
    ]
    shown = (await do(database_url, "show", "1")).splitlines()
    assert shown[0] == "Artefact 1: malloc"
    assert shown[1].startswith("web1, 2026-11-22 00:00:00Z, 10 s, plockstat, effect light, by ")
    assert shown[2:4] == ["Question: who waits?", "Command: plockstat -A -e 10 -p 4711"]
    # The costliest row first: 78 x 69,427 ns.
    assert [line.split()[0] for line in shown[-3:]] == ["55.1%", "44.7%", "0.1%"]
    assert "5,415,306" in shown[-3]
    assert await do(database_url, "get", "1") == BEFORE.decode()
    assert await do(database_url, "get", "1", "-o", str(tmp_path / "b.txt")) == ""
    assert (tmp_path / "b.txt").read_bytes() == BEFORE
    assert await do(database_url, "reparse", "1") == "Artefact 1: plockstat, 1 part\n"
    assert "brings it back" in await do(database_url, "delete", "1")
    assert await do(database_url, "restore", "1") == "Artefact 1 is back.\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Ranked by what a function took itself.
        (FOLDED, ["78.6%  55", "21.4%  15"]),
        (DISTRIBUTION, [f"|{'#' * 40}| 10", f"|{'#' * 20}{' ' * 20}| 5"]),
        (SLIDES, ["39599109884679  0", "39615543851385  3"]),
        (b"nothing that a tool prints\n", ["No reader knows this text of 27 bytes", "`normstat artefact get 1`"]),
    ],
    ids=["stacks", "histogram", "log", "unknown"],
)
async def test_each_kind_is_shown(database_url: str, text: bytes, expected: list[str]) -> None:
    code, said = await type_in(database_url, text, "--host", "web1", "--title", "bell\x07")
    assert (code, said.startswith("Artefact 1: ")) == (0, True), said
    shown = await do(database_url, "show", "1")
    assert "Artefact 1: bell?" in shown
    for part in expected:
        assert part in shown, shown


async def test_two_are_compared(database_url: str, tmp_path: Path) -> None:
    await put(database_url, tmp_path / "a.txt", BEFORE, "--command", "plockstat -A -e 10 -p 1", "--title", "before")
    await put(database_url, tmp_path / "b.txt", AFTER, "--command", "plockstat -A -e 10 -p 1", "--title", "after")
    told = await do(database_url, "diff", "1", "2")
    assert told.startswith("Before: artefact 1, before, on web1")
    assert "\x1b" not in told
    rows = [line for line in told.splitlines() if "Mutex block libc" in line and "fell" not in line]
    # The largest change first, of whatever sign; a long key keeps its end.
    ends = [(row.split("+")[0].rsplit("`", 1)[1], row.split()[-1]) for row in rows]
    assert ends == [("deflate", "%"), ("deflate", "gone"), ("netconfig_free", "gone"), ("send", "new")], told
    assert ("+0x29c" in rows[0], "+0x36c" in rows[1]) == (True, True)


async def test_what_is_wrong_is_said(database_url: str, tmp_path: Path) -> None:
    for arguments in (("show", "9"), ("get", "9"), ("delete", "9"), ("restore", "9"), ("reparse", "9"), ("diff", "9", "8")):
        code, _, problem = await run(database_url, *arguments)
        assert (code, "artefact 9" in problem) == (1, True), (arguments, problem)
    code, _, problem = await run(database_url, "put", str(tmp_path / "none"), "--host", "web1")
    assert (code, "Cannot read" in problem) == (1, True)
    await put(database_url, tmp_path / "a.txt", BEFORE)
    code, _, problem = await run(database_url, "get", "1", "-o", str(tmp_path / "none" / "a"))
    assert (code, "Cannot write" in problem) == (1, True)
