"""Rollups as arrays: buckets of samples, and the packed form of a block. No database, no clock.

A body holds one field of all instances over a block of time: a head, then groups of instances that are packed one by one, so that
eight of a thousand are read without the others.

    head     version, number of groups, then for each group: last instance, instances, rows, most samples of one, samples, bytes
    group    form, decimals, columns: instances, rows of each, buckets, n, and the values. The form that takes the least:
             TOGETHER  sum, low, high, first, last; all columns as byte planes, packed together by zstd: suits small groups
             SUMMED    the same, each column by itself
             FEW       the samples of all buckets in the order of time: where none has more than three, they are fewer than five
             MIXED     the samples of buckets with up to three, and sum, low, high, first, last of the others: short processes
             LEFT      the instances alone: the samples themselves tell the rest, and are as few; see `leave_out`

Numbers are kept exactly: as whole numbers of the field's last decimal if they all fit, as float64 otherwise.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from normstat.codecs.packed_numbers import (
    EXACT,
    compress,
    pack_integers,
    pack_numbers,
    unpack_integers,
    unpack_numbers,
)
from normstat.runtime.arrays import distinct_values
from normstat.runtime.bounded_decoding import unpack_zstd
from normstat.stats.records import Int64Array

Float64Array = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
NumberArray = npt.NDArray[np.int64] | npt.NDArray[np.float64]

VERSION: Final = 2
# The version of bodies in which some groups are left to the samples.
VERSION_LEFT: Final = 3
HEAD: Final = np.dtype([("version", "u1"), ("reserved", "u1"), ("n_groups", "<u2"), ("reserved_too", "<u4")])
GROUP: Final = np.dtype(
    [("last", "<i4"), ("n_instances", "<u4"), ("n_rows", "<u4"), ("most", "<u4"), ("n_samples", "<u8"), ("n_bytes", "<u4")]
)
# The head of any body fits in this many bytes: the size of one piece of a value that PostgreSQL stores outside its row.
HEAD_BYTES: Final = 1996
MAX_GROUPS: Final = 64
TOGETHER, SUMMED, FEW, MIXED, LEFT = range(5)
# Maximum number of samples that follow from a bucket's sum, lowest, highest, first and last.
MAX_FEW: Final = 3
# The numbers of a bucket: groups with no more samples than that in the mean of their buckets may be left to the samples.
MAX_MEAN_LEFT: Final = 5
# Kinds of columns.
CONSTANT, WHOLE, FLOAT, CONSTANT_FLOAT = range(4)
# A day of minutes of one instance.
ROWS_PER_GROUP: Final = 1440
NOT_SCALED: Final = 255
INTEGERS: Final = tuple(np.dtype(name) for name in ("<u1", "<u2", "<u4", "<i8"))
FLOAT_CODE: Final = len(INTEGERS)
# Of a group: instances, rows of each, buckets, n; then total, low, high, first, last.
N_KEYS: Final = 4
N_VALUES: Final = 5
N_VALUES_TO_SUM: Final = 2
# The number of columns with values, in the forms that pack each column separately.
N_COLUMNS: Final = {SUMMED: N_VALUES, FEW: 1, MIXED: 1 + N_VALUES}


@dataclass(frozen=True, slots=True)
class Buckets:
    """One field in equal steps of time, in the order of instance and bucket; only buckets with a sample.

    Shape: (n,) each. `bucket` counts steps since the epoch; `n` samples sum up to `total`, from `low` to `high`; `first` and
    `last` are those in time.
    """

    instance: Int64Array
    bucket: Int64Array
    n: Int64Array
    total: Float64Array
    low: Float64Array
    high: Float64Array
    first: Float64Array
    last: Float64Array

    def __len__(self) -> int:
        return len(self.bucket)

    def take(self, rows: BoolArray | slice | Int64Array) -> "Buckets":
        """Return those rows, in their order."""
        return Buckets(
            self.instance[rows],
            self.bucket[rows],
            self.n[rows],
            self.total[rows],
            self.low[rows],
            self.high[rows],
            self.first[rows],
            self.last[rows],
        )


_NONE: Final = np.empty(0, np.int64)
_NOTHING: Final = np.empty(0)
EMPTY: Final = Buckets(_NONE, _NONE, _NONE, _NOTHING, _NOTHING, _NOTHING, _NOTHING, _NOTHING)


def gather(instance: Int64Array, bucket: Int64Array, values: Float64Array, time_us: Int64Array) -> Buckets:
    """Return the buckets of samples in the order of time. Samples of one instance at one instant count in the order of their
    values.

    Shape: (n,) each; values without NaN
    """
    if not len(values):
        return EMPTY
    order = np.argsort(_small(_keys(instance, bucket)), kind="stable")
    return reduce_sorted(instance[order], bucket[order], values[order], time_us[order])


def reduce_sorted(instance: Int64Array, bucket: Int64Array, values: Float64Array, time_us: Int64Array) -> Buckets:
    """Return the buckets of samples in the order of instance and time."""
    if not len(values):
        return EMPTY
    is_new = (instance[1:] != instance[:-1]) | (bucket[1:] != bucket[:-1])
    is_tie = (time_us[1:] == time_us[:-1]) & ~is_new
    if is_tie.any():
        # Two streams of one tool. The result must not depend on their order in the table.
        values = values[np.lexsort((values, time_us, bucket, instance))]
    starts = np.concatenate([[0], np.flatnonzero(is_new) + 1])
    ends = np.concatenate([starts[1:], [len(values)]])
    return Buckets(
        instance=instance[starts],
        bucket=bucket[starts],
        n=ends - starts,
        total=_add(values, starts),
        low=np.minimum.reduceat(values, starts),
        high=np.maximum.reduceat(values, starts),
        first=values[starts],
        last=values[ends - 1],
    )


def merge(parts: Sequence[Buckets], *, factor: int = 1) -> Buckets:
    """Merge consecutive parts into buckets `factor` times as long."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return EMPTY
    joined = parts[0] if len(parts) == 1 else _join(parts)
    bucket = joined.bucket if factor == 1 else joined.bucket // factor
    if len(parts) > 1:
        # By the finer bucket: first and last of the coarser one follow from it.
        order = np.argsort(_keys(joined.instance, joined.bucket), kind="stable")
        joined, bucket = joined.take(order), bucket[order]
    starts = np.concatenate([[0], np.flatnonzero((joined.instance[1:] != joined.instance[:-1]) | (bucket[1:] != bucket[:-1])) + 1])
    if len(starts) == len(bucket):
        return joined if factor == 1 else Buckets(
            joined.instance, bucket, joined.n, joined.total, joined.low, joined.high, joined.first, joined.last
        )  # fmt: skip
    ends = np.concatenate([starts[1:], [len(bucket)]])
    return Buckets(
        instance=joined.instance[starts],
        bucket=bucket[starts],
        n=np.add.reduceat(joined.n, starts),
        total=_add(joined.total, starts),
        low=np.minimum.reduceat(joined.low, starts),
        high=np.maximum.reduceat(joined.high, starts),
        first=joined.first[starts],
        last=joined.last[ends - 1],
    )


def _add(values: Float64Array, starts: Int64Array) -> Float64Array:
    # Sums beyond 1e308 are infinite, which only ranks them first.
    with np.errstate(over="ignore", invalid="ignore"):
        return cast("Float64Array", np.add.reduceat(values, starts))


def _join(parts: Sequence[Buckets]) -> Buckets:
    return Buckets(
        np.concatenate([part.instance for part in parts]),
        np.concatenate([part.bucket for part in parts]),
        np.concatenate([part.n for part in parts]),
        np.concatenate([part.total for part in parts]),
        np.concatenate([part.low for part in parts]),
        np.concatenate([part.high for part in parts]),
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.last for part in parts]),
    )


def _keys(instance: Int64Array, bucket: Int64Array) -> Int64Array:
    return (instance << 32) + bucket


def _small(keys: Int64Array) -> npt.NDArray[np.generic]:
    """Return the keys' ranks in 16 bits where they fit, which sort ten times as fast."""
    ids, ranks = np.unique(keys, return_inverse=True)
    return ranks.astype(np.int16) if len(ids) < 2**15 else ranks


# --- bodies ---


def pack(buckets: Buckets, *, first_bucket: int, decimals: int) -> bytes:
    """Return the body of a block that begins at `first_bucket`. `decimals`: those of the field."""
    starts = np.concatenate([[0], np.flatnonzero(np.diff(buckets.instance)) + 1])
    sizes = np.diff(np.concatenate([starts, [len(buckets)]]))
    samples = np.add.reduceat(buckets.n, starts)
    most_rows = max(ROWS_PER_GROUP, -(-len(buckets) // (MAX_GROUPS // 2)))
    cuts = _cut(sizes, most_rows)
    groups, directory = [], np.zeros(len(cuts), GROUP)
    for number, (begin, end) in enumerate(zip(cuts, [*cuts[1:], len(starts)], strict=True)):
        rows = slice(int(starts[begin]), int(starts[end]) if end < len(starts) else len(buckets))
        own = buckets.take(rows)
        group = _pack_group(own, buckets.instance[starts[begin:end]], sizes[begin:end], first_bucket, decimals)
        directory[number] = (own.instance[-1], end - begin, len(own), samples[begin:end].max(), own.n.sum(), len(group))
        groups.append(group)
    head = np.array((VERSION, 0, len(groups), 0), HEAD)
    return b"".join((head.tobytes(), directory.tobytes(), *groups))


def _cut(sizes: Int64Array, most_rows: int) -> list[int]:
    """Return the starts of groups of whole instances with about this many rows."""
    ends = np.cumsum(sizes)
    cuts, begin, rows_before = [], 0, 0
    while begin < len(sizes):
        cuts.append(begin)
        begin = max(begin + 1, int(np.searchsorted(ends, rows_before + most_rows, side="right")))
        rows_before = int(ends[begin - 1])
    return cuts


def _pack_group(own: Buckets, ids: Int64Array, sizes: Int64Array, first_bucket: int, decimals: int) -> bytes:
    scaled = _scale(own, decimals)
    samples = _to_samples(own, scaled)
    values: Sequence[NumberArray] = (own.total, own.low, own.high, own.first, own.last)
    if scaled is not None:
        total, low, high, first, last = scaled
        # The lowest is taken off: what is left has few bits.
        values = (total - own.n * low, low, high - low, first - low, last - low)
    head = NOT_SCALED if scaled is None else decimals
    bucket = own.bucket - first_bucket
    keys = [_pack_column(column) for column in (ids, sizes, bucket, own.n)]
    forms = [_pack_apart(SUMMED, head, keys, values) if samples is None else _pack_apart(FEW, head, keys, samples)]
    if samples is None and scaled is not None:
        is_few = own.n <= MAX_FEW
        is_mixed = is_few.any() and not is_few.all()
        samples = _to_samples(own.take(is_few), [column[is_few] for column in scaled]) if is_mixed else None
        forms += [] if samples is None else [_pack_apart(MIXED, head, keys, [*samples, *(column[~is_few] for column in values)])]
    steps = np.diff(bucket, prepend=0) + 2**15
    together = compress(bytes([head]) + b"".join(_pack_planes(column) for column in (ids, sizes, steps, own.n, *values)))
    return min(*forms, bytes([TOGETHER]) + together, key=len)


def _pack_apart(form: int, head: int, keys: Sequence[bytes], values: Sequence[NumberArray]) -> bytes:
    """Return a group with each column packed by itself."""
    columns = [*keys, *map(_pack_column, values)]
    lengths = np.array([len(column) for column in columns], "<u4").tobytes()
    return b"".join([bytes([form, head]), lengths, *columns])


def _to_samples(own: Buckets, scaled: list[Int64Array] | None) -> list[NumberArray] | None:
    """Return the samples of all buckets in one array. Missing: None where some bucket has too many, or they do not follow."""
    if own.n.max() > (MAX_FEW if scaled is not None else MAX_FEW - 1):
        return None
    columns: Sequence[NumberArray] = scaled if scaled is not None else (own.total, own.low, own.high, own.first, own.last)
    total, low, high, first, last = columns
    begins = np.cumsum(own.n) - own.n
    samples = cast("NumberArray", np.zeros(int(own.n.sum()), total.dtype))
    has_middle = own.n == MAX_FEW
    samples[begins[has_middle] + 1] = (total - first - last)[has_middle]
    samples[begins + own.n - 1] = last
    samples[begins] = first
    found = (*_summed(samples, begins), samples[begins + own.n - 1])
    # By bits: -0.0 is not 0.0.
    wanted = (total, low, high, last)
    is_same = all(np.array_equal(mine.view(np.int64), yours.view(np.int64)) for mine, yours in zip(found, wanted, strict=True))
    return [samples] if is_same else None


def _summed(samples: NumberArray, begins: Int64Array) -> tuple[NumberArray, NumberArray, NumberArray]:
    """Return sum, lowest and highest of each bucket."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.add.reduceat(samples, begins)
    return total, np.minimum.reduceat(samples, begins), np.maximum.reduceat(samples, begins)


def _scale(own: Buckets, decimals: int) -> list[Int64Array] | None:
    """Return total, low, high, first and last as whole numbers of the last decimal. Missing: None if they are not such numbers."""
    power = 10.0**decimals
    limit = EXACT / power
    if not all((np.abs(column) < limit).all() for column in (own.low, own.high, own.total)):
        return None
    whole = []
    for column in (own.low, own.high, own.first, own.last):
        numbers = np.rint(column * power)
        if not (numbers / power == column).all():
            return None
        whole.append(numbers.astype(np.int64))
    return [np.rint(own.total * power).astype(np.int64), *whole]


def _pack_column(column: NumberArray) -> bytes:
    bits = column.view(np.int64)
    if (bits == bits[0]).all():
        return bytes([CONSTANT if column.dtype.kind == "i" else CONSTANT_FLOAT]) + bits[:1].astype("<i8").tobytes()
    if column.dtype.kind == "f":
        return bytes([FLOAT]) + pack_numbers(column)
    return bytes([WHOLE]) + pack_integers(cast("Int64Array", column))


def _unpack_column(data: bytes, n: int) -> NumberArray:
    if data[0] in {CONSTANT, CONSTANT_FLOAT}:
        return np.repeat(np.frombuffer(data, "<i8" if data[0] == CONSTANT else "<f8", 1, 1), n)
    if data[0] == FLOAT:
        return cast("Float64Array", unpack_numbers(data[1:]))
    return unpack_integers(data[1:])


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a body: one entry for each group, and their offsets.

    Shape: groups (n,) GROUP; offsets (n + 1,) int64
    """

    groups: npt.NDArray[np.void]
    offsets: Int64Array

    @property
    def n_samples(self) -> int:
        """Samples of all instances."""
        return int(self.groups["n_samples"].sum())

    def find(self, instance_ids: Int64Array | None) -> Int64Array:
        """Return the groups in which these instances may be, ascending."""
        if instance_ids is None:
            return np.arange(len(self.groups))
        found = distinct_values(np.searchsorted(self.groups["last"], instance_ids))
        return found[found < len(self.groups)]

    def most_samples(self, groups: Int64Array) -> int:
        """Return the maximum number of samples of an instance in these groups."""
        return int(self.groups["most"][groups].max()) if len(groups) else 0


def read_head(body: bytes) -> Head:
    """Return the head of a body; its first HEAD_BYTES are enough.

    Raises: ValueError for a body of another version
    """
    head = np.frombuffer(body, HEAD, 1)[0]
    version = int(head["version"])
    if version not in {VERSION, VERSION_LEFT}:
        raise ValueError(f"A rollup of version {version}, {VERSION} expected; `normstat rollup rebuild` makes them again")
    groups = np.frombuffer(body, GROUP, int(head["n_groups"]), HEAD.itemsize)
    begin = HEAD.itemsize + groups.nbytes
    return Head(groups, begin + np.concatenate([[0], np.cumsum(groups["n_bytes"], dtype=np.int64)]))


def unpack(body: bytes, *, first_bucket: int, instance_ids: Int64Array | None = None) -> Buckets:
    """Return the buckets of a whole body, those of the groups that have these instances."""
    head = read_head(body)
    return merge_groups(
        unpack_group(head, group, body[head.offsets[group] : head.offsets[group + 1]], first_bucket)
        for group in head.find(instance_ids).tolist()
    )


def leave_out(body: bytes) -> bytes | None:
    """Return a body of minutes in which groups with few samples have their instances only. Missing: None where no more have.

    What is left out follows from the samples by `to_stored`, bit by bit.
    """
    head = read_head(body)
    groups, directory = [], head.groups.copy()
    for number, entry in enumerate(directory):
        data = body[head.offsets[number] : head.offsets[number + 1]]
        if data[0] != LEFT and entry["n_samples"] <= MAX_MEAN_LEFT * entry["n_rows"]:
            own = _read_columns(head, number, data, N_VALUES)
            # Without a common digit, sums depend on the order of additions from three samples on.
            if own.decimals != NOT_SCALED or own.n.max() < MAX_FEW:
                data = bytes([LEFT, own.decimals]) + _pack_column(own.ids)
        groups.append(data)
    directory["n_bytes"] = [len(data) for data in groups]
    if sum(map(len, groups)) >= len(body) - head.offsets[0]:
        return None
    return b"".join((np.array((VERSION_LEFT, 0, len(groups), 0), HEAD).tobytes(), directory.tobytes(), *groups))


@dataclass(frozen=True, slots=True)
class LeftGroup:
    """A group that is left to the samples of these instances (ascending); `decimals`: NOT_SCALED without a common digit."""

    ids: Int64Array
    decimals: int


def read_left(head: Head, group: int, data: bytes) -> LeftGroup | None:
    """Return the group if it is left to the samples. Missing: None where its buckets are stored."""
    if data[0] != LEFT:
        return None
    return LeftGroup(cast("Int64Array", _unpack_column(data[2:], int(head.groups[group]["n_instances"]))), data[1])


def to_stored(buckets: Buckets, decimals: int) -> Buckets:
    """Return buckets of samples as they are after they were stored in a group with these decimals: sums are rounded to them."""
    if decimals == NOT_SCALED:
        return buckets
    power = 10.0**decimals
    # Whole numbers have no -0.0.
    low, high, first, last = (column + 0.0 for column in (buckets.low, buckets.high, buckets.first, buckets.last))
    total = np.rint(buckets.total * power) / power + 0.0
    return Buckets(buckets.instance, buckets.bucket, buckets.n, total, low, high, first, last)


def merge_groups(groups: Iterable[Buckets]) -> Buckets:
    """Join the groups of a body, in their order."""
    parts = list(groups)
    if len(parts) == 1:
        return parts[0]
    return _join(parts) if parts else EMPTY


@dataclass(frozen=True, slots=True)
class GroupColumns:
    """The columns of a group. `values`: of FEW the samples, else sum, low, high, first, last, or only the first two, above low;
    of MIXED these of its buckets with more samples, after the samples of the others.
    """

    decimals: int
    form: int
    ids: Int64Array
    sizes: Int64Array
    bucket: Int64Array
    n: Int64Array
    values: Sequence[NumberArray]

    def total(self) -> NumberArray:
        """Return the sum of each bucket, scaled."""
        if self.form == FEW:
            return _sums(self.values[0], self.n)[0]
        if self.form == MIXED:
            is_few = self.n <= MAX_FEW
            samples, total, low, *_ = self.values
            return _joined(is_few, _sums(samples, self.n[is_few])[0], cast("NumberArray", total + self.n[~is_few] * low))
        total, low, *_ = self.values
        if self.decimals == NOT_SCALED:
            return total
        return cast("NumberArray", total + self.n * low)

    def summary(self) -> Sequence[NumberArray]:
        """Return sum, low, high, first and last of each bucket, scaled."""
        if self.form == FEW:
            return _sums(self.values[0], self.n)
        if self.form == MIXED:
            is_few = self.n <= MAX_FEW
            samples, *others = self.values
            few, many = _sums(samples, self.n[is_few]), _above_low(self.n[~is_few], others)
            return [_joined(is_few, mine, yours) for mine, yours in zip(few, many, strict=True)]
        return self.values if self.decimals == NOT_SCALED else _above_low(self.n, self.values)


def _sums(samples: NumberArray, n: Int64Array) -> Sequence[NumberArray]:
    """Return sum, low, high, first and last of buckets with that many samples each."""
    begins = np.cumsum(n) - n
    return (*_summed(samples, begins), samples[begins], samples[begins + n - 1])


def _above_low(n: Int64Array, values: Sequence[NumberArray]) -> Sequence[NumberArray]:
    total, low, high, first, last = values
    return total + n * low, low, low + high, low + first, low + last


def _joined(is_few: BoolArray, few: NumberArray, many: NumberArray) -> NumberArray:
    joined = np.empty(len(is_few), few.dtype)
    joined[is_few], joined[~is_few] = few, many
    return cast("NumberArray", joined)


def unpack_group(head: Head, group: int, data: bytes, first_bucket: int) -> Buckets:
    """Return the buckets of one group; `data` is its bytes in the body."""
    own = _read_columns(head, group, data, N_VALUES)
    total, low, high, first, last = own.summary()
    if own.decimals != NOT_SCALED:
        power = 10.0**own.decimals
        total, low, high, first, last = total / power, low / power, high / power, first / power, last / power
    return Buckets(
        np.repeat(own.ids, own.sizes),
        own.bucket + first_bucket,
        own.n,
        total.astype(np.float64),
        low.astype(np.float64),
        high.astype(np.float64),
        first.astype(np.float64),
        last.astype(np.float64),
    )


def sum_group(
    head: Head, group: int, data: bytes, first_bucket: int, is_inside: Callable[[Int64Array], BoolArray]
) -> tuple[Int64Array, Float64Array, Int64Array]:
    """Return the instances of one group with a bucket for which `is_inside` is true, their sums and number of samples over these.

    Less than half of the work of `unpack_group`, and enough for ranking.
    """
    own = _read_columns(head, group, data, N_VALUES_TO_SUM)
    totals = own.total()
    if own.decimals != NOT_SCALED:
        totals = totals / 10.0**own.decimals
    return _sum_by_instance(own.ids, own.sizes, is_inside(own.bucket + first_bucket), totals, own.n)


def sum_buckets(buckets: Buckets, inside: BoolArray) -> tuple[Int64Array, Float64Array, Int64Array]:
    """Return what `sum_group` returns, of buckets that are not packed. Shape: inside (n_buckets,)"""
    ids, sizes = np.unique(buckets.instance, return_counts=True)
    return _sum_by_instance(ids, sizes, inside, buckets.total, buckets.n)


def _sum_by_instance(
    ids: Int64Array, sizes: Int64Array, inside: BoolArray, totals: NumberArray, n: Int64Array
) -> tuple[Int64Array, Float64Array, Int64Array]:
    if not len(ids):
        return ids, _NOTHING, ids
    starts = np.cumsum(sizes) - sizes
    is_there = np.add.reduceat(inside, starts) > 0
    sums = _add(np.where(inside, totals, 0.0), starts)
    numbers = np.add.reduceat(np.where(inside, n, 0), starts)
    return ids[is_there], sums[is_there], numbers[is_there]


def _read_columns(head: Head, group: int, data: bytes, n_values: int) -> GroupColumns:
    """Return the columns of a group, with at most this many columns of values."""
    entry = head.groups[group]
    n_instances, n_rows = int(entry["n_instances"]), int(entry["n_rows"])
    form = data[0]
    if form == TOGETHER:
        return _read_together(data[1:], n_instances, n_rows, n_values)
    n_columns = N_KEYS + N_COLUMNS[form]
    lengths = np.frombuffer(data, "<u4", n_columns, 2)
    ends = 2 + 4 * n_columns + np.cumsum(lengths, dtype=np.int64)
    parts = [data[end - length : end] for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)]
    ids, rows, bucket, n = (
        cast("Int64Array", _unpack_column(part, size))
        for part, size in zip(parts[:N_KEYS], (n_instances, n_instances, n_rows, n_rows), strict=True)
    )
    wanted = [n_rows] * n_values
    if form == FEW:
        wanted = [int(entry["n_samples"])]
    elif form == MIXED:
        is_few = n <= MAX_FEW
        wanted = [int(n[is_few].sum()), *[int((~is_few).sum())] * n_values]
    values = [_unpack_column(part, size) for part, size in zip(parts[N_KEYS:], wanted, strict=False)]
    return GroupColumns(data[1], form, ids, rows, bucket, n, values)


def _read_together(data: bytes, n_instances: int, n_rows: int, n_values: int) -> GroupColumns:
    plain = unpack_zstd(data)
    columns: list[NumberArray] = []
    at = 1
    for number in range(N_KEYS + n_values):
        column, at = _unpack_planes(plain, at, n_rows if number > 1 else n_instances)
        columns.append(column)
    ids, sizes, steps, n = (column.astype(np.int64) for column in columns[:N_KEYS])
    return GroupColumns(plain[0], SUMMED, ids, sizes, np.cumsum(steps - 2**15), n, columns[N_KEYS:])


def _pack_planes(column: NumberArray) -> bytes:
    """Return kind, minimum, and the distances above it in byte planes: all first bytes, then all second bytes, and so on."""
    if column.dtype.kind == "f":
        return bytes([FLOAT_CODE]) + _to_planes(column.astype("<f8"))
    least, greatest = int(column.min()), int(column.max())
    # If the distance would not fit, the numbers are stored unchanged.
    code = next((code for code in range(3) if greatest - least < 256 ** INTEGERS[code].itemsize), 3)
    base = least if code < 3 else 0
    return bytes([code]) + base.to_bytes(8, "little", signed=True) + _to_planes((column - base).astype(INTEGERS[code]))


def _to_planes(column: npt.NDArray[np.generic]) -> bytes:
    return np.ascontiguousarray(column.view(np.uint8).reshape(len(column), column.dtype.itemsize).T).tobytes()


def _unpack_planes(plain: bytes, at: int, n: int) -> tuple[NumberArray, int]:
    """Return what `_pack_planes` packed, and where the next column begins."""
    code = plain[at]
    at += 1
    if code == FLOAT_CODE:
        return cast("Float64Array", _from_planes(plain, at, n, 8).view("<f8").reshape(n)), at + 8 * n
    base = int.from_bytes(plain[at : at + 8], "little", signed=True)
    size = INTEGERS[code].itemsize
    numbers = _from_planes(plain, at + 8, n, size).view(INTEGERS[code]).reshape(n)
    return numbers.astype(np.int64) + base, at + 8 + size * n


def _from_planes(plain: bytes, at: int, n: int, size: int) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(np.frombuffer(plain, np.uint8, n * size, at).reshape(size, n).T)
