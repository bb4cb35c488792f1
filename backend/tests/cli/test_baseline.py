"""`normstat baseline`: made in each way, shown, and what is wrong said in one line; `normstat profile`: made without a server."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from normstat.baselines import baseline_rows
from normstat.db.session import open_read_session
from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_stat

pytestmark = on_either_database

DAY = "2026-11-21T00:00:00Z/2026-11-22T00:00:00Z"


@pytest.mark.usefixtures("_filled")
async def test_windows_from_beginning_to_end(normstat: Commands) -> None:
    windows = ("--window", DAY, "--window", "2026-11-10T00:00Z/2026-11-11T00:00Z")
    made = await normstat.do("baseline", "add", "calm", "--host", "web1", *windows, "--note", "why not")
    assert "Created baseline calm (id 1): web1, 2 windows" in made
    assert await normstat.do(
        "baseline", "exclude", "disk full", "--window", "2026-11-21T10:00Z/2026-11-21T11:00Z", "--host", "web1"
    ) == ("Created exclusion 1; it affects 1 baseline; `normstat baseline include 1` undoes it\n")
    shown = await normstat.do("baseline", "show", "calm")
    assert shown.startswith("calm (id 1, version 1): web1; windows")
    assert "\n  without 2026-11-21 10:00:00Z - 2026-11-21 11:00:00Z (web1): disk full\n" in shown
    assert "command line: made (2 windows)" in shown
    assert "disk full" in await normstat.do("baseline", "exclusions")
    assert await normstat.do("baseline", "include", "1") == "1 baseline includes the window again\n"
    assert await normstat.do("baseline", "copy", "calm", "calmer") == "Created baseline calmer (id 2)\n"
    assert "archived" in await normstat.do("baseline", "archive", "1")
    assert "calm " not in await normstat.do("baseline", "list")
    assert "calm " in await normstat.do("baseline", "list", "--archived", "--host", "web1")
    assert await normstat.do("baseline", "archive", "calm", "--undo") == "Baseline calm is listed again\n"
    assert await normstat.do("baseline", "delete", "calm", "--yes") == "Deleted baseline calm\n"
    said = "normstat: There is no baseline 'calm'; `normstat baseline list` shows them\n"
    assert await normstat("baseline", "show", "calm") == (1, "", said)


@pytest.mark.usefixtures("_filled")
async def test_recordings_and_rules(sessions: Sessions, normstat: Commands) -> None:
    await normstat.do("baseline", "add", "now", "--host", "web1", "--record", "1h30m")
    rule = ("--rule", "weekdays", "--at", "09:00", "--for", "8h", "--keep", "14d", "--zone", "Europe/Berlin")
    assert "Created baseline ruled (id 2): web1, 10 windows" in await normstat.do(
        "baseline", "add", "ruled", "--host", "web1", *rule
    )
    listed = await normstat.do("baseline", "list")
    assert "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR at 09:00 Europe/Berlin for 8:00:00, 14 days kept" in listed
    assert "recorded until" in listed
    async with open_read_session(sessions) as session:
        record = await baseline_rows.find_baseline(session, "now")
    assert record.windows[0].length_s == 5400
    assert "now: recorded" in await normstat.do("baseline", "stop", "now")
    assert await normstat("baseline", "stop", "now") == (1, "", "normstat: The baseline now is not being recorded\n")


WRONG: tuple[tuple[tuple[str, ...], int, str], ...] = (
    (("add", "x", "--host", "web1"), 1, "exactly one of windows, record_hours and rule"),
    (("add", "x", "--host", "web1", "--rule", "daily", "--keep", "8h"), 2, "not a number of days"),
    (("add", "x", "--host", "web1", "--rule", "daily", "--for", "long"), 2, "is not a duration"),
    (("add", "x", "--host", "web1", "--record", "1y"), 2, "is not a duration"),
    (("add", "x", "--host", "web1", "--record", "0h"), 2, "from one minute"),
    (("add", "x", "--host", "web1", "--window", "today"), 2, "is not a window"),
    (("add", "x", "--host", "web1", "--window", "2026-11-21T10:00/2026-11-21T11:00"), 2, "without a zone"),
    (("add", "x", "--host", "web1", "--window", "2026-11-21T10:00Z/2026-11-21T10:00Z"), 2, "is empty"),
)


@pytest.mark.usefixtures("_filled")
async def test_wrong_wishes_are_answered(normstat: Commands) -> None:
    for arguments, code, words in WRONG:
        found, out, err = await normstat("baseline", *arguments)
        assert (found, out) == (code, ""), arguments
        assert words in " ".join(err.replace("│", " ").split())
    assert (await normstat.do("baseline", "list")).count("\n") == 1


async def test_profiles_are_made_and_listed(sessions: Sessions, normstat: Commands) -> None:
    start, seconds = datetime(2026, 11, 16, 8, tzinfo=UTC), np.arange(0, 3600, 5)
    busy = np.random.default_rng(0).poisson(3, len(seconds))
    await fill_stat(sessions, "vmstat_linux", start, seconds, ("",), procs_r=busy)
    window = f"{start.isoformat()}/{(start + timedelta(hours=1)).isoformat()}"
    await normstat.do("baseline", "add", "quiet hour", "--host", "web1", "--window", window)
    assert "queued" in await normstat.do("profile", "status")
    assert "0 profiles built" in await normstat.do("profile", "work", "--host", "web2")
    assert "1 profiles built" in await normstat.do("profile", "work")
    listed = await normstat.do("profile", "status")
    assert "quiet hour" in listed
    assert "3 of 3" in listed
