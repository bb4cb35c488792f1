"""A whole table part as CSV, for a spreadsheet."""

from collections.abc import Iterator
from typing import Final

from normstat.artefacts.parts import TablePart
from normstat.runtime.csv_cells import format_csv
from normstat.window import from_us

HEADER: Final = ("report", "time")


def write_table_csv(part: TablePart) -> bytes:
    """Return the rows of a part in the order of the text: UTF-8, CRLF, a header of keys with units.

    Missing: an empty cell
    """
    titles = [f"{column.key}[{column.unit}]" if column.unit else column.key for column in part.columns]
    times = ["" if time is None else from_us(time).isoformat().replace("+00:00", "Z") for time in part.report_us]
    rows: Iterator[list[object]] = (
        [report, times[report], *(key[row] for key in part.keys), *(column[row] for column in part.values)]
        for row, report in enumerate(part.report)
    )
    return format_csv([[*HEADER, *part.key_names, *titles], *rows]).encode("utf-8", errors="replace")
