"""`normstat changes`: when normal changed on a host, from a year of hours in the database, and who else tells it."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt
import pytest
from sqlalchemy import select

from normstat.codecs.rollup_codec import gather
from normstat.db.schema.models import Host
from normstat.db.session import WriteSession, driver_of, open_read_session
from normstat.query.host_events import read_host_events
from normstat.records.event_rows import EventDraft, EventSource, create_event
from normstat.samples.lookup import find_stat, list_latest_instances
from normstat.samples.rollups.rollup_rows import HOUR_US, HOURS, Place, pack_block, write_bodies
from normstat.stats.fact_words import EventKind
from normstat.watch.normal_changes import search_normal_changes
from normstat.window import Window, to_us
from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_stat

START = datetime(2025, 11, 3, tzinfo=UTC)
NOW = START + timedelta(days=365, hours=3)
CHANGED = START + timedelta(days=200, hours=10)


async def write_rollups(sessions: Sessions, stat: str, values: dict[str, npt.NDArray[np.float64]], *, n_instances: int) -> None:
    """Writes the hours of the only host as rollups, in place of the job that would make them of a year of samples."""
    async with sessions() as session, session.begin():
        host = await session.scalar(select(Host))
        found = await find_stat(session, stat)
        assert host is not None
        assert found is not None
        names, _ = await list_latest_instances(session, host.id, found, Window(START, NOW))
        ids = np.array(sorted(one.id for one in names))
        assert len(ids) == n_instances
        connection = await driver_of(session)
        for key, own in values.items():
            instance = np.tile(ids, len(own) // n_instances)
            time_us = to_us(START) + np.repeat(np.arange(len(own) // n_instances), n_instances) * HOUR_US
            block_us = time_us // HOURS.block_us * HOURS.block_us
            for block in np.unique(block_us).tolist():
                chosen = block_us == block
                buckets = gather(instance[chosen], time_us[chosen] // HOUR_US, own[chosen], time_us[chosen])
                body = pack_block(HOURS, block, buckets, decimals=2)
                await write_bodies(connection, Place(host.id, found.id), HOURS, [(key, block, body)])
        host.rolled_until = NOW - timedelta(hours=3)


@on_either_database
async def test_a_year_of_a_host_tells_when_normal_changed_what_happened_then_and_that_a_baseline_is_old(
    sessions: Sessions, normstat: Commands
) -> None:
    rng = np.random.default_rng(9)
    n_hours = 365 * 24
    hours = np.arange(n_hours)
    rhythm = np.exp(0.5 * np.sin(2 * np.pi * hours / 24) - 0.4 * (hours // 24 % 7 >= 5))
    since = np.where(hours >= (CHANGED - START) / timedelta(hours=1), 2.0, 1.0)

    def disks(base: float, of_sda: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        both = base * rhythm[:, None] * np.stack([of_sda, np.ones(n_hours)], axis=1)
        return np.round(both * np.exp(0.1 * rng.standard_normal(both.shape)), 2).ravel()

    disks_of = {"r_await_ms": disks(4, since), "w_await_ms": disks(3, since), "util_pct": disks(10, since)}
    disks_of["r_per_s"] = disks(80, np.ones(n_hours))
    # Samples of the ends of the year, and of the baseline.
    sampled = np.r_[0, 90 * 24 : 104 * 24, n_hours - 1]
    samples = {key: own.reshape(-1, 2)[sampled].ravel() for key, own in disks_of.items()}
    await fill_stat(sessions, "iostat_linux", START, 3600 * sampled, ("sda", "sdb"), values=samples)
    await write_rollups(sessions, "iostat_linux", disks_of, n_instances=2)
    async with sessions() as session, session.begin():
        at = CHANGED - timedelta(hours=3)
        await create_event(
            WriteSession(session),
            EventDraft(at, None, EventKind.DEPLOYMENT, "kernel 6.6", (), ("web1",), EventSource.USER, "anna"),
        )
    assert (await normstat.do("changes", "web1")).startswith("not searched yet")
    assert await search_normal_changes(sessions, now=NOW, budget_s=60) == 1
    assert await search_normal_changes(sessions, now=NOW, budget_s=60) == 0

    found = json.loads(await normstat.do("changes", "web1", "--from", "2025-11-03T00:00:00Z", "--json"))
    (change,) = found["changes"]
    assert abs(datetime.fromisoformat(change["at"]) - CHANGED) <= timedelta(hours=1)
    assert (change["n_series"], change["n_compared"]) == (3, 8)
    assert {(series["instance"], series["kind"]) for series in change["series"]} == {("sda", "level")}
    first = change["series"][0]
    assert first["after"] / first["before"] == pytest.approx(2, rel=0.1)
    assert change["sentence"] == f"3 series changed, led by {first['sentence']}"
    assert change["events"][0]["sentence"] == "3 h before: kernel 6.6"

    async with open_read_session(sessions) as session:
        events = await read_host_events(session, "web1", Window(CHANGED - timedelta(days=1), CHANGED + timedelta(days=1)))
    assert [(event.kind, event.source) for event in events.events] == [
        (EventKind.DEPLOYMENT, EventSource.USER),
        (EventKind.NORMAL, EventSource.SAMPLES),
    ]

    quiet = "2026-02-01T00:00:00Z/2026-02-15T00:00:00Z"
    await normstat.do("baseline", "add", "quiet", "--host", "web1", "--window", quiet)
    shown = await normstat.do("baseline", "show", "quiet")
    assert "Normal has moved since 2026-05-22: 3 series changed" in shown
