"""Rows, gathered into columnar blocks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from normstat.stats.engine.number_formats import INT8_MAX
from normstat.stats.records import Int64Array, RowNames, SampleBlock, ValueArray
from normstat.stats.spec import Field, Stat, Storage


@dataclass(frozen=True, slots=True)
class Row:
    """One row as read word by word. `missing` names the values by their places; `printed` is None for a canonical row."""

    values: Sequence[int | float]
    missing: tuple[int, ...]
    printed: str | None


@dataclass(frozen=True, slots=True)
class BulkRows:
    """Rows as read in bulk, all canonical. `missing` has a mask for each field with rows without a value, else None; () is none.

    Shape: all (n_rows,). `bound`: no whole number is farther from 0; None: unknown.
    """

    time_us: Int64Array
    instances: Sequence[str]
    values: list[ValueArray]
    line_offset: Int64Array
    missing: Sequence[npt.NDArray[np.bool_] | None] = ()
    bound: int | None = None

    def mask_of(self, field: int) -> npt.NDArray[np.bool_] | None:
        """Return where a field has no value. Missing: None where it always has one."""
        return self.missing[field] if self.missing else None


def to_array(numbers: Sequence[int | float], field: Field) -> ValueArray:
    """Return the values of a field as an array of its type."""
    return np.array(numbers, dtype=np.int64) if field.storage.is_whole else np.array(numbers, dtype=np.float64)


def _words_of(row: Row, fields: Sequence[Field]) -> str:
    """Return the words of a canonical row."""
    return " ".join(
        "-" if at in row.missing else str(value) if field.storage.is_whole else f"{value:.{field.decimals}f}"
        for at, (value, field) in enumerate(zip(row.values, fields, strict=True))
    )


def _join_masks(parts: Sequence[BulkRows], field: int) -> npt.NDArray[np.bool_] | None:
    masks = [part.mask_of(field) for part in parts]
    if all(mask is None for mask in masks):
        return None
    return np.concatenate(
        [np.zeros(len(part.time_us), np.bool_) if mask is None else mask for part, mask in zip(parts, masks, strict=True)]
    )


class BlockBuilder:
    """Gathers rows that share stat and fields; rows read in bulk and rows read singly may come in any order."""

    def __init__(self, stat: Stat, fields: tuple[Field, ...]) -> None:
        self.stat = stat
        self.fields = fields
        self._rows: list[Row] = []
        self._times: list[int] = []
        self._instances: list[str] = []
        self._offsets: list[int] = []
        self._bulk: list[BulkRows] = []

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the fields."""
        return tuple(field.key for field in self.fields)

    def add(self, row: Row, time_us: int, instance: str, offset: int) -> None:
        """Take one row."""
        self._rows.append(row)
        self._times.append(time_us)
        self._instances.append(instance)
        self._offsets.append(offset)

    def add_bulk(self, rows: BulkRows) -> None:
        """Take many rows."""
        self._bulk.append(rows)

    def build(self) -> list[SampleBlock]:
        """Return all rows in the order of their lines.

        Rows with a whole number of 64 bits, which no int64 holds, are blocks of their own, with floats there: the result for a row
        does not depend on its neighbours.
        """
        try:
            return [self._build()]
        except OverflowError:
            return [block for builder in self._split() for block in builder.build()]

    def _split(self) -> list["BlockBuilder"]:
        """Return a builder for each set of fields that have such numbers in a row; rows read in bulk have none."""
        found: dict[tuple[int, ...], BlockBuilder] = {}
        if self._bulk:
            found[()] = BlockBuilder(self.stat, self.fields)
            for part in self._bulk:
                found[()].add_bulk(part)
        for row, time_us, instance, offset in zip(self._rows, self._times, self._instances, self._offsets, strict=True):
            wide = tuple(
                at
                for at, (value, field) in enumerate(zip(row.values, self.fields, strict=True))
                if value > INT8_MAX and field.storage.is_whole
            )
            if wide not in found:
                fields = (replace(field, storage=Storage.FLOAT8) if at in wide else field for at, field in enumerate(self.fields))
                found[wide] = BlockBuilder(self.stat, tuple(fields))
            own = replace(row, printed=row.printed or _words_of(row, self.fields)) if wide else row
            found[wide].add(own, time_us, instance, offset)
        return [found[wide] for wide in sorted(found)]

    def _build(self) -> SampleBlock:
        parts = list(self._bulk)
        if self._rows:
            columns = list(zip(*(row.values for row in self._rows), strict=True))
            parts.append(
                BulkRows(
                    time_us=np.array(self._times, dtype=np.int64),
                    instances=self._instances,
                    values=[to_array(column, field) for column, field in zip(columns, self.fields, strict=True)],
                    line_offset=np.array(self._offsets, dtype=np.int64),
                )
            )
        if len(parts) == 1:
            return self._block(parts[0], None)
        joined = BulkRows(
            time_us=np.concatenate([part.time_us for part in parts]),
            instances=RowNames.join([part.instances for part in parts]),
            values=[np.concatenate([part.values[at] for part in parts]) for at in range(len(self.fields))],
            line_offset=np.concatenate([part.line_offset for part in parts]),
            missing=[_join_masks(parts, at) for at in range(len(self.fields))],
        )
        return self._block(joined, np.argsort(joined.line_offset, kind="stable"))

    def _block(self, rows: BulkRows, order: npt.NDArray[np.intp] | None) -> SampleBlock:
        """Return the block; rows read one by one stand last in `rows`, `order` puts all into the order of their lines."""
        n_rows = len(rows.time_us)
        n_before = n_rows - len(self._rows)
        if order is None:
            place = np.arange(n_rows)
        else:
            place = np.empty(n_rows, dtype=np.intp)
            place[order] = np.arange(n_rows)
            names = rows.instances if isinstance(rows.instances, RowNames) else RowNames.number(rows.instances)
            rows = BulkRows(
                time_us=rows.time_us[order],
                instances=names.take(order),
                values=[column[order] for column in rows.values],
                line_offset=rows.line_offset[order],
                missing=[None if mask is None else mask[order] for mask in rows.missing],
            )
        missing = [rows.mask_of(at) for at in range(len(self.fields))]
        printed: dict[int, str] = {}
        for number, row in enumerate(self._rows, start=n_before):
            if row.printed is not None:
                printed[int(place[number])] = row.printed
            for at in row.missing:
                mask = missing[at]
                if mask is None:
                    mask = missing[at] = np.zeros(n_rows, dtype=np.bool_)
                mask[place[number]] = True
        return SampleBlock(
            stat=self.stat,
            fields=self.fields,
            time_us=rows.time_us,
            instances=rows.instances,
            values=tuple(rows.values),
            line_offset=rows.line_offset,
            missing=tuple(missing),
            printed=printed,
            bound=rows.bound,
        )
