"""Statistics of lines: of all samples, whatever a graph draws of them."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from normstat.errors import NotFound
from normstat.query import line_statistics
from normstat.query.line_statistics import NO_VALUES, NOT_HELD, LineKey, LinesInWindows, LineValues, read_lines, read_windows
from normstat.query.series_points import SeriesRequest
from normstat.samples import sample_pages
from normstat.samples.rollups.rollup_job import roll_up
from normstat.window import Window
from tests.databases import Sessions, on_one_database
from tests.query.filling import fill_stat

START = datetime(2026, 11, 21, 10, tzinfo=UTC)
CPUS = ("all", "0", "1")
FIELDS = ("usr_pct", "intr_per_s")
N_S = 3 * 3600


@pytest.fixture
def usr() -> np.ndarray:
    """Three hours of three CPUs, every tenth value missing, one spike that no mean shows."""
    values = np.round(np.random.default_rng(3).gamma(4, 5, (N_S, len(CPUS))).clip(0, 90), 2)
    values[::10, 1] = np.nan
    values[7000, 2] = 99.5
    return values


async def fill(sessions: Sessions, usr: np.ndarray) -> None:
    intr = np.arange(usr.size) + 0.25
    await fill_stat(sessions, "mpstat_linux", START, np.arange(N_S), CPUS, usr_pct=usr.reshape(-1), intr_per_s=intr)


def window(first_s: int, last_s: int) -> Window:
    return Window(START + timedelta(seconds=first_s), START + timedelta(seconds=last_s))


async def state(sessions: Sessions, asked: Window, **more: object) -> LinesInWindows:
    request = {"host": "web1", "stat": "mpstat_linux", "window": asked, "width": 1, "fields": FIELDS} | more
    async with sessions() as session:
        return (await read_lines(session, SeriesRequest(**request))).values  # type: ignore[arg-type]


def expected(values: np.ndarray, *, with_p95: bool = True) -> LineValues:
    known = values[~np.isnan(values)]
    p95 = float(np.quantile(known, 0.95)) if with_p95 else None
    mean = pytest.approx(known.mean())
    return LineValues(len(known), float(known.min()), mean, p95, float(known.max()), float(known[-1]))  # type: ignore[arg-type]


@on_one_database
async def test_all_samples_count_and_windows_are_half_open(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch, usr: np.ndarray
) -> None:
    await fill(sessions, usr)
    monkeypatch.setattr(sample_pages, "VALUES_PER_PAGE", 20_000)
    found = await state(sessions, window(600, 9000))
    assert (found.source, found.note) == ("samples", "")
    assert set(found.lines) == {(name, key) for name in CPUS for key in FIELDS}
    for number, name in enumerate(CPUS):
        assert found.lines[name, "usr_pct"] == expected(usr[600:9000, number])
    assert found.lines["1", "usr_pct"].highest == 99.5


@on_one_database
async def test_above_the_limit_rollups_give_all_but_the_quantile(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch, usr: np.ndarray
) -> None:
    await fill(sessions, usr)
    await roll_up(sessions, now=START + timedelta(days=2), budget_s=60)
    monkeypatch.setattr(line_statistics, "MAX_ROWS_READ", 1000)
    # From within a minute to within a minute: the ends are read from samples.
    found = await state(sessions, window(601, 8999))
    assert (found.source, found.note) == ("rollups", NOT_HELD)
    for number, name in enumerate(CPUS):
        assert found.lines[name, "usr_pct"] == expected(usr[601:8999, number], with_p95=False)


@on_one_database
async def test_samples_that_are_not_rolled_up_yet_are_counted_without_being_held(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch, usr: np.ndarray
) -> None:
    await fill(sessions, usr)
    monkeypatch.setattr(line_statistics, "MAX_VALUES", 1000)
    found = await state(sessions, window(0, N_S))
    assert (found.source, found.note) == ("samples", NOT_HELD)
    assert found.lines["0", "usr_pct"] == expected(usr[:, 1], with_p95=False)


@on_one_database
async def test_several_windows_and_lines_without_samples(sessions: Sessions, usr: np.ndarray) -> None:
    await fill(sessions, usr)
    async with sessions() as session:
        asked = SeriesRequest("web1", "mpstat_linux", window(0, 60), 1, ("usr_pct",), instances=("all",))
        found = await read_lines(session, asked)
        assert found.query is not None
        both = await read_windows(found.query, found.instances, [window(0, 600), window(1200, 1800)])
    assert both.lines["all", "usr_pct"] == expected(np.concatenate([usr[:600, 0], usr[1200:1800, 0]]))
    late = await state(sessions, window(N_S, N_S + 60), fields=("usr_pct",), instances=("all",))
    nothing: dict[LineKey, LineValues] = {("all", "usr_pct"): NO_VALUES}
    assert late.lines == nothing
    both = await state(sessions, window(0, 60), fields=("usr_pct",), instances=("7", "all"))
    assert list(both.lines) == [("all", "usr_pct")]
    with pytest.raises(NotFound, match="has no instance '7'"):
        await state(sessions, window(0, 60), instances=("7",))
