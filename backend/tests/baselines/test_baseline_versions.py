"""Versions, exclusions, groups and mutes: nothing that a comparison used is lost, and nothing that changed goes unnoticed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines import baseline_rows, exclusion_rows, host_group_rows, mute_rows
from normstat.baselines.baseline_records import RuleInfo
from normstat.baselines.baseline_rows import BaselineChange, BaselineDraft
from normstat.baselines.baseline_versions import (
    AGAIN,
    SETTLE,
    ask_for_profile,
    ask_for_what_is_due,
    effective_windows,
    list_versions,
    read_version,
)
from normstat.baselines.exclusion_rows import ExclusionCreate
from normstat.baselines.host_group_rows import HostGroupUpdate
from normstat.baselines.mute_rows import MuteCreate
from normstat.db.schema.baseline_models import Baseline
from normstat.db.schema.job_models import Job
from normstat.db.schema.models import Host
from normstat.db.session import open_write_session
from normstat.errors import BadRequest, Conflict, NotFound
from normstat.retention import host_deletion
from normstat.window import Window
from tests.databases import Sessions, on_either_database

pytestmark = on_either_database

DAY = datetime(2026, 11, 21, tzinfo=UTC)


def hours(start: float, end: float) -> Window:
    return Window(DAY + timedelta(hours=start), DAY + timedelta(hours=end))


def draft(name: str, *windows: Window, hosts: tuple[str, ...] = ("web1",), group: str | None = None) -> BaselineDraft:
    return BaselineDraft(name=name, note="", hosts=hosts, windows=windows, created_by="ann", group=group)


def incident(window: Window, host: str | None = None, name: str = "disk full") -> ExclusionCreate:
    return ExclusionCreate(name=name, start=window.start, end=window.end, host=host)


def change(**what: object) -> BaselineChange:
    return BaselineChange(changed_by="bob", **what)  # type: ignore[arg-type]


@pytest.fixture
async def session(sessions: Sessions) -> AsyncIterator[AsyncSession]:
    async with sessions() as session, session.begin():
        session.add_all([Host(name="web1"), Host(name="web2"), Host(name="web3")])
        yield session
        await session.rollback()


async def host_id(session: AsyncSession, name: str = "web1") -> int:
    return (await session.scalars(select(Host.id).where(Host.name == name))).one()


async def jobs(session: AsyncSession) -> dict[tuple[int, str], str]:
    query = select(Job.baseline_id, Host.name, Job.state).join(Host, Host.id == Job.host_id)
    return {(baseline_id or 0, host): state for baseline_id, host, state in await session.execute(query)}


async def finish_jobs(session: AsyncSession) -> None:
    await session.execute(update(Job).values(state="done", n_done=3, n_total=3, finished_at=func.now()))


async def test_every_version_stays_readable(session: AsyncSession) -> None:
    made = await baseline_rows.create_baseline(session, draft("plain", hours(1, 2)))
    await baseline_rows.update_baseline(session, made.id, change(windows=(hours(3, 4),)))
    await baseline_rows.update_baseline(session, made.id, change(hosts=("web2", "web1"), reason="it moved"))
    await baseline_rows.update_baseline(session, made.id, change(time_zone="Europe/Berlin", name="other"))
    found = await list_versions(session, made.id)
    assert [(item.version, item.windows, item.hosts, item.time_zone, item.reason, item.made_by) for item in found] == [
        (4, [hours(3, 4)], ["web1", "web2"], "Europe/Berlin", "time zone changed from UTC to Europe/Berlin", "bob"),
        (3, [hours(3, 4)], ["web1", "web2"], "UTC", "it moved", "bob"),
        (2, [hours(3, 4)], ["web1"], "UTC", "windows changed", "bob"),
        (1, [hours(1, 2)], ["web1"], "UTC", "made", "ann"),
    ]
    web1 = await host_id(session)
    assert await effective_windows(session, made.id, web1) == (hours(3, 4),)
    assert await effective_windows(session, made.id, web1, 1) == (hours(1, 2),)
    assert (await read_version(session, made.id, 2)).reason == "windows changed"
    version: int | None
    for version in (0, 5):
        with pytest.raises(NotFound, match=f"no version {version}"):
            await effective_windows(session, made.id, web1, version)
    for version in (None, 1):
        with pytest.raises(NotFound, match="no baseline 4711"):
            await effective_windows(session, 4711, web1, version)
    with pytest.raises(NotFound, match="no baseline 4711"):
        await list_versions(session, 4711)


async def test_what_changes_nothing_makes_no_version(session: AsyncSession) -> None:
    made = await baseline_rows.create_baseline(session, draft("plain", hours(1, 2), hours(3, 4)))
    for same in (
        change(name="x", note="y"),
        change(windows=(hours(3, 4), hours(1, 1.5), hours(1.5, 2))),
        change(hosts=("web1",)),
        change(time_zone="UTC"),
    ):
        assert (await baseline_rows.update_baseline(session, made.id, same)).version == 1
    assert len(await list_versions(session, made.id)) == 1


async def test_the_same_windows_again_make_no_version(session: AsyncSession) -> None:
    made = await baseline_rows.create_baseline(session, draft("quiet", hours(9, 10)))
    assert not await baseline_rows.set_windows(session, made.id, [hours(9, 10)], reason="again", made_by="rule")
    assert await baseline_rows.set_windows(session, made.id, [hours(9, 11)], reason="longer", made_by="rule")
    assert [version.version for version in await list_versions(session, made.id)] == [2, 1]


async def test_a_change_asks_for_profiles_of_the_hosts_that_there_are(session: AsyncSession) -> None:
    made = await baseline_rows.create_baseline(session, draft("plain", hours(1, 2), hosts=("web1", "web2")))
    assert await jobs(session) == {(made.id, "web1"): "queued", (made.id, "web2"): "queued"}
    assert made.profile is not None
    assert (made.profile.state, made.profile.n_total) == ("queued", 0)
    await finish_jobs(session)
    await baseline_rows.update_baseline(session, made.id, change(name="renamed"))
    assert set((await jobs(session)).values()) == {"done"}
    moved = await baseline_rows.update_baseline(session, made.id, change(hosts=("web2", "web3")))
    assert await jobs(session) == {(made.id, "web2"): "queued", (made.id, "web3"): "queued"}
    assert (moved.version, moved.hosts) == (2, ["web2", "web3"])
    await finish_jobs(session)
    await ask_for_profile(session, made.id, [await host_id(session, "web2")])
    shown = (await baseline_rows.read_baseline(session, made.id)).profile
    assert shown is not None
    assert (shown.state, shown.n_done, shown.n_total) == ("queued", 3, 3)


async def test_an_exclusion_is_left_out_by_all_that_hold_it(session: AsyncSession) -> None:
    whole = await baseline_rows.create_baseline(session, draft("whole", hours(0, 24), hosts=("web1", "web2")))
    part = await baseline_rows.create_baseline(session, draft("part", hours(9, 10)))
    other = await baseline_rows.create_baseline(session, draft("other", hours(20, 21)))
    await baseline_rows.update_baseline(session, part.id, change(windows=(hours(9, 11),)))
    await finish_jobs(session)
    record, n_baselines = await exclusion_rows.create_exclusion(session, incident(hours(9.5, 12), "web1"), by="ann")
    assert (n_baselines, record.host, record.start) == (2, "web1", DAY + timedelta(hours=9.5))
    assert {key for key, state in (await jobs(session)).items() if state == "queued"} == {(whole.id, "web1"), (part.id, "web1")}
    web1, web2 = await host_id(session), await host_id(session, "web2")
    assert await effective_windows(session, whole.id, web1) == (hours(0, 9.5), hours(12, 24))
    assert await effective_windows(session, whole.id, web2) == (hours(0, 24),)
    # An old version leaves it out as well.
    assert await effective_windows(session, part.id, web1, 1) == (hours(9, 9.5),)
    shown = (await baseline_rows.read_baseline(session, part.id)).excluded
    assert [(item.start, item.end, item.host, item.name) for item in shown] == [
        (DAY + timedelta(hours=9.5), DAY + timedelta(hours=11), "web1", "disk full")
    ]
    assert (await baseline_rows.read_baseline(session, other.id)).excluded == []
    # No version: its windows are what they were.
    assert (await baseline_rows.read_baseline(session, part.id)).version == 2
    everywhere, n_baselines = await exclusion_rows.create_exclusion(session, incident(hours(9, 9.6)), by="ann")
    assert n_baselines == 2
    assert await effective_windows(session, part.id, web1) == ()
    assert await effective_windows(session, whole.id, web2) == (hours(0, 9), hours(9.6, 24))
    assert [item.id for item in await exclusion_rows.list_exclusions(session, host="web2")] == [everywhere.id]
    assert [item.id for item in await exclusion_rows.list_exclusions(session, window=hours(11, 30))] == [record.id]
    await finish_jobs(session)
    assert await exclusion_rows.delete_exclusion(session, record.id) == 2
    assert {key for key, state in (await jobs(session)).items() if state == "queued"} == {(whole.id, "web1"), (part.id, "web1")}
    assert await effective_windows(session, part.id, web1) == (hours(9.6, 11),)
    with pytest.raises(NotFound, match="no exclusion"):
        await exclusion_rows.delete_exclusion(session, record.id)
    with pytest.raises(NotFound, match="'web9'"):
        await exclusion_rows.create_exclusion(session, incident(hours(1, 2), "web9"), by="ann")


async def test_a_group_takes_its_baselines_along(session: AsyncSession) -> None:
    group = await host_group_rows.create_group(session, "web", "the front", ["web2", "web1", "web1"])
    assert (group.hosts, group.baselines) == (["web1", "web2"], [])
    made = await baseline_rows.create_baseline(session, draft("all", hours(1, 2), hosts=(), group="web"))
    alone = await baseline_rows.create_baseline(session, draft("alone", hours(1, 2)))
    assert (made.hosts, made.group) == (["web1", "web2"], "web")
    await host_group_rows.update_group(session, group.id, HostGroupUpdate(name="front", note="new"), by="bob")
    assert (await baseline_rows.read_baseline(session, made.id)).version == 1
    changed = await host_group_rows.update_group(session, group.id, HostGroupUpdate(hosts=["web2", "web3"]), by="bob")
    assert (changed.name, changed.hosts, changed.baselines) == ("front", ["web2", "web3"], ["all"])
    newest, oldest = await list_versions(session, made.id)
    assert (newest.version, newest.hosts, newest.made_by) == (2, ["web2", "web3"], "bob")
    assert newest.reason == "host group front: web3 came, web1 went"
    assert oldest.hosts == ["web1", "web2"]
    assert {host for baseline_id, host in await jobs(session) if baseline_id == made.id} == {"web2", "web3"}
    assert (await baseline_rows.read_baseline(session, alone.id)).version == 1
    # Hosts of its own end the group; a group replaces them.
    own = await baseline_rows.update_baseline(session, made.id, change(hosts=("web1",)))
    assert (own.group, own.hosts, own.version) == (None, ["web1"], 3)
    joined = await baseline_rows.update_baseline(session, alone.id, change(group="front"))
    assert (joined.group, joined.hosts, joined.version) == ("front", ["web2", "web3"], 2)
    await host_group_rows.delete_group(session, group.id)
    left = await baseline_rows.read_baseline(session, alone.id)
    assert (left.group, left.hosts, left.version) == (None, ["web2", "web3"], 2)


async def test_what_cannot_be(session: AsyncSession) -> None:
    await host_group_rows.create_group(session, "web", "", ["web1"])
    made = await baseline_rows.create_baseline(session, draft("same", hours(1, 2)))
    other = await baseline_rows.create_baseline(session, draft("other", hours(3, 4)))

    def create(*windows: Window, **what: Any) -> Awaitable[object]:
        return baseline_rows.create_baseline(session, draft(what.pop("name", "x"), *windows, **what))

    refused: tuple[tuple[Callable[[], Awaitable[object]], type[Exception], str], ...] = (
        (lambda: host_group_rows.create_group(session, "web", "", ["web2"]), Conflict, "'web' already"),
        (lambda: host_group_rows.create_group(session, "x", "", []), BadRequest, "at least one host"),
        (lambda: host_group_rows.create_group(session, "x", "", ["web9"]), NotFound, "'web9'"),
        (lambda: host_group_rows.read_group(session, 4711), NotFound, "no host group 4711"),
        (lambda: create(hours(1, 2), hosts=(), group="y"), NotFound, "no host group 'y'"),
        (lambda: create(hours(1, 2), group="web"), BadRequest, "not both"),
        (lambda: create(hours(1, 2), hosts=("web1", "nowhere")), NotFound, "'nowhere'"),
        (lambda: create(hours(1, 2), hosts=()), BadRequest, "at least one host"),
        (create, BadRequest, "at least one window"),
        (lambda: create(hours(3, 4), name="same"), Conflict, "'same'"),
        (lambda: baseline_rows.update_baseline(session, made.id, change(windows=())), BadRequest, "at least one window"),
        (lambda: baseline_rows.update_baseline(session, other.id, change(name="same")), Conflict, "'same'"),
        (lambda: baseline_rows.update_baseline(session, 4711, change(name="y")), NotFound, "no baseline 4711"),
        (lambda: baseline_rows.read_baseline(session, 4711), NotFound, "no baseline 4711"),
        (lambda: baseline_rows.delete_baseline(session, 4711), NotFound, "no baseline 4711"),
    )
    for wrong, error, message in refused:
        with pytest.raises(error, match=message):
            async with session.begin_nested():
                await wrong()


async def test_a_deleted_host_leaves_its_name_in_old_versions(session: AsyncSession) -> None:
    group = await host_group_rows.create_group(session, "web", "", ["web1", "web2"])
    made = await baseline_rows.create_baseline(session, draft("all", hours(1, 2), hosts=(), group="web"))
    await exclusion_rows.create_exclusion(session, incident(hours(1, 2), "web1"), by="ann")
    await mute_rows.create_mute(session, MuteCreate(host="web1", stat="vmstat_linux", field="procs_r"), by="ann")
    await host_deletion.request_deletion(session, "web1", requested_by="root")
    newest, oldest = await list_versions(session, made.id)
    assert (newest.hosts, newest.reason, newest.made_by) == (["web2"], "the host web1 was deleted", "root")
    assert oldest.hosts == ["web1", "web2"]
    assert (await host_group_rows.read_group(session, group.id)).hosts == ["web2"]
    assert await exclusion_rows.list_exclusions(session) == []
    assert await mute_rows.list_mutes(session) == []
    assert {host for _, host in await jobs(session)} == {"web2"}


async def test_copy_and_archive(session: AsyncSession) -> None:
    rule = RuleInfo("FREQ=DAILY", datetime(2026, 11, 1, 9), 3600, 28)  # noqa: DTZ001
    first = replace(draft("first", hours(1, 2)), rule=rule, time_zone="Europe/Berlin", note="why")
    made = await baseline_rows.create_baseline(session, first)
    assert made.rule == rule
    copied = await baseline_rows.copy_baseline(session, made.id, "second", DAY, made_by="bob")
    assert (copied.name, copied.note, copied.windows, copied.rule, copied.time_zone, copied.created_by, copied.version) == (
        "second", "why", [hours(1, 2)], rule, "Europe/Berlin", "bob", 1,
    )  # fmt: skip
    assert (await list_versions(session, copied.id))[0].reason == "copied from first, version 1"
    with pytest.raises(Conflict, match="'second' already"):
        async with session.begin_nested():
            await baseline_rows.copy_baseline(session, made.id, "second", DAY, made_by="bob")
    await baseline_rows.archive_baseline(session, made.id, is_archived=True)
    assert [item.name for item in await baseline_rows.list_baselines(session, "web1")] == ["second"]
    assert [item.name for item in await baseline_rows.list_baselines(session, is_archived=True)] == ["first"]
    assert await effective_windows(session, made.id, await host_id(session)) == (hours(1, 2),)
    assert [moving.id for moving in await baseline_rows.list_scheduled(session)] == [copied.id]
    await finish_jobs(session)
    back = await baseline_rows.archive_baseline(session, made.id, is_archived=False)
    assert (back.archived_at, back.profile and back.profile.state) == (None, "queued")


async def test_windows_of_a_rule_and_of_a_recording_are_not_changed_by_hand(session: AsyncSession) -> None:
    rule = RuleInfo("FREQ=DAILY", datetime(2026, 11, 1, 9), 3600, 28)  # noqa: DTZ001
    ruled = await baseline_rows.create_baseline(session, replace(draft("ruled"), rule=rule))
    assert ruled.windows == []
    with pytest.raises(Conflict, match="from its rule"):
        await baseline_rows.update_baseline(session, ruled.id, change(windows=(hours(1, 2),)))
    freed = await baseline_rows.update_baseline(session, ruled.id, change(windows=(hours(1, 2),), removes_rule=True))
    assert (freed.rule, freed.windows, freed.version) == (None, [hours(1, 2)], 2)
    recorded = await baseline_rows.create_baseline(session, replace(draft("rec", hours(1, 5)), recording_until=hours(1, 5).end))
    for wrong in (change(windows=(hours(1, 2),)), change(windows=(hours(1, 2),), rule=rule)):
        with pytest.raises(Conflict, match="being recorded until 2026-11-21T05:00:00Z"):
            await baseline_rows.update_baseline(session, recorded.id, wrong)
    with pytest.raises(Conflict, match="being recorded"):
        await baseline_rows.archive_baseline(session, recorded.id, is_archived=True)
    copied = await baseline_rows.copy_baseline(session, recorded.id, "so far", DAY + timedelta(hours=2), made_by="bob")
    assert (copied.windows, copied.recording_until) == ([hours(1, 2)], None)
    stopped = await baseline_rows.stop_recording(session, recorded.id, DAY + timedelta(hours=3), made_by="bob")
    assert (stopped.windows, stopped.recording_until, stopped.version) == ([hours(1, 3)], None, 2)
    assert (await list_versions(session, recorded.id))[0].reason == "the recording was stopped"
    with pytest.raises(Conflict, match="not being recorded"):
        await baseline_rows.stop_recording(session, recorded.id, DAY + timedelta(hours=3), made_by="bob")


async def test_profiles_follow_windows_that_go_on(session: AsyncSession) -> None:
    start = datetime.now(UTC) - timedelta(minutes=30)
    end = start + timedelta(hours=1)
    await baseline_rows.create_baseline(session, draft("rec", Window(start, end)))
    await baseline_rows.create_baseline(session, draft("over", hours(1, 2)))

    async def due(at: datetime) -> int:
        """How many are asked for at that time; afterwards they are done."""
        n_asked = await ask_for_what_is_due(session, at)
        await session.execute(update(Job).where(Job.state == "queued").values(queued_at=at))
        await finish_jobs(session)
        return n_asked

    assert await due(start + timedelta(minutes=31)) == 0, "both are asked for already"
    assert await due(start + timedelta(minutes=31) + AGAIN / 2) == 0, "so soon it is not worth it"
    assert await due(start + timedelta(minutes=32) + AGAIN) == 1
    assert await due(end) == 1
    assert await due(end + SETTLE / 2) == 0
    assert await due(end + SETTLE) == 1, "once more with the last samples"
    assert await due(end + timedelta(days=9)) == 0
    # What is at work is not asked for again, and what nobody ever asked for is.
    await session.execute(update(Job).values(state="running", queued_at=start))
    assert await ask_for_what_is_due(session, end + timedelta(days=9)) == 0
    await session.execute(delete(Job))
    assert await due(end + timedelta(days=9)) == 2


async def test_a_series_is_muted_once(session: AsyncSession) -> None:
    async def mute(host: str | None, instance: str | None) -> int:
        return (
            await mute_rows.create_mute(
                session, MuteCreate(host=host, stat="iostat_linux", field="util_pct", instance=instance, reason="noisy"), by="ann"
            )
        ).id

    first, everywhere = await mute("web1", "sda"), await mute(None, None)
    long = await mute("web2", "x" * 50_000)
    for same in (("web1", "sda"), (None, None), ("web2", "x" * 50_000)):
        with pytest.raises(Conflict, match="already muted"):
            await mute(*same)
    assert [item.id for item in await mute_rows.list_mutes(session)] == [long, everywhere, first]
    assert [(item.id, item.host, item.instance) for item in await mute_rows.list_mutes(session, "web1")] == [
        (everywhere, None, None),
        (first, "web1", "sda"),
    ]
    await mute_rows.delete_mute(session, first)
    with pytest.raises(NotFound, match="no mute"):
        await mute_rows.delete_mute(session, first)
    with pytest.raises(NotFound, match="'web9'"):
        await mute("web9", None)


async def run_at_once(sessions: Sessions, *works: Callable[[AsyncSession], Awaitable[object]]) -> None:
    async def run(work: Callable[[AsyncSession], Awaitable[object]]) -> None:
        async with open_write_session(sessions) as session:
            await work(session)

    await asyncio.gather(*map(run, works))


async def test_changes_at_once_are_all_versions(sessions: Sessions) -> None:
    async with open_write_session(sessions) as session:
        session.add_all([Host(name="web1"), Host(name="web2")])
        await session.flush()
        made = await baseline_rows.create_baseline(session, draft("busy", hours(0, 1)))
        group = await host_group_rows.create_group(session, "web", "", ["web1"])
    await run_at_once(
        sessions,
        *(
            lambda session, number=number: baseline_rows.update_baseline(session, made.id, change(windows=(hours(0, 2 + number),)))
            for number in range(6)
        ),
        lambda session: exclusion_rows.create_exclusion(session, incident(hours(0, 0.5)), by="ann"),
        lambda session: host_group_rows.update_group(session, group.id, HostGroupUpdate(hosts=["web1", "web2"]), by="bob"),
    )
    async with open_write_session(sessions) as session:
        found = await list_versions(session, made.id)
        assert [item.version for item in found] == [7, 6, 5, 4, 3, 2, 1]
        assert {len(item.windows) for item in found} == {1}
        assert {item.windows[0].end for item in found[:-1]} == {hours(0, 2 + number).end for number in range(6)}
        newest = await baseline_rows.read_baseline(session, made.id)
        assert (newest.version, newest.windows) == (7, found[0].windows)


async def test_deleted_with_its_versions(session: AsyncSession) -> None:
    made = await baseline_rows.create_baseline(session, draft("x", hours(1, 2)))
    await baseline_rows.delete_baseline(session, made.id)
    assert await jobs(session) == {}
    assert (await session.scalars(select(Baseline.id))).all() == []


async def test_found_by_name_or_number(session: AsyncSession) -> None:
    made = await baseline_rows.create_baseline(session, draft("x", hours(1, 2)))
    named = await baseline_rows.create_baseline(session, draft(str(made.id), hours(1, 2)))
    assert (await baseline_rows.find_baseline(session, "x")).id == made.id
    # A name comes before a number.
    assert (await baseline_rows.find_baseline(session, str(made.id))).id == named.id
    assert (await baseline_rows.find_baseline(session, str(named.id))).id == named.id
    for unknown in ("y", "4711", "9" * 30, "٣"):
        with pytest.raises(NotFound, match="no baseline"):
            await baseline_rows.find_baseline(session, unknown)


# --- names, windows, hosts ---


async def test_windows_keep_microseconds_and_any_zone_is_the_same_instant(session: AsyncSession) -> None:
    chatham = timezone(timedelta(hours=13, minutes=45))
    start = datetime(2026, 11, 22, 0, 0, 0, 123456, tzinfo=chatham)
    made = await baseline_rows.create_baseline(session, draft("zone", Window(start, start + timedelta(hours=1))))
    assert made.windows[0].start == start
    assert made.windows[0].start.utcoffset() == timedelta(0)


async def test_the_newest_is_listed_first_and_a_host_has_its_own(session: AsyncSession) -> None:
    first = await baseline_rows.create_baseline(session, draft("first", hours(1, 2)))
    second = await baseline_rows.create_baseline(session, draft("second", hours(1, 2), hosts=("web2",)))
    assert [item.id for item in await baseline_rows.list_baselines(session)] == [second.id, first.id]
    assert [item.name for item in await baseline_rows.list_baselines(session, "web1")] == ["first"]
    with pytest.raises(NotFound, match="web9"):
        await baseline_rows.list_baselines(session, "web9")


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        (DAY, DAY, "is empty"),
        (DAY, DAY - timedelta(hours=1), "is empty"),
        (datetime(2026, 11, 21), DAY, "no time zone"),  # noqa: DTZ001
    ],
)
def test_a_window_is_never_empty_nor_naive(start: datetime, end: datetime, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        Window(start, end)
