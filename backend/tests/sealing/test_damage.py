"""A block whose bytes are not those that were written: who reads it is told which one it is, and a reparse mends it."""

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.comparison.service import BaselineChoice, ComparisonRequest, run_comparison
from normstat.errors import DamagedSamples
from normstat.metrics import DAMAGED_BLOCKS
from normstat.storage.session import open_read_session
from normstat.window import Window
from tests.databases import on_either_database
from tests.generated import START, mpstat_text, vmstat_text, vmstat_times
from tests.ingest.rereading import books, export, reparse
from tests.ingest.sending import Agent
from tests.query.filling import Sessions, seal_all

SAID = (
    r"\d+ sealed samples of alpha, vmstat_linux, from 20\d\d-\d\d-\d\dT00:00:00Z to 20\d\d-\d\d-\d\dT00:00:00Z cannot be read: .+\."
    r" Make them again from the raw text: normstat reparse --host alpha\. Or restore a backup"
)
DAMAGE = {
    "a bit of the values": "body = set_byte(body, octet_length(body) - 9, get_byte(body, octet_length(body) - 9) # 1)",
    "a bit of the rows": "body = set_byte(body, 40, get_byte(body, 40) # 16)",
    "the end": "body = substring(body FOR octet_length(body) - 3)",
    "a bit of the head": "head = set_byte(head, 30, get_byte(head, 30) # 4)",
    "another version": r"head = '\x09'",
}


async def fill(engine: AsyncEngine, sessions: Sessions) -> None:
    """Two streams of vmstat in one block, and CPUs in another."""
    agent = Agent(engine)
    await agent.send_file(vmstat_text(vmstat_times(60)), key="v1")
    await agent.send_file(vmstat_text(vmstat_times(60, START.replace(minute=START.minute + 5))), key="v2")
    await agent.send_file(mpstat_text(30, 2), "mpstat_linux", "m")
    await seal_all(sessions, "alpha")


def damage(url: str, how: str) -> None:
    with psycopg.connect(url) as connection:
        found = connection.execute(
            f"UPDATE sealed_blocks SET {how} FROM stats WHERE stats.id = stat_id AND stats.name = 'vmstat_linux'"
        )
        assert found.rowcount == 1


@on_either_database
async def test_who_reads_it_is_told_and_a_reparse_mends_it(engine: AsyncEngine, sessions: Sessions, database_url: str) -> None:
    await fill(engine, sessions)
    before, accounts = await export(engine, stat="vmstat_linux"), books(database_url)["streams"]
    cpus = await export(engine, stat="mpstat_linux")
    window = Window(START, START.replace(hour=START.hour + 1))
    for how in DAMAGE.values():
        damage(database_url, how)
        n_counted = DAMAGED_BLOCKS._value.get()
        with pytest.raises(DamagedSamples, match=SAID):
            await export(engine, stat="vmstat_linux")
        assert DAMAGED_BLOCKS._value.get() == n_counted + 1, how
        assert await export(engine, stat="mpstat_linux") == cpus, "the other stats are not concerned"
        async with open_read_session(sessions) as session:
            with pytest.raises(DamagedSamples, match=SAID):
                await run_comparison(session, ComparisonRequest(["alpha"], window, BaselineChoice(window=window)), max_rows=10**6)
        await reparse(sessions, database_url)
        assert await export(engine, stat="vmstat_linux") == before, how
        assert books(database_url)["streams"] == accounts
        assert await seal_all(sessions, "alpha") > 0
        assert await export(engine, stat="vmstat_linux") == before, how
