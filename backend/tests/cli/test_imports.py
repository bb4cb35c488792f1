"""`normstat imports`: what `normstat import` loaded is listed, moved and moved back."""

from pathlib import Path

from sqlalchemy import text

from normstat.db.session import open_write_session
from normstat.ingest.imports.change import change_import
from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database
from tests.generated import vmstat_text, vmstat_times

pytestmark = on_either_database


async def test_an_import_is_listed_moved_and_moved_back(normstat: Commands, tmp_path: Path) -> None:
    file = tmp_path / "vmstat.out"
    file.write_bytes(vmstat_text(vmstat_times(11)))
    assert await normstat.do("imports", "list") == "no imports\n"
    await normstat("import", "--host", "web1", file)

    def row(printed: str) -> str:
        return " ".join(printed.splitlines()[1].split())

    before = "1 vmstat.out web1 done 2026-11-21 12:00:01Z 2026-11-21 12:00:10Z 0"
    assert row(await normstat.do("imports", "list")) == before
    moved = await normstat.do("imports", "change", 1, "--title", "night batch", "--host", "db2", "--start", "2026-11-20T22:00:00Z")
    assert row(moved) == "1 night batch db2 done 2026-11-20 22:00:00Z 2026-11-20 22:00:09Z -50401"
    assert moved.splitlines()[2] == "changed: 10 samples moved"
    assert "no imports" in await normstat.do("imports", "list", "--host", "web1")
    assert row(await normstat.do("imports", "undo-change", 1)) == before
    code, _, problem = await normstat("imports", "undo-change", 1)
    assert (code, "nothing to undo" in problem) == (1, True)
    code, _, problem = await normstat("imports", "change", 1, "--shift", "1", "--start", "2026-11-20T22:00:00Z")
    assert (code, "not both" in problem) == (2, True)


async def test_a_change_that_fails_ends_with_1(normstat: Commands, sessions: Sessions, tmp_path: Path) -> None:
    file = tmp_path / "vmstat.out"
    file.write_bytes(vmstat_text(vmstat_times(11)))
    await normstat("import", "--host", "web1", file)
    async with open_write_session(sessions) as session:
        await change_import(session, 1, host="db2")
        # It failed once, and then the host went: tried again, it fails at once.
        await session.execute(text("UPDATE jobs SET state = 'failed' WHERE kind = 'import'"))
        await session.execute(text("DELETE FROM hosts WHERE name = 'db2'"))
    code, out, problem = await normstat("imports", "change", 1, "--host", "db2")
    assert (code, "failed" in out, "no host 'db2'" in problem) == (1, True, True)
    # A title needs no work, whatever became of the last one.
    code, out, problem = await normstat("imports", "change", 1, "--title", "night batch")
    assert (code, "night batch" in out, problem) == (0, True, "")
