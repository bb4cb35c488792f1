"""Times are what a host prints: no row of a far year may stop a job, a backup or anybody else, or make work for centuries."""

import datetime as dt
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from normstat.backup.backup_plan import BackupPlan
from normstat.errors import BadRequest
from normstat.ingest import transaction
from normstat.ingest.imports.batchload import times_of
from normstat.ingest.imports.import_options import check_options
from normstat.ingest.stream_samples import ODD_TIME_REASON
from normstat.samples import chunks
from normstat.samples.rollups import rollup_job
from normstat.samples.rollups.rollup_job import DELAY, roll_up
from normstat.window import EPOCH, LATEST, to_us
from tests.database_access import Database
from tests.databases import on_either_database
from tests.generated import SECOND, START, VMSTAT_HEADER, vmstat_text, vmstat_times
from tests.ingest.rereading import reparse
from tests.ingest.sending import Agent
from tests.ingest.test_import_load import load_files
from tests.ingest.test_intake import VMSTAT_ROWS, accounts, assert_books_balance, vmstat_rows
from tests.query.filling import fill_values

pytestmark = on_either_database

FAR = [
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
    datetime(2200, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
]
EDGES = [EPOCH, LATEST - SECOND]
# Hours of the process's own clock do not matter: all that is rolled up is before.
NOW = START + timedelta(hours=3)


def with_time(text: bytes, time: datetime) -> bytes:
    """The last row of the text as it would be printed at another time; strftime does not fill years up to four digits."""
    *values, _, _ = text.splitlines()[-1].split()
    return b" ".join(values) + f" {time.year:04d}-{time:%m-%d %H:%M:%S}\n".encode()


@pytest.mark.parametrize("n_rows", [3, 400], ids=["a few rows", "in bulk"])
async def test_rows_of_other_years_are_rejected_lines_among_the_others(db: Database, n_rows: int) -> None:
    before, after = vmstat_text(vmstat_times(n_rows)), vmstat_text(vmstat_times(n_rows, START + timedelta(hours=1)), 2)
    odd = b"".join(with_time(before, time) for time in FAR)
    good = b"".join(with_time(before, time) for time in EDGES)
    text = before + odd + good + after[len(VMSTAT_HEADER) :]
    assert await Agent(db.engine).send_file(text) == len(text)
    assert db.query(VMSTAT_ROWS) == vmstat_rows(before + good + after[len(VMSTAT_HEADER) :])
    kept = db.query("SELECT line_no, line_text, reason FROM rejected_lines ORDER BY line_offset")
    first = before.count(b"\n") + 1
    assert kept == [(first + number, line, ODD_TIME_REASON) for number, line in enumerate(odd.decode().splitlines())]
    assert accounts(db.url)["n_rejected"] == len(FAR)
    assert_books_balance(db.url)
    assert (accounts(db.url)["first_sample_at"], accounts(db.url)["last_sample_at"]) == tuple(EDGES)


async def test_one_file_of_another_millennium_stops_no_import(db: Database, tmp_path: Path) -> None:
    """Of clocks without a date the day is that of the files beside them: also when one of these is of the year 9999."""
    text = vmstat_text(vmstat_times(20))
    (tmp_path / "good.txt").write_bytes(text)
    (tmp_path / "evil.txt").write_bytes(VMSTAT_HEADER.encode() + b"".join(with_time(text, FAR[3]) for _ in range(20)))
    (tmp_path / "clocks.txt").write_bytes(
        b"12:00:01 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n"
        b"12:00:02 PM  all    1.00    0.00    1.00    0.00    0.00    0.00    0.00    0.00    0.00   98.00\n"
    )
    results = {file.path.rsplit("/", 1)[-1]: file for file in await load_files(db.engine, tmp_path)}
    assert results["good.txt"].n_samples == 19
    assert (results["evil.txt"].n_samples, results["evil.txt"].n_rejected) == (0, 19)
    assert results["clocks.txt"].first_sample_at is not None
    assert results["clocks.txt"].first_sample_at.date() == START.date()
    reasons = db.query("SELECT DISTINCT reason FROM rejected_lines")
    assert reasons == [(ODD_TIME_REASON,)]


@pytest.mark.parametrize("start", ["00010101000000", "99991231235959", "22000101140000", "19691231100000"])
def test_a_start_that_no_sample_can_have_is_none(start: str) -> None:
    assert times_of({"STAT": "vmstat", "START": start, "ISEC": "5"}, "Pacific/Kiritimati") == (None, 5_000_000)
    assert times_of({"STAT": "vmstat", "START": "20261121120000"}, None) == (to_us(START), None)


@pytest.mark.parametrize("start", [FAR[0], FAR[3].replace(tzinfo=None), datetime(1969, 12, 31, tzinfo=UTC)])
def test_a_start_that_somebody_gives_must_be_possible(start: datetime) -> None:
    with pytest.raises(BadRequest, match="1970 to 2199"):
        check_options(zone="Europe/Berlin", date=None, start=start, interval_s=None, spec=None)


@pytest.mark.parametrize("n_noise", [3, 3000])
async def test_a_rejected_sample_that_began_long_ago_is_not_looked_for_for_ever(
    db: Database, monkeypatch: pytest.MonkeyPatch, n_noise: int
) -> None:
    """Between the first line of a sample and its end an agent may send as many bytes as it likes."""
    read_chunks = chunks.read_chunks
    n_read = 0

    async def count(*arguments: Any, **others: Any) -> AsyncIterator[tuple[int, bytes]]:
        nonlocal n_read
        async for start, data in read_chunks(*arguments, **others):
            n_read += len(data)
            yield start, data

    monkeypatch.setattr(chunks, "read_chunks", count)
    monkeypatch.setattr(transaction, "LOOKBACK_BYTES", 4096)
    agent = Agent(db.engine)
    begin = b"9999999999\nMemTotal:       514088 kB\nMemFree:          5020 kB\n"
    text = begin + b"nobody knows: what this is\n" * n_noise + b"9999999999\nMemTotal:       514088 kB\n1795262400\n"
    at = await agent.send_file(begin, "proc_meminfo")
    while at < len(text):
        at = await agent.send_file(text[at : at + 2700], "proc_meminfo", offset=at)
    assert n_read <= 4096 + 2 * 2700
    kept = db.query(f"SELECT line_offset, line_text FROM rejected_lines WHERE reason = '{ODD_TIME_REASON}' ORDER BY 1")
    assert [offset for offset, _ in kept] == [begin.index(b"MemTotal"), text.rindex(b"MemTotal")]
    assert kept[0][1] == ("MemTotal:       514088 kB" if n_noise == 3 else "")
    assert_books_balance(db.url)


# --- rows that are taken, decades apart ---


async def test_rows_decades_apart_mark_the_hours_that_they_are_in(db: Database) -> None:
    """Marking all hours between would be half a million rows for two lines, and as many hours to be rolled up again."""
    agent = Agent(db.engine)
    await agent.send_file(vmstat_text(vmstat_times(100)))
    await roll_up(db.sessions, now=NOW + DELAY, budget_s=600)
    text = vmstat_text([START, EPOCH, START - timedelta(hours=1)], 3)
    await agent.send_file(text, key="far")
    hours = db.query("SELECT hour_at FROM rollup_marks ORDER BY hour_at")
    assert hours == [(EPOCH,), (START - timedelta(hours=1),)]
    await roll_up(db.sessions, now=NOW + DELAY, budget_s=600)
    await reparse(db.sessions, db.url)
    hours = db.query("SELECT hour_at FROM rollup_marks ORDER BY hour_at")
    assert hours == [(EPOCH,), (START - timedelta(hours=1),), (START,)]


async def test_rolling_up_skips_the_decades_between(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    await Agent(db.engine).send_file(vmstat_text([START, EPOCH, *vmstat_times(10), LATEST - SECOND]))
    steps = 0
    step = rollup_job._step

    async def count(*arguments: object) -> int | None:
        nonlocal steps
        steps += 1
        return await step(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(rollup_job, "_step", count)
    assert (await roll_up(db.sessions, now=NOW + DELAY, budget_s=600)).is_all
    assert steps < 20
    assert db.query("SELECT rolled_until FROM hosts") == [(NOW,)]


async def test_backup_looks_up_the_days_of_a_host_once_for_all_streams_of_decades(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = [EPOCH + number * timedelta(days=1000) for number in range(10)]
    for number in range(30):
        times = [days[number % 3], days[-1 - number % 2]]
        await fill_values(
            db.sessions, "mallory", "vmstat_linux", time_us=list(map(to_us, times)), instances=["", ""], values={"procs_r": [0, 1]},
            key=f"k{number}",
        )  # fmt: skip
    n_asked = 0
    find_days = BackupPlan._find_days

    def count(self: BackupPlan, name: str, host_id: int, first: datetime, last: datetime) -> list[dt.date]:
        nonlocal n_asked
        found = list(find_days(self, name, host_id, first, last))
        n_asked += len(found)
        return found

    monkeypatch.setattr(BackupPlan, "_find_days", count)
    with psycopg.connect(db.url) as connection:
        found = {piece.key for piece in BackupPlan(connection).pieces() if piece.schema == "samples"}
    expected = {days[number].date() for number in (0, 1, 2, 8, 9)}
    assert found == {f"samples/vmstat_linux/{day:%Y}/{day.isoformat()}-0" for day in expected}
    assert n_asked == len(expected)
