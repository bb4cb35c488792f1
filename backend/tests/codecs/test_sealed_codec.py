"""The packed form of samples: every bit comes back, whatever the numbers are."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, strategies

from normstat.codecs import sealed_codec
from normstat.codecs.sealed_codec import SealedField, SealedRows, pack, read_head, unpack
from normstat.stats.spec import Storage

FIELDS = [
    SealedField("whole", Storage.INT4, 0),
    SealedField("large", Storage.INT8, 0),
    SealedField("percent", Storage.DEC4, 2),
    SealedField("old", Storage.FLOAT4, 1),
    SealedField("float", Storage.FLOAT8, 3),
    SealedField("never", Storage.INT4, 0),
]
INT4 = strategies.integers(-(2**31), 2**31 - 1)
INT8 = strategies.integers(-(2**63), 2**63 - 1)
FLOATS = strategies.one_of(strategies.floats(width=32), strategies.integers(-(10**9), 10**9).map(lambda n: n / 1000))
ROWS = strategies.lists(
    strategies.tuples(
        strategies.integers(0, 50).map(lambda n: n * 1_000_000) | strategies.integers(-(2**50), 2**50),
        strategies.integers(1, 2**31 - 1),
        strategies.integers(1, 3),
        strategies.integers(0, 2**62),
        INT4,
        INT8,
        INT4,
        FLOATS,
        FLOATS,
    ),
    min_size=1,
    max_size=60,
)


def bits(column: np.ndarray) -> list[int]:
    """The numbers of a column as they are stored; any NaN is the one for no value."""
    plain = np.where(np.isnan(column), np.nan, column).astype(column.dtype) if column.dtype.kind == "f" else column
    return [int(number) for number in plain.view(f"<i{column.dtype.itemsize}")]


def assert_same(back: SealedRows, rows: SealedRows) -> None:
    expected = rows.in_order()
    for name in ("time_us", "instance_id", "stream_id", "line_offset"):
        assert getattr(back, name).tolist() == getattr(expected, name).tolist()
    for field in rows.fields:
        assert back.columns[field.key].dtype == expected.columns[field.key].dtype
        assert bits(back.columns[field.key]) == bits(expected.columns[field.key])
    assert back.printed == expected.printed


def build(found: Sequence[tuple[float, ...]], printed: dict[int, str]) -> SealedRows:
    time_us, instance, stream, offset, *values = (list(column) for column in zip(*found, strict=True))
    types = [np.int32, np.int64, np.int32, np.float32, np.float64]
    columns = {field.key: np.array(column, dtype) for field, column, dtype in zip(FIELDS, [*values], types, strict=False)}
    columns["never"] = np.full(len(found), -(2**31), np.int32)
    return SealedRows(
        np.array(time_us, np.int64),
        np.array(instance, np.int64),
        np.array(stream, np.int64),
        np.array(offset, np.int64),
        FIELDS,
        columns,
        printed,
    )


@given(ROWS, strategies.dictionaries(strategies.integers(0, 59), strategies.text(min_size=1, max_size=9), max_size=3))
def test_every_bit_comes_back(found: list[tuple[float, ...]], words: dict[int, str]) -> None:
    rows = build(found, {row: text for row, text in words.items() if row < len(found)})
    head, body = pack(rows)
    assert_same(unpack(head, body), rows)
    directory = read_head(head)
    assert directory.n_rows == len(rows)
    assert directory.n_values[-1] == 0


def test_many_instances_are_in_groups_that_are_found_by_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed_codec, "ROWS_PER_GROUP", 50)
    n, rng = 3000, np.random.default_rng(1)
    found = [
        (second * 1_000_000, 1000 + 7 * cpu, 1, 90 * (second * 30 + cpu), cpu, second, int(rng.integers(0, 10_000)), 0.5, cpu / 8)
        for second in range(n // 30)
        for cpu in range(30)
    ]
    rows = build(found, {})
    head, body = pack(rows)
    assert_same(unpack(head, body), rows)
    directory = read_head(head)
    assert len(directory.group_rows) == 30
    assert directory.find_groups(np.array([1000, 1000 + 7 * 29, 5])) == [0, 29]
    assert directory.find_groups(np.array([9_999_999])) == []


def test_a_block_of_another_version_is_refused() -> None:
    head, _ = pack(build([(0, 1, 1, 0, 1, 1, 1, 1.0, 1.0)], {}))
    with pytest.raises(ValueError, match="version 9"):
        read_head(bytes([9]) + head[1:])
