"""The days in which changes of normal are looked for, in the time zone of the host."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from normstat.scoring.normal_steps import find_normal_steps
from normstat.watch.normal_changes import LocalDays
from normstat.window import Window


def test_a_rhythm_by_local_time_stays_the_same_when_the_clocks_change() -> None:
    zone = ZoneInfo("Europe/Berlin")
    start = datetime(2026, 1, 5, tzinfo=UTC)
    window = Window(start, start + timedelta(days=170))
    hours = [(start + timedelta(hours=number)).astimezone(zone).hour for number in range(24 * 170)]
    noise = np.exp(0.1 * np.random.default_rng(1).standard_normal(len(hours)))
    values = np.where(np.array(hours) == 9, 100, 5) * noise
    days = LocalDays(window, zone)
    arranged = days.arrange(values[None].astype(np.float32))
    cells = arranged.reshape(-1, 24)
    # The window begins at 1 in the morning in Berlin, and one hour was skipped on 29 March.
    assert set(np.nanargmax(cells[:-1], axis=1).tolist()) == {9}
    assert np.isnan(cells[83, 2])
    assert days.to_instant(9) == datetime(2026, 1, 5, 8, tzinfo=UTC)
    assert days.to_instant(24 * 100 + 9) == datetime(2026, 4, 15, 7, tzinfo=UTC)
    assert find_normal_steps(arranged) == []
    in_utc = LocalDays(window, UTC).arrange(values[None].astype(np.float32))
    assert [step.before for step in find_normal_steps(in_utc)] == [8]
