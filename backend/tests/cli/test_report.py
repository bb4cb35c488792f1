"""`normstat report`: the file of a comparison without a browser."""

import csv
import io
from pathlib import Path

from normstat.storage.baseline_rows import BaselineDraft, create_baseline
from normstat.storage.session import open_write_session
from normstat.window import Window
from tests.api.samples import START
from tests.api.test_saved_comparisons import ASKED, HOST, N_INCIDENT, N_NORMAL, at, fill
from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database

pytestmark = on_either_database

INCIDENT = ("--host", HOST, "--from", at(N_NORMAL), "--to", at(N_NORMAL + N_INCIDENT))
WINDOW = ("--baseline-from", ASKED["baseline_start"], "--baseline-to", ASKED["baseline_end"])


async def test_a_report_is_written(sessions: Sessions, normstat: Commands, tmp_path: Path) -> None:
    await fill(sessions)
    page = tmp_path / "report.html"
    code, out, err = await normstat("report", *INCIDENT, *WINDOW, "--note", "by <hand>", "-o", page)
    assert (code, out, err) == (0, "", "")
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "by &lt;hand&gt;" in text
    assert "<script" not in text
    async with open_write_session(sessions) as session:
        draft = BaselineDraft("quiet", "", (HOST,), (Window(START, START.replace(minute=10)),), "test")
        await create_baseline(session, draft)
    out = await normstat.do("report", *INCIDENT, "--baseline", "quiet", "--format", "csv")
    first = next(csv.DictReader(io.StringIO(out, newline="")))
    assert (first["state"], first["field"]) == ("finding", "usr_pct")
