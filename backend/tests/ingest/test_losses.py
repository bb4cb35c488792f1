"""Bytes that hosts lost are told: as an event on the host, by the doctor, and in the metrics."""

from datetime import UTC, datetime, timedelta

import pytest

from normstat.db.session import open_read_session, open_write_session
from normstat.ingest.batching import Recording
from normstat.records.event_rows import EventFilter, delete_event, list_events
from normstat.runtime import metrics
from normstat.stats.timing import Timing
from normstat.watch.own_figures import read_losses
from tests.database_access import Database
from tests.databases import Sessions, on_either_database
from tests.generated import mpstat_text, vmstat_text, vmstat_times
from tests.ingest.sending import Agent, gap, stream

pytestmark = on_either_database
WHY = "were lost before they could be sent: spool limit reached"


async def told(sessions: Sessions) -> list[tuple[str, str]]:
    """Host and text of the events of losses, in order."""
    async with open_read_session(sessions) as session:
        events, _ = await list_events(session, EventFilter(), limit=50)
    return sorted((host, event.text) for event in events for host in event.hosts or () if event.kind == "loss")


async def test_lost_bytes_are_one_event_an_hour_that_adds_them_up(db: Database) -> None:
    def counted() -> float:
        return metrics.REGISTRY.get_sample_value("normstat_ingest_lost_bytes_total") or 0.0

    n_before = counted()
    one, other = Agent(db.engine), Agent(db.engine, "beta")
    cpu, memory = mpstat_text(3, 2), vmstat_text(vmstat_times(5))
    await one.send(stream(cpu, "mpstat_linux"), stream(memory, key="m"), gap(len(memory), 1000, key="m"))
    await one.send(gap(len(memory), 1000, key="m"))  # sent again: it is the same
    assert await told(db.sessions) == [("alpha", f"1,000 bytes of vmstat_linux {WHY}")]
    await one.send(gap(len(cpu), 500, "mpstat_linux"), gap(len(memory) + 1000, 5, key="m"))
    await other.send(stream(memory), gap(len(memory), 7))
    assert await told(db.sessions) == [
        ("alpha", f"1,505 bytes of mpstat_linux, vmstat_linux {WHY}"),
        ("beta", f"7 bytes of vmstat_linux {WHY}"),
    ]
    assert counted() - n_before == 1512
    async with open_read_session(db.sessions) as session:
        losses = await read_losses(session, datetime.now(UTC) - timedelta(hours=1))
        assert [(loss.host, loss.n_bytes) for loss in losses] == [("alpha", 1505), ("beta", 7)]
        assert await read_losses(session, datetime.now(UTC) + timedelta(hours=1)) == []
    # A later hour is another event; so is the next loss after somebody deleted one.
    db.query("UPDATE events SET start_at = start_at - interval '2 hours' WHERE text LIKE '1,505%' RETURNING 1")
    await one.send(gap(len(memory) + 1005, 3, key="m"))
    async with open_write_session(db.sessions) as writing:
        events, _ = await list_events(writing, EventFilter(words=("7 bytes of",)), limit=1)
        await delete_event(writing, events[0].id)
    await other.send(gap(len(memory) + 7, 2))
    assert await told(db.sessions) == [
        ("alpha", f"1,505 bytes of mpstat_linux, vmstat_linux {WHY}"),
        ("alpha", f"3 bytes of vmstat_linux {WHY}"),
        ("beta", f"2 bytes of vmstat_linux {WHY}"),
    ]


@pytest.mark.parametrize("key", ["import-1", "bundle-1"])
async def test_losses_of_what_was_recorded_are_not_of_now(db: Database, key: str) -> None:
    memory = vmstat_text(vmstat_times(5))
    await Agent(db.engine).send(stream(memory, key=key), gap(len(memory), 9, key=key), recording=Recording(Timing("UTC")))
    assert await told(db.sessions) == []
    async with open_read_session(db.sessions) as session:
        assert await read_losses(session, datetime.now(UTC) - timedelta(hours=1)) == []
