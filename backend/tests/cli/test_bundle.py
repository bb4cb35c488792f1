"""`normstat bundle`: made, shown, opened under another name, opened twice, refused when damaged."""

from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from tests.cli.commands import Commands
from tests.databases import on_either_database
from tests.generated import vmstat_text, vmstat_times
from tests.ingest.sending import Agent

pytestmark = on_either_database

WINDOW = ("--start", "2026-11-21T00:00:00Z", "--end", "2026-11-22T00:00:00Z")


@pytest.fixture
async def _filled(engine: AsyncEngine) -> None:
    await Agent(engine, "web1").send_file(vmstat_text(vmstat_times(20)))


@pytest.mark.usefixtures("_filled")
async def test_from_create_to_open_twice(normstat: Commands, tmp_path: Path) -> None:
    path = str(tmp_path / "a.normstat.zip")
    out = await normstat.do("bundle", "create", "--host", "web1", *WINDOW, "-o", path)
    assert out.startswith(f"Created {path}: ")
    assert "1 stream, 0 events, 0 baselines, 0 artefacts" in out
    code, out, _ = await normstat("bundle", "show", path, "--check")
    assert code == 0
    assert "Window  2026-11-21 00:00:00Z to 2026-11-22 00:00:00Z" in out
    assert out.endswith("All hashes are right.\n")
    assert '"format": "normstat bundle"' in (await normstat("bundle", "show", path, "--json"))[1]
    # Its own host is here already.
    code, _, problem = await normstat("bundle", "open", path)
    assert (code, "web1" in problem, "--as" in problem or "another name" in problem) == (1, True, True), problem
    code, out, _ = await normstat("bundle", "open", path, "--as", "copy")
    assert (code, "from bundle" in out, ", 0 of them new" in out) == (0, True, False), out
    code, out, _ = await normstat("bundle", "open", path, "--as", "copy", "--merge")
    assert (code, ", 0 of them new" in out) == (0, True), out


@pytest.mark.usefixtures("_filled")
async def test_what_is_wrong_is_said(normstat: Commands, tmp_path: Path) -> None:
    code, _, problem = await normstat("bundle", "create", "--host", "web9", *WINDOW, "-o", str(tmp_path / "a.zip"))
    assert (code, "There is no host 'web9'" in problem) == (1, True)
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240 (nothing here waits)
    code, _, problem = await normstat("bundle", "create", "--host", "web1", *WINDOW, "-o", str(tmp_path / "none" / "a.zip"))
    assert (code, "Cannot write" in problem) == (1, True)
    path = tmp_path / "b.zip"
    assert (await normstat("bundle", "create", "--host", "web1", *WINDOW, "-o", str(path)))[0] == 0
    path.write_bytes(path.read_bytes()[:-200])
    for arguments in (("show", str(path)), ("open", str(path), "--as", "copy"), ("show", str(tmp_path / "none.zip"))):
        code, _, problem = await normstat("bundle", *arguments)
        assert (code, problem.startswith("normstat: ")) == (1, True), problem
