"""netstat -s of net-tools: sections of sentences with a number in each.

    Tcp:
        956686 active connection openings
        RTO algorithm is 1
        TCPLossProbes: 24

All sentences of a call are one row; a column is the section and the sentence without its number: "Tcp: active connection openings".

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"Tcp:\\n    956686 active connection openings\\n    TCPLossProbes: 24\\n"
>>> block = read(require_spec("netstat_s_linux"), text, state={}, offset=0, is_final=True).blocks[0]
>>> [field.column for field in block.fields], [column.tolist() for column in block.values]
(['Tcp: active connection openings', 'Tcp: TCPLossProbes'], [[956686], [24]])
"""

import re
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.snapshot import RepeatingReader
from normstat.stats.layout import OneStatLayout
from normstat.stats.records import LineKind, State

SECTION: Final = re.compile(r"(?P<name>[A-Z]\w{1,20}):", re.ASCII)
PART: Final = re.compile(r"(?P<name>[A-Z][\w ]{1,40}):", re.ASCII)
NAMED: Final = re.compile(r"(?P<name>[A-Za-z][\w /-]{0,100}?): *(?P<number>-?\d{1,20})", re.ASCII)
NUMBER: Final = re.compile(r"(?<![\w.-])-?\d{1,20}(?![\w.-])", re.ASCII)
MAX_LENGTH: Final = 200
STATE_WORD: Final = re.compile(r"Forwarding is (?:enabled|disabled)")


LAYOUT: Final = OneStatLayout


class Reader(RepeatingReader[OneStatLayout]):
    """One call of the reader: `_section` and the `_part` of it named by a separate line ("ICMP input histogram:")."""

    max_names = 256

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        self._section = str(own.get("section", ""))
        self._part = str(own.get("part", ""))
        self._part_indent = indent if isinstance(indent := own.get("indent"), int) else 0

    def save(self) -> State:
        """Return the state for the next piece."""
        own = {"section": self._section, "part": self._part, "indent": self._part_indent}
        return {**super().save(), **own}

    def begin_call(self) -> None:
        """Start a new call of the tool."""
        super().begin_call()
        self._section = self._part = ""

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the outcome of the line, after adding its row."""
        indent = len(line.text) - len(line.text.lstrip())
        section = SECTION.fullmatch(text) if indent == 0 else None
        if section is not None:
            # A repeated section belongs to the next call.
            self.see_name(section["name"])
            self._section, self._part = section["name"], ""
            return LineKind.HEADER
        if not self._section or indent == 0 or len(text) > MAX_LENGTH:
            return NOT_MINE
        if self._part and indent <= self._part_indent:
            self._part = ""
        named = NAMED.fullmatch(text)
        if named is not None:
            return self._take_number(line, named["name"], named["number"])
        part = PART.fullmatch(text)
        if part is not None:
            self._part, self._part_indent = part["name"], indent
            return LineKind.HEADER
        numbers = NUMBER.findall(text)
        if len(numbers) == 1:
            sentence = " ".join(NUMBER.sub(" ", text).split()).removesuffix(".")
            return self._take_number(line, sentence, numbers[0])
        if STATE_WORD.fullmatch(text) is not None:
            return LineKind.IGNORED
        return Rejected(f"{len(numbers)} numbers in a sentence")

    def _take_number(self, line: Line, sentence: str, number: str) -> Outcome:
        name = ": ".join(part for part in (self._section, self._part, sentence) if part)
        if self.has_gathered(self.spec.stats[0].name, "", [name]):
            return Rejected("the sentence appears twice")
        return self.gather(self.spec.stats[0], [name], [number], offset=line.offset) or LineKind.SAMPLE
