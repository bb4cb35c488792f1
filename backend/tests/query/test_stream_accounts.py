"""Hosts and their streams as pages list them: what became of each line and byte, and when rejected lines are suddenly more."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.event_models import EventHost, EventRow
from normstat.db.schema.models import Gap, Host, StoredRejectedLine, Stream
from normstat.errors import NotFound
from normstat.query.host_lists import list_hosts, list_instances, list_rejected, read_host
from normstat.query.host_numbers import StreamState, to_state
from normstat.query.line_accounts import MAX_REASONS, HostAccounts, ReasonCount, StreamFilter, read_host_accounts
from normstat.query.reject_rise import RejectCounts
from normstat.runtime.readable import natural_key
from normstat.stats.catalogue import load_catalogue
from normstat.window import Window, to_us
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_stat, fill_values

pytestmark = on_either_database

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
VERSION = load_catalogue().specs["vmstat_linux"].version


def stream(host: Host, key: str, ago_s: float = 0, **columns: object) -> Stream:
    at = NOW - timedelta(seconds=ago_s)
    given = {"spec": "vmstat_linux", "spec_version": VERSION, "acked_offset": 1000} | columns
    return Stream(host_id=host.id, key=key, last_received_at=at, created_at=at, **given)


async def add_hosts(session: AsyncSession, *names: str) -> list[Host]:
    hosts = [Host(name=name) for name in names]
    session.add_all(hosts)
    await session.flush()
    return hosts


def rejected(owner: Stream, reason: str, ago_s: float = 0, offset: int = 0) -> StoredRejectedLine:
    return StoredRejectedLine(
        stream_id=owner.id,
        line_offset=offset,
        line_no=1,
        n_bytes=4,
        line_text="odd",
        reason=reason,
        received_at=NOW - timedelta(seconds=ago_s),
    )


async def read(
    sessions: Sessions, name: str = "web1", *, only: StreamFilter | None = None, stream_id: int | None = None, limit: int = 100
) -> HostAccounts:
    async with sessions() as session:
        return await read_host_accounts(session, name, only=only, stream_id=stream_id, limit=limit, now=NOW)


async def add_end(session: AsyncSession, host: Host, spec: str, text: str, ago_s: float, **columns: object) -> None:
    """Add what the agent says of a tool that stopped; it arrives four seconds later."""
    at = NOW - timedelta(seconds=ago_s)
    given = {"kind": "tool", "source": "agent", "created_at": at + timedelta(seconds=4)} | columns
    row = EventRow(start_at=at, text=text, author=spec, **given)
    session.add(row)
    await session.flush()
    session.add(EventHost(event_id=row.id, host_id=host.id))


async def test_a_silent_stream_says_why_its_tool_stopped(sessions: Sessions) -> None:
    def sampled(host: Host, key: str, ago_s: float, spec: str = "vmstat_linux", **columns: object) -> Stream:
        return stream(host, key, ago_s, spec=spec, last_sample_at=NOW - timedelta(seconds=ago_s), **columns)

    async with sessions() as session, session.begin():
        web1, web2 = await add_hosts(session, "web1", "web2")
        session.add_all(
            [
                sampled(web1, "before", 8000),
                sampled(web1, "stopped", 7000),
                sampled(web1, "late", 60, "sar_linux"),
                sampled(web1, "sends", 1, "iostat_linux"),
                sampled(web1, "sent on", 7000, "mpstat_linux"),
                sampled(web1, "imported", 7000, "free_linux", is_finished=True),
                stream(web1, "no samples", 7000, spec="pidstat_linux"),
                stream(web1, "no samples either", 7000, spec="df_linux"),
                sampled(web2, "of another host", 7000),
            ]
        )
        for spec, words, ago_s in (
            ("vmstat_linux", "ended with status 1: first", 6999),
            ("vmstat_linux", "ended with status 127: vmstat: not found", 5000),
            ("sar_linux", "ended by signal TERM", 60),
            ("iostat_linux", "ended by signal KILL", 1),
            ("mpstat_linux", "ended before its last sample", 7100),
            ("free_linux", "of another tool", 6000),
            ("pidstat_linux", "ended with status 3", 6990),
            ("df_linux", "ended before it began again", 7010),
        ):
            await add_end(session, web1, spec, words, ago_s)
        # Neither what a person notes, nor what somebody deleted, nor another kind of event.
        await add_end(session, web1, "vmstat_linux", "a note", 10, source="user")
        await add_end(session, web1, "vmstat_linux", "deleted", 10, deleted_at=NOW)
        await add_end(session, web1, "vmstat_linux", "a line", 10, kind="log")
        await add_end(session, web2, "sar_linux", "of a tool that never sent", 10)
    accounts = await read(sessions)
    told = {account.stream.key: account.stream.ended for account in accounts.streams}
    assert len(told) == 8
    assert {key: end.text for key, end in told.items() if end is not None} == {
        "stopped": "ended with status 127: vmstat: not found",
        "late": "ended by signal TERM",
        "no samples": "ended with status 3",
    }
    end = told["stopped"]
    assert end is not None
    assert end.at == NOW - timedelta(seconds=5000)
    async with sessions() as session:
        detail = await read_host(session, "web1", NOW)
        assert {each.key: each.ended for each in detail.streams} == told
    [other] = (await read(sessions, "web2")).streams
    assert other.stream.ended is None


async def test_a_host_is_summed_up_and_its_streams_are_listed_the_last_heard_of_first(sessions: Sessions) -> None:
    async with sessions() as session, session.begin():
        web1, web2 = await add_hosts(session, "web1", "web2")
        first = stream(
            web1,
            "first",
            60,
            n_header=1,
            n_sample=10,
            n_rejected=3,
            bytes_by_kind={"header": 80, "sample": 800, "rejected": 120},
            first_sample_at=NOW - timedelta(hours=1),
        )
        lossy = stream(
            web1, "lossy", 5, n_sample=2, n_timestamp=2, n_gap_bytes=600, bytes_by_kind={"sample": 300, "timestamp": 100}
        )
        old = stream(web1, "old", 86400 * 30, spec_version=VERSION + 1)
        unknown = stream(web1, "unknown", 7, spec="nothing_any", spec_version=0, n_ignored=9, bytes_by_kind={"ignored": 1000})
        empty = stream(web1, "empty", 8, spec_version=0, acked_offset=0)
        session.add_all([first, lossy, old, unknown, empty, stream(web2, "other", n_rejected=7)])
        await session.flush()
        session.add_all([rejected(first, "b"), rejected(first, "a", 20), rejected(first, "a", 10)])
        session.add_all([Gap(stream_id=lossy.id, start_offset=start, end_offset=start + 300) for start in (0, 500)])
        first_id = first.id
    accounts = await read(sessions)
    assert (accounts.host, accounts.n_streams, accounts.n_streams_outdated, accounts.n_matching) == ("web1", 5, 1, 5)
    assert (accounts.n_bytes, accounts.n_gap_bytes) == (3400, 600)
    lines, sizes = accounts.n_lines, accounts.bytes_by_kind
    assert (lines.header, lines.sample, lines.timestamp, lines.ignored, lines.rejected, lines.since_boot) == (1, 12, 2, 9, 3, 0)
    assert (sizes.header, sizes.sample, sizes.timestamp, sizes.ignored, sizes.rejected, sizes.state_change) == (
        80, 1100, 100, 1000, 120, 0,
    )  # fmt: skip
    assert [account.stream.key for account in accounts.streams] == ["lossy", "unknown", "empty", "first", "old"]
    by_key = {account.stream.key: account for account in accounts.streams}
    assert by_key["first"].reasons == [
        ReasonCount("a", 2, NOW - timedelta(seconds=10)),
        ReasonCount("b", 1, NOW),
    ]
    assert by_key["first"].bytes_by_kind.rejected == 120
    assert by_key["first"].first_sample_at == NOW - timedelta(hours=1)
    assert by_key["lossy"].n_gaps == 2
    assert by_key["lossy"].reasons == []
    assert {key: (account.spec_version, account.catalogue_version, account.is_outdated) for key, account in by_key.items()} == {
        "first": (VERSION, VERSION, False),
        "lossy": (VERSION, VERSION, False),
        "old": (VERSION + 1, VERSION, True),
        "unknown": (0, None, False),
        "empty": (0, VERSION, False),
    }
    for only, keys in {StreamFilter.REJECTED: ["first"], StreamFilter.OUTDATED: ["old"], StreamFilter.LOST: ["lossy"]}.items():
        found = await read(sessions, only=only)
        assert [account.stream.key for account in found.streams] == keys
        assert (found.n_matching, found.n_streams) == (1, 5)
    assert [account.stream.key for account in (await read(sessions, stream_id=first_id)).streams] == ["first"]
    limited = await read(sessions, limit=2)
    assert ([account.stream.key for account in limited.streams], limited.n_matching) == (["lossy", "unknown"], 5)


async def test_a_spec_that_came_later_makes_a_stream_outdated(sessions: Sessions) -> None:
    async with sessions() as session, session.begin():
        (host,) = await add_hosts(session, "web1")
        session.add(stream(host, "waited", spec_version=0, n_ignored=9))
    (account,) = (await read(sessions, only=StreamFilter.OUTDATED)).streams
    assert (account.spec_version, account.is_outdated) == (0, True)


async def test_a_host_without_streams_has_empty_accounts(sessions: Sessions) -> None:
    async with sessions() as session, session.begin():
        await add_hosts(session, "web1")
    accounts = await read(sessions)
    assert (accounts.n_streams, accounts.n_bytes, accounts.n_lines.sample, accounts.streams) == (0, 0, 0, [])
    with pytest.raises(NotFound, match="no host 'web9'"):
        await read(sessions, "web9")


async def test_of_many_reasons_the_most_frequent_are_shown(sessions: Sessions) -> None:
    async with sessions() as session, session.begin():
        (host,) = await add_hosts(session, "web1")
        owner = stream(host, "garbage", n_rejected=1000)
        session.add(owner)
        await session.flush()
        session.add_all(rejected(owner, f"{number:03} is not a number") for number in range(MAX_REASONS + 5))
        session.add(rejected(owner, f"{MAX_REASONS + 4:03} is not a number", 5))
    (account,) = (await read(sessions)).streams
    assert (len(account.reasons), account.n_reasons) == (MAX_REASONS, MAX_REASONS + 5)
    assert (account.reasons[0].reason, account.reasons[0].n) == (f"{MAX_REASONS + 4:03} is not a number", 2)


@pytest.mark.parametrize(
    ("last_hour", "hour_before", "is_rise"),
    [
        (0, 0, False),
        (9, 0, False),
        (10, 0, True),
        (10, 2, True),
        (10, 3, False),
        (40, 10, True),
        (39, 10, False),
        (1000, 1000, False),
        (10, 500, False),
    ],
)
def test_a_rise_is_ten_lines_and_four_times_the_hour_before(last_hour: int, hour_before: int, is_rise: bool) -> None:
    assert RejectCounts(last_hour, hour_before).is_rise is is_rise


async def test_the_hosts_say_whose_rejected_lines_rise(sessions: Sessions) -> None:
    async with sessions() as session, session.begin():
        calm, rising, steady = await add_hosts(session, "calm", "rising", "steady")
        one, two, other = stream(rising, "one"), stream(rising, "two"), stream(steady, "one")
        loaded = stream(calm, "loaded", is_finished=True)
        session.add_all([stream(calm, "one", n_rejected=500), one, two, other, loaded])
        await session.flush()
        session.add_all([rejected(loaded, "a") for _ in range(50)])
        session.add_all([rejected(one, "a", 60 * number) for number in range(8)])
        session.add_all([rejected(two, "a", 3599), rejected(two, "a", 0), rejected(two, "a", 3600), rejected(two, "a", 7200)])
        session.add_all([rejected(other, "a", 180 * number + 1) for number in range(39)])
    async with sessions() as session:
        hosts = await list_hosts(session, NOW)
        assert [(h.name, h.n_rejected_last_hour, h.n_rejected_hour_before, h.has_reject_rise) for h in hosts] == [
            ("calm", 0, 0, False),
            ("rising", 10, 1, True),
            ("steady", 20, 19, False),
        ]
        assert (await read_host(session, "rising", NOW)).host == hosts[1]
        later = await list_hosts(session, NOW + timedelta(hours=1))
        assert [(h.n_rejected_last_hour, h.n_rejected_hour_before) for h in later] == [(0, 0), (0, 10), (0, 20)]


# --- hosts as pages list them ---


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
        files, both = await add_hosts(session, "files", "with an agent too")
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
        (host,) = await add_hosts(session, "web1")
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
        hosts = await add_hosts(session, "web1", "web2")
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
        web, disks = await add_hosts(session, "web", "disks")
        session.add_all(
            [
                stream(web, "now", 2, command="vmstat -t 1"),
                stream(web, "facts-before", 1800, spec="host_facts", command=facts),
                stream(web, "facts", 1700, spec="host_facts", command=facts),
                stream(disks, "df", 325, command="@300 df -k"),
            ]
        )
    async with sessions() as session:
        hosts = await list_hosts(session, NOW)
        found = await read_host(session, "web", NOW)
        later = await list_hosts(session, NOW + timedelta(hours=1))
    assert [(host.name, host.state, host.n_streams_live) for host in hosts] == [("disks", "late", 0), ("web", "live", 2)]
    assert {stream.key: stream.state for stream in found.streams} == {"now": "live", "facts": "live", "facts-before": "silent"}
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
