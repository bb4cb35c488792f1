"""Numbers with their names in lines of text: netstat -s of Solaris, vmstat -s.

TCP	tcpRtoAlgorithm     =     4	tcpRtoMin           =   200
        tcpActiveOpens      =956686	tcpPassiveOpens     =711692

IGMP:
          0 messages received
         25 membership reports sent

Keys of `[layout]`:
    sections   the stat of each section, by the word that its first line begins with; "" is that of lines before any section
    counts     regular expression of a line that is a number and what it counts, with the groups `number` and `name`; such lines are
               taken where it is there
    blank_ends true when a blank line ends a section

A value that is a word ("vanj") is ignored. All numbers of a section are one row; a repeated name starts the next report.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = __doc__.split("\\n\\n")[1].encode() + b"\\n"
>>> block = read(require_spec("netstat_s_solaris"), excerpt, state={}, offset=0, is_final=True).blocks[0]
>>> [(field.key, values.tolist()) for field, values in zip(block.fields, block.values)][1:3]
[('rto_min', [200]), ('active_opens', [956686])]
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.snapshot import SnapshotReader
from normstat.stats.engine.times.timestamps import parse_timestamp
from normstat.stats.layout import toml_key
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Layout, Stat

SECTION: Final = re.compile(r"(?P<section>[A-Za-z]\w{0,30}):?(?:\s+(?=[A-Za-z]\w{0,60}\s*=)|\s*$)", re.ASCII)
PAIR: Final = re.compile(r"\s*(?P<name>[A-Za-z]\w{0,60})\s*=\s*(?P<value>[^\s=]{1,40})(?=\s|$)", re.ASCII)
DATE: Final = re.compile(r"[Dd]ate:\s*(?P<stamp>\S.{0,60})")
NUMBER: Final = re.compile(r"-?\d{1,19}", re.ASCII)
MAX_PAIRS: Final = 8
MAX_LINE_LENGTH: Final = 600
UNKNOWN: Final = Rejected("not in a known section")
NOTHING: Final = ""


@dataclass(frozen=True)
class NamedValuesLayout(Layout):
    """The sections and the form of counts; the module's docstring explains the keys."""

    sections: Mapping[str, Stat]
    counts: re.Pattern[str] | None = None
    has_blank_ends: bool = toml_key("blank_ends", default=False)


LAYOUT: Final = NamedValuesLayout


class Reader(SnapshotReader[NamedValuesLayout]):
    """One call of the reader: `_section` is the word that the present section began with."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        self._sections, self._counts = self.layout.sections, self.layout.counts
        self._section = str(own.get("section", NOTHING))

    def save(self) -> State:
        """Return the state for the next piece."""
        return {**super().save(), "section": self._section}

    def take_blank(self) -> None:
        """End the section at a blank line, where the layout says so."""
        if self.layout.has_blank_ends:
            self._section = NOTHING

    def take_data(self, line: Line, text: str) -> Claim:
        """Return pairs, perhaps after the name of their section, or a count."""
        if len(text) > MAX_LINE_LENGTH:
            return NOT_MINE
        dated = DATE.fullmatch(text)
        stamp = parse_timestamp(dated["stamp"]) if dated is not None else None
        if stamp is not None:
            self.begin_call()
            self.see_stamp(stamp)
            return LineKind.TIMESTAMP
        heading = SECTION.match(text)
        if heading is not None and NOTHING not in self._sections:
            # Lines below an unknown section do not belong to the previous one.
            self._section = heading["section"]
            text = text[heading.end() :]
            if not text:
                return LineKind.HEADER if self._section in self._sections else UNKNOWN
        counted = self._counts.fullmatch(text) if self._counts is not None else None
        if counted is not None:
            return self._take_numbers({" ".join(counted["name"].split()): counted["number"]}, line)
        pairs = _pairs(text)
        return self._take_numbers(pairs, line) if pairs else NOT_MINE

    def _take_numbers(self, pairs: dict[str, str], line: Line) -> Outcome:
        stat = self._sections.get(self._section)
        if stat is None:
            return UNKNOWN
        numbers = {key: word for key, word in pairs.items() if NUMBER.fullmatch(word)}
        if not numbers:
            return LineKind.IGNORED
        reason = self.gather(stat, list(numbers), list(numbers.values()), offset=line.offset)
        return reason or LineKind.SAMPLE


def _pairs(text: str) -> dict[str, str]:
    """Return the pairs that the text consists of. Missing: {} when it holds anything else, or a name twice.

    >>> _pairs("udpInDatagrams      =13312303 udpInErrors         =     0"), _pairs("a = 1 b"), _pairs("a = 1 a = 2")
    ({'udpInDatagrams': '13312303', 'udpInErrors': '0'}, {}, {})
    """
    pairs: dict[str, str] = {}
    at = 0
    while at < len(text):
        pair = PAIR.match(text, at)
        if pair is None or pair["name"] in pairs or len(pairs) >= MAX_PAIRS:
            return {}
        pairs[pair["name"]] = pair["value"]
        at = pair.end()
    return pairs
