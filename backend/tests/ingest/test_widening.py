"""A number that its column cannot hold widens the column: the row stays, and every number comes back digit for digit."""

import asyncio
import csv

import psycopg
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.db.session import make_engine
from tests.addons import APP_USER
from tests.database_access import Database
from tests.ingest.rereading import export, put, reparse
from tests.ingest.sending import Agent, opened_engine
from tests.ingest.test_intake import accounts, assert_books_balance

HEAD = b"Linux 6.1.0 (web1) \t2026-11-21 \t_x86_64_\t(2 CPU)\n\n"
COLUMNS = "\n12:00:{:02}      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n"


def report(second: int, *rows: str) -> bytes:
    """A report of `pidstat -d`; the rows are what stands between the PID and the command."""
    lines = [f"12:00:{second:02}     1000      {7900 + number} {row}  dd\n" for number, row in enumerate(rows)]
    return (COLUMNS.format(second - 1) + "".join(lines)).encode()


async def cells(engine: AsyncEngine, stat: str, *columns: str) -> list[tuple[str, ...]]:
    """These columns of the CSV, as printed."""
    lines = list(csv.DictReader((await export(engine, stat=stat)).decode().splitlines()))
    names = {name.partition("[")[0]: name for name in lines[0]}
    return [tuple(line[names[column]] for column in columns) for line in lines]


async def test_a_number_beyond_four_bytes_keeps_its_row(db: Database) -> None:
    parts = [
        HEAD + report(1, "12.34 0.00 0.00 0", "0.05 21474836.47 0.00 7"),
        report(2, "31000000.25 5.00 0.00 2147483648", "1.00 21474836.48 0.00 0"),
        report(3, "0.10 33333333333.33 0.00 1", "1.5 0.00 0.00 0"),
    ]
    agent = Agent(db.engine)
    # What another server process remembers of the tables is older than these columns.
    async with opened_engine(db.url, pool_size=1) as other_engine:
        other = Agent(other_engine, host="beta")
        await other.send_file(parts[0], "pidstat_linux")
        offset = 0
        for part in parts:
            offset = await agent.send_file(part, "pidstat_linux", offset=offset)
        await other.send_file(parts[2], "pidstat_linux", offset=len(parts[0]))
    printed = [
        ("12.34", "0.00", "0"), ("0.05", "21474836.47", "7"),
        ("31000000.25", "5.00", "2147483648"), ("1.00", "21474836.48", "0"),
        ("0.10", "33333333333.33", "1"), ("1.5", "0.00", "0"),
    ]  # fmt: skip
    wanted = ("kb_rd_per_s", "kb_wr_per_s", "iodelay_ticks")
    assert await cells(db.engine, "pidstat_linux", *wanted) == printed
    values = [tuple(float(word) for word in row) for row in printed]
    assert db.query(SHOWN.format("alpha")) == values
    assert db.query(SHOWN.format("beta")) == [*values[:2], *values[4:]]
    assert db.query("SELECT count(*) FROM rejected_lines") == [(0,)]
    assert db.query("SELECT DISTINCT printed FROM stat.pidstat_linux ORDER BY 1") == [("kb_rd_per_s=1.5",), (None,)]
    await reparse(db.sessions, db.url)
    assert await cells(db.engine, "pidstat_linux", *wanted) == printed


SHOWN = "SELECT kb_rd_per_s, kb_wr_per_s, iodelay_ticks FROM stat.pidstat_linux WHERE host = '{}' ORDER BY stream_id, line_offset"


async def test_whole_numbers_widen_twice(db: Database) -> None:
    """Four bytes, eight bytes, and a float8 for a counter without a sign; the digits of all of them stay."""
    await put(db.sessions, "app_user", APP_USER.replace('storage = "float8"\n', 'storage = "int4"\n'))
    numbers = ["7", "4294967296", "9007199254740993", "18446744073709551615", "9007199254740995", "-8"]
    agent, offset = Agent(db.engine), 0
    for at, number in enumerate(numbers):
        text = f"{1_795_262_400 + at}\nUser Calls Wait\nanna {number} {at}.5\n".encode()
        offset = await agent.send_file(text, "app_user", offset=offset)
        if at == 0:
            with psycopg.connect(db.url) as connection:
                connection.execute("GRANT SELECT ON stat.app_user TO pg_monitor, PUBLIC")
    assert await cells(db.engine, "app_user", "calls") == [(number,) for number in numbers]
    shown = db.query("SELECT calls FROM stat.app_user ORDER BY time")
    assert shown == [(float(number),) for number in numbers]
    types = db.query("SELECT definition ->> 'storage', definition -> 'earlier' FROM stat_fields WHERE key = 'calls'")
    assert types == [("float8", ["int4", "int8"])]
    # The view was made again, with all that it had.
    assert db.query("SELECT has_table_privilege('pg_monitor', 'stat.app_user', 'SELECT')") == [(True,)]
    assert db.query("SELECT col_description('stat.app_user'::regclass, 9)") == [("Calls.",)]
    assert accounts(db.url)["n_rejected"] == 0
    assert_books_balance(db.url)


async def test_a_view_of_somebody_else_does_not_stop_samples(db: Database) -> None:
    await put(db.sessions, "app_user", APP_USER.replace('storage = "float8"\n', 'storage = "int4"\n'))
    agent = Agent(db.engine)
    first = b"1795262400\nUser Calls Wait\nanna 1 0.5\n"
    await agent.send_file(first, "app_user")
    with psycopg.connect(db.url) as connection:
        connection.execute("CREATE VIEW public.mine AS SELECT calls FROM stat.app_user")
    await agent.send_file(b"1795262401\nanna 3000000000 0.5\n", "app_user", offset=len(first))
    assert await cells(db.engine, "app_user", "calls") == [("1",), ("3000000000",)]


async def test_two_processes_that_widen_at_once_make_one_column(db: Database) -> None:
    others = [make_engine(db.url, pool_size=2) for _ in range(3)]
    try:
        agents = [Agent(other, host=f"web{number}") for number, other in enumerate(others)]
        head = HEAD + report(1, "1.00 0.00 0.00 0")
        await asyncio.gather(*(agent.send_file(head, "pidstat_linux") for agent in agents))
        more = report(2, "99999999.99 0.00 0.00 0")
        await asyncio.gather(*(agent.send_file(more, "pidstat_linux", offset=len(head)) for agent in agents))
    finally:
        for other in others:
            await other.dispose()
    assert db.query("SELECT kb_rd_per_s, count(*) FROM stat.pidstat_linux GROUP BY 1 ORDER BY 1") == [
        (1.0, 3), (99999999.99, 3)
    ]  # fmt: skip
    wide = "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'samples' AND column_name LIKE 'kb_rd_per_s:%'"
    assert db.query(wide) == [(1,)]
