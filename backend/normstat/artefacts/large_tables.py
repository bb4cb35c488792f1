"""Split very large tables into several parts, so that reading one page never unpacks a whole table."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from normstat.artefacts.parts import Part, TablePart

# Some 20 MiB of JSON. No tool's profile or lock report comes near.
MAX_ROWS: Final = 100_000


def split_tables(parts: Iterable[Part], most: int = MAX_ROWS) -> Iterator[Part]:
    """Yield the parts, tables of more rows in pieces of `most`; a piece says which rows it has."""
    for part in parts:
        if not isinstance(part, TablePart) or part.n_rows <= most:
            yield part
            continue
        for begin in range(0, part.n_rows, most):
            rows = slice(begin, begin + most)
            end = min(begin + most, part.n_rows)
            yield replace(
                part,
                title=f"{part.title}, rows {begin + 1:,} to {end:,} of {part.n_rows:,}",
                keys=tuple(key[rows] for key in part.keys),
                values=tuple(values[rows] for values in part.values),
                report=part.report[rows],
            )
