"""`normstat report`: the file of a comparison without a browser."""

import asyncio
import csv
import functools
import io
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker
from typer.testing import CliRunner

from normstat.cli import app
from normstat.settings import load_settings
from normstat.storage.baseline_rows import BaselineDraft, create_baseline
from normstat.storage.session import open_write_session
from normstat.window import Window
from tests.api.samples import START
from tests.api.test_saved_comparisons import ASKED, HOST, N_INCIDENT, N_NORMAL, at, fill
from tests.databases import on_either_database

pytestmark = on_either_database

Sessions = async_sessionmaker[AsyncSession]
INCIDENT = ("--host", HOST, "--from", at(N_NORMAL), "--to", at(N_NORMAL + N_INCIDENT))
WINDOW = ("--baseline-from", ASKED["baseline_start"], "--baseline-to", ASKED["baseline_end"])


async def report(database_url: str, *arguments: object) -> tuple[int, str, str]:
    """What the command gives, in a thread: it has an event loop of its own."""
    words = ["report", *map(str, arguments)]
    run = functools.partial(CliRunner().invoke, app, words, env={"NORMSTAT_DATABASE_URL": database_url})
    load_settings.cache_clear()
    try:
        result = await asyncio.to_thread(run)
    finally:
        load_settings.cache_clear()
    return result.exit_code, result.stdout_bytes.decode(), result.stderr


async def test_a_report_is_written(sessions: Sessions, database_url: str, tmp_path: Path) -> None:
    await fill(sessions)
    page = tmp_path / "report.html"
    code, out, err = await report(database_url, *INCIDENT, *WINDOW, "--note", "by <hand>", "-o", page)
    assert (code, out, err) == (0, "", "")
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "by &lt;hand&gt;" in text
    assert "<script" not in text
    async with open_write_session(sessions) as session:
        draft = BaselineDraft("quiet", "", (HOST,), (Window(START, START.replace(minute=10)),), "test")
        await create_baseline(session, draft)
    code, out, err = await report(database_url, *INCIDENT, "--baseline", "quiet", "--format", "csv")
    assert (code, err) == (0, "")
    first = next(csv.DictReader(io.StringIO(out, newline="")))
    assert (first["state"], first["field"]) == ("finding", "usr_pct")


async def test_wrong_wishes_are_answered(sessions: Sessions, database_url: str) -> None:
    await fill(sessions)
    for arguments, said in (
        ((*INCIDENT,), "Give exactly one of"),
        ((*INCIDENT[:4], *WINDOW), "Give `host`, `start` and `end`"),
        ((*INCIDENT, "--baseline", "nothing"), "There is no baseline"),
        ((*INCIDENT, "--ago", "year"), "ago: "),
        ((*INCIDENT[:3], "yesterday", *INCIDENT[4:], *WINDOW), "start: "),
        (("--comparison", 77), "No saved comparison 77"),
    ):
        code, out, err = await report(database_url, *arguments)
        assert (code, out) == (1, ""), arguments
        assert said in err
