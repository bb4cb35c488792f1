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

A value that is a word ("vanj") is none. All numbers of a section are one row; a name that comes again begins the next report.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = __doc__.split("\\n\\n")[1].encode() + b"\\n"
>>> block = read(require_spec("netstat_s_solaris"), excerpt, state={}, offset=0, is_final=True).blocks[0]
>>> [(field.key, values.tolist()) for field, values in zip(block.fields, block.values)][1:3]
[('rto_min', [200]), ('active_opens', [956686])]
"""

import re
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.snapshot import SnapshotReading
from normstat.stats.engine.timestamps import parse_stamp
from normstat.stats.pattern import compile_pattern
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Spec

SECTION: Final = re.compile(r"(?P<section>[A-Za-z]\w{0,30}):?(?:\s+(?=[A-Za-z]\w{0,60}\s*=)|\s*$)", re.ASCII)
PAIR: Final = re.compile(r"\s*(?P<name>[A-Za-z]\w{0,60})\s*=\s*(?P<value>[^\s=]{1,40})(?=\s|$)", re.ASCII)
DATE: Final = re.compile(r"[Dd]ate:\s*(?P<stamp>\S.{0,60})")
NUMBER: Final = re.compile(r"-?\d{1,19}", re.ASCII)
MAX_PAIRS: Final = 8
MAX_LINE_LENGTH: Final = 600
UNKNOWN: Final = "of no section that is known"
NOTHING: Final = ""
LAYOUT_KEYS: Final = frozenset({"sections", "counts", "blank_ends"})


def check(spec: Spec) -> None:
    """Raise KeyError, TypeError, ValueError or re.error for a layout that makes no sense."""
    sections = spec.layout["sections"]
    if not isinstance(sections, dict) or set(spec.layout) - LAYOUT_KEYS:
        raise TypeError("sections: a table is needed; sections, counts and blank_ends are all there is")
    wrong = set(sections.values()) - {stat.name for stat in spec.stats}
    if wrong:
        message = f"sections: no stats of this spec: {sorted(wrong)}"
        raise ValueError(message)
    compile_pattern(spec, str(spec.layout.get("counts", "")))


class NamedValuesReading(SnapshotReading):
    """One call of the reader: `_section` is the word that the present section began with."""

    def load(self, own: State) -> None:
        """Take up the state of the piece before."""
        super().load(own)
        sections = self.spec.layout["sections"]
        self._sections = {str(word): str(name) for word, name in sections.items()} if isinstance(sections, dict) else {}
        counts = self.spec.layout.get("counts")
        self._counts = compile_pattern(self.spec, str(counts)) if counts else None
        self._section = str(own.get("section", NOTHING))

    def save(self) -> State:
        """Return the state for the next piece."""
        return {**super().save(), "section": self._section}

    def take_blank(self) -> None:
        """A blank line may end a section."""
        if self.spec.layout.get("blank_ends") is True:
            self._section = NOTHING

    def take_data(self, line: Line, text: str) -> LineKind | str | None:
        """Return pairs, perhaps behind the name of their section, or a count."""
        if len(text) > MAX_LINE_LENGTH:
            return None
        dated = DATE.fullmatch(text)
        stamp = parse_stamp(dated["stamp"]) if dated is not None else None
        if stamp is not None:
            self.begin_call()
            self.see_stamp(stamp)
            return LineKind.TIMESTAMP
        heading = SECTION.match(text)
        if heading is not None and NOTHING not in self._sections:
            # What stands below a section that is not known is not of the one before it.
            self._section = heading["section"]
            text = text[heading.end() :]
            if not text:
                return LineKind.HEADER if self._section in self._sections else UNKNOWN
        counted = self._counts.fullmatch(text) if self._counts is not None else None
        if counted is not None:
            return self._take_numbers({" ".join(counted["name"].split()): counted["number"]}, line)
        pairs = _pairs(text)
        return self._take_numbers(pairs, line) if pairs else None

    def _take_numbers(self, pairs: dict[str, str], line: Line) -> LineKind | str:
        name = self._sections.get(self._section)
        if name is None:
            return UNKNOWN
        numbers = {key: word for key, word in pairs.items() if NUMBER.fullmatch(word)}
        if not numbers:
            return LineKind.IGNORED
        reason = self.gather(self.stat(name), list(numbers), list(numbers.values()), offset=line.offset)
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
