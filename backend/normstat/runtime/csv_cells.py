"""CSV for spreadsheets: the one place that writes it, so that untrusted text is never run as a formula.

`/export.csv` is not among them: it is data for tools, and a changed name would be a wrong one (query/export/csv_export.py).
"""

import csv
import io
import re
from collections.abc import Iterable
from typing import Final

# The wide signs are what Chinese and Japanese spreadsheets take for =, +, - and @.
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
PLAIN_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def safe_cell(text: str) -> str:
    """Return the text, with an apostrophe before it where a spreadsheet would take it for a formula. Numbers stay numbers.

    >>> safe_cell("=1+1"), safe_cell("-1.5"), safe_cell("-1+1")
    ("'=1+1", '-1.5', "'-1+1")
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) and PLAIN_NUMBER.fullmatch(text) is None else text


def format_csv(rows: Iterable[Iterable[object]]) -> str:
    """Return the rows with CRLF, every text a safe cell, and numbers with all their digits. Missing: an empty cell for None."""
    out = io.StringIO(newline="")
    # CRLF also where lines are printed: only then is a single CR or LF within a cell quoted.
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerows([safe_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()
