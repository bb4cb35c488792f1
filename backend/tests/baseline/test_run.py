"""A comparison from end to end on real tables: what was stored, read, compared and said."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.baseline.run import ComparisonRecord, ComparisonRequest, run_comparison
from normstat.errors import BadRequest, NoData, NotFound
from normstat.store.baselines import BaselineDraft, create_baseline
from normstat.window import Window, to_us
from tests.query.filling import fill_values

Sessions = async_sessionmaker[AsyncSession]
START = datetime(2026, 11, 21, 10, tzinfo=UTC)
N_NORMAL, N_INCIDENT = 600, 60


def seconds(start: float, end: float) -> Window:
    return Window(START + timedelta(seconds=start), START + timedelta(seconds=end))


NORMAL, INCIDENT = seconds(0, N_NORMAL), seconds(N_NORMAL, N_NORMAL + N_INCIDENT)


async def fill_host(sessions: Sessions) -> None:
    """Ten quiet minutes, then one in which CPU 1 burns and the process `yes` runs."""
    rng = np.random.default_rng(3)
    n = N_NORMAL + N_INCIDENT
    names = ("0", "1")
    is_hot = np.repeat(np.arange(n) >= N_NORMAL, 2) & np.tile([False, True], n)
    usr = np.where(is_hot, 97.0, 3.0) + np.round(rng.uniform(-1, 1, 2 * n), 2)
    at = to_us(START) + np.arange(n) * 1_000_000
    await fill_values(
        sessions,
        "web1",
        "mpstat_linux",
        time_us=np.repeat(at, 2),
        instances=names * n,
        values={
            "usr_pct": usr,
            "idle_pct": 100 - usr,
            "intr_per_s": np.round(rng.normal(300, 10, 2 * n), 2),
            "core": np.tile([0, 1], n),
        },
    )
    await fill_values(
        sessions,
        "web1",
        "pidstat_linux",
        time_us=np.concatenate([at, at[N_NORMAL:]]),
        instances=("1/init",) * n + ("77/yes",) * N_INCIDENT,
        values={
            "cpu_pct": np.concatenate([np.full(n, 0.5), np.full(N_INCIDENT, 99.0)]),
            "pid": np.repeat([1, 77], [n, N_INCIDENT]),
        },
    )


async def compare(
    sessions: Sessions, baseline: int | Window = NORMAL, *, max_rows: int = 1_000_000, **wish: object
) -> ComparisonRecord:
    asked = {"host": "web1", "baseline": baseline, "incident": INCIDENT} | wish
    async with sessions() as session:
        return await run_comparison(session, ComparisonRequest(**asked), max_rows=max_rows)  # type: ignore[arg-type]


async def test_a_burnt_cpu_is_found_first(sessions: Sessions) -> None:
    await fill_host(sessions)
    found = await compare(sessions)
    assert [(finding.rank, finding.stat, finding.instance) for finding in found.findings] == [
        (1, "mpstat_linux", "1"),
        (2, "mpstat_linux", "1"),
    ]
    # Both moved by as much: which comes first is a matter of the last digit.
    by_field = {finding.field: finding for finding in found.findings}
    usr, idle = by_field["usr_pct"], by_field["idle_pct"]
    assert (usr.unit, usr.column, usr.kind, usr.direction, usr.is_worse) == ("%", "%usr", "level", "up", None)
    assert (usr.baseline.n, usr.incident.n) == (N_NORMAL, N_INCIDENT)
    assert usr.shift == pytest.approx(94, abs=0.5)
    assert usr.score == pytest.approx(usr.shift / usr.scale)
    assert usr.ks == 1
    assert usr.sentence.startswith("CPU 1 %usr (mpstat) rose from ")
    assert idle.is_worse
    [appeared] = found.one_sided
    assert (appeared.instance, appeared.field, appeared.side, appeared.summary.median) == ("77/yes", "cpu_pct", "incident", 99.0)
    assert appeared.sentence == (
        "process 77/yes %CPU (pidstat) appeared: median 99.00 %, highest 99.00 %, 60 samples in the incident, none in the baseline."
    )
    # Two CPUs with three fields, two processes with one; ids (core, pid) are none of them.
    assert (found.n_series, found.n_compared, found.n_unchanged, found.n_findings, found.n_one_sided, found.n_thin) == (
        8,
        7,
        5,
        2,
        1,
        0,
    )
    assert found.baseline.windows == [NORMAL]
    assert (found.baseline.covered_s, found.incident.covered_s) == (600, 60)
    assert (found.baseline.n_samples, found.incident.n_samples) == (1800, 240)
    assert (found.baseline.n_rows_skipped, found.incident.n_rows_skipped) == (0, 0)
    assert set(found.spec_versions) == {"mpstat_linux", "pidstat_linux"}
    assert found.method_version == 1
    assert found.baseline_info is None


async def test_a_window_against_itself_shows_nothing(sessions: Sessions) -> None:
    await fill_host(sessions)
    found = await compare(sessions, incident=NORMAL)
    assert (found.findings, found.one_sided, found.n_findings) == ([], [], 0)
    assert found.n_unchanged == found.n_series


async def test_above_the_row_limit_pieces_are_read_and_the_rest_is_counted(sessions: Sessions) -> None:
    await fill_host(sessions)
    found = await compare(sessions, max_rows=400)
    # 1200 rows of mpstat and 600 of pidstat in the baseline; the incident is below the limit.
    assert found.baseline.n_samples + found.baseline.n_rows_skipped == 1800
    assert 600 <= found.baseline.n_samples <= 1000
    assert found.incident.n_rows_skipped == 0
    assert {finding.field for finding in found.findings} == {"idle_pct", "usr_pct"}
    assert found.findings[0].baseline.n == pytest.approx(200, abs=60)
    assert found.baseline.covered_s == pytest.approx(600, rel=0.2)


async def test_a_stored_baseline_is_compared_window_by_window(sessions: Sessions) -> None:
    await fill_host(sessions)
    async with sessions() as session, session.begin():
        draft = BaselineDraft("quiet", "", ("web1",), (seconds(0, 200), seconds(400, 600)), "ann")
        made = await create_baseline(session, draft)
    found = await compare(sessions, made.id)
    assert found.baseline_info == made
    assert found.baseline.windows == made.windows
    assert found.baseline.covered_s == 400
    assert found.findings[0].baseline.n == 400
    with pytest.raises(NotFound, match="no baseline"):
        await compare(sessions, made.id + 1)


async def test_a_baseline_of_other_hosts_is_refused(sessions: Sessions) -> None:
    await fill_host(sessions)
    await fill_values(sessions, "web2", "vmstat_linux", time_us=[to_us(START)], instances=("",), values={"cpu_us": [1]})
    async with sessions() as session, session.begin():
        made = await create_baseline(session, BaselineDraft("of web1", "", ("web1",), (NORMAL,), "ann"))
    with pytest.raises(BadRequest, match="speaks of web1, not of web2"):
        await compare(sessions, made.id, host="web2")


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (
            {"incident": seconds(9000, 9100)},
            "no samples in the incident .* it has some from 2026-11-21T10:00:00Z to 2026-11-21T10:10:59Z",
        ),
        ({"baseline": seconds(-100, 0)}, "no samples in the baseline"),
        ({"host": "web9"}, "no host 'web9'"),
    ],
)
async def test_what_is_not_there_is_said(sessions: Sessions, wish: dict[str, object], message: str) -> None:
    await fill_host(sessions)
    with pytest.raises((NoData, NotFound), match=message):
        await compare(sessions, **wish)  # type: ignore[arg-type]


async def test_the_lists_are_cut_and_counted(sessions: Sessions) -> None:
    await fill_host(sessions)
    found = await compare(sessions, limit=1)
    assert (len(found.findings), found.n_findings) == (1, 2)


async def test_a_tool_that_did_not_run_on_one_side_has_nothing_appeared(sessions: Sessions) -> None:
    await fill_host(sessions)
    at = to_us(INCIDENT.start) + np.arange(60) * 1_000_000
    await fill_values(sessions, "web1", "vmstat_linux", time_us=at, instances=("",) * 60, values={"cpu_us": np.full(60, 50)})
    found = await compare(sessions)
    assert [series.stat for series in found.one_sided] == ["pidstat_linux"]
    [thin] = found.thin
    assert (thin.stat, thin.n_baseline, thin.n_incident) == ("vmstat_linux", 0, 60)
    assert thin.reason == "the baseline has no sample of this field of vmstat_linux at all"
