"""/proc/net/dev: a header of two lines with the columns of both directions, and a row for each interface.

    Inter-|   Receive                                                |  Transmit
     face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
      eth0:1687369235   40050    0    0    0     0          0         0  2228377   23618    0    0    0     0       0          0

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"Inter-| Receive | Transmit\\n face |bytes packets|bytes packets\\n  eth0:1687369235 40050 2228377 23618\\n"
>>> block = read(require_spec("proc_net_dev"), text, state={}, offset=0).blocks[0]
>>> block.instances, [field.key for field in block.fields]
(['eth0'], ['receive_bytes', 'receive_packets', 'transmit_bytes', 'transmit_packets'])
"""

import re
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Rejected
from normstat.stats.engine.snapshot import SnapshotReader
from normstat.stats.layout import OneStatLayout
from normstat.stats.records import LineKind, State

TITLE: Final = re.compile(r"Inter-\|\s*Receive\s*\|\s*Transmit")
HEADER: Final = re.compile(r"face\s*\|(?P<receive>[\w\s]{1,500})\|(?P<transmit>[\w\s]{1,500})", re.ASCII)
ROW: Final = re.compile(r"(?P<name>\S.{0,60}):(?P<numbers>[\s\d]+)", re.ASCII)
MAX_DIGITS: Final = 18


LAYOUT: Final = OneStatLayout


class Reader(SnapshotReader[OneStatLayout]):
    """One call of the reader: `_columns` are (group, column) of the header."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        columns = own.get("columns")
        self._columns = [(str(group), str(name)) for group, name in columns] if isinstance(columns, list) else []

    def save(self) -> State:
        """Return the state for the next piece."""
        return {**super().save(), "columns": [list(column) for column in self._columns]}

    def end_report(self) -> None:
        """End the present report: its rows are complete."""
        super().end_report()
        self._columns = []

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the outcome of the line, after adding its row."""
        if TITLE.fullmatch(text) is not None:
            self.end_report()
            return LineKind.HEADER
        header = HEADER.fullmatch(text)
        if header is not None:
            self._columns = [(group, name) for group in ("receive", "transmit") for name in header[group].split()]
            return LineKind.HEADER
        row = ROW.fullmatch(text)
        if row is None or not self._columns:
            return NOT_MINE
        words = row["numbers"].split()
        if len(words) != len(self._columns) or max(map(len, words)) > MAX_DIGITS:
            return Rejected(f"{len(words)} numbers for {len(self._columns)} columns, or one of more than {MAX_DIGITS} digits")
        self.want_report()
        refused = self.add_row(self.spec.stats[0], self._columns, words, instance=row["name"].rstrip(), offset=line.offset)
        return refused or LineKind.SAMPLE
