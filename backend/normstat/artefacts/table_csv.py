"""A whole table part as CSV, for a spreadsheet."""

import csv
import io
from typing import Final

from normstat.artefacts.parts import Number, TablePart
from normstat.window import from_us

HEADER: Final = ("report", "time")


def write_table_csv(part: TablePart) -> bytes:
    """Return the rows of a part in the order of the text: UTF-8, CRLF, a header of keys with units.

    Missing: an empty cell
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    titles = [f"{column.key}[{column.unit}]" if column.unit else column.key for column in part.columns]
    writer.writerow([*HEADER, *part.key_names, *titles])
    times = ["" if time is None else from_us(time).isoformat().replace("+00:00", "Z") for time in part.report_us]
    for row, report in enumerate(part.report):
        keys = [key[row] for key in part.keys]
        writer.writerow([report, times[report], *keys, *(_cell(column[row]) for column in part.values)])
    return out.getvalue().encode("utf-8", errors="replace")


def _cell(value: Number | None) -> str:
    return "" if value is None else repr(value)
