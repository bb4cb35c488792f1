"""Long CSV (time,metric,value) as blocks of series that share their instants.

Times are ISO-8601 (without a zone: UTC) or seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by their
size. A line that cannot be read is counted and the first ones are kept to be shown; an empty value, NaN, null or - is a missing
sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pc_csv

from normstat.errors import BadRequest, shorten
from normstat.runtime.readable import count_of

COLUMNS: Final = ("time", "metric", "value")
MISSING_VALUES: Final = ("", "nan", "null", "none", "na", "n/a", "-")
# The magnitude of a number gives its unit: seconds until the year 5138, then milliseconds, and so on.
EPOCH_UNITS: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
MAX_SHOWN: Final = 5
MAX_VALUE: Final = 1e30

FloatArray = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(slots=True)
class LongTable:
    """One file. `times` seconds since 1970; `codes` index `names`; Missing: NaN. In the order of metric, then time."""

    names: list[str]
    codes: np.ndarray[tuple[int], np.dtype[np.int64]]
    times: FloatArray
    values: FloatArray
    n_rejected: int = 0
    n_repeated: int = 0
    first_rejected: list[str] = field(default_factory=list)

    def series(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Return times and values of each metric, in the order of time."""
        bounds = np.searchsorted(self.codes, np.arange(len(self.names) + 1))
        return {
            name: (self.times[start:end], self.values[start:end])
            for name, start, end in zip(self.names, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        }


def read_long_csv(path: Path, *, may_be_empty: bool = False) -> LongTable:
    """Return the samples of a file.

    Raises: BadRequest when there is no such file, it is no CSV with these columns, or holds no sample and must have some
    """
    table, broken = _read_text(path)
    texts = {name: pc.utf8_trim_whitespace(table[name].combine_chunks()) for name in COLUMNS}
    times, has_time = _read_times(texts["time"])
    values, has_value = _read_values(texts["value"])
    has_name = np.asarray(pc.not_equal(texts["metric"], ""))
    good = has_time & has_value & has_name
    bad = np.flatnonzero(~good)
    shown = [f"{path}: cannot read {','.join(shorten(str(texts[name][int(row)])) for name in COLUMNS)}" for row in bad[:MAX_SHOWN]]
    encoded = texts["metric"].filter(pa.array(good)).dictionary_encode()
    names = [str(name) for name in encoded.dictionary.to_pylist()]
    codes = np.asarray(encoded.indices, np.int64)
    if len(codes) == 0 and not (may_be_empty and len(bad) + len(broken) == 0):
        unread = count_of(len(bad) + len(broken), "line")
        raise BadRequest(f"{path} holds no sample: {unread} could not be read", {"file": str(path)})
    result = _in_order(LongTable(names, codes, times[good], values[good], len(bad) + len(broken)))
    result.first_rejected = [*broken[:MAX_SHOWN], *shown][:MAX_SHOWN]
    return result


def _read_text(path: Path) -> tuple[pa.Table, list[str]]:
    """Return the three columns as text, and lines with another number of columns."""
    broken: list[str] = []

    def skip(row: pc_csv.InvalidRow) -> str:
        broken.append(f"{path}: {row.actual_columns} columns where there are {row.expected_columns}: {shorten(str(row.text))}")
        return "skip"

    try:
        with pa.OSFile(str(path)) as file:
            header = file.read(1 << 16).decode("utf-8-sig", "replace").split("\n", 1)[0]
        names = [name.strip().strip('"').lower() for name in header.strip("\r\n").split(",")]
        if absent := [name for name in COLUMNS if names.count(name) != 1]:
            raise BadRequest(
                f"{path} needs one column each of time,metric,value; its first line is {shorten(header)!r}"
                f" ({', '.join(absent)} missing or twice)",
                {"file": str(path)},
            )
        table = pc_csv.read_csv(
            path,
            read_options=pc_csv.ReadOptions(column_names=names, skip_rows=1, encoding="utf8"),
            parse_options=pc_csv.ParseOptions(invalid_row_handler=skip, newlines_in_values=False),
            convert_options=pc_csv.ConvertOptions(
                column_types=dict.fromkeys(COLUMNS, pa.string()),
                include_columns=list(COLUMNS),
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )
    except FileNotFoundError:
        raise BadRequest(f"There is no file {path}", {"file": str(path)}) from None
    except (OSError, pa.ArrowInvalid) as error:
        raise BadRequest(f"{path} cannot be read as CSV: {error}", {"file": str(path)}) from None
    return table, broken


def _read_values(texts: pa.StringArray) -> tuple[FloatArray, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Return numbers, and which lines have a number or an explicit missing value."""
    is_missing = np.asarray(pc.is_in(pc.utf8_lower(texts), pa.array(MISSING_VALUES)))
    try:
        numbers = np.asarray(pc.cast(pc.if_else(pa.array(is_missing), "nan", texts), pa.float64()), np.float64)
        is_good = np.ones(len(numbers), np.bool_)
    except pa.ArrowInvalid:
        numbers = np.array([_to_float(text) for text in texts.to_pylist()])
        is_good = ~np.isnan(numbers) | is_missing
    # Infinite and nearly infinite values are no samples.
    is_endless = np.abs(numbers) > MAX_VALUE
    return np.where(is_endless, np.nan, numbers), is_good & ~is_endless


def _to_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _read_times(texts: pa.StringArray) -> tuple[FloatArray, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    try:
        times = np.asarray(pc.cast(texts, pa.float64()), np.float64)
    except pa.ArrowInvalid:
        encoded = texts.dictionary_encode()
        distinct = np.array([_to_instant(text) for text in encoded.dictionary.to_pylist()])
        times = distinct[np.asarray(encoded.indices)]
    else:
        times = _to_seconds(times)
    return times, np.isfinite(times)


def _to_seconds(times: FloatArray) -> FloatArray:
    size = np.abs(times)
    for least, unit in EPOCH_UNITS:
        times = np.where(size >= least, times / unit, times)
        size = np.where(size >= least, 0, size)
    return times


def _to_instant(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        number = _to_float(text)
        return float(_to_seconds(np.array([number]))[0])
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _in_order(table: LongTable) -> LongTable:
    """Return the samples by metric and time; of several values at one instant the last in the file counts."""
    order = np.lexsort((table.times, table.codes))
    codes, times, values = table.codes[order], table.times[order], table.values[order]
    is_last = np.ones(len(codes), np.bool_)
    is_last[:-1] = (codes[1:] != codes[:-1]) | (times[1:] != times[:-1])
    table.codes, table.times, table.values = codes[is_last], times[is_last], values[is_last]
    table.n_repeated = len(codes) - int(is_last.sum())
    return table


def names_of(tables: Sequence[LongTable]) -> list[str]:
    """Return all metrics, in order of first occurrence."""
    return list(dict.fromkeys(name for table in tables for name in table.names))
