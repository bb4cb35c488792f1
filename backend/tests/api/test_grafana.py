"""docs/grafana: the files are valid, and each query of the dashboard gives rows: of a year by the API, of two days by SQL."""

import csv
import io
import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import httpx
import numpy as np
import psycopg
import pytest
import yaml

from normstat.api.http.state import AppState
from normstat.samples.rollups.rollup_job import roll_up
from tests.api.people import People
from tests.api.samples import deliver_text
from tests.databases import TestServer
from tests.generated import VMSTAT_HEADER
from tests.ingest.remote_writes import write_request
from tests.query.filling import fill_stat, seal_all

FOLDER: Final = Path(__file__).parents[3] / "docs" / "grafana"
DASHBOARD: Final[dict[str, Any]] = json.loads((FOLDER / "host.json").read_text())
TARGETS: Final = [(panel["title"], panel["type"], target) for panel in DASHBOARD["panels"] for target in panel["targets"]]
API, SQL = "yesoreyeram-infinity-datasource", "postgres"
ROLE: Final = "grafana_test"
BEGIN_S: Final = int(time.time()) - 120


def at(second: float) -> str:
    return f"{datetime.fromtimestamp(BEGIN_S + second, UTC):%Y-%m-%dT%H:%M:%S}Z"


async def fill(people: People) -> None:
    """Two minutes of vmstat and of node_exporter."""
    lines = [f" 1 0 0 812000 10244 409600 0 0 5 12 250 400 3 2 90 0 0 {at(n)[:19].replace('T', ' ')}\n" for n in range(-1, 30)]
    text = VMSTAT_HEADER + "".join(lines)
    disk = {"instance": "web1", "device": "sda"}
    names = ["read_time_seconds_total", "reads_completed_total", "write_time_seconds_total", "writes_completed_total"]
    samples = [(float(n), (BEGIN_S + 5 * n) * 1000) for n in range(6)]
    series = [({"__name__": f"node_disk_{name}", **disk}, samples) for name in [*names, "io_time_seconds_total"]]
    series += [({"__name__": f"node_{load}", "instance": "web1"}, samples) for load in ("load1", "load5")]
    async with await people.agent() as agent:
        await deliver_text(agent, "vmstat_linux", text, host="web1")
        sent = await agent.post("/api/v1/prometheus/write", content=write_request(series), headers={"Content-Encoding": "snappy"})
        assert sent.status_code == 204, sent.text


def role_sql() -> list[str]:
    """The statements of the page, for a role of the test's own."""
    (block,) = re.findall(r"```sql\n(.*?)```", (FOLDER.parent / "import.md").read_text(), re.DOTALL)
    return [statement.replace("grafana", ROLE) for statement in block.split(";") if statement.strip()]


@pytest.fixture
def reader_url(server: TestServer, settings: Any, state: AppState) -> Iterator[str]:
    """The URL of the role that the page makes."""
    with (
        psycopg.connect(settings.database_url, autocommit=True) as owner,
        psycopg.connect(server.admin_url("postgres"), autocommit=True) as root,
    ):
        for statement in role_sql():
            (root if statement.lstrip().startswith(("CREATE ROLE", "ALTER ROLE")) else owner).execute(statement.encode())
        yield psycopg.conninfo.make_conninfo(settings.database_url, user=ROLE, password="change me")
        with psycopg.connect(server.admin_url(owner.info.dbname), autocommit=True) as admin:
            admin.execute(f"DROP OWNED BY {ROLE}".encode())
        root.execute(f"DROP ROLE {ROLE}".encode())


def test_files_name_each_other() -> None:
    sources = yaml.safe_load((FOLDER / "datasources.yaml").read_text())["datasources"]
    assert yaml.safe_load((FOLDER / "dashboards.yaml").read_text())["providers"][0]["type"] == "file"
    known = {(source["uid"], source["type"]) for source in sources}
    used = [target["datasource"] for _, _, target in TARGETS] + [DASHBOARD["templating"]["list"][0]["datasource"]]
    assert {(one["uid"], one["type"]) for one in used} == known
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    assert [panel["timeFrom"] for panel in DASHBOARD["panels"] if panel["datasource"]["type"] == SQL] == ["2d"], "SQL sees no more"
    assert all(panel["fieldConfig"]["defaults"]["custom"]["spanNulls"] is False for panel in DASHBOARD["panels"]), "gaps stay gaps"


async def test_each_query_of_the_dashboard_gives_rows(people: People, viewer: httpx.AsyncClient, reader_url: str) -> None:
    await fill(people)
    for title, _, target in TARGETS:
        if target["datasource"]["type"] == API:
            await check_csv(viewer, title, target)
        else:
            check_sql(reader_url, title, target["rawSql"])
    variable = DASHBOARD["templating"]["list"][0]["query"]["infinityQuery"]
    hosts = (await viewer.get(variable["url"])).json()[variable["root_selector"]]
    assert [host[column["selector"]] for column in variable["columns"] for host in hosts] == ["web1"]


async def check_csv(viewer: httpx.AsyncClient, title: str, target: dict[str, Any]) -> None:
    url = target["url"].replace("${host:percentencode}", "web1")
    url = url.replace("${__from:date:iso}", at(0)).replace("${__to:date:iso}", at(60))
    assert "${" not in url
    answer = await viewer.get(url)
    assert answer.status_code == 200, answer.text
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    fields = re.findall(r"field=(\w+)", url)
    assert len(rows) == len(fields) * (30 if "vmstat" in url else 5 if "node_disk" in url else 6), title
    assert {row["field"] for row in rows} == set(fields), title
    for column in target["columns"]:
        assert rows[-1].get(column["selector"]) is not None, f"{title}: no {column['selector']} among {list(rows[-1])}"


def check_sql(url: str, title: str, statement: str) -> None:
    statement = statement.replace("$__timeFilter(time)", f"time BETWEEN '{at(0)}' AND '{at(60)}'")
    statement = statement.replace("${host:sqlstring}", "'web1'")
    assert "$" not in statement
    with psycopg.connect(url) as connection:
        rows = connection.execute(statement.encode()).fetchall()
        assert len(rows) == (30 if "vmstat" in statement else 5), title
        assert None not in rows[-1]


async def test_the_role_reads_views_only(people: People, reader_url: str) -> None:
    # The views are made after the role: by default it may read them, too.
    await fill(people)
    with psycopg.connect(reader_url, autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM stat.node_disk").fetchone() == (5,)
        for table in ("users", "agent_tokens", "samples.node_disk", "hosts"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM {table}".encode())
        with pytest.raises(psycopg.Error):
            connection.execute("CREATE TABLE stat.x (a int)")


async def test_a_year_is_drawn_from_sealed_days_that_sql_does_not_see(
    people: People, viewer: httpx.AsyncClient, state: AppState, reader_url: str
) -> None:
    """A minute of each month, sealed and rolled up: the panel has a spike of a second in each of them."""
    last = datetime.now(UTC).replace(microsecond=0) - timedelta(days=3)
    months = [last - timedelta(days=30 * n) for n in reversed(range(12))]
    values = np.zeros(60)
    values[30] = 77
    for month in months:
        await fill_stat(state.sessions, "vmstat_linux", month, np.arange(60), ("",), cpu_us=values)
    assert (await roll_up(state.sessions, now=datetime.now(UTC), budget_s=300)).is_all
    assert await seal_all(state.sessions, "web1") == 60 * len(months)
    with psycopg.connect(reader_url) as connection:
        assert connection.execute("SELECT count(*) FROM stat.vmstat_linux").fetchone() == (0,)
    target = next(target for title, _, target in TARGETS if title == "CPU (vmstat)")
    url = target["url"].replace("${host:percentencode}", "web1")
    url = url.replace("${__from:date:iso}", f"{months[0]:%FT%TZ}").replace("${__to:date:iso}", f"{last + timedelta(days=1):%FT%TZ}")
    rows = list(csv.DictReader(io.StringIO((await viewer.get(url)).text)))
    spikes = [row for row in rows if (row["field"], row["value"]) == ("cpu_us", "77")]
    assert len(spikes) == len(months)
    # Eleven months without samples are gaps, not lines.
    assert sum(row["value"] == "" for row in rows if row["field"] == "cpu_us") >= len(months) - 1
