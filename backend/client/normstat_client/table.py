"""A table that needs no library, and becomes a pandas frame where pandas is installed."""

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

TIMES = ("time", "begin", "end")
# As the server's CSV names columns: io_time_pct[%].
UNIT = re.compile(r"(?P<name>.+)\[(?P<unit>.*)\]")


@dataclass(frozen=True)
class Table:
    """Columns by name, all of one length. Missing: None"""

    columns: "dict[str, list[object]]"

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.columns.values()), []))

    def to_pandas(self) -> "pd.DataFrame":
        """Return the frame: times are in UTC; a column `time` is its index. Columns have their units in `attrs["units"]`.

        Raises: ImportError without pandas
        """
        try:
            import pandas as pd  # noqa: PLC0415
        except ImportError:
            raise ImportError("pandas is not installed: pip install 'normstat-client[pandas]', or use the Table itself") from None
        frame = pd.DataFrame(self.columns)
        for name in TIMES:
            if name in frame:
                frame[name] = pd.to_datetime(frame[name], utc=True, format="ISO8601")
        split = {name: UNIT.fullmatch(name) for name in self.columns}
        units = {found["name"]: found["unit"] for found in split.values() if found is not None}
        frame = frame.rename(columns={name: found["name"] for name, found in split.items() if found is not None})
        if "time" in frame:
            # The same instants as numbers, for programs without times.
            frame = frame.drop(columns="epoch", errors="ignore").set_index("time")
        frame.attrs["units"] = units
        return frame


def read_csv(text: str) -> Table:
    """Return the table of a CSV file with a header. Numbers are numbers, an empty cell is None.

    >>> read_csv("time,cpu,idle\\r\\n2026-11-28T12:00:00Z,all,98.5\\r\\n2026-11-28T12:00:01Z,all,\\r\\n").columns["idle"]
    [98.5, None]
    """
    rows = csv.reader(io.StringIO(text, newline=""))
    header = next(rows, [])
    columns: dict[str, list[object]] = {name: [] for name in header}
    for row in rows:
        for name, cell in zip(header, row, strict=False):
            columns[name].append(cell or None)
    # A column is numbers when all of it is: an instance may be called 0, its neighbour sda.
    return Table({name: _numbers(cells) if name not in TEXTS else cells for name, cells in columns.items()})


TEXTS = frozenset({"time", "host", "stat", "instance", "field", "unit"})


def _numbers(cells: "list[object]") -> "list[object]":
    try:
        return [None if cell is None else float(str(cell)) for cell in cells]
    except ValueError:
        return cells
