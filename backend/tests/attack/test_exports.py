"""Exports whose client does not read: they hold up nobody, and are cut off."""

import asyncio
import contextlib
import threading
import time
from pathlib import Path
from urllib.parse import urlencode

import httpx
import psycopg
import pytest

from normstat.auth.roles import Role
from tests.api.server import serving
from tests.attack.readers import DAY, PAGE, SilentReader, enter, fill_cpus
from tests.database_access import Database
from tests.databases import on_one_database

pytestmark = on_one_database

N_READERS = 12
# More than the buffers of a connection between two programs of one machine hold.
N_REPORTS, N_CPUS = 4000, 64
TARGETS = {
    "csv": "/api/v1/export.csv?" + urlencode({"host": "web1", "stat": "mpstat_linux", **DAY}),
    "long": "/api/v1/export.csv?" + urlencode({"host": "web1", **DAY}),
    "parquet": "/api/v1/export.parquet?" + urlencode({"host": "web1", "stat": "mpstat_linux", **DAY}),
}
# The end of an answer in chunks; without it no client takes the answer for a whole one.
LAST_CHUNK = b"\r\n0\r\n\r\n"


async def wait_until_idle(database_url: str) -> None:
    """Wait until no connection of the server is in a transaction any more."""
    async with asyncio.timeout(60), await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
        while True:
            cursor = await connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
                " AND (state LIKE 'idle in transaction%' OR state = 'active')"
            )
            if await cursor.fetchone() == (0,):
                return
            await asyncio.sleep(0.1)


@pytest.mark.heavy
@pytest.mark.parametrize("kind", TARGETS)
async def test_readers_that_take_nothing_hold_up_nobody(
    kind: str, db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NORMSTAT_READER_STALL_S", "5")
    monkeypatch.setenv("NORMSTAT_BUSY_MAX_WAIT_S", "0.5")
    await fill_cpus(db.sessions, n_reports=N_REPORTS, n_cpus=N_CPUS)
    cookies, other = await enter(db.sessions, Role.VIEWER, "mallory"), await enter(db.sessions, Role.VIEWER, "alice")
    with contextlib.ExitStack() as stack:
        address, _ = stack.enter_context(serving(db.url, tmp_path / "log"))
        readers = [SilentReader(address, TARGETS[kind], cookies) for _ in range(N_READERS)]
        for reader in readers:
            stack.callback(reader.close)
        client = httpx.AsyncClient(base_url=address, cookies=cookies, headers=PAGE, timeout=60)
        for _ in range(10):
            assert (await client.get("/api/v1/health")).status_code == 200
            assert (await client.get("/api/v1/hosts")).status_code == 200
        # Those who come beyond the limit are told so, and when to come again.
        refused = [head for head in (reader.read(4096) for reader in readers) if head.startswith(b"HTTP/1.1 503")]
        assert len(refused) == N_READERS - 3
        assert all(b"retry-after:" in head.lower() and b"Exports running: 3" in head for head in refused)
        # One account does not hold all places.
        async with httpx.AsyncClient(base_url=address, cookies=other, headers=PAGE, timeout=60) as second:
            assert (await second.get(TARGETS["csv"])).text.count("\n") == 1 + N_REPORTS * N_CPUS
        await wait_until_idle(db.url)
        # What was begun ends without its end.
        begun = [reader for reader in readers if not reader.read_to_end().endswith(LAST_CHUNK)]
        assert len(begun) >= 3
        whole = await client.get(TARGETS["csv"])
        await client.aclose()
        assert (whole.status_code, whole.text.count("\n")) == (200, 1 + N_REPORTS * N_CPUS)
    assert "answer_stalled" in (tmp_path / "log").read_text()


@pytest.mark.heavy
async def test_a_reader_that_is_slow_gets_everything(db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NORMSTAT_READER_STALL_S", "3")
    await fill_cpus(db.sessions, n_reports=N_REPORTS, n_cpus=N_CPUS)
    cookies = await enter(db.sessions, Role.VIEWER, "bob")
    with serving(db.url, tmp_path / "log") as (address, _):
        # The system tells the server of a reader's progress in steps of some MB.
        reader = SilentReader(address, TARGETS["csv"], cookies, window=1 << 18)
        got = bytearray()

        def read_slowly() -> None:
            # About twice as long as a reader may take nothing.
            for _ in range(60):
                got.extend(reader.read(256 * 1024))
                time.sleep(0.1)
            # Until the end: the connection itself stays open.
            while not got.endswith(LAST_CHUNK):
                part = reader.read(1 << 16)
                if not part:
                    return
                got.extend(part)

        thread = threading.Thread(target=read_slowly)
        thread.start()
        await asyncio.to_thread(thread.join)
        reader.close()
    assert got.endswith(LAST_CHUNK)
    assert got.count(b"\n2026-11-21T10:") + got.count(b"\n2026-11-21T11:") > N_REPORTS * N_CPUS * 0.99
