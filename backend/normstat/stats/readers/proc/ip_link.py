"""ip -s link (and ip -s addr) of iproute2: a few lines for each interface, headers with the columns of each direction.

    2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1400 qdisc pfifo_fast state UP mode DEFAULT group default qlen 1000
        link/ether 02:fc:00:00:00:01 brd ff:ff:ff:ff:ff:ff
        RX:  bytes packets errors dropped  missed   mcast
        1687369235   40050      0       0       0       0
        TX:  bytes packets errors dropped carrier collsns
           2228377   23618      0       0       0       0

All numbers of an interface are one row; a column is the direction and the name, "RX bytes"; with -s -s there are "RX length" of the
header "RX errors:" and others. Virtual functions ("vf 0") are separate rows, "eth0 vf 0".

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"1: lo: <LOOPBACK,UP> mtu 65536\\n    RX: bytes packets\\n    588948574 505641\\n    TX: bytes packets\\n    5 6\\n"
>>> block = read(require_spec("ip_s_link_linux"), text, state={}, offset=0, is_final=True).blocks[0]
>>> block.instances, [field.column for field in block.fields]
(['lo'], ['mtu', 'RX bytes', 'RX packets', 'TX bytes', 'TX packets'])
"""

import re
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.number_formats import SUFFIXES
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.snapshot import SnapshotReader
from normstat.stats.layout import OneStatLayout
from normstat.stats.records import LineKind, State, number_of, texts_of

INTERFACE: Final = re.compile(
    r"(?P<index>\d{1,9}): (?P<name>[^\s:]\S{0,60}?)(?:@\S{1,60})?: <[^<>]{0,300}>(?P<rest>.{0,400})", re.ASCII
)
SETTING: Final = re.compile(r" (?P<name>mtu|qlen) (?P<number>\d{1,12})(?=\s|$)", re.ASCII)
HEADER: Final = re.compile(r"(?P<side>RX|TX)(?: errors)?: +(?P<names>[a-z_]\w{0,20}(?: +[a-z_]\w{0,20}){0,20})", re.ASCII)
NUMBERS: Final = re.compile(r"\d{1,20}(?:\.\d{1,3})?(?:[kKMGTPE]i?)?(?:\s+\d{1,20}(?:\.\d{1,3})?(?:[kKMGTPE]i?)?){0,20}", re.ASCII)
FUNCTION: Final = re.compile(r"vf (?P<number>\d{1,5})\b.{0,400}", re.ASCII)
# Other lines about an interface: addresses, kinds, settings.
OTHER: Final = re.compile(r"[a-z].{0,2000}")


LAYOUT: Final = OneStatLayout


class Reader(SnapshotReader[OneStatLayout]):
    """One call of the reader: `_columns` are those of the header before, `_index` is the number of the interface before."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        self._columns = texts_of(own.get("columns"))
        self._name = str(own.get("name", ""))
        self._instance = str(own.get("instance", ""))
        self._index = number_of(own.get("index"), 0)

    def save(self) -> State:
        """Return the state for the next piece."""
        own = {"columns": self._columns, "name": self._name, "instance": self._instance, "index": self._index}
        return {**super().save(), **own}

    def end_report(self) -> None:
        """End the present report: its rows are complete."""
        super().end_report()
        self._index = 0

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the outcome of the line, after adding its row."""
        interface = INTERFACE.fullmatch(text)
        if interface is not None:
            return self._take_interface(line, interface)
        if not self._name:
            return NOT_MINE
        header = HEADER.fullmatch(text)
        if header is not None:
            side = header["side"]
            self._columns = [f"{side} {name}" for name in header["names"].split()]
            return LineKind.HEADER
        if NUMBERS.fullmatch(text) is not None:
            return self._take_numbers(line, text.split())
        function = FUNCTION.fullmatch(text)
        if function is not None:
            self._instance, self._columns = f"{self._name} vf {function['number']}", []
            return LineKind.HEADER
        return LineKind.IGNORED if OTHER.fullmatch(text) is not None else NOT_MINE

    def _take_interface(self, line: Line, found: re.Match[str]) -> Outcome:
        # The kernel numbers its interfaces, and lists them in that order.
        index = int(found["index"])
        if index <= self._index:
            self.end_report()
        self._index = index
        self.flush()
        self._name = self._instance = found["name"]
        self._columns = []
        settings = {setting["name"]: setting["number"] for setting in SETTING.finditer(found["rest"])}
        if not settings:
            return LineKind.HEADER
        stat = self.spec.stats[0]
        refused = self.gather(stat, list(settings), list(settings.values()), instance=self._instance, offset=line.offset)
        return refused or LineKind.SAMPLE

    def _take_numbers(self, line: Line, words: list[str]) -> Outcome:
        columns, self._columns = self._columns, []
        if len(words) != len(columns):
            return Rejected(f"{len(words)} numbers for {len(columns)} columns")
        stat = self.spec.stats[0]
        if self.has_gathered(stat.name, self._instance, columns):
            return Rejected(f"the columns of {self._instance} appear twice")
        # "-iec" prints powers of 1024; the field's suffixes are those of "-h", powers of 1000.
        numbers = [_binary(word) if word.endswith("i") else word for word in words]
        return self.gather(stat, columns, numbers, instance=self._instance, offset=line.offset) or LineKind.SAMPLE


def _binary(word: str) -> str:
    value = float(word[:-2]) * 1024.0 ** (SUFFIXES.index(word[-2].upper()) + 1)
    return f"{value:.3f}".rstrip("0").rstrip(".")
