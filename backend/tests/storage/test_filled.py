"""A database that an earlier version filled goes on working after the migrations: nothing lost, nothing changed.

`filled/grown_0029.sql.gz` is what pg_dump wrote of a database of revision 0029 (plain PostgreSQL): three days of one host's vmstat,
sealed, with rollups; a baseline with its profile, an artefact, an experiment, an event, a tag, a report, and the audit log. That
version exported its CSV.
"""

import gzip
import hashlib
from pathlib import Path

import httpx
import psycopg
import pytest

from normstat.storage.schema import migrations
from tests.databases import ServerPool
from tests.e2e.product import Server

FILLED = Path(__file__).parent / "filled"
# What the version of revision 0029 exported.
GROWN_CSV = "a1c6c7b5a5235c713ecc219de79f7aeab6d41116676bc465b61cbab33919e061"
GROWN_DAYS = {"host": "web1", "stat": "vmstat_linux", "start": "2026-11-17T00:00:00Z", "end": "2026-11-20T00:00:00Z"}


def get(client: httpx.Client, path: str, **params: str | int) -> httpx.Response:
    answer = client.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer


@pytest.mark.slow
def test_a_database_of_revision_0029_gives_what_it_gave(servers: ServerPool, tmp_path: Path) -> None:
    with servers.require("postgresql").fresh_database(is_migrated=False) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(gzip.decompress((FILLED / "grown_0029.sql.gz").read_bytes()))
        migrations.upgrade(url)
        migrations.check(url)
        with Server(url, tmp_path / "server.log") as running, running.log_in() as client:
            csv = get(client, "/export.csv", **GROWN_DAYS).content
            assert hashlib.sha256(csv).hexdigest() == GROWN_CSV, "sealed samples are the same digits"
            (host,) = get(client, "/hosts").json()["hosts"]
            assert (host["name"], host["tags"]) == ("web1", ["prod"])
            (baseline,) = get(client, "/baselines").json()["baselines"]
            assert (baseline["name"], baseline["note"]) == ("morning", "a quiet one")
            (artefact,) = get(client, "/artefacts").json()["artefacts"]
            assert artefact["question"] == "which calls?"
            text = get(client, f"/artefacts/{artefact['id']}/text").json()
            assert (text["n_bytes"], text["text"].splitlines()[0]) == (2802, "strace: Process 2494 attached")
            (experiment,) = get(client, "/experiments").json()["experiments"]
            assert (experiment["name"], experiment["n_runs"]) == ("xz", 2)
            (report,) = get(client, "/reports").json()["reports"]
            assert report["title"] == "Slow morning"
            window = {"start": GROWN_DAYS["start"], "end": GROWN_DAYS["end"]}
            assert "deployed 4.2" in [event["text"] for event in get(client, "/events", **window).json()["events"]]
            actions = [entry["action"] for entry in get(client, "/audit").json()["entries"]]
            assert {"create_report", "export_csv", "login_link_used"} <= set(actions)
