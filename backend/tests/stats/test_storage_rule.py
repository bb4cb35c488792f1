"""The types of columns whose specs name none: four bytes only where it is beyond doubt that they do."""

import pytest

from normstat.stats.spec import Kind, Storage
from normstat.stats.spec_defaults import usual_storage


@pytest.mark.parametrize(
    ("kind", "unit", "decimals", "keys", "storage"),
    [
        (Kind.PERCENT, "%", 2, (), Storage.DEC4),
        (Kind.RATE, "1/s", 2, (), Storage.DEC4),
        (Kind.TIME, "ms", 3, (), Storage.DEC4),
        (Kind.RATE, "KiB/s", 2, (), Storage.FLOAT8),
        (Kind.RATE, "KiB/s", 1, (), Storage.DEC4),
        (Kind.GAUGE, "KiB", 1, (), Storage.FLOAT8),
        (Kind.COUNTER, "1/s", 2, (), Storage.FLOAT8),
        (Kind.PERCENT, "%", 4, (), Storage.FLOAT8),
        (Kind.PERCENT, "%", 1, ("scale",), Storage.FLOAT8),
        (Kind.TIME, "ms", 2, ("clock",), Storage.FLOAT8),
        (Kind.PERCENT, "%", 0, (), Storage.INT4),
        (Kind.RATE, "KiB/s", 0, (), Storage.INT4),
        (Kind.GAUGE, "threads", 0, (), Storage.INT4),
        (Kind.RATE, "B/s", 0, (), Storage.INT8),
        (Kind.GAUGE, "KiB", 0, (), Storage.INT8),
        (Kind.COUNTER, "packets", 0, (), Storage.INT8),
        (Kind.RATE, "1/s", 0, ("derived",), Storage.INT8),
        (Kind.GAUGE, "bytes", 0, ("scale",), Storage.FLOAT8),
    ],
)
def test_what_is_stored_in_what(kind: Kind, unit: str, decimals: int, keys: tuple[str, ...], storage: Storage) -> None:
    assert usual_storage(kind, unit, decimals, keys) is storage
