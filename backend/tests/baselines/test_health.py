"""What a baseline is worth: coverage, age, and what came or went since, in numbers and sentences."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from normstat.artefacts.artefact_service import ArtefactDraft, make_artefact
from normstat.baselines.baseline_health import HostHealth, assess_changes, read_health
from normstat.baselines.exclusion_rows import ExclusionCreate, create_exclusion
from normstat.baselines.lifecycle import BaselineCreate, RuleInput, create_requested
from normstat.db.schema.models import Host
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import NotFound
from normstat.query import baseline_contents
from normstat.records.artefact_rows import ArtefactSource
from normstat.records.normal_change_rows import NormalChange
from normstat.runtime.body import check_body
from normstat.stats.observer_effect import Effect
from normstat.window import Window
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_stat

pytestmark = on_either_database

START = datetime(2026, 11, 2, 9, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
STEP_S = 10


def minutes(start: float, end: float) -> Window:
    return Window(START + start * MINUTE, START + end * MINUTE)


async def send(sessions: Sessions, start: float, end: float, instances: tuple[str, ...] = (), *, host: str = "web1") -> None:
    """Samples every ten seconds: of vmstat without instances, of iostat with them."""
    stat, field = ("iostat_linux", "util_pct") if instances else ("vmstat_linux", "procs_r")
    seconds = np.arange(60 * start, 60 * end, STEP_S)
    names = instances or ("",)
    values = {field: np.arange(len(seconds) * len(names)) % 7}
    await fill_stat(sessions, stat, START, seconds, names, host=host, key=f"{stat} {start}", values=values)


async def make(sessions: Sessions, *windows: Window, hosts: tuple[str, ...] = ("web1",), **more: object) -> int:
    known = {"name": "normal", "hosts": hosts, "windows": [{"start": each.start, "end": each.end} for each in windows] or None}
    async with open_write_session(sessions) as session:
        return (await create_requested(session, check_body(BaselineCreate, known | more), START, by="ann")).id


async def exclude(sessions: Sessions, window: Window) -> None:
    async with open_write_session(sessions) as session:
        await create_exclusion(session, ExclusionCreate(name="x", start=window.start, end=window.end), by="ann")


async def health_of(sessions: Sessions, baseline_id: int, at_min: float) -> list[HostHealth]:
    async with open_read_session(sessions) as session:
        return (await read_health(session, baseline_id, START + at_min * MINUTE))[1]


async def test_all_there_is_good(sessions: Sessions) -> None:
    await send(sessions, 0, 60)
    await send(sessions, 0, 60, ("sda", "sdb"))
    (host,) = await health_of(sessions, await make(sessions, minutes(0, 30), minutes(40, 60)), 90)
    assert (host.state, host.reasons, host.coverage) == ("good", [], 1.0)
    assert [(stat.stat, stat.n_samples, stat.coverage, stat.is_estimate) for stat in host.stats] == [
        ("iostat_linux", 50 * 6 * 2, 1.0, False),
        ("vmstat_linux", 50 * 6, 1.0, False),
    ]
    assert host.n_samples == 900
    assert host.newest_at == START + 60 * MINUTE - timedelta(seconds=STEP_S)
    assert host.age_days == pytest.approx(30 / 1440, abs=0.001)


async def test_large_counts_are_estimates(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    await send(sessions, 0, 60, ("sda", "sdb"))
    monkeypatch.setattr(baseline_contents, "COUNT_LIMIT", 10)
    (host,) = await health_of(sessions, await make(sessions, minutes(0, 30), minutes(40, 60)), 90)
    assert host.stats[0].is_estimate
    assert host.n_samples == pytest.approx(600, rel=0.02)


async def test_windows_without_samples_make_it_thin(sessions: Sessions) -> None:
    await send(sessions, 0, 20)
    baseline_id = await make(sessions, minutes(0, 20), minutes(30, 80))
    (host,) = await health_of(sessions, baseline_id, 200)
    assert (host.state, host.reasons) == ("insufficient_data", ["Only 29 % of the windows have samples."])
    assert host.coverage == pytest.approx(20 / 70, abs=0.01)
    # Where they are an incident they are not missed.
    await exclude(sessions, minutes(30, 80))
    (host,) = await health_of(sessions, baseline_id, 200)
    assert (host.state, host.coverage, host.windows) == ("good", 1.0, [minutes(0, 20)])
    (host,) = await health_of(sessions, await make(sessions, minutes(0, 5), name="short"), 200)
    assert (host.state, host.reasons) == ("insufficient_data", ["Only 5 min of data; use at least 10 min."])
    (host,) = await health_of(sessions, await make(sessions, minutes(0.1, 10), name="ten"), 200)
    assert (host.state, host.reasons) == ("good", [])


async def test_why_it_is_empty(sessions: Sessions) -> None:
    await send(sessions, 0, 20)
    async with open_write_session(sessions) as session:
        session.add(Host(name="web2"))
    one, two = await health_of(sessions, await make(sessions, minutes(0, 20), hosts=("web1", "web2")), 30)
    assert (one.host, one.state) == ("web1", "good")
    assert (two.host, two.state, two.coverage, two.newest_at, two.age_days, two.n_samples) == ("web2", "empty", 0, None, None, 0)
    assert two.reasons == ["The windows have no samples of this host."]
    (host,) = await health_of(sessions, await make(sessions, minutes(100, 120), name="later"), 30)
    assert (host.state, host.reasons) == ("empty", ["The first window begins at 2026-11-02 10:40 UTC."])
    rule = RuleInput(rrule="daily", start="2026-12-01T09:00", duration_s=3600, keep_days=7)
    (host,) = await health_of(sessions, await make(sessions, name="rule", rule=rule), 30)
    assert (host.state, host.reasons) == (
        "empty",
        ["The rule has no finished window yet; the first one ends at 2026-12-01 10:00 UTC."],
    )
    await exclude(sessions, minutes(0, 20))
    (host,) = await health_of(sessions, await make(sessions, minutes(0, 20), name="out"), 30)
    assert (host.state, host.reasons) == ("empty", ["All windows are excluded as incidents."])


async def test_while_it_is_recorded_only_the_past_counts(sessions: Sessions) -> None:
    await send(sessions, 0, 60)
    baseline_id = await make(sessions, record_hours=10)
    (host,) = await health_of(sessions, baseline_id, 60)
    assert (host.state, host.coverage, host.n_samples) == ("good", 1.0, 360)
    assert host.reasons == ["Recording until 2026-11-02 19:00 UTC."]
    assert host.windows == [minutes(0, 600)]
    (host,) = await health_of(sessions, baseline_id, 5)
    assert host.state == "insufficient_data"
    (host,) = await health_of(sessions, baseline_id, -5)
    assert host.state == "empty"


async def test_who_ended_before_the_windows_has_not_disappeared_since(sessions: Sessions) -> None:
    await send(sessions, 0, 60, ("sda",))
    await send(sessions, 0, 18, ("sdb",))
    await send(sessions, 18, 21, ("sdc",))
    # The row of sdd says 18 until five minutes later.
    await send(sessions, 0, 18, ("sdd",))
    await send(sessions, 18, 21, ("sdd",))
    days = 2 * 24 * 60
    await send(sessions, days, days + 10, ("sda",))
    (host,) = await health_of(sessions, await make(sessions, minutes(20, 60)), days + 10)
    assert host.reasons == ["iostat_linux: disappeared since: sdc, sdd."]


async def test_age_and_what_came_or_went(sessions: Sessions) -> None:
    days = 40 * 24 * 60
    await send(sessions, 0, 60)
    await send(sessions, 0, 60, ("sda", "sdb", "sdc"))
    await send(sessions, days, days + 30, ("sdb", "sdc", "sdd", "sde"))
    (host,) = await health_of(sessions, await make(sessions, minutes(0, 60)), days + 30)
    assert host.state == "stale"
    assert host.reasons == [
        "The newest sample is 40 days old; normal behaviour may have changed since.",
        "No samples in the last day of data: vmstat_linux.",
        "iostat_linux: disappeared since: sda; appeared since: sdd, sde.",
    ]
    iostat = host.stats[0]
    assert (iostat.instances_gone, iostat.n_instances_gone, iostat.instances_new, iostat.n_instances_new) == (
        ["sda"], 1, ["sdd", "sde"], 2,
    )  # fmt: skip
    await send(sessions, days + 40, days + 60)
    (host,) = await health_of(sessions, await make(sessions, minutes(days, days + 30), name="new"), days + 60)
    assert host.reasons == ["Samples today, but none in the baseline: vmstat_linux; these cannot be compared."]


async def test_short_lived_instances_do_not_make_it_stale(sessions: Sessions) -> None:
    await send(sessions, 0, 30, tuple(f"p{number}" for number in range(30)))
    await send(sessions, 5000, 5020, tuple(f"q{number}" for number in range(30)))
    (host,) = await health_of(sessions, await make(sessions, minutes(0, 30)), 5020)
    # All went, so it looks like a stat that ended; what came is all new.
    assert host.state == "good"
    assert host.reasons == ["iostat_linux: 30 short-lived instances disappeared and 30 appeared since."]
    assert (len(host.stats[0].instances_gone), host.stats[0].n_instances_gone) == (20, 30)
    assert host.stats[0].instances_gone[:3] == ["p0", "p1", "p2"]


async def test_a_heavy_tracer_within_it_is_told(sessions: Sessions, tmp_path: Path) -> None:
    await send(sessions, 0, 120)
    made = await make(sessions, minutes(0, 60))
    text = tmp_path / "truss.txt"
    text.write_text("syscall               seconds   calls  errors\nread                     .001     123\n")
    draft = ArtefactDraft("web1", ArtefactSource.API, "ann", START + 10 * MINUTE, START + 20 * MINUTE, effect=Effect.HEAVY)
    await make_artefact(sessions, draft, text, now=START)
    outside = replace(draft, start=START + 70 * MINUTE, end=START + 80 * MINUTE)
    await make_artefact(sessions, outside, text, now=START)
    [health] = await health_of(sessions, made, 120)
    [reason] = health.reasons
    assert reason.startswith("Observed under ")
    assert "from 2026-11-02 09:10:00 to 09:20:00 UTC" in reason
    assert reason.endswith(": exclude that period.")
    await exclude(sessions, minutes(10, 20))
    [health] = await health_of(sessions, made, 120)
    assert not [reason for reason in health.reasons if "Observed" in reason]


async def test_an_unknown_baseline(sessions: Sessions) -> None:
    async with open_read_session(sessions) as session:
        with pytest.raises(NotFound):
            await read_health(session, 4711, START)


def test_normal_that_moved_after_a_baseline_or_within_it_makes_it_stale_if_several_series_did() -> None:
    def change(day: int, n_series: int) -> NormalChange:
        return NormalChange("web1", datetime(2026, 3, day, 10, tzinfo=UTC), n_series, 900, f"{n_series} series changed", [])

    past = (Window(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 8, tzinfo=UTC)),)
    assert assess_changes("good", past, []) == ("good", [])
    assert assess_changes("good", past, [change(14, 37), change(20, 2)]) == (
        "stale",
        ["Normal has moved since 2026-03-14: 37 series changed, and 1 more time. Mark a newer baseline."],
    )
    state, reasons = assess_changes("insufficient_data", past, [change(4, 5)])
    assert (state, reasons) == (
        "insufficient_data",
        ["Normal moved within it on 2026-03-04: 5 series changed. Leave out the time before."],
    )
    assert assess_changes("good", past, [change(14, 1)])[0] == "good"
