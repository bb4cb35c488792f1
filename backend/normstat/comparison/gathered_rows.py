"""Gather the pages of a stat into columns by instance.

A page is copied and dropped. Pages held until the last one has come would be thousands of small pieces of memory, which the process
keeps when they are free again, beside the columns made of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from normstat.comparison.stored_columns import StoredColumns
from normstat.scoring.summary import IntArray
from normstat.stats.spec import Field
from normstat.storage.sample_pages import Page, StoredArray, to_codes
from normstat.storage.sealed.sealed_codec import missing_of

# Rows of a segment: one array of each column.
SEGMENT_ROWS: Final = 1 << 18

RowArray = npt.NDArray[np.integer]


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
        found = [np.unique(segment) for segment in self._instance.parts()]
        return np.unique(np.concatenate(found)).tolist() if found else []

    def take(self) -> RowsByInstance:
        """Return all rows, and forget them, column by column."""
        times = np.concatenate(self._times) if self._times else np.empty(0, np.int64)
        report = self._report.take()
        if (np.diff(times) <= 0).any():
            times, places = np.unique(times, return_inverse=True)
            report = places.reshape(-1).astype(np.int32)[report]
        ids, codes = to_codes(self._instance.take().astype(np.int64))
        # Sorting codes of two bytes is quick.
        order = np.argsort(codes, kind="stable").astype(np.int32)
        columns = {
            self._fields[number].key: (self._fields[number], cast("StoredArray", self._columns.pop(number).take()[order]))
            for number in sorted(self._columns)
        }
        return RowsByInstance(times, ids, report[order], codes.astype(np.int32)[order], StoredColumns(columns))


class _Segments:
    """A growing column."""

    def __init__(self, dtype: np.dtype[np.generic]) -> None:
        self.dtype = dtype
        self._segments: list[npt.NDArray[np.generic]] = []
        self._n_in_last = SEGMENT_ROWS

    def add(self, values: npt.NDArray[np.generic]) -> None:
        at = 0
        while at < len(values):
            if self._n_in_last == SEGMENT_ROWS:
                self._segments.append(np.empty(SEGMENT_ROWS, self.dtype))
                self._n_in_last = 0
            n = min(len(values) - at, SEGMENT_ROWS - self._n_in_last)
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
        return np.concatenate(parts) if parts else np.empty(0, self.dtype)
