"""/proc/net/netstat and /proc/net/snmp: a line with the names of a protocol's counters, then one with their numbers.

    Ip: Forwarding DefaultTTL InReceives InHdrErrors
    Ip: 1 64 545746 0

All counters of a snapshot are one row; a column is the protocol and the name, as nstat(8) has it: "IpInReceives".

Keys of `[layout]`:
    others    protocols whose counters are a row of another stat than the first, with the name of that stat

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"Ip: Forwarding InReceives\\nIp: 1 545746\\nUdp: InErrors\\nUdp: 0\\n"
>>> block = read(require_spec("proc_net_snmp"), text, state={}, offset=0, is_final=True).blocks[0]
>>> [field.column for field in block.fields], [column.tolist() for column in block.values]
(['IpForwarding', 'IpInReceives', 'UdpInErrors'], [[1], [545746], [0]])
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Rejected
from normstat.stats.engine.snapshot import SnapshotReader
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Layout, Stat

LINE: Final = re.compile(r"(?P<protocol>[A-Z]\w{0,30}): +(?P<words>\S.*)", re.ASCII)
NAME: Final = re.compile(r"[A-Za-z]\w{0,60}", re.ASCII)
NUMBER: Final = re.compile(r"-?\d{1,20}", re.ASCII)
MAX_NAMES: Final = 1024


@dataclass(frozen=True)
class ProtocolLayout(Layout):
    """Protocols whose counters are a row of another stat than the first one."""

    others: Mapping[str, Stat] = field(default_factory=dict)


LAYOUT: Final = ProtocolLayout


class Reader(SnapshotReader[ProtocolLayout]):
    """One call of the reader: `_names` are those of the line before, of the protocol `_protocol`."""

    # Its own lines have names before them: "Ip: Forwarding DefaultTTL".
    prefix_kinds = frozenset({FormKind.SURE, FormKind.CLOCKS})

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        self._names = texts_of(own.get("names"))
        self._protocol = str(own.get("protocol", ""))

    def save(self) -> State:
        """Return the state for the next piece."""
        return {**super().save(), "names": self._names, "protocol": self._protocol}

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the outcome of the line, after adding its row."""
        found = LINE.fullmatch(text)
        if found is None:
            return NOT_MINE
        words = found["words"].split()
        if len(words) > MAX_NAMES:
            return Rejected(f"more than {MAX_NAMES} words")
        if NAME.fullmatch(words[0]) is not None:
            if not all(map(NAME.fullmatch, words)) or len(set(words)) != len(words):
                return Rejected("not a list of different names")
            self._names, self._protocol = words, found["protocol"]
            return LineKind.HEADER
        names, self._names = self._names, []
        if not names or found["protocol"] != self._protocol:
            return Rejected("numbers without a line of names before them")
        if len(words) != len(names) or not all(map(NUMBER.fullmatch, words)):
            return Rejected(f"{len(words)} words for {len(names)} names")
        columns = [self._protocol + name for name in names]
        stat = self.layout.others.get(self._protocol, self.spec.stats[0])
        return self.gather(stat, columns, words, offset=line.offset) or LineKind.SAMPLE
