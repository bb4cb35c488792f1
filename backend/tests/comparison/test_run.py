"""A comparison from end to end on real tables: what was stored, read, compared and said."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from normstat.artefacts.artefact_service import ArtefactDraft, make_artefact
from normstat.baselines.baseline_rows import BaselineChange, BaselineDraft, create_baseline, update_baseline
from normstat.baselines.exclusion_rows import ExclusionCreate, create_exclusion
from normstat.baselines.host_group_rows import create_group
from normstat.baselines.mute_rows import MuteCreate, create_mute
from normstat.comparison.model import Comparison, Counts
from normstat.comparison.service import BaselineChoice, ComparisonRequest, run_comparison
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import BadRequest, NoData, NotFound
from normstat.profiles.profile_job import run_profiles
from normstat.records.artefact_rows import ArtefactSource
from normstat.records.expected_value_rows import ExpectedValue, delete_expected_value, put_expected_value
from normstat.scoring.summary import FloatArray
from normstat.stats.observer_effect import Effect
from normstat.window import Window, to_us
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_stat, fill_values

pytestmark = on_either_database

START = datetime(2026, 11, 21, 10, tzinfo=UTC)
N_NORMAL, N_INCIDENT = 600, 60
N = N_NORMAL + N_INCIDENT


def seconds(start: float, end: float) -> Window:
    return Window(START + timedelta(seconds=start), START + timedelta(seconds=end))


NORMAL, INCIDENT = seconds(0, N_NORMAL), seconds(N_NORMAL, N)
IN_NORMAL = BaselineChoice(window=NORMAL)


def columns(seed: int, n: int, is_hot: FloatArray) -> dict[str, FloatArray]:
    rng = np.random.default_rng(seed)
    usr = np.where(is_hot, 95.0, 3.0) + np.round(rng.uniform(-1, 1, len(is_hot)), 2)
    intr = np.round(rng.normal(300, 10, len(is_hot)), 2)
    return {"usr_pct": usr, "idle_pct": 100 - usr, "intr_per_s": intr, "core": np.tile([0, 1], n)}


async def fill_cpus(sessions: Sessions, host: str = "web1", *, start_s: int = 0, hot_from: int = N_NORMAL) -> None:
    """Two CPUs for eleven minutes; CPU 1 burns from some second on."""
    is_hot = np.repeat(np.arange(N) >= hot_from, 2) & np.tile([False, True], N)
    values = columns(3 + start_s % 97, N, is_hot)
    await fill_stat(sessions, "mpstat_linux", START, start_s + np.arange(N), ("0", "1"), host=host, values=values)


async def fill_host(sessions: Sessions) -> None:
    """Ten quiet minutes, then one in which CPU 1 burns and the process `yes` runs."""
    await fill_cpus(sessions)
    await fill_stat(sessions, "pidstat_linux", START, np.arange(N), ("1/init",), cpu_pct=0.5, pid=1)
    await fill_stat(sessions, "pidstat_linux", INCIDENT.start, np.arange(N_INCIDENT), ("77/yes",), cpu_pct=99.0, pid=77)


async def compare(
    sessions: Sessions,
    against: BaselineChoice = IN_NORMAL,
    *,
    hosts: Sequence[str] = ("web1",),
    incident: Window = INCIDENT,
    divisor: str | None = None,
    max_rows: int = 1_000_000,
) -> Comparison:
    async with open_read_session(sessions) as session:
        return await run_comparison(session, ComparisonRequest(hosts, incident, against, divisor), max_rows=max_rows)


async def create(sessions: Sessions, *windows: Window, hosts: tuple[str, ...] = ("web1",), name: str = "quiet") -> int:
    async with open_write_session(sessions) as session:
        return (await create_baseline(session, BaselineDraft(name, "", hosts, windows or (NORMAL,), "ann"))).id


def found_in(record: Comparison) -> set[tuple[str, str, str]]:
    return {(group.host, group.field, name) for group in record.groups for name in group.instances}


# The CPU; and with the process that is new.
CPU = {("web1", "usr_pct", "1"), ("web1", "idle_pct", "1")}
BURNT = CPU | {("web1", "cpu_pct", "77/yes")}


def assert_complete(found: Comparison) -> None:
    counts = found.counts
    # What appeared or disappeared is listed as such, and has a group where it matters.
    assert found.n_findings == sum(group.n_members for group in found.groups if group.kind not in ("appeared", "disappeared"))
    listed = counts.appeared + counts.disappeared + counts.insufficient_data + counts.muted
    assert found.n_series == found.n_unchanged + found.n_findings + listed


async def test_a_burnt_cpu_is_found_first(sessions: Sessions) -> None:
    await fill_host(sessions)
    found = await compare(sessions)
    assert found_in(found) == BURNT
    by_field = {group.field: group for group in found.groups}
    usr, idle = by_field["usr_pct"], by_field["idle_pct"]
    assert (usr.unit, usr.column, usr.kind, usr.direction, usr.is_worse) == ("%", "%usr", "level", "up", None)
    assert (idle.direction, idle.is_worse) == ("down", True)
    [member] = usr.members
    assert (member.baseline.n, member.incident.n) == (N_NORMAL, N_INCIDENT)
    assert member.change == pytest.approx(92, abs=1)
    assert member.change_ratio == pytest.approx(member.change / member.change_scale, rel=0.1)
    assert usr.sentence.startswith("CPU 1 %usr (mpstat) rose from ")
    assert usr.related == [idle.sentence]
    assert member.sparkline is not None
    assert member.sparkline.baseline is not None
    assert len(member.sparkline.low) == N_INCIDENT
    [appeared] = found.appeared
    assert (appeared.instance, appeared.field, appeared.n) == ("77/yes", "cpu_pct", 60)
    assert appeared.sentence == (
        "process 77/yes %CPU (pidstat) appeared: median 99.00 %, highest 99.00 %, 60 samples in the incident, none in the baseline."
    )
    # Two CPUs with three fields, two processes with one; ids (core, pid) are none of them.
    assert (found.n_series, found.n_unchanged, found.n_findings, found.n_groups) == (8, 5, 2, 3)
    assert (found.disappeared, found.insufficient_data, found.muted) == ([], [], [])
    assert found.counts == Counts(1, 0, 0, 0)
    sides = found.sides
    assert (sides.baseline.covered_s, sides.incident.covered_s) == (600, 60)
    assert (sides.baseline.n_samples, sides.incident.n_samples) == (1800, 240)
    assert (sides.baseline.n_rows_skipped, sides.incident.n_rows_skipped) == (0, 0)
    assert set(found.spec_versions) == {"mpstat_linux", "pidstat_linux"}
    assert (found.against.kind, found.against.baseline_id, found.against.windows) == ("window", None, [NORMAL])
    assert [group.rank for group in found.groups] == [1, 2, 3]
    [story] = found.stories
    assert (story.rank, story.hosts, story.topic, sorted(story.ranks)) == (1, ["web1"], "cpu", [1, 2, 3])
    assert story.onset_ms == to_us(INCIDENT.start) // 1000
    [process] = story.processes
    assert (process.name, process.pids, process.change, process.start_ms) == ("yes (77)", [77], "new", None)
    assert found.verdict == f"{story.sentence} 2 of 8 series changed."
    assert story.sentence.startswith(
        "yes (77), which is new, used 99 % of a CPU; CPU 1 spent 95 % of the time in programs (normally "
    )
    assert found.notes == []


async def test_above_the_row_limit_pieces_are_read_and_the_rest_is_counted(sessions: Sessions) -> None:
    await fill_host(sessions)
    found = await compare(sessions, max_rows=400)
    sides = found.sides
    # 1200 rows of mpstat and 600 of pidstat in the baseline; the incident is below the limit.
    assert sides.baseline.n_samples + sides.baseline.n_rows_skipped == 1800
    assert 600 <= sides.baseline.n_samples <= 1000
    assert sides.incident.n_rows_skipped == 0
    assert found_in(found) == BURNT
    assert found.groups[0].members[0].baseline.n == pytest.approx(200, abs=60)
    assert sides.baseline.covered_s == pytest.approx(600, rel=0.2)


async def test_a_baseline_with_and_without_a_profile_finds_the_same(sessions: Sessions) -> None:
    await fill_host(sessions)
    made = await create(sessions, seconds(0, 300), seconds(300, 600))
    plain = await compare(sessions, BaselineChoice(baseline=made))
    assert (plain.against.kind, plain.against.name, plain.against.version) == ("baseline", "baseline quiet", 1)
    assert found_in(plain) == BURNT
    assert await run_profiles(sessions, budget_s=600, now=START + timedelta(days=30)) == 1
    stored = await compare(sessions, BaselineChoice(baseline=made))
    assert found_in(stored) == BURNT
    # The samples of the baseline were not read: there is nothing to draw of it.
    member = stored.groups[0].members[0]
    assert member.sparkline is not None
    assert member.sparkline.baseline is None
    assert member.baseline.n == N_NORMAL
    for record in (plain, stored):
        assert (record.n_series, len(record.appeared), record.against.version) == (8, 1, 1)
        assert record.sides.baseline.n_samples == 1800
        assert record.sides.baseline.covered_s == pytest.approx(600, abs=2)
        assert_complete(record)


async def test_each_version_of_a_baseline_speaks_for_itself(sessions: Sessions) -> None:
    await fill_host(sessions)
    made = await create(sessions, INCIDENT)
    async with open_write_session(sessions) as session:
        await update_baseline(session, made, BaselineChange("ann", windows=(NORMAL,), reason="that was the incident"))
    assert found_in(await compare(sessions, BaselineChoice(baseline=made))) == BURNT
    first = await compare(sessions, BaselineChoice(baseline=made, version=1))
    assert (first.groups, first.against.version, first.against.windows) == ([], 1, [INCIDENT])
    with pytest.raises(NotFound):
        await compare(sessions, BaselineChoice(baseline=made, version=3))
    with pytest.raises(NotFound, match="no baseline"):
        await compare(sessions, BaselineChoice(baseline=made + 1))


async def test_a_truss_in_either_window_is_told(sessions: Sessions, tmp_path: Path) -> None:
    await fill_host(sessions)
    text = tmp_path / "truss.txt"
    text.write_text("who knows\n")
    before = await compare(sessions)
    for start, end in ((100, 130), (N_NORMAL + 10, N_NORMAL + 40)):
        window = seconds(start, end)
        draft = ArtefactDraft(
            "web1", ArtefactSource.API, "ann", window.start, window.end, command="truss -c -p 1", effect=Effect.HEAVY
        )
        await make_artefact(sessions, draft, text, now=START)
    told = [item for item in (await compare(sessions)).circumstances if item.kind == "observer"]
    assert not [item for item in before.circumstances if item.kind == "observer"]
    cost = "slows what it watches several times: numbers from that time are not normal"
    assert [item.sentence for item in told] == [
        f"Observer: a tracer ran for 30 s, from 10 s into the incident on; it {cost}",
        f"The baseline has 30 s under a tracer, which {cost}; exclude it from the baseline",
    ]
    # Only what was traced before the incident is told as an event too.
    [event] = [item for item in (await compare(sessions)).circumstances if item.kind == "event"]
    assert [event.artefact, event.sentence.endswith("8 min before it began")] == [told[1].artefact, True]


async def test_what_is_excluded_is_not_normal(sessions: Sessions) -> None:
    await fill_host(sessions)
    made = await create(sessions, seconds(0, N))
    async with open_write_session(sessions) as session:
        await create_exclusion(session, ExclusionCreate(name="the fire", start=INCIDENT.start, end=INCIDENT.end), by="ann")
    found = await compare(sessions, BaselineChoice(baseline=made))
    assert found.against.windows == [NORMAL]
    assert found_in(found) == BURNT
    async with open_write_session(sessions) as session:
        await create_exclusion(
            session, ExclusionCreate(name="all of it", start=NORMAL.start, end=NORMAL.end, host="web1"), by="ann"
        )
    with pytest.raises(NoData, match="All windows of baseline quiet are excluded for web1"):
        await compare(sessions, BaselineChoice(baseline=made))


@pytest.mark.parametrize(("ago", "days"), [("day", 1), ("week", 7)])
async def test_the_same_time_earlier(sessions: Sessions, ago: str, days: int) -> None:
    await fill_cpus(sessions, hot_from=0)
    await fill_cpus(sessions, start_s=-days * 86400, hot_from=N)
    # All the ten minutes long: a baseline is as long as the incident here.
    found = await compare(sessions, BaselineChoice(ago=ago), incident=NORMAL)  # type: ignore[arg-type]
    assert (found.against.kind, found.against.name) == ("ago", f"the same time one {ago} earlier")
    assert found.against.windows == [seconds(-days * 86400, N_NORMAL - days * 86400)]
    assert found_in(found) == CPU


async def test_another_host_and_several_hosts(sessions: Sessions) -> None:
    await fill_cpus(sessions, "web1", hot_from=0)
    await fill_cpus(sessions, "web2", hot_from=N)
    found = await compare(sessions, BaselineChoice(other_host="web2"), incident=NORMAL)
    assert (found.against.kind, found.against.host, found.against.name) == ("host", "web2", "web2 at the same time")
    assert found_in(found) == CPU
    with pytest.raises(BadRequest, match="web1 in the same window is the incident itself"):
        await compare(sessions, BaselineChoice(other_host="web1"))
    await fill_cpus(sessions, "web3")
    both = await compare(sessions, hosts=("web2", "web3"))
    assert (both.hosts, both.n_findings) == (["web2", "web3"], 2)
    assert {group.host for group in both.groups} == {"web3"}
    assert "2 of 12 series" in both.verdict


async def test_a_host_against_its_group(sessions: Sessions) -> None:
    for host in ("web1", "web2", "web3", "web4"):
        await fill_cpus(sessions, host, hot_from=N_NORMAL if host == "web1" else N)
    async with open_write_session(sessions) as session:
        await create_group(session, "web", "", ["web1", "web2", "web3", "web4"])
        await create_group(session, "alone", "", ["web1"])
    against = BaselineChoice(group="web")
    found = await compare(sessions, against)
    assert (found.against.kind, found.against.group, found.against.members) == ("group", "web", ["web2", "web3", "web4"])
    assert found.against.name == "the 3 other hosts of group web at the same time"
    assert found.against.windows == [INCIDENT]
    assert found_in(found) == CPU
    [member] = next(group for group in found.groups if group.field == "usr_pct").members
    # The samples of all three.
    assert (member.baseline.n, member.incident.n) == (3 * N_INCIDENT, N_INCIDENT)
    assert member.baseline.median == pytest.approx(3, abs=1)
    assert member.sparkline is not None
    assert member.sparkline.baseline is None
    assert (await compare(sessions, against, incident=NORMAL)).groups == []
    # A host that is compared itself is no part of what is normal.
    both = await compare(sessions, against, hosts=("web1", "web2"))
    assert both.against.members == ["web3", "web4"]
    assert {group.host for group in both.groups} == {"web1"}
    divided = await compare(sessions, against, divisor="mpstat_linux.intr_per_s")
    assert {group.unit for group in divided.groups} == {"% / mpstat_linux.intr_per_s"}
    with pytest.raises(BadRequest, match="Host group alone has no host besides web1"):
        await compare(sessions, BaselineChoice(group="alone"))
    with pytest.raises(NotFound, match="no host group 'nobody'"):
        await compare(sessions, BaselineChoice(group="nobody"))
    with pytest.raises(NoData, match="None of the other hosts of the group"):
        # Two others are several, too.
        await compare(sessions, against, hosts=("web1", "web2"), incident=seconds(N + 9000, N + 9100))


async def fill_load(sessions: Sessions, work: FloatArray) -> None:
    """A host that does as much as it is asked to: three times as many context switches, and processes that wait."""
    cs = np.round(3 * work * np.random.default_rng(8).normal(1, 0.01, N))
    await fill_stat(sessions, "vmstat_linux", START, np.arange(N), system_in=work, system_cs=cs, io_bo=40.0)


async def test_divided_by_the_work_done_nothing_changed(sessions: Sessions) -> None:
    random = np.random.default_rng(7).normal(1, 0.02, N)
    await fill_load(sessions, np.round(np.where(np.arange(N) < N_NORMAL, 2000, 9000) * random))
    assert {group.field for group in (await compare(sessions)).groups} == {"system_in", "system_cs"}
    found = await compare(sessions, divisor="vmstat_linux.system_in")
    # As many blocks for four times the work: that is less for each.
    assert [(group.field, group.direction) for group in found.groups] == [("io_bo", "down")]
    assert found.groups[0].unit == "blocks/s / vmstat_linux.system_in" or found.groups[0].unit.endswith(" / vmstat_linux.system_in")
    assert "0.0200" in found.groups[0].sentence
    for wrong in ("vmstat_linux.nothing", "nothing.system_in", "vmstat_linux.\x00'; --@'"):
        with pytest.raises(BadRequest, match="no series"):
            await compare(sessions, divisor=wrong)
    with pytest.raises(NoData, match="is zero or missing throughout the baseline"):
        await compare(sessions, divisor="vmstat_linux.system_in@x")


async def test_what_nobody_wants_to_see_is_listed_apart(sessions: Sessions) -> None:
    await fill_host(sessions)
    [usr] = [group for group in (await compare(sessions)).groups if group.field == "usr_pct"]
    async with open_write_session(sessions) as session:
        await create_mute(session, MuteCreate(stat="mpstat_linux", field="usr_pct", reason="known"), by="ann")
        await create_mute(
            session, MuteCreate(host="web1", stat="mpstat_linux", field="idle_pct", instance="0", reason="not this one"), by="ann"
        )
    found = await compare(sessions)
    assert found_in(found) == BURNT - {("web1", "usr_pct", "1")}
    [muted] = found.muted
    assert (muted.stat, muted.field, muted.instance) == ("mpstat_linux", "usr_pct", "1")
    assert muted.change_ratio == usr.change_ratio
    assert muted.significance == pytest.approx(usr.significance)
    assert_complete(found)


async def test_what_is_expected_stands_beside_what_is_normal(sessions: Sessions) -> None:
    await fill_host(sessions)
    async with open_write_session(sessions) as session:
        for value, instance in ((50.0, None), (20.0, "1"), (10.0, "1")):
            expected = ExpectedValue("mpstat_linux", "usr_pct", instance, value, "measured on the v440", "ann")
            await put_expected_value(session, "web1", expected)
    found = await compare(sessions)
    [usr] = [group for group in found.groups if group.field == "usr_pct"]
    # What is expected of this CPU, and the last that was said of it.
    assert [(member.instance, member.expected) for member in usr.members] == [("1", 10.0)]
    assert usr.sentence.endswith("Expected: 10 %.")
    assert any("(expected 10 %; normally " in story.sentence for story in found.stories), [s.sentence for s in found.stories]
    async with open_write_session(sessions) as session:
        await delete_expected_value(session, "web1", "mpstat_linux", "usr_pct", "1")
    [usr] = [group for group in (await compare(sessions)).groups if group.field == "usr_pct"]
    assert usr.members[0].expected == 50.0


async def test_a_baseline_of_other_hosts_is_refused(sessions: Sessions) -> None:
    await fill_host(sessions)
    await fill_values(sessions, "web2", "vmstat_linux", time_us=[to_us(START)], instances=("",), values={"cpu_us": [1]})
    made = await create(sessions)
    with pytest.raises(BadRequest, match="covers web1, not web2"):
        await compare(sessions, BaselineChoice(baseline=made), hosts=("web2",))


async def test_what_is_excluded_for_one_host_counts_for_the_others(sessions: Sessions) -> None:
    hosts = ("web1", "web2", "web3")
    for host in hosts:
        await fill_cpus(sessions, host)
    made = await create(sessions, hosts=hosts)
    async with open_write_session(sessions) as session:
        await create_exclusion(
            session,
            ExclusionCreate(name="a fire on web2", start=seconds(0, 60).start, end=seconds(0, 60).end, host="web2"),
            by="ann",
        )
    found = await compare(sessions, BaselineChoice(baseline=made), hosts=hosts)
    assert (found.hosts, found.n_findings) == (list(hosts), 6)
    assert {group.host: group.members[0].baseline.n for group in found.groups} == {"web1": 600, "web2": 540, "web3": 600}


async def test_what_is_not_there_is_said(sessions: Sessions) -> None:
    await fill_host(sessions)
    with pytest.raises(NoData, match=r"in the incident .* it has samples from 2026-11-21T10:00:00Z to 2026-11-21T10:10:59Z"):
        await compare(sessions, incident=seconds(9000, 9100))
    with pytest.raises(NoData, match="no samples in the baseline"):
        await compare(sessions, BaselineChoice(window=seconds(-100, 0)))
    with pytest.raises(NotFound, match="no host 'web9'"):
        await compare(sessions, hosts=("web1", "web9"))
    with pytest.raises(BadRequest, match="Say what to compare with"):
        await compare(sessions, BaselineChoice())


async def test_progress_is_told_from_nothing_to_all(sessions: Sessions) -> None:
    await fill_host(sessions)
    steps: list[tuple[int, int, str]] = []

    async def tell(done: int, total: int, what: str) -> None:
        steps.append((done, total, what))

    async with open_read_session(sessions) as session:
        await run_comparison(session, ComparisonRequest(["web1"], INCIDENT, IN_NORMAL), max_rows=10**6, progress=tell)
    assert [(done, total) for done, total, _ in steps] == [(0, 3), (1, 3), (2, 3)]
    assert steps[0][2] == "mpstat_linux of web1"
    assert steps[-1][2] == "scoring web1"


async def test_the_memory_of_a_solaris_host_is_what_its_agent_said(sessions: Sessions) -> None:
    """vmstat has what is free, the facts of the last hours what there is."""
    at = to_us(START) + np.arange(N) * 1_000_000
    free = np.where(np.arange(N) < N_NORMAL, 12e6, 4e6)
    await fill_values(sessions, "web1", "vmstat_solaris", time_us=at, instances=("",) * N, values={"memory_free": free})
    an_hour_before = np.array([to_us(START) - 3_000_000_000])
    facts = {"memory_kb": np.array([16e6])}
    await fill_values(sessions, "web1", "host_facts", time_us=an_hour_before, instances=("",), values=facts)
    (line,) = (await compare(sessions)).ledger
    assert line.sentence == "11.4 of 15.3 GiB of memory were used (normally 3.81 GiB)."
