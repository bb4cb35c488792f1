"""`normstat bundle`: made, shown, opened under another name, twice, refused when damaged; `export`: whole or not there."""

import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database
from tests.generated import vmstat_text, vmstat_times
from tests.ingest.sending import Agent
from tests.query.filling import fill_capture
from tests.query.test_export import VMSTAT

pytestmark = on_either_database

WINDOW = ("--start", "2026-11-21T00:00:00Z", "--end", "2026-11-22T00:00:00Z")

DAY = ("--from", "2026-11-21T00:00:00Z", "--to", "2026-11-22T00:00:00+00:00")


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


async def test_it_writes_csv_and_parquet(sessions: Sessions, normstat: Commands, tmp_path: Path) -> None:
    await fill_capture(sessions, "web1", "vmstat_linux", VMSTAT)
    of_stat = ("--host", "web1", "--stat", "vmstat_linux", *DAY)
    out = await normstat.do("export", *of_stat)
    assert out.count("\r\n") == 3
    csv_path, parquet_path = tmp_path / "a.csv", tmp_path / "a.parquet"
    assert await normstat("export", *of_stat, "-o", str(csv_path)) == (0, "", "")
    assert csv_path.read_bytes() == out.encode()
    assert await normstat("export", *of_stat, "--format", "parquet", "-o", str(parquet_path)) == (0, "", "")
    assert pq.read_table(parquet_path).column("memory_free").to_pylist() == [402200, 9007199254740993]
    # A name that nobody has leaves the file of the last time as it is, and nothing beside it.
    code, _, err = await normstat("export", "--host", "web9", *DAY, "-o", str(csv_path))
    assert (code, err) == (1, "normstat: There is no host 'web9'; GET /api/v1/hosts lists them\n")
    assert csv_path.read_bytes() == out.encode()
    assert set(os.listdir(tmp_path)) == {"a.csv", "a.parquet"}  # noqa: PTH208 (nothing here may block in pathlib)


async def test_wrong_wishes_are_answered(normstat: Commands, tmp_path: Path) -> None:
    code, _, err = await normstat("export", "--host", "web1", *DAY, "--format", "parquet")
    assert (code, err) == (2, "normstat: a Parquet file holds one stat; name it with --stat\n")
    code, _, err = await normstat("export", "--host", "web1", "--from", "yesterday", *DAY[2:])
    assert (code, "found 'yesterday'" in err) == (2, True)
    code, _, err = await normstat("export", "--host", "web1", *DAY, "-o", str(tmp_path / "none" / "a.csv"))
    assert (code, "No such file or directory" in err) == (1, True)
