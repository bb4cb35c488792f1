"""The product under load: a real database, a real `normstat serve`, and what each kind of process costs.

CPU seconds are those of a process and of all that it started, the ended too; memory is what its living processes hold resident.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import psycopg

from normstat.auth.secret_tokens import AGENT_TOKEN_PREFIX, new_secret
from normstat.db.migrations import upgrade
from normstat.server.embedded import EmbeddedPostgres
from tests.databases import TestServer, TimescaleServer
from tests.e2e.product import free_port

START_TIMEOUT_S: Final = 60.0
RULES_MODULE: Final = "normstat.watch.watch_process"
TICKS: Final = os.sysconf("SC_CLK_TCK")
PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
ON_DISK: Final = {
    "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "shared_buffers": "256MB", "max_wal_size": "2GB",
    "checkpoint_timeout": "15min", "wal_compression": "on", "jit": "off", "max_connections": "60",
    "max_locks_per_transaction": "256", "autovacuum_naptime": "1min",
}  # fmt: skip


def _stat(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        # The name, in brackets, may hold blanks.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return []


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""


def _family(pid: int) -> list[int]:
    """The process and its living children, and theirs."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (found := _stat(int(entry.name))):
            parents.setdefault(int(found[1]), []).append(int(entry.name))
    family = [pid]
    for member in family:
        family += parents.get(member, [])
    return family


def cpu_seconds(pid: int, module: str = "") -> float:
    """User and system time of the process and of what it started, so far; with `module`, only of processes that run it."""
    members = [member for member in _family(pid) if module in _command(member)]
    return sum(sum(int(n) for n in found[11:15]) for member in members if (found := _stat(member))) / TICKS


def rss_bytes(pid: int) -> int:
    """What the process and its children hold resident; shared pages count in each."""
    return sum(int(found[21]) for member in _family(pid) if (found := _stat(member))) * PAGE_BYTES


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU seconds so far, by kind of process. `rules` is the part of `server` that a process for rules takes, from 100 hosts on."""

    server: float
    database: float
    generator: float
    rules: float

    def __sub__(self, before: "Usage") -> "Usage":
        return Usage(
            self.server - before.server,
            self.database - before.database,
            self.generator - before.generator,
            self.rules - before.rules,
        )

    @property
    def total(self) -> float:
        return self.server + self.database + self.generator


class Rig:
    """A running server on a database of its own."""

    def __init__(self, database_url: str, postmaster: int, n_workers: int, log_path: Path) -> None:
        self.database_url = database_url
        self.postmaster = postmaster
        self.log_path = log_path
        self.port = free_port()
        workers = ["--workers", str(n_workers)] if n_workers > 1 else []
        with log_path.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "normstat", "serve", "--port", str(self.port), *workers],
                env=os.environ | {"NORMSTAT_DATABASE_URL": database_url, "NORMSTAT_INGEST_MAX_NEW_HOSTS": "100000"},
                stdout=log,
                stderr=log,
            )

    def wait_until_up(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"http://127.0.0.1:{self.port}/api/v1/health").status_code == 200:
                    return
            time.sleep(0.05)
        raise RuntimeError(f"the server does not answer:\n{self.log_path.read_text()[-2000:]}")

    def usage(self) -> Usage:
        pid = self.process.pid
        return Usage(cpu_seconds(pid), cpu_seconds(self.postmaster), time.process_time(), cpu_seconds(pid, RULES_MODULE))

    def rss(self) -> int:
        return rss_bytes(self.process.pid)

    def agent_token(self) -> str:
        """A token that may name any host."""
        secret = new_secret(AGENT_TOKEN_PREFIX)
        with psycopg.connect(self.database_url) as connection:
            connection.execute(
                "INSERT INTO agent_tokens (name, token_hash, created_by) VALUES ('bench', %s, 'bench')", [secret.token_hash]
            )
        return secret.token

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def postmaster_of(database_url: str) -> int:
    """The pid of the database's first process, where it runs on this machine."""
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        assert row is not None
        return int(_stat(row[0])[1])


def _say_nothing(text: str) -> None:
    del text


@contextlib.contextmanager
def embedded_database(folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """The URL of a migrated database in that folder, as `make run` has it; its process gets these variables."""
    postgres = EmbeddedPostgres(folder, say=_say_nothing, environment=environment)
    try:
        postgres.start()
        upgrade(postgres.url)
        yield postgres.url
    finally:
        postgres.stop()


@contextlib.contextmanager
def database(kind: str) -> Iterator[str]:
    """The URL of a migrated, empty database: `embedded` as `make run` has it, `timescaledb`, or the URL of one that is there."""
    with tempfile.TemporaryDirectory(prefix="normstat-bench-") as folder:
        Path(folder).chmod(0o711)
        if kind == "embedded":
            with embedded_database(Path(folder)) as url:
                yield url
        elif kind == "timescaledb":
            server: TestServer = TimescaleServer(**ON_DISK)
            server.start()
            try:
                with server.fresh_database() as url:
                    yield url
            finally:
                server.stop()
        else:
            upgrade(kind)
            yield kind


@contextlib.contextmanager
def serving(database_url: str, n_workers: int) -> Iterator[Rig]:
    """A server on that database, stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="normstat-bench-") as folder:
        rig = Rig(database_url, postmaster_of(database_url), n_workers, Path(folder) / "server.log")
        try:
            rig.wait_until_up()
            yield rig
        finally:
            rig.stop()
