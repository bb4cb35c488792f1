"""`normstat baseline`: made in each way, shown, and what is wrong said in one line."""

import asyncio
import functools

import pytest
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker
from typer.testing import CliRunner

from normstat.cli import app
from normstat.settings import load_settings
from normstat.storage import baseline_rows
from normstat.storage.session import open_read_session
from tests.databases import on_either_database
from tests.query.filling import fill_capture
from tests.query.test_export import VMSTAT

pytestmark = on_either_database

Sessions = async_sessionmaker[AsyncSession]
DAY = "2026-11-21T00:00:00Z/2026-11-22T00:00:00Z"


@pytest.fixture
async def _filled(sessions: Sessions) -> None:
    await fill_capture(sessions, "web1", "vmstat_linux", VMSTAT)


async def run(database_url: str, *arguments: str) -> tuple[int, str, str]:
    return await run_command(database_url, "baseline", *arguments)


async def run_command(database_url: str, *arguments: str) -> tuple[int, str, str]:
    """What the command gives, in a thread: it has an event loop of its own."""
    call = functools.partial(CliRunner().invoke, app, [*arguments], env={"NORMSTAT_DATABASE_URL": database_url})
    # A process reads its settings once; here it is a new one each time.
    load_settings.cache_clear()
    try:
        result = await asyncio.to_thread(call)
    finally:
        load_settings.cache_clear()
    # As it was written: `stdout` has other ends of lines.
    return result.exit_code, result.stdout_bytes.decode(), result.stderr


async def do(database_url: str, *arguments: str) -> str:
    code, out, err = await run(database_url, *arguments)
    assert (code, err) == (0, ""), out
    return out


@pytest.mark.usefixtures("_filled")
async def test_windows_from_beginning_to_end(database_url: str) -> None:
    url = database_url
    windows = ("--window", DAY, "--window", "2026-11-10T00:00Z/2026-11-11T00:00Z")
    made = await do(url, "add", "calm", "--host", "web1", *windows, "--note", "why not")
    assert "Created baseline calm (id 1): web1, 2 windows" in made
    assert await do(url, "exclude", "disk full", "--window", "2026-11-21T10:00Z/2026-11-21T11:00Z", "--host", "web1") == (
        "Created exclusion 1; it affects 1 baseline; `normstat baseline include 1` undoes it\n"
    )
    shown = await do(url, "show", "calm")
    for line in (
        "calm (id 1, version 1): web1; windows",
        "why not",
        "  2026-11-21 00:00:00Z - 2026-11-22 00:00:00Z",
        "  without 2026-11-21 10:00:00Z - 2026-11-21 11:00:00Z (web1): disk full",
        "command line: made (2 windows)",
    ):
        assert line in shown
    assert "web1: " in shown
    assert "disk full" in await do(url, "exclusions")
    assert await do(url, "include", "1") == "1 baseline includes the window again\n"
    assert await do(url, "copy", "calm", "calmer") == "Created baseline calmer (id 2)\n"
    assert "archived" in await do(url, "archive", "1")
    assert "calm " not in await do(url, "list")
    assert "calm " in await do(url, "list", "--archived", "--host", "web1")
    assert await do(url, "archive", "calm", "--undo") == "Baseline calm is listed again\n"
    assert await do(url, "delete", "calm", "--yes") == "Deleted baseline calm\n"
    assert await run(url, "show", "calm") == (1, "", "normstat: There is no baseline 'calm'; `normstat baseline list` shows them\n")


@pytest.mark.usefixtures("_filled")
async def test_recordings_and_rules(sessions: Sessions, database_url: str) -> None:
    await do(database_url, "add", "now", "--host", "web1", "--record", "1h30m")
    rule = ("--rule", "weekdays", "--at", "09:00", "--for", "8h", "--keep", "14d", "--zone", "Europe/Berlin")
    assert "Created baseline ruled (id 2): web1, 10 windows" in await do(database_url, "add", "ruled", "--host", "web1", *rule)
    listed = await do(database_url, "list")
    assert "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR at 09:00 Europe/Berlin for 8:00:00, 14 days kept" in listed
    assert "recorded until" in listed
    async with open_read_session(sessions) as session:
        record = await baseline_rows.find_baseline(session, "now")
    assert record.windows[0].length_s == 5400
    assert "now: recorded" in await do(database_url, "stop", "now")
    assert await run(database_url, "stop", "now") == (1, "", "normstat: The baseline now is not being recorded\n")


WRONG: tuple[tuple[tuple[str, ...], int, str], ...] = (
    (("add", "x", "--host", "web1"), 1, "exactly one of windows, record_hours and rule"),
    (("add", "x", "--host", "web1", "--rule", "daily", "--keep", "8h"), 2, "not a number of days"),
    (("add", "x", "--host", "web1", "--rule", "daily", "--for", "long"), 2, "is not a duration"),
    (("add", "x", "--host", "web1", "--record", "1y"), 2, "is not a duration"),
    (("add", "x", "--host", "web1", "--record", "0h"), 1, "from one minute"),
    (("add", "x", "--host", "web1", "--window", "today"), 2, "is not a window"),
    (("add", "x", "--host", "web1", "--window", "2026-11-21T10:00/2026-11-21T11:00"), 2, "without a zone"),
    (("add", "x", "--host", "web1", "--window", "2026-11-21T10:00Z/2026-11-21T10:00Z"), 2, "is empty"),
)


@pytest.mark.usefixtures("_filled")
async def test_wrong_wishes_are_answered(database_url: str) -> None:
    for arguments, code, words in WRONG:
        found, out, err = await run(database_url, *arguments)
        assert (found, out) == (code, ""), arguments
        assert words in " ".join(err.replace("│", " ").split())
    assert (await do(database_url, "list")).count("\n") == 1
