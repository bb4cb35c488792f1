"""Pages become columns by instance: whole, in order, whatever the pages were cut like."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from normstat.comparison import gathered_rows
from normstat.comparison.gathered_rows import GatheredRows, RowsByInstance, make_array
from normstat.samples.sample_pages import NO_SHORT, Page, to_floats
from tests.comparison.sides import field_of

FIELDS = [replace(field_of("mpstat_linux", key), decimals=2) for key in ("usr_pct", "sys_pct")]
NOTHING = np.empty(0, np.int64)
NEVER = np.broadcast_to(np.int32(NO_SHORT), 0)


def page(times: Sequence[int], ids: Sequence[int], usr: Sequence[int] | None, sys: Sequence[int] | None) -> Page:
    """A page of hundredths of a percent; None: the field has no value in it."""
    values = tuple(
        np.broadcast_to(np.int32(NO_SHORT), len(times)) if own is None else np.array(own, np.int32) for own in (usr, sys)
    )
    return Page(np.array(times), np.array(ids), values, (usr is not None, sys is not None), NOTHING, NOTHING, {})


def gather(pages: Iterable[Page]) -> RowsByInstance:
    rows = GatheredRows(FIELDS)
    for one in pages:
        rows.add(one)
    ids = rows.find_ids()
    found = rows.take()
    assert found.instance_ids.tolist() == ids
    return found


def as_text(found: RowsByInstance) -> list[str]:
    values = {key: found.columns[key] for key in found.columns}
    return [
        f"{found.instance_ids[found.instance[row]]} at {found.times_us[found.report[row]]}: "
        + " ".join(f"{key}={column[row]:g}" for key, column in values.items())
        for row in range(len(found.report))
    ]


def test_rows_come_by_instance_then_by_time_and_a_field_may_begin_late() -> None:
    found = gather([page([10, 10, 20], [7, 3, 7], [100, 200, 300], None), page([30, 30], [3, 7], [400, NO_SHORT], [5, 6])])
    assert as_text(found) == [
        "3 at 10: usr_pct=2 sys_pct=nan",
        "3 at 30: usr_pct=4 sys_pct=0.05",
        "7 at 10: usr_pct=1 sys_pct=nan",
        "7 at 20: usr_pct=3 sys_pct=nan",
        "7 at 30: usr_pct=nan sys_pct=0.06",
    ]


def test_a_field_without_any_value_takes_nothing() -> None:
    found = gather([page([10], [1], [100], None), page([20], [1], [200], None)])
    assert list(found.columns) == ["usr_pct"]
    assert "sys_pct" not in found.columns


def test_windows_that_are_not_in_order_are_put_in_order() -> None:
    found = gather([page([30, 40], [1, 1], [3, 4], None), page([10, 30], [1, 2], [1, 9], None)])
    assert found.times_us.tolist() == [10, 30, 40]
    # The rows of an instance stay as they were read; a grid places them by their report.
    assert sorted(as_text(found)) == [
        "1 at 10: usr_pct=0.01",
        "1 at 30: usr_pct=0.03",
        "1 at 40: usr_pct=0.04",
        "2 at 30: usr_pct=0.09",
    ]


def test_many_rows_in_segments_are_the_same_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    n = 5000
    times, ids = np.sort(rng.integers(0, 900, n)), rng.integers(1, 40, n)
    usr, sys = rng.integers(0, 10_000, n), rng.integers(0, 10_000, n)
    whole = gather([page(times.tolist(), ids.tolist(), usr.tolist(), sys.tolist())])
    cuts = np.flatnonzero(np.diff(times, prepend=-1))[[0, 1, 50, 300, 301, 700]].tolist()
    pieces = [slice(start, end) for start, end in zip([*cuts], [*cuts[1:], n], strict=True)]
    monkeypatch.setattr(gathered_rows, "MIN_SEGMENT_ROWS", 64)
    monkeypatch.setattr(gathered_rows, "MAX_SEGMENT_ROWS", 256)
    monkeypatch.setattr(gathered_rows, "OWN_MEMORY_BYTES", 1000)
    monkeypatch.setattr(gathered_rows, "LARGE_PAGES_BYTES", 1000)
    found = gather(page(times[own].tolist(), ids[own].tolist(), usr[own].tolist(), sys[own].tolist()) for own in pieces)
    assert found.times_us.tolist() == whole.times_us.tolist()
    np.testing.assert_array_equal(found.report, whole.report)
    np.testing.assert_array_equal(found.instance, whole.instance)
    order = np.argsort(ids, kind="stable")
    for field, given in zip(FIELDS, (usr, sys), strict=True):
        np.testing.assert_array_equal(found.columns[field.key], to_floats(field, given.astype(np.int32))[order])
        np.testing.assert_array_equal(found.columns.part(field.key, slice(100, 200)), found.columns[field.key][100:200])


@pytest.mark.parametrize("n", [0, 10, 300_000, 2_000_000])
def test_arrays_of_their_own_memory_can_be_written(n: int) -> None:
    made: npt.NDArray[np.int32] = make_array(n, np.dtype(np.int32))
    made[:] = 7
    assert len(made) == n
    assert (made == 7).all()
