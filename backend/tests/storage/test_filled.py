"""A database that an earlier version filled goes on working after the migrations: nothing lost, nothing changed.

`filled/schema_0009.sql.gz` is what pg_dump wrote of such a database (plain PostgreSQL): two hosts that sent vmstat, ten minutes of
a busy CPU, a baseline with its profile, a saved comparison, a mute, an exclusion, a group, a rule of retention, accounts and
tokens, and work that was still waiting when the server was killed: an import and a reparse. A later schema gets a file of its own
beside it.

`filled/grown_0029.sql.gz` is such a database of revision 0029: three days of one host's vmstat, sealed, with rollups; a baseline
with its profile, an artefact, an experiment, an event, a tag, a report, and the audit log. That version exported its CSV.
"""

import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from normstat.storage.schema import migrations
from tests.databases import ServerPool
from tests.e2e.product import Server, wait_until

# Together, so that one worker runs them all on one server.
pytestmark = [pytest.mark.long, pytest.mark.slow]

FILLED = Path(__file__).parent / "filled"
N_SAMPLES = 1079
INCIDENT = {"host": "web1", "start": "2026-11-20T10:30:00Z", "end": "2026-11-20T10:40:00Z"}


@pytest.fixture(scope="module", params=[path.name for path in sorted(FILLED.glob("schema_*.sql.gz"))])
def filled_url(request: pytest.FixtureRequest, servers: ServerPool) -> Iterator[str]:
    """A database of plain PostgreSQL as the earlier version left it. For hypertables see test_migrations.py."""
    with servers.require("postgresql").fresh_database(is_migrated=False) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(gzip.decompress((FILLED / str(request.param)).read_bytes()))
        yield url


@pytest.fixture(scope="module")
def client(filled_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """An administrator of a server that runs on the migrated database. No test changes anything there."""
    migrations.upgrade(filled_url)
    migrations.check(filled_url)
    with Server(filled_url, tmp_path_factory.mktemp("filled") / "server.log") as running, running.log_in() as client:
        yield client


def get(client: httpx.Client, path: str, **params: str | int) -> httpx.Response:
    answer = client.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer


def reparse_of_before(client: httpx.Client) -> dict[str, object]:
    found: dict[str, object] = get(client, "/reparses").json()["reparses"][0]
    return found


def wait_until_the_work_of_before_is_done(client: httpx.Client) -> None:
    """The reparse that waited replaces samples, so that the profile of their baseline is made again."""
    wait_until(lambda: reparse_of_before(client)["state"] == "done", "the reparse of before")
    wait_until(lambda: get(client, "/baselines").json()["baselines"][0]["profile"]["state"] == "done", "its baseline's profile")


def test_everything_is_there_after_the_migration(client: httpx.Client) -> None:
    wait_until_the_work_of_before_is_done(client)
    assert [host["name"] for host in get(client, "/hosts").json()["hosts"]] == ["old1", "web1"]
    window = {"host": "web1", "start": "2026-11-20T08:00:00Z", "end": "2026-11-20T11:00:00Z"}
    rows = get(client, "/export.csv", stat="vmstat_linux", **window).text.splitlines()
    assert len(rows) == 1 + N_SAMPLES
    (baseline,) = get(client, "/baselines").json()["baselines"]
    assert (baseline["name"], baseline["note"], baseline["hosts"]) == ("morning", "a quiet one", ["web1"])
    # Its profile was done, and may be made once more meanwhile: the reparse is noticed by the minute.
    assert baseline["profile"]["state"] != "failed"
    (exclusion,) = get(client, "/exclusions").json()["exclusions"]
    assert (exclusion["name"], exclusion["host"]) == ("reboot", "web1")
    (mute,) = get(client, "/mutes").json()["mutes"]
    assert (mute["stat"], mute["field"], mute["reason"]) == ("vmstat_linux", "system_cs", "known")
    (group,) = get(client, "/host-groups").json()["groups"]
    assert (group["name"], group["hosts"]) == ("web", ["web1"])
    (rule,) = get(client, "/retention").json()["rules"]
    assert (rule["stat"], rule["samples_days"]) == ("vmstat_linux", 4000)
    assert {user["name"] for user in get(client, "/users").json()["users"]} >= {"admin", "maria"}


def by_field(result: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The groups of a comparison, in their order."""
    return {(group["field"], group["direction"]): group for group in result["groups"]}


def test_saved_comparison_reads_as_it_was_and_its_question_gives_the_same_answer(client: httpx.Client) -> None:
    wait_until_the_work_of_before_is_done(client)
    (listed,) = get(client, "/comparisons").json()["comparisons"]
    saved = get(client, f"/comparisons/{listed['id']}").json()["result"]
    again = get(client, "/comparison", baseline=1, **INCIDENT).json()
    # Of two that say the same, a stored profile may put the one first, and samples the other.
    assert by_field(saved).keys() == by_field(again).keys()
    assert set(list(by_field(saved))[:2]) == set(list(by_field(again))[:2]) == {("cpu_id", "down"), ("cpu_us", "up")}
    for field, one in by_field(saved).items():
        other = by_field(again)[field]
        assert one["members"][0]["incident"] == other["members"][0]["incident"]
        # Not its quantiles, which a stored profile knows about only.
        assert one["members"][0]["baseline"]["n"] == other["members"][0]["baseline"]["n"]


def test_work_that_waited_is_done_or_says_why_not(client: httpx.Client) -> None:
    def waiting_import() -> dict[str, object]:
        found: dict[str, object] = next(each for each in get(client, "/imports").json()["imports"] if each["host"] == "web2")
        return found

    wait_until(lambda: reparse_of_before(client)["state"] == "done", "the reparse of before")
    assert reparse_of_before(client)["n_samples_after"] == N_SAMPLES
    # The uploaded file lay beside the old server and is gone: that is said, and the import does not wait for ever.
    wait_until(lambda: waiting_import()["state"] == "failed", "the import of before")
    assert waiting_import()["message"]


# What the version of revision 0029 exported.
GROWN_CSV = "a1c6c7b5a5235c713ecc219de79f7aeab6d41116676bc465b61cbab33919e061"
GROWN_DAYS = {"host": "web1", "stat": "vmstat_linux", "start": "2026-11-17T00:00:00Z", "end": "2026-11-20T00:00:00Z"}


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
