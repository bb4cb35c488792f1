"""The role that owns the database has no rights beyond it; clusters in which it was the superuser are converted."""

import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from normstat.local.running_database import ADMIN_ROLE
from normstat.storage import owner
from normstat.storage.hypertables import read_edition
from normstat.storage.owner import OwnerError, make_owner
from normstat.storage.stat_tables import SCHEMA
from tests.databases import PlainServer, TestServer, TimescaleServer
from tests.debian_root import DatabaseUnavailable
from tests.e2e.product import Server, wait_until
from tests.failures.sender import Agent, make_agent_token
from tests.generated import vmstat_text, vmstat_times

pytestmark = pytest.mark.slow

DATA = vmstat_text(vmstat_times(4000), seed=1)
# What the old superuser has in the database, but for what belongs to the system or to an extension.
LEFT = """
    SELECT relnamespace::regnamespace::text, relname FROM pg_class
    WHERE relowner <> (SELECT oid FROM pg_roles WHERE rolname = 'normstat') AND relnamespace::regnamespace::text !~ '^pg_'
        AND relnamespace::regnamespace::text NOT IN ('information_schema', 'pg_toast')
        AND relkind NOT IN ('i', 't')
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
        AND NOT (relnamespace::regnamespace::text ~ '^_timescaledb_' AND relname !~ 'chunk$')
"""
RIGHTS = "SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = current_user"


class OldPlainServer(PlainServer):
    """As `normstat up` made it once: one role, the superuser."""

    seed = "old-postgresql"
    initdb_role = "normstat"

    def _make_template_database(self, template: sql.Identifier) -> None:
        self.admin(sql.SQL("CREATE DATABASE {}").format(template))


class OldTimescaleServer(TimescaleServer):
    """The same with TimescaleDB."""

    seed = "old-timescaledb"
    initdb_role = "normstat"

    def _make_template_database(self, template: sql.Identifier) -> None:
        self.admin(sql.SQL("CREATE DATABASE {}").format(template))


@pytest.fixture(params=[OldPlainServer, pytest.param(OldTimescaleServer, marks=pytest.mark.timescale)])
def old(request: pytest.FixtureRequest) -> Iterator[TestServer]:
    server: TestServer = request.param()
    try:
        server.start()
    except DatabaseUnavailable as error:
        pytest.skip(str(error))
    yield server
    server.stop()


def admin_url_of(server: TestServer, password: str = "of-the-admin") -> str:
    return f"postgresql://{ADMIN_ROLE}:{password}@127.0.0.1:{server.port}/postgres"


def send(url: str, up_to: int, log: Path, *agents: Agent) -> None:
    """Send the data of each agent up to that byte to a server."""
    with Server(url, log) as server:
        for agent in agents:
            agent.port = server.port
            data, agent.data = agent.data, agent.data[:up_to]
            stop = threading.Event()
            guard = threading.Timer(240, stop.set)
            guard.start()
            agent.run(stop)
            guard.cancel()
            agent.data = data
            assert (agent.acked, agent.troubles) == (up_to, [])


@pytest.mark.long
def test_an_old_cluster_is_converted_and_everything_goes_on(old: TestServer, tmp_path: Path) -> None:
    with old.fresh_database() as url:
        agent = Agent(0, make_agent_token(url), "web1", DATA, 20_000)
        send(url, DATA.index(b"\n", len(DATA) // 2) + 1, tmp_path / "log", agent)
        with psycopg.connect(url) as connection:
            assert connection.execute(RIGHTS).fetchone() == (True,) * 5

        assert make_owner(admin_url_of(old), url)
        assert not make_owner(admin_url_of(old), url), "once is enough"

        with psycopg.connect(url) as connection:
            assert connection.execute(RIGHTS).fetchone() == (False,) * 5
            assert connection.execute(LEFT).fetchall() == []
            is_plain = read_edition(connection) == "postgresql"
            assert is_plain == isinstance(old, PlainServer)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SET ROLE normstat_bootstrap")
            connection.rollback()
            # The owner may do with its tables whatever it may have to.
            connection.execute(sql.SQL("ALTER TABLE {} ADD COLUMN odd int").format(sql.Identifier(SCHEMA, "vmstat_linux")))
            connection.rollback()
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(admin_url_of(old, "wrong"))
        # New tables, chunks, rows, raw bytes: all of the way.
        other = Agent(0, agent.token, "web2", DATA, 100_000)
        send(url, len(DATA), tmp_path / "log", agent, other)
        agent.assert_stored_once(url)
        other.assert_stored_once(url)


@pytest.mark.parametrize("step", ["_make_role", "_make_database", "_fill_database"])
def test_an_interrupted_conversion_is_completed(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = OldPlainServer()
    old.start()
    try:
        with old.fresh_database() as url:
            with monkeypatch.context() as broken:

                def fail(*_: object) -> None:
                    raise psycopg.OperationalError("the plug was pulled")

                broken.setattr(owner, step, fail)
                with pytest.raises(OwnerError, match="the plug was pulled"):
                    make_owner(admin_url_of(old), url)
            make_owner(admin_url_of(old), url)
            with psycopg.connect(url) as connection:
                assert connection.execute(RIGHTS).fetchone() == (False,) * 5
                assert connection.execute(LEFT).fetchall() == []
    finally:
        old.stop()


def test_a_database_is_made_for_a_new_owner(database_url: str, server: TestServer) -> None:
    url = f"postgresql://somebody:secret%21@127.0.0.1:{server.port}/somewhere"
    try:
        assert not make_owner(server.admin_url("postgres"), url)
        with psycopg.connect(url) as connection:
            assert connection.execute(RIGHTS).fetchone() == (False,) * 5
            connection.execute("CREATE SCHEMA anything")
    finally:
        server.admin(sql.SQL("DROP DATABASE somewhere WITH (FORCE)"))
        server.admin(sql.SQL("REVOKE pg_read_all_settings FROM somebody"))
        server.admin(sql.SQL("DROP ROLE somebody"))


def test_an_admin_without_a_password_cannot_be_reached_with_one(tmp_path: Path) -> None:
    # As in docker compose: the image gave the superuser the password of the owner, and whoever has the socket needs none.
    fresh = PlainServer()
    fresh.start()
    rules = fresh.home / "data/pg_hba.conf"
    before = rules.read_text()
    try:
        rules.write_text("host all normstat_admin 127.0.0.1/32 trust\n" + before)
        fresh.admin(sql.SQL("SELECT pg_reload_conf()"))
        make_owner(f"postgresql://{ADMIN_ROLE}@127.0.0.1:{fresh.port}/postgres", fresh.url("normstat"))
        rules.write_text(before)
        with psycopg.connect(f"postgresql://{ADMIN_ROLE}@127.0.0.1:{fresh.port}/postgres") as admin:
            admin.execute("SELECT pg_reload_conf()")
        wait_until(lambda: is_refused(fresh.admin_url("postgres")), "the password does not open it")
        with psycopg.connect(fresh.url("normstat")) as connection:
            assert connection.execute(RIGHTS).fetchone() == (False,) * 5
    finally:
        fresh.stop()


def is_refused(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError as error:
        return "password authentication failed" in str(error)
    return False


def test_a_url_without_a_role_is_refused() -> None:
    with pytest.raises(OwnerError, match="names no role"):
        make_owner("postgresql://127.0.0.1:1/postgres", "postgresql://127.0.0.1:1/normstat")
