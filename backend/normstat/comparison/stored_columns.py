"""Columns of samples in the narrow types that they are stored in; wide numbers are made of the rows that are asked for."""

from collections.abc import Iterator, Mapping

from normstat.samples.sample_pages import StoredArray, to_floats
from normstat.scoring.summary import FloatArray
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
