"""The role that owns the database has no rights beyond it."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from normstat.db import owner
from normstat.db.owner import OwnerError, make_owner
from normstat.local.running_installation import ADMIN_ROLE
from tests.databases import PlainServer, TestServer, on_one_database
from tests.e2e.product import wait_until

RIGHTS = "SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = current_user"
NONE = (False,) * 5


@pytest.fixture
def owner_url(server: TestServer) -> Iterator[str]:
    """The URL of a role and a database that do not exist yet."""
    yield f"postgresql://somebody:secret%21@127.0.0.1:{server.port}/somewhere"
    server.admin(sql.SQL("DROP DATABASE IF EXISTS somewhere WITH (FORCE)"))
    server.admin(sql.SQL("REVOKE pg_read_all_settings FROM somebody"))
    server.admin(sql.SQL("DROP ROLE somebody"))


def assert_owns_its_database(url: str) -> None:
    with psycopg.connect(url) as connection:
        assert connection.execute(RIGHTS).fetchone() == NONE
        connection.execute("CREATE SCHEMA anything")


@on_one_database
def test_a_database_is_made_for_a_new_owner(owner_url: str, server: TestServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:

        def fail(*_: object) -> None:
            raise psycopg.OperationalError("the plug was pulled")

        broken.setattr(owner, "_make_database", fail)
        with pytest.raises(OwnerError, match="the plug was pulled"):
            make_owner(server.admin_url("postgres"), owner_url)
    # The next call completes what the first one began.
    assert not make_owner(server.admin_url("postgres"), owner_url)
    assert_owns_its_database(owner_url)


@on_one_database
def test_the_watcher_sees_what_the_server_does_and_no_table(owner_url: str, server: TestServer) -> None:
    watcher_url = f"postgresql://watcher:seen%21@127.0.0.1:{server.port}/somewhere"
    try:
        for _ in range(2):
            make_owner(server.admin_url("postgres"), owner_url, watcher_url)
        with psycopg.connect(owner_url, autocommit=True) as connection:
            connection.execute("CREATE TABLE secrets AS SELECT 1 AS secret")
            [pid] = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
            with psycopg.connect(watcher_url, autocommit=True) as watcher:
                assert watcher.execute(RIGHTS).fetchone() == NONE
                seen = watcher.execute("SELECT query FROM pg_stat_activity WHERE pid = %s", [pid]).fetchone()
                assert seen == ("SELECT pg_backend_pid()",)
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    watcher.execute("SELECT * FROM secrets")
    finally:
        server.admin(sql.SQL("REVOKE pg_monitor FROM watcher"))
        server.admin(sql.SQL("DROP ROLE watcher"))


@on_one_database
def test_a_role_with_more_rights_loses_them_and_keeps_its_database(owner_url: str, server: TestServer) -> None:
    server.admin(sql.SQL("CREATE ROLE somebody SUPERUSER CREATEROLE CREATEDB REPLICATION BYPASSRLS LOGIN PASSWORD 'secret!'"))
    server.admin(sql.SQL("CREATE DATABASE somewhere"))
    assert make_owner(server.admin_url("postgres"), owner_url)
    assert not make_owner(server.admin_url("postgres"), owner_url), "once is enough"
    assert_owns_its_database(owner_url)


def test_an_admin_without_a_password_cannot_be_reached_with_one() -> None:
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
            assert connection.execute(RIGHTS).fetchone() == NONE
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
