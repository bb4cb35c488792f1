"""Gather the pages of a stat into columns by instance.

A page is copied and dropped. Pages held until the last one has come would be thousands of small pieces of memory, which the process
keeps when they are free again, beside the columns made of them.
"""

import mmap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeVar, cast

import numpy as np
import numpy.typing as npt

from normstat.codecs.sealed_codec import missing_of
from normstat.runtime.arrays import distinct_values
from normstat.samples.sample_pages import Page, StoredArray, to_codes, to_floats
from normstat.scoring.summary import FloatArray, IntArray
from normstat.stats.spec import Field


class StoredColumns(Mapping[str, FloatArray]):
    """The columns of fields, by key; each is made on access and not cached here."""

    def __init__(self, columns: Mapping[str, tuple[Field, StoredArray]]) -> None:
        self._columns = columns

    def __getitem__(self, key: str) -> FloatArray:
        return to_floats(*self._columns[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, key: object) -> bool:
        # A mapping would make the column to find out.
        return key in self._columns

    def part(self, key: str, rows: slice) -> FloatArray:
        """Return some rows of a column."""
        field, column = self._columns[key]
        return to_floats(field, column[rows])


# Rows of the segments of a column: each has twice as many as the one before.
MIN_SEGMENT_ROWS: Final = 1 << 12
MAX_SEGMENT_ROWS: Final = 1 << 20
# An array of this size has memory of its own. The process's allocator keeps freed memory in pieces, per thread.
OWN_MEMORY_BYTES: Final = 1 << 20
# Memory of this size comes in large pages: a small one takes as long as reading its values does.
LARGE_PAGES_BYTES: Final = 4 << 20

RowArray = npt.NDArray[np.integer]
Number_ = TypeVar("Number_", bound=np.generic)


@dataclass(frozen=True, slots=True)
class RowsByInstance:
    """Samples sorted by instance, then by time.

    Shape: times_us (n_reports,), ascending; instance_ids (n_instances,), ascending; report, instance (n_rows,), places in them
    """

    times_us: IntArray
    instance_ids: IntArray
    report: RowArray
    instance: RowArray
    columns: StoredColumns


class GatheredRows:
    """The samples of pages so far; columns without any value take nothing."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = fields
        self._times: list[IntArray] = []
        self._n_reports = 0
        self._report, self._instance = _Segments(np.dtype(np.int32)), _Segments(np.dtype(np.int32))
        self._columns: dict[int, _Segments] = {}
        self.n_rows = 0

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return sum(segments.dtype.itemsize for segments in (self._report, self._instance, *self._columns.values()))

    @property
    def n_columns(self) -> int:
        """Fields with a value."""
        return len(self._columns)

    def add(self, page: Page) -> None:
        """Copy the rows of the next page, which are in the order of time."""
        is_new = np.concatenate([[True], np.diff(page.time_us) != 0])
        self._times.append(page.time_us[is_new])
        self._report.add(np.cumsum(is_new, dtype=np.int32) + np.int32(self._n_reports - 1))
        self._n_reports += len(self._times[-1])
        self._instance.add(page.instance_id)
        for number, (has, column) in enumerate(zip(page.has_values, page.values, strict=True)):
            if has and number not in self._columns:
                own = _Segments(column.dtype)
                own.add(np.broadcast_to(np.array(missing_of(column.dtype), column.dtype), self.n_rows))
                self._columns[number] = own
            if number in self._columns:
                # A page without values of the field has missing ones here.
                self._columns[number].add(column)
        self.n_rows += len(page)

    def find_ids(self) -> list[int]:
        """Return the ids of the instances, ascending."""
        found = [distinct_values(segment) for segment in self._instance.parts()]
        return distinct_values(np.concatenate(found)).tolist() if found else []

    def take(self) -> RowsByInstance:
        """Return all rows, and forget them, column by column."""
        times = np.concatenate(self._times) if self._times else np.empty(0, np.int64)
        report = self._report.take().astype(np.int32, copy=False)
        if (np.diff(times) <= 0).any():
            times, places = np.unique(times, return_inverse=True)
            report = places.reshape(-1).astype(np.int32)[report]
        ids, codes = to_codes(self._instance.take().astype(np.int64))
        # Sorting codes of two bytes is quick.
        order = np.argsort(codes, kind="stable").astype(np.int32)
        columns = {
            self._fields[number].key: (
                self._fields[number],
                cast("StoredArray", _in_order(self._columns.pop(number).take(), order)),
            )
            for number in sorted(self._columns)
        }
        instance = _in_order(codes.astype(np.int32), order)
        return RowsByInstance(times, ids, _in_order(report, order), instance, StoredColumns(columns))


def _in_order(values: npt.NDArray[Number_], order: npt.NDArray[np.int32]) -> npt.NDArray[Number_]:
    # Places that are out of bounds would be clipped; there are none, and looking for them takes time.
    return values.take(order, out=make_array(len(order), values.dtype), mode="clip")


def make_array(n: int, dtype: np.dtype[Number_]) -> npt.NDArray[Number_]:
    """Return an array whose memory goes back to the system as soon as it is dropped, if it is a large one."""
    n_bytes = n * dtype.itemsize
    if n_bytes < OWN_MEMORY_BYTES:
        return np.empty(n, dtype)
    memory = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if n_bytes >= LARGE_PAGES_BYTES and hasattr(mmap, "MADV_HUGEPAGE"):
        # A kernel without large pages refuses, and gives small ones.
        with suppress(OSError):
            memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype, n)


class _Segments:
    """A growing column."""

    def __init__(self, dtype: np.dtype[np.generic]) -> None:
        self.dtype = dtype
        self._segments: list[npt.NDArray[np.generic]] = []
        self._n_in_last = 0

    def add(self, values: npt.NDArray[np.generic]) -> None:
        at = 0
        while at < len(values):
            n_free = len(self._segments[-1]) - self._n_in_last if self._segments else 0
            if n_free == 0:
                n_free = min(2 * len(self._segments[-1]), MAX_SEGMENT_ROWS) if self._segments else MIN_SEGMENT_ROWS
                self._segments.append(make_array(n_free, self.dtype))
                self._n_in_last = 0
            n = min(len(values) - at, n_free)
            self._segments[-1][self._n_in_last : self._n_in_last + n] = values[at : at + n]
            self._n_in_last += n
            at += n

    def parts(self) -> list[npt.NDArray[np.generic]]:
        """Return the values, in pieces."""
        return [*self._segments[:-1], self._segments[-1][: self._n_in_last]] if self._segments else []

    def take(self) -> npt.NDArray[np.generic]:
        """Return the whole column, and forget it."""
        parts = self.parts()
        self._segments.clear()
        if len(parts) == 1:
            return parts[0]
        whole = make_array(sum(map(len, parts)), self.dtype)
        return np.concatenate(parts, out=whole) if parts else whole
