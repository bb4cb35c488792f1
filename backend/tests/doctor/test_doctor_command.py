"""`normstat doctor` on real databases."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine
from typer.testing import CliRunner, Result

from normstat.cli import app
from normstat.cli import doctor_command as doctor_module
from normstat.db.session import make_sessions
from normstat.settings import load_settings
from normstat.watch.watcher import Watcher
from tests.databases import on_either_database
from tests.e2e.product import Server
from tests.ingest.sending import Agent

pytestmark = on_either_database
VMSTAT = (
    b"procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n"
    b" r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC\n"
)


@pytest.fixture(autouse=True)
def _nothing_else_runs_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(doctor_module, "find_running_servers", list)
    load_settings.cache_clear()
    yield
    load_settings.cache_clear()


def run(monkeypatch: pytest.MonkeyPatch, url: str, *arguments: str, **settings: str) -> Result:
    monkeypatch.setenv("NORMSTAT_DATABASE_URL", url)
    for name, value in settings.items():
        monkeypatch.setenv(f"NORMSTAT_{name.upper()}", value)
    load_settings.cache_clear()
    return CliRunner().invoke(app, ["doctor", *arguments])


def statuses(result: Result) -> dict[str, str]:
    document = json.loads(result.stdout)
    found = {check["check"]: check["status"] for check in document["checks"]}
    assert len(found) == len(document["checks"]), "one line for each check"
    assert document["n_error"] == list(found.values()).count("error")
    return found


def test_a_database_without_a_server(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(monkeypatch, database_url, "--json", public_url="http://127.0.0.1:9")
    found = statuses(result)
    assert result.exit_code == 1
    assert {found[name] for name in ("leader", "address")} == {"error"}
    assert {found[name] for name in ("database", "database_role", "migrations", "jobs")} == {"ok"}
    # The wheel of the tests may lack security releases.
    assert found["postgresql"] in {"ok", "warning"}
    # That of the tests promises nothing.
    assert found["database_durability"] == "warning"
    assert {found[name] for name in ("agents", "agents_behind", "agent_clocks", "rejected_lines")} == {"not_checked"}


async def test_a_host_whose_rows_are_of_the_future(engine: AsyncEngine, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules wait for its rows, and it is named."""
    row = b" 1  0      0 100000   2000 300000    0    0     5     6  100  200  1  2 97  0  0 2036-01-01 00:00:0%d\n"
    await Agent(engine, host="later").send_file(VMSTAT + row % 1 + row % 2)
    await Watcher(make_sessions(engine)).run()
    result = await asyncio.to_thread(run, monkeypatch, database_url, "--json")
    checks = {check["check"]: check for check in json.loads(result.stdout)["checks"]}
    assert (checks["dated_ahead"]["status"], "later (" in checks["dated_ahead"]["found"]) == ("warning", True)
    assert (checks["rules"]["status"], checks["agent_clocks"]["status"]) == ("ok", "ok")


def test_an_empty_database(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(monkeypatch, empty_database_url, "--json")
    found = statuses(result)
    assert (result.exit_code, found["migrations"], found["leader"], found["disk"]) == (1, "error", "not_checked", "not_checked")


def test_no_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result = run(monkeypatch, f"postgresql://normstat:Tr0ub4dor@/normstat?host={tmp_path}")
    assert result.exit_code == 1
    (line,) = (line for line in result.stdout.splitlines() if " database  " in line)
    assert line.startswith("ERROR")
    assert f"postgresql://normstat@/normstat?host={tmp_path} (NORMSTAT_DATABASE_URL)" in line
    assert "do: start the database" in line
    assert "Tr0ub4dor" not in result.stdout
    assert "not checked  postgresql" in result.stdout


@pytest.mark.slow
def test_a_server_that_runs(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").touch()
    with Server(database_url, tmp_path / "server.log", settings={"NORMSTAT_PAGE_DIR": str(page)}) as server:
        server.normstat("login-link")
        good = run(monkeypatch, database_url, "--json", public_url=server.url, page_dir=str(page))
        strict = run(monkeypatch, database_url, "--json", "--strict", public_url=server.url, page_dir=str(page))
    found = statuses(good)
    assert {found[name] for name in ("leader", "address", "versions", "administrators", "page", "certificate")} == {"ok"}
    assert (good.exit_code, "error" in found.values()) == (0, False)
    assert strict.exit_code == 1, "fsync is off in the databases of the tests"
