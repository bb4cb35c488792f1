"""`normstat export`: a file that is whole or not there."""

import os
from pathlib import Path

import pyarrow.parquet as pq

from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_capture
from tests.query.test_export import VMSTAT

pytestmark = on_either_database

DAY = ("--from", "2026-11-21T00:00:00Z", "--to", "2026-11-22T00:00:00+00:00")


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
