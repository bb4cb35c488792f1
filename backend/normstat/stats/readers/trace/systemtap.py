"""The reader of SystemTap: distributions of @hist_log and @hist_linear, tables and counted keys as scripts print them.

value |-------------------------------------------------- count
   16 |                                                   0
   32 |                                                 2

                  SYSCALL      COUNT
             gettimeofday       1857

__vma_link 97

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"value |---------- count\\n   32 |        2\\n"
>>> result = read(require_spec("systemtap"), text, state={}, offset=0, is_final=True)
>>> result.blocks[0].instances, result.blocks[0].values[0].tolist()
(['{32}'], [2])
"""

import re
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome
from normstat.stats.engine.trace.trace_layout import TraceLayout
from normstat.stats.engine.trace.trace_lines import is_integer, is_number
from normstat.stats.engine.trace.trace_reader import HeldRow, TraceReader
from normstat.stats.records import LineKind

DISTRIBUTION: Final = re.compile(r" *value \|-+ count")
BUCKET: Final = re.compile(r" *([<>]?=? ?-?\d{1,19}) *\|[@ ]*(-?\d{1,19})")
SKIPPED: Final = re.compile(r" *~")
KEY_ROW: Final = re.compile(r" *(\S(?:.{0,400}?\S)?) +(-?[0-9]{1,19})")


LAYOUT: Final = TraceLayout


class Reader(TraceReader[TraceLayout]):
    """One call of the reader."""

    def take(self, line: Line) -> Outcome:
        """Return the outcome of the line, by its form and the held-back lines."""
        if DISTRIBUTION.fullmatch(line.text) is not None:
            return self._take_distribution()
        if self.bucket_key is not None:
            found = BUCKET.fullmatch(line.text)
            if found is not None:
                return self.add_bucket(found[1], found[2], line.offset)
            if SKIPPED.fullmatch(line.text) is not None:
                # Buckets that are all zero.
                return LineKind.IGNORED
            self.bucket_key = None
        kind = self.take_self_talk(line) or self.take_stamp(line) or self.take_known_line(line) or self.take_pairs(line, least=2)
        return kind or self.take_row(line) or self.take_pairs(line) or self._take_count(line) or self.take_title(line)

    def _take_distribution(self) -> Outcome:
        """Return the key of a distribution: the text above it."""
        texts = self.take_texts()
        return self.begin_histogram(" ".join(texts[-1].text.split()).rstrip(" :,") if texts else "")

    def _take_count(self, line: Line) -> Claim:
        """Return a counted key under no header. Other numbers in the key cannot be distinguished from values: such rows are
        not taken.
        """
        found = KEY_ROW.fullmatch(line.text)
        if found is None or not is_integer(found[2]) or any(map(is_number, found[1].split())):
            return NOT_MINE
        return self.hold_row(HeldRow(self.use_title(), " ".join(found[1].split()), found[2], line.offset))
