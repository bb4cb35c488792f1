"""Hosts, streams, instances and rejected lines as pages list them."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sqlalchemy import select

from normstat.errors import NotFound
from normstat.query.host_lists import StreamState, list_hosts, list_instances, list_rejected, read_host, to_state
from normstat.storage.natural_order import natural_key
from normstat.storage.schema.models import Host, StoredRejectedLine, Stream
from normstat.window import Window, to_us
from tests.databases import on_either_database
from tests.query.filling import Sessions, fill_stat, fill_values

pytestmark = on_either_database

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def stream(host: Host, key: str, ago_s: float | None, **columns: object) -> Stream:
    received = None if ago_s is None else NOW - timedelta(seconds=ago_s)
    return Stream(host_id=host.id, spec="vmstat_linux", key=key, last_received_at=received, created_at=received or NOW, **columns)


async def test_hosts_are_listed_with_the_state_of_their_best_stream(sessions: Sessions) -> None:
    await fill_stat(sessions, "mpstat_linux", NOW, [0], ("all",), host="web10", usr_pct=1.0)
    async with sessions() as session, session.begin():
        web2 = Host(name="web2", os="Linux 6.1", agent_version="1.0", clock_offset_s=-3600.0, last_seen_at=NOW)
        session.add_all([web2, Host(name="idle")])
        await session.flush()
        session.add_all(
            [
                stream(web2, "live", 5, n_rejected=2, first_sample_at=NOW - timedelta(hours=2)),
                stream(web2, "late", 300, n_rejected=40, last_sample_at=NOW),
                stream(web2, "silent", 3600),
            ]
        )
    async with sessions() as session:
        hosts = await list_hosts(session, NOW)
    assert [(host.name, host.state, host.n_streams_live, host.n_streams) for host in hosts] == [
        ("idle", "silent", 0, 0),
        ("web2", "live", 1, 3),
        ("web10", "silent", 0, 1),
    ]
    assert (hosts[1].n_rejected, hosts[1].clock_offset_s, hosts[1].os) == (42, -3600.0, "Linux 6.1")
    assert (hosts[1].first_sample_at, hosts[1].last_sample_at) == (NOW - timedelta(hours=2), NOW)
    assert [host.stats for host in hosts] == [[], [], ["mpstat_linux"]]


async def test_files_that_were_loaded_are_recorded_and_never_late(sessions: Sessions) -> None:
    async with sessions() as session, session.begin():
        files, both = Host(name="files"), Host(name="with an agent too")
        session.add_all([files, both])
        await session.flush()
        session.add_all([stream(host, "import-1", 5, is_finished=True) for host in (files, both)])
        session.add(stream(both, "agent", 7200))
    async with sessions() as session:
        hosts = await list_hosts(session, NOW)
        found = await read_host(session, "with an agent too", NOW)
    assert [(host.name, host.state, host.n_streams_live) for host in hosts] == [
        ("files", "recorded", 0),
        ("with an agent too", "silent", 0),
    ]
    assert [(stream.key, stream.state) for stream in found.streams] == [("import-1", "recorded"), ("agent", "silent")]


async def test_a_host_shows_its_streams_the_newest_first_and_counts_the_old(sessions: Sessions) -> None:
    async with sessions() as session, session.begin():
        host = Host(name="web1")
        session.add(host)
        await session.flush()
        session.add_all(
            [
                stream(host, "old", 8 * 86400),
                stream(host, "older", 9 * 86400),
                stream(host, "ended", 6 * 86400, n_header=1, n_sample=2, n_since_boot=3, n_timestamp=4, n_state_change=5),
                stream(host, "new", 1, n_ignored=6, n_rejected=7, n_gap_bytes=8, acked_offset=9, command="vmstat -t 1"),
            ]
        )
    async with sessions() as session:
        detail = await read_host(session, "web1", NOW)
        with pytest.raises(NotFound, match="no host 'web9'"):
            await read_host(session, "web9", NOW)
    new, ended = detail.streams
    assert (new.key, new.state, new.command, new.acked_offset, new.n_gap_bytes) == ("new", "live", "vmstat -t 1", 9, 8)
    assert "vmstat_linux" in new.stats
    assert (new.n_lines.ignored, new.n_lines.rejected) == (6, 7)
    counts = ended.n_lines
    assert (counts.header, counts.sample, counts.since_boot, counts.timestamp, counts.state_change) == (1, 2, 3, 4, 5)
    assert (ended.state, detail.n_old_streams, detail.host.n_streams) == ("silent", 2, 4)


async def test_rejected_lines_are_listed_the_newest_first(sessions: Sessions) -> None:
    async with sessions() as session, session.begin():
        hosts = [Host(name="web1"), Host(name="web2")]
        session.add_all(hosts)
        await session.flush()
        streams = [stream(hosts[0], "a", 1, n_rejected=1000), stream(hosts[0], "b", 1, n_rejected=1), stream(hosts[1], "a", 1)]
        session.add_all(streams)
        await session.flush()
        session.add_all(
            StoredRejectedLine(stream_id=owner.id, line_offset=10, line_no=no, n_bytes=4, line_text=f"line {no}", reason="odd")
            for no, owner in enumerate([streams[0], streams[1], streams[0], streams[2]])
        )
        first, second, foreign = (item.id for item in streams)
    async with sessions() as session:
        found = await list_rejected(session, "web1", None, 10)
        assert [line.line_no for line in found.rejected_lines] == [2, 1, 0]
        assert found.n_total == 1001
        assert found.rejected_lines[0].text == "line 2"
        assert (found.rejected_lines[0].key, found.rejected_lines[0].offset, found.rejected_lines[0].reason) == ("a", 10, "odd")
        assert [line.line_no for line in (await list_rejected(session, "web1", None, 1)).rejected_lines] == [2]
        assert [line.line_no for line in (await list_rejected(session, "web1", first, 10)).rejected_lines] == [2, 0]
        assert (await list_rejected(session, "web1", second, 10)).n_total == 1
        odd = await list_rejected(session, "web1", first, 1, reason="odd")
        assert ([line.line_no for line in odd.rejected_lines], odd.n_total) == ([2], 2)
        assert (await list_rejected(session, "web1", first, 10, reason="another")).n_total == 0
        with pytest.raises(NotFound, match="has no stream"):
            await list_rejected(session, "web1", foreign, 10)


async def test_instances_are_those_that_last_into_the_window(sessions: Sessions) -> None:
    await fill_values(
        sessions,
        "web1",
        "mpstat_linux",
        time_us=to_us(NOW) + np.array([0, 1000, 2000, 3000]) * 1_000_000,
        instances=("10", "9", "all", "9"),
        values={"usr_pct": np.zeros(4)},
    )

    async def names(start: float, end: float) -> list[str]:
        window = Window(NOW + timedelta(seconds=start), NOW + timedelta(seconds=end))
        async with sessions() as session:
            found, n_left_out = await list_instances(session, "web1", "mpstat_linux", window)
        assert n_left_out == 0
        return [instance.name for instance in found]

    assert await names(0, 6000) == ["all", "9", "10"]
    # What their rows say of the last sample may be five minutes behind: then the samples decide.
    assert await names(2000, 6000) == ["all", "9"]
    assert await names(2001, 6000) == ["9"]
    await fill_stat(sessions, "mpstat_linux", NOW, [2100], ("all",), key="2", usr_pct=0.0)
    assert await names(2100, 6000) == ["all", "9"]
    assert await names(2101, 6000) == ["9"]
    assert await names(0, 1000) == ["10"]
    assert await names(10_000, 20_000) == []
    async with sessions() as session:
        window = Window(NOW, NOW + timedelta(seconds=1))
        assert await list_instances(session, "web1", "iostat_linux", window) == ([], 0)
        with pytest.raises(NotFound, match="no stat 'x'"):
            await list_instances(session, "web1", "x", window)


async def test_a_stream_is_silent_when_it_is_late_by_its_own_interval(sessions: Sessions) -> None:
    """The newest one of its spec only: the one before it has ended."""
    facts = "facts 3600"
    async with sessions() as session, session.begin():
        web, disks = Host(name="web"), Host(name="disks")
        session.add_all([web, disks])
        await session.flush()
        session.add_all(
            [
                stream(web, "now", 2, command="vmstat -t 1"),
                stream(web, "facts-before", 1800, command=facts),
                stream(web, "facts", 1700, command=facts),
                stream(disks, "df", 325, command="@300 df -k"),
            ]
        )
        await session.flush()
        rows = (await session.scalars(select(Stream).where(Stream.key.in_(["facts-before", "facts"])))).all()
        for row in rows:
            row.spec = "host_facts"
    async with sessions() as session:
        hosts = await list_hosts(session, NOW)
        found = await read_host(session, "web", NOW)
        later = await list_hosts(session, NOW + timedelta(hours=1))
    assert [(host.name, host.state, host.n_streams_live) for host in hosts] == [("disks", "late", 0), ("web", "live", 2)]
    assert {stream.key: stream.state.value for stream in found.streams} == {
        "now": "live",
        "facts": "live",
        "facts-before": "silent",
    }
    assert found.host.n_streams_live == 2
    assert [(host.name, host.state, host.n_streams_live) for host in later] == [("disks", "silent", 0), ("web", "silent", 0)]


def test_the_state_follows_from_the_time_of_the_last_bytes() -> None:
    ages = {0: "live", 29.9: "live", 30: "late", 599: "late", 600: "silent"}
    assert {age: to_state(NOW - timedelta(seconds=age), NOW) for age in ages} == ages
    assert to_state(None, NOW) is StreamState.SILENT
    for interval_s, limits in {1: (30, 600), 10: (30, 600), 60: (80, 650), 3600: (3620, 4190), 10**9: (30, 600)}.items():
        states = [
            to_state(NOW - timedelta(seconds=limit - before), NOW, interval_s=interval_s) for limit in limits for before in (0.1, 0)
        ]
        assert states == ["live", "late", "late", "silent"], interval_s


def test_names_sort_as_people_sort_them() -> None:
    names = ["10", "9", "all", "c1t10d0", "c1t9d0", "", "2/b", "2/a"]
    assert sorted(names, key=natural_key) == ["", "all", "c1t9d0", "c1t10d0", "2/a", "2/b", "9", "10"]
