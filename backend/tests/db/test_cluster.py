"""A Citus cluster as the database: what `cluster init` makes of the tables, and that the product does the same on it.

In CI a stub stands for Citus, in a plain PostgreSQL (tests/citus_stub.sql): it distributes nothing and refuses what Citus refuses.
With NORMSTAT_CITUS_DSN the same tests run on the cluster that it names, those of the stub's refusals too.
"""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine
from typer.testing import CliRunner

from normstat.backup.dump import back_up
from normstat.backup.restore_tables import check_backup, restore
from normstat.cli import app
from normstat.db import cluster_nodes
from normstat.db.cluster_layout import EVERYWHERE, OF_HOSTS, lay_out
from normstat.db.cluster_nodes import Address, parse_address
from normstat.db.connecting import connect_arguments
from normstat.db.distribution import is_worker_away
from normstat.db.migrations import upgrade
from normstat.db.schema_version import require_current_schema
from normstat.db.session import make_sessions
from normstat.errors import BadRequest, Conflict, MigrationError
from normstat.settings import load_settings
from tests.compaction.raw_view import pack_all, views
from tests.databases import IS_ON_CITUS, CitusServer, PlainServer, ServerPool, TestServer
from tests.generated import START, mpstat_text, vmstat_text, vmstat_times
from tests.ingest.rereading import export
from tests.ingest.sending import Agent, opened_engine

STUB = Path(__file__).parents[1] / "citus_stub.sql"
NAMES = "SELECT table_name::text, citus_table_type FROM citus_tables ORDER BY 1"
LEFT = "SELECT (SELECT count(*) FROM {}) + (SELECT count(*) FROM hosts)"


@pytest.fixture
def server(servers: ServerPool) -> TestServer:
    """Plain PostgreSQL with the stub, or the real one."""
    return servers.require(CitusServer.name if IS_ON_CITUS else PlainServer.name)


@pytest.fixture
def is_distributed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The setting of a cluster."""
    monkeypatch.setenv("NORMSTAT_DISTRIBUTED", "citus")
    load_settings.cache_clear()
    yield
    monkeypatch.undo()
    load_settings.cache_clear()


@pytest.fixture
def migrated_url(server: TestServer, is_distributed: None) -> Iterator[str]:
    """A migrated database with workers, whose tables are not distributed."""
    with server.fresh_database(is_migrated=not isinstance(server, CitusServer)) as url:
        if isinstance(server, CitusServer):
            upgrade(url)
        else:
            admin = server.admin_url(url.rsplit("/", 1)[1])
            with psycopg.connect(admin, autocommit=True) as connection:
                connection.execute(STUB.read_bytes())
                for worker in (Address("127.0.0.1", 5433), Address("127.0.0.1", 5434)):
                    cluster_nodes.add_worker(connection, worker, Address("127.0.0.1", 5432))
        yield url


@pytest.fixture
def cluster_url(migrated_url: str) -> str:
    """A cluster with distributed tables."""
    with psycopg.connect(migrated_url, autocommit=True) as connection:
        lay_out(connection)
    return migrated_url


@pytest.fixture
def connection(migrated_url: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(migrated_url, autocommit=True) as opened:
        yield opened


# --- what Citus refuses, and so must the stub ---


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("prepare", "statement"),
    [
        ("CREATE TABLE t (id int PRIMARY KEY, host_id int)", "SELECT create_distributed_table('t', 'host_id')"),
        ("CREATE TABLE t (host_id int8 REFERENCES hosts)", "SELECT create_distributed_table('t', 'host_id')"),
        (
            "CREATE TABLE t (host_id int); CREATE TABLE u (host_id int8); SELECT create_distributed_table('t', 'host_id')",
            "SELECT create_distributed_table('u', 'host_id', colocate_with => 't')",
        ),
        ("CREATE TABLE t (host_id int, a int); SELECT create_distributed_table('t', 'host_id')", "CREATE UNIQUE INDEX ON t (a)"),
        ("CREATE TABLE t (host_id int, a int); SELECT create_distributed_table('t', 'host_id')", "UPDATE t SET host_id = 2"),
        (
            "CREATE TABLE t (host_id int8); SELECT create_distributed_table('t', 'host_id')",
            "ALTER TABLE t ADD FOREIGN KEY (host_id) REFERENCES hosts",
        ),
    ],
)
def test_what_citus_refuses(connection: psycopg.Connection[tuple[object, ...]], prepare: str, statement: str) -> None:
    for one in prepare.split("; "):
        connection.execute(one.encode())
    if statement.startswith("UPDATE"):
        connection.execute("INSERT INTO t VALUES (1, 1)")
    with pytest.raises(psycopg.Error) as refused:
        connection.execute(statement.encode())
    assert not isinstance(refused.value, psycopg.errors.SyntaxError | psycopg.errors.UndefinedFunction)


# --- cluster init ---


def test_tables_of_hosts_are_distributed_and_stats_are_everywhere(cluster_url: str) -> None:
    with psycopg.connect(cluster_url) as connection:
        found = {row[0]: row[1] for row in connection.execute(NAMES).fetchall()}
    assert found == {**dict.fromkeys(OF_HOSTS, "distributed"), EVERYWHERE: "reference"}
    require_current_schema(cluster_url)


def test_init_says_what_is_in_its_way(connection: psycopg.Connection[tuple[object, ...]], migrated_url: str) -> None:
    with pytest.raises(MigrationError, match="run `normstat cluster init` first"):
        require_current_schema(migrated_url)
    connection.execute("INSERT INTO hosts (name) VALUES ('web1')")
    with pytest.raises(Conflict, match=r"has data \(hosts\).*normstat backup"):
        lay_out(connection)
    connection.execute("DELETE FROM hosts")
    lay_out(connection)
    with pytest.raises(Conflict, match="distributed already"):
        lay_out(connection)


def test_a_cluster_needs_the_setting(cluster_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NORMSTAT_DISTRIBUTED")
    load_settings.cache_clear()
    with pytest.raises(MigrationError, match="set NORMSTAT_DISTRIBUTED=citus"):
        require_current_schema(cluster_url)


@pytest.mark.skipif(IS_ON_CITUS, reason="a database without Citus, or with another version")
def test_init_without_workers_with_an_old_citus_and_without_any(server: TestServer, is_distributed: None) -> None:
    with server.fresh_database() as url, psycopg.connect(server.admin_url(url.rsplit("/", 1)[1]), autocommit=True) as connection:
        with pytest.raises(Conflict, match="CREATE EXTENSION citus"):
            lay_out(connection)
        connection.execute(STUB.read_bytes())
        with pytest.raises(Conflict, match="no worker; run `normstat cluster add-worker HOST` first"):
            lay_out(connection)
        connection.execute(
            "CREATE OR REPLACE FUNCTION citus_version() RETURNS text LANGUAGE sql AS $$ SELECT 'Citus 11.3.0 on x' $$"
        )
        with pytest.raises(Conflict, match=r"has Citus 11\.3\.0, but normstat needs Citus 13\.0 or newer"):
            lay_out(connection)


# --- nodes ---


def test_addresses() -> None:
    assert parse_address("db2") == Address("db2", 5432)
    assert parse_address("db2:6000") == Address("db2", 6000)
    assert parse_address("fe80::1") == Address("fe80::1", 5432)
    for wrong in ("", ":5432", "db2:x", "db2:0", "db2:70000"):
        with pytest.raises(BadRequest):
            parse_address(wrong)


def run(server: TestServer, url: str, *arguments: str) -> tuple[int, str]:
    """Exit code and output of a command, with a superuser at hand."""
    environment = {"NORMSTAT_DATABASE_URL": url, "NORMSTAT_ADMIN_URL": server.admin_url("postgres")}
    load_settings.cache_clear()
    try:
        done = CliRunner().invoke(app, ["cluster", *arguments], env=environment)
    finally:
        load_settings.cache_clear()
    return done.exit_code, done.output


def test_commands(server: TestServer, migrated_url: str) -> None:
    code, printed = run(server, migrated_url, "status")
    assert code == 0
    assert "not distributed yet" in printed
    assert printed.count("answers") == 3
    code, printed = run(server, migrated_url, "init")
    assert (code, "rollups" in printed) == (0, True)
    code, printed = run(server, migrated_url, "init")
    assert (code, "distributed already" in printed) == (1, True)
    assert run(server, migrated_url, "rebalance") == (0, "the workers are balanced; nothing was moved\n")
    code, printed = run(server, migrated_url, "remove-worker", "elsewhere")
    assert (code, "has no worker elsewhere:5432" in printed) == (1, True)
    code, printed = run(server, migrated_url, "add-worker", "away:1")
    assert (code, printed.count("\n")) == (1, 1)
    assert "The worker away:1" in printed or "Workers cannot reach the coordinator" in printed


def test_a_worker_that_is_away_is_named(server: TestServer, cluster_url: str) -> None:
    if isinstance(server, PlainServer):
        with psycopg.connect(server.admin_url(cluster_url.rsplit("/", 1)[1]), autocommit=True) as admin:
            admin.execute("UPDATE pg_dist_node SET nodename = 'away' WHERE nodeport = 5434")
        code, printed = run(server, cluster_url, "status")
        assert (code, "away:5434 does not answer" in printed) == (1, True)
    assert is_worker_away(psycopg.errors.ConnectionFailure()) is True
    # Without a state: the coordinator itself.
    assert is_worker_away(psycopg.OperationalError("server closed the connection")) is False


def test_commands_need_the_setting(server: TestServer, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NORMSTAT_DISTRIBUTED", raising=False)
    code, printed = run(server, database_url, "status")
    assert code == 1
    assert printed == (
        "normstat: NORMSTAT_DISTRIBUTED is not set; set it to citus for commands of a cluster, and for all servers\n"
    )


def test_sessions_of_a_cluster_keep_connections_to_workers(is_distributed: None) -> None:
    assert "citus.max_cached_conns_per_worker=16" in str(connect_arguments("postgresql://u@h/d")["options"])


# --- the product on it ---


async def fill(engine: AsyncEngine) -> None:
    for day in range(2):
        start = START + timedelta(days=day, hours=9)
        await Agent(engine).send_file(vmstat_text(vmstat_times(60, start)), key=f"v{day}")
    await Agent(engine, "beta").send_file(mpstat_text(20, 2), "mpstat_linux")
    await Agent(engine, "gamma").send_file(b"who knows\n", "nothing_any")


async def read_all(url: str) -> object:
    """What is read of the samples and of the bytes that `fill` sent."""
    async with opened_engine(url, pool_size=4) as engine:
        return [await export(engine, host) for host in ("alpha", "beta")], await views(make_sessions(engine), [0, 500])


async def test_a_cluster_gives_what_one_database_gives(
    server: TestServer, cluster_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with opened_engine(cluster_url, pool_size=4) as engine:
        await fill(engine)
        await pack_all(make_sessions(engine))
    before = await read_all(cluster_url)
    manifest = back_up(cluster_url, tmp_path, lambda _: None)
    with psycopg.connect(cluster_url) as connection:
        assert connection.execute("SELECT count(*) FROM packed_chunks WHERE host_id <> 0").fetchone() != (0,)
    if isinstance(server, CitusServer):
        return
    # The backup of a cluster becomes one database.
    monkeypatch.delenv("NORMSTAT_DISTRIBUTED")
    load_settings.cache_clear()
    with server.fresh_database(is_migrated=False) as url:
        await asyncio.to_thread(restore, url, tmp_path, manifest, lambda _: None)
        assert await read_all(url) == before


@pytest.mark.matrix
async def test_a_backup_of_one_database_becomes_a_cluster(
    server: TestServer, cluster_url: str, database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not isinstance(server, CitusServer):
        monkeypatch.delenv("NORMSTAT_DISTRIBUTED")
        load_settings.cache_clear()
    async with opened_engine(database_url, pool_size=4) as engine:
        await fill(engine)
    before = await read_all(database_url)
    back_up(database_url, tmp_path, lambda _: None)
    monkeypatch.setenv("NORMSTAT_DISTRIBUTED", "citus")
    load_settings.cache_clear()
    manifest = check_backup(tmp_path, lambda _: None)
    await asyncio.to_thread(restore, cluster_url, tmp_path, manifest, lambda _: None)
    assert await read_all(cluster_url) == before
    with psycopg.connect(cluster_url) as connection:
        owners = {row[0]: row[1] for row in connection.execute("SELECT id, host_id FROM streams").fetchall()}
        found = connection.execute("SELECT stream_id, host_id FROM chunks").fetchall()
    assert found
    assert all(owners[stream_id] == host_id for stream_id, host_id in found)


def test_a_wrong_setting_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NORMSTAT_DISTRIBUTED", "spanner")
    load_settings.cache_clear()
    with pytest.raises(SystemExit, match=r"NORMSTAT_DISTRIBUTED \(environment\) must be 'citus'"):
        load_settings()
    monkeypatch.setenv("NORMSTAT_DISTRIBUTED", "")
    assert load_settings().distributed is None
    load_settings.cache_clear()
