"""The demo in a database: the comparison names the culprits first, what people did is there, and nothing can be changed."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from normstat.app import create_app
from normstat.auth.roles import Role
from normstat.demo import VISITOR
from normstat.demo.day import Day
from normstat.demo.filling import fill_demo
from normstat.demo.scene import APP, DB, HOSTS, WEB, Scene
from normstat.errors import Conflict
from normstat.settings import Settings
from tests.api.people import People, body_of

API = "/api/v1"
# A quarter of the reports, which makes no difference to what is found.
INTERVAL_S = 120


@pytest.fixture
async def demo(database_url: str) -> AsyncIterator[tuple[httpx.AsyncClient, Scene]]:
    """The demo, seen by its visitor."""
    settings = Settings(database_url=database_url, database_pool_size=4, public_url="http://normstat.test", read_only=True)
    filled = await fill_demo(settings.model_copy(update={"read_only": False}), Day(datetime.now(UTC), interval_s=INTERVAL_S))
    app = create_app(settings)
    yield await People(app, app.state.normstat, timedelta(days=1)).enter(Role.VIEWER, VISITOR), filled.scene
    await app.state.normstat.close()


async def test_a_stranger_finds_both_incidents_and_changes_nothing(
    demo: tuple[httpx.AsyncClient, Scene], database_url: str
) -> None:
    visitor, scene = demo
    # The first page says which host is unlike its normal, and why.
    fleet = body_of(await visitor.get(f"{API}/fleet", params={"at": scene.day.end.isoformat()}))["hosts"]
    levels = {host["name"]: host["level"] for host in fleet}
    # Waiting for the database makes its programs use less CPU than they ever did, or nearly so.
    assert levels.pop(APP) <= 1
    assert levels == {DB: 3, WEB: 0}
    assert "sdb busy" in next(host["sentence"] for host in fleet if host["name"] == DB)

    async def compare(host: str, start: datetime, end: datetime) -> dict[str, Any]:
        (baseline,) = [
            row
            for row in body_of(await visitor.get(f"{API}/baselines", params={"host": host}))["baselines"]
            if not row["is_rolling"]
        ]
        asked = {"host": host, "baseline": baseline["id"], "start": start.isoformat(), "end": end.isoformat()}
        return body_of(await visitor.get(f"{API}/comparison", params=asked))

    release = scene.lost_index.start
    lost_index = await compare(DB, release + timedelta(minutes=5), scene.day.end)
    # Which of the two leads depends on the time of day, which the demo's load follows.
    assert lost_index["verdict"].startswith("postgres (17 processes) ")
    told = [story["sentence"] for story in lost_index["stories"][:2]]
    assert any(sentence.startswith("postgres (17 processes) read ") and "sdb was busy" in sentence for sentence in told)
    assert any("Release 4.8.1" in each["sentence"] for each in lost_index["circumstances"])
    backup = await compare(WEB, scene.backup.start, scene.backup.end)
    assert "gtar (14022)" in backup["verdict"].split(";")[0]
    assert "c1t1d0 was busy" in backup["verdict"].split(". ")[0]

    report = body_of(await visitor.get(f"{API}/reports"))["reports"]
    assert [(each["title"], each["n_notes"]) for each in report] == [("Slow pages while the backup ran", 5)]
    page = await visitor.get(f"{API}/reports/{report[0]['id']}/export.html")
    assert "gtar" in page.text
    assert body_of(await visitor.get(f"{API}/artefacts"))["n_total"] == 4
    (experiment,) = body_of(await visitor.get(f"{API}/experiments"))["experiments"]
    assert (experiment["name"], experiment["n_runs"]) == ("order search", 20)
    assert {host["name"] for host in body_of(await visitor.get(f"{API}/hosts"))["hosts"]} == set(HOSTS)

    refused = await visitor.post(f"{API}/api-tokens", json={"name": "mine", "role": "viewer"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "read_only")
    with pytest.raises(Conflict, match="a database of its own"):
        await fill_demo(Settings(database_url=database_url), Day(datetime.now(UTC)))
