"""Pack the statistics of sketches exactly: as multiples of what the tool prints, and of fractions that follow from their number.

A value is a float of four bytes with 20 random bits, but it has few possible values: a quantile lies at a 32nd between two printed
values, the mean of n samples is an nth of one. So each value becomes a whole number of such units, and a rest in units of the
float's last place, which is mostly 0. Rows that are the same in a reference take no bytes: a process that lived within one window
has the same statistics in it and in the whole hour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.scoring.summary import (
    N_PARTS,
    N_QUANTILES,
    N_STEP_QUANTILES,
    Float32Array,
    FloatArray,
    IntArray,
    Summary,
    count_at_end,
)

# Arrays by name, which `array_codec` packs.
PackedColumn = Mapping[str, np.ndarray]
PackedSummaries = Mapping[str, PackedColumn]

# The numbers of values of columns that have several for each series.
WIDTHS: Final = {"quantiles": N_QUANTILES, "step_quantiles": N_STEP_QUANTILES, "parts": N_PARTS}
COUNTS: Final = ("n", "n_reports")
# Most reports come at a divisor of a minute.
SAMPLES_PER_MINUTE: Final = 60
# Differences of two such numbers fit into four bytes.
MAX_MULTIPLE: Final = 2.0**30
# A value that is this many last places away is no multiple: it is stored as it is.
MAX_REST: Final = 1000
UNSIGNED: Final = tuple(np.dtype(name) for name in ("u1", "<u2", "<u4", "<u8"))


def pack_summaries(summaries: Sequence[Summary], digit: FloatArray, whole: Summary | None = None) -> PackedSummaries:
    """Return windows of the same series. `whole`: the summary of a longer window around them.

    Shape: digit (n_series,), that of each series; 0 where unknown
    """
    counts = {name: np.stack([getattr(summary, name) for summary in summaries]) for name in COUNTS}
    units = _units(counts["n"], digit)
    packed: dict[str, PackedColumn] = {"counts": {name: _narrow(values) for name, values in counts.items()}}
    for name in _float_columns():
        values = np.stack([getattr(summary, name) for summary in summaries]).reshape(*counts["n"].shape, _width(name))
        packed[name] = _pack_column(values, _reference(name, counts["n"], whole), units.get(name))
    return packed


def unpack_summary(packed: PackedSummaries, number: int, digit: FloatArray, whole: Summary | None = None) -> Summary:
    """Return one of the windows that `pack_summaries` packed, with the same arguments."""
    # As if it were the only one.
    columns: dict[str, np.ndarray] = {
        name: values[number : number + 1].astype(np.int64) for name, values in packed["counts"].items()
    }
    n = columns["n"]
    units = _units(n, digit)
    for name in _float_columns():
        values = _unpack_column(packed[name], _reference(name, n, whole), units.get(name), number)
        columns[name] = values if name in WIDTHS else values[..., 0]
    return Summary(**{name: values[0] for name, values in columns.items()})


def pack_minutes(minutes: Float32Array, digit: FloatArray) -> PackedColumn:
    """Return the means of minutes. Shape: minutes (n_series, n_minutes), digit (n_series,)"""
    packed = _pack_column(minutes[..., None], _nothing(*minutes.shape, 1), _minute_units(digit, minutes.shape[1]))
    return {**packed, "shape": np.array(minutes.shape)}


def unpack_minutes(packed: PackedColumn, digit: FloatArray) -> Float32Array:
    """Return what `pack_minutes` packed."""
    n_series, n_minutes = packed["shape"].tolist()
    return _unpack_column(packed, _nothing(n_series, n_minutes, 1), _minute_units(digit, n_minutes))[..., 0]


def _minute_units(digit: FloatArray, n_minutes: int) -> FloatArray:
    return np.repeat(digit[:, None] / SAMPLES_PER_MINUTE, n_minutes, axis=1)


def _float_columns() -> list[str]:
    return [field.name for field in fields(Summary) if field.name not in COUNTS]


def _width(name: str) -> int:
    return WIDTHS.get(name, 1)


def _units(n: IntArray, digit: FloatArray) -> dict[str, FloatArray]:
    """Return the units of which the values of a column are multiples, of those that have one. Shape: n and units (n_windows,
    n_series)
    """
    printed = np.broadcast_to(digit, n.shape)
    at_ends = printed / count_at_end(n)
    return {
        "quantiles": printed / (N_QUANTILES - 1),
        "step_quantiles": printed / (N_STEP_QUANTILES - 1),
        "top": at_ends,
        "bottom": at_ends,
        "mean": printed / np.maximum(n, 1),
        "still": 1 / np.maximum(n - 1, 1),
        "away": 1 / np.maximum(n, 1),
        # The median of an even number of samples is between two of them.
        "parts": printed / 2,
    }


def _reference(name: str, n: IntArray, whole: Summary | None) -> Float32Array:
    """Return the values of the rows that are not stored: missing without samples, else those of the whole. Shape: (n_windows,
    n_series, width)
    """
    reference = _nothing(*n.shape, _width(name))
    if whole is not None:
        windows, series = np.nonzero(n)
        reference[windows, series] = getattr(whole, name).reshape(len(whole), _width(name))[series]
    return reference


def _nothing(*shape: int) -> Float32Array:
    return np.full(shape, np.nan, np.float32)


def _pack_column(values: Float32Array, reference: Float32Array, unit: FloatArray | None) -> PackedColumn:
    """Return the rows that are not those of the reference. Shape: values, reference (.., .., width), unit (.., ..)"""
    # By bits: -0.0 is not 0.0.
    is_stored = (values.view(np.int32) != reference.view(np.int32)).any(axis=-1)
    own = values[is_stored]
    bits = own.view(np.int32).astype(np.int64)
    packed = {"stored": np.packbits(is_stored)}
    if unit is not None:
        multiple, near = _to_multiples(own, unit[is_stored])
        rest = bits - near.view(np.int32)
        is_far = np.abs(rest) > MAX_REST
        multiple[is_far] = 0
        bits = np.where(is_far, bits, rest)
        packed["multiple"] = _narrow(_fold(np.diff(multiple, axis=1, prepend=0)))
    return {**packed, "rest": _narrow(_fold(bits))}


def _unpack_column(packed: PackedColumn, reference: Float32Array, unit: FloatArray | None, number: int = 0) -> Float32Array:
    """Return what `_pack_column` packed, in the place of the reference; of several windows the one with that number, for which
    reference and unit are.
    """
    shape = reference.shape[:-1]
    n_cells = int(np.prod(shape))
    are_stored = np.unpackbits(packed["stored"], count=(number + 1) * n_cells).astype(np.bool_)
    first = int(np.count_nonzero(are_stored[: number * n_cells]))
    is_stored = are_stored[number * n_cells :].reshape(shape)
    rows = slice(first, first + int(np.count_nonzero(is_stored)))
    bits = _unfold(packed["rest"][rows])
    if unit is not None:
        multiple = np.cumsum(_unfold(packed["multiple"][rows]), axis=1)
        near = _multiply(multiple, unit[is_stored])
        # Where a value is stored as it is, its multiple is 0, and so are the bits of that.
        bits = bits + near.view(np.int32)
    reference[is_stored] = bits.astype(np.int32).view(np.float32)
    return reference


def _to_multiples(values: Float32Array, unit: FloatArray) -> tuple[IntArray, Float32Array]:
    """Return the nearest multiples of each row's unit, and the floats nearest to these; 0 where the unit is."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        multiple = np.rint(values / unit[:, None])
        # Also false for NaN.
        is_small = np.abs(multiple) < MAX_MULTIPLE
    found = np.where(is_small, multiple, 0).astype(np.int64)
    return found, _multiply(found, unit)


def _multiply(multiple: IntArray, unit: FloatArray) -> Float32Array:
    return (multiple * unit[:, None]).astype(np.float32)


def _fold(numbers: IntArray) -> npt.NDArray[np.uint64]:
    """Return numbers of any sign as small ones without: 0, -1, 1, -2 become 0, 1, 2, 3."""
    return ((numbers << 1) ^ (numbers >> 63)).astype(np.uint64)


def _unfold(folded: np.ndarray) -> IntArray:
    wide = folded.astype(np.int64)
    return (wide >> 1) ^ -(wide & 1)


def _narrow(numbers: np.ndarray) -> np.ndarray:
    """Return numbers without a sign in as few bytes as the largest needs."""
    most = int(numbers.max(initial=0))
    return numbers.astype(next(dtype for dtype in UNSIGNED if most < 256**dtype.itemsize))
