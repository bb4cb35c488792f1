"""Packing by the real command, killed outright in each of its steps: every byte is there once, and the next run goes on."""

import asyncio
import os
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from tests.compaction.raw_view import counts, read_whole, stream_ids
from tests.database_access import Database
from tests.databases import Sessions, on_either_database
from tests.fork_server import ForkedProcess, start_forked
from tests.generated import vmstat_text, vmstat_times
from tests.ingest.sending import Agent
from tests.ingest.test_reparse import send_in_pieces
from tests.killed_commands import killed_at_lock

PACK = ("pack", "--days", "0")
N_PACKS = "SELECT count(*) FROM packed_chunks"
# What the transaction comes upon before it deletes, before it stores the pack, and before it notes that.
STEPS = (
    "SELECT FROM hosts FOR UPDATE",
    "LOCK TABLE packed_chunks IN SHARE MODE",
    "LOCK TABLE stream_changes IN SHARE MODE",
)

pytestmark = on_either_database


def start_packing(url: str) -> ForkedProcess:
    with Path(os.devnull).open("wb") as nowhere:
        return start_forked(PACK, os.environ | {"NORMSTAT_DATABASE_URL": url}, nowhere)


async def fill(engine: AsyncEngine, url: str, keys: str = "abc") -> dict[str, bytes]:
    """Streams of some hundred chunks, as if they had all come three days ago; their bytes by key."""
    texts = {key: vmstat_text(vmstat_times(400), seed) for seed, key in enumerate(keys)}
    for key, text in texts.items():
        await send_in_pieces(Agent(engine), text, "vmstat_linux", key, size=500)
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE chunks SET received_at = now() - interval '3 days'")
    return texts


async def assert_all_there(sessions: Sessions, texts: dict[str, bytes]) -> None:
    found = []
    for stream_id in await stream_ids(sessions):
        async with sessions() as session:
            found.append(b"".join(chunk.data for chunk in await read_whole(session, stream_id)))
    assert found == list(texts.values())


@pytest.mark.slow
async def test_killed_in_any_step_nothing_is_lost(db: Database) -> None:
    texts = await fill(db.engine, db.url)
    n_chunks, _ = counts(db.url)
    for step in STEPS:
        await asyncio.to_thread(kill_at, db.url, step)
        assert counts(db.url) == (n_chunks, 0)
        await assert_all_there(db.sessions, texts)
    assert start_packing(db.url).wait(60) == 0
    assert counts(db.url) == (0, len(texts))
    await assert_all_there(db.sessions, texts)


def kill_at(url: str, step: str) -> None:
    with killed_at_lock(url, step, *PACK):
        pass


@pytest.mark.matrix
async def test_killed_again_and_again_it_comes_to_an_end(db: Database) -> None:
    """Each run is killed some milliseconds after its first pack: in the middle of the next one, or between two."""
    texts = await fill(db.engine, db.url, "abcdef")
    n_kills = 0
    with psycopg.connect(db.url, autocommit=True) as looker:
        while (before := counts(db.url))[0]:
            process = start_packing(db.url)
            while process.poll() is None and looker.execute(N_PACKS).fetchone() == before[1:]:  # noqa: ASYNC110
                await asyncio.sleep(0.002)
            await asyncio.sleep(0.004 * (n_kills % 5))
            n_kills += process.poll() is None
            process.kill()
            process.wait()
            await assert_all_there(db.sessions, texts)
    assert n_kills > 1
    assert counts(db.url) == (0, len(texts))
