"""The reader of bcc and of perf-tools: distributions with arrows, tables, and stacks of one frame a line.

pid = 5068
     usecs               : count     distribution
         0 -> 1          : 0        |                                        |
         2 -> 3          : 1        |*************                           |

08:04:11 loadavg: 1.48 0.87 0.45 1/287 14547

PID    COMM             D MAJ MIN DISK       I/O  Kbytes  AVGms
14501  cksum            R 202 1   xvda1      361   28832   3.39

    schedule
    io_schedule
    -                dd (26651)
        2405710

{'ts': '2026-11-21 12:00:01', 'val_type': 'usecs', 'data': [{'interval-start': 2, 'interval-end': 3, 'count': 1}]}

The last one is a distribution with option -j. The key of a distribution is the section above it and what is measured
(`pid = 5068 usecs`), which has the unit in it.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"     usecs     : count     distribution\\n   0 -> 1     : 12     |****|\\n"
>>> result = read(require_spec("bcc"), text, state={}, offset=0, is_final=True)
>>> result.blocks[0].instances, result.blocks[0].values[0].tolist()
(['usecs{0 -> 1}'], [12])
"""

import re
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.times.timestamps import Timestamp, parse_timestamp
from normstat.stats.engine.trace.stacks import SEPARATOR, TOO_DEEP, fold_stack, is_frame
from normstat.stats.engine.trace.trace_layout import TraceLayout
from normstat.stats.engine.trace.trace_lines import is_integer, is_number, parse_pairs
from normstat.stats.engine.trace.trace_reader import TraceReader
from normstat.stats.records import LineKind, State

DISTRIBUTION: Final = re.compile(r" *(\S[^:]{0,100}?) *: (?:count|Count|I/O) +\|?[Dd]istribution *\|?")
NUMBER: Final = r"-?\d{1,20}(?:\.\d{1,6})?"
BUCKET: Final = re.compile(rf" *((?:{NUMBER})? *-> *(?:{NUMBER})?|{NUMBER}|\S[^:|]{{0,60}}?) *: (\d{{1,19}}) *(?:\|[*#@+ ]*\|?)?")
# iolatency of perf-tools names the bounds of its buckets, and so the unit: `>=(ms) .. <(ms)`.
BOUNDS: Final = re.compile(r">=\((\w{1,20})\) *\.\. *<\(\w{1,20}\)")
SECTION: Final = re.compile(r" *[A-Za-z][^=:]{0,60} = \S.*")
# Counts have no zeros in front of them; addresses may consist of digits alone.
COUNT: Final = re.compile(r" *(-?(?:0|[1-9]\d{0,18}))")
# The separator between kernel and user stacks, or before the name of the process.
DELIMITER: Final = re.compile(r" +-{1,2}(?: +-{1,2})?")
LAST_LINE: Final = re.compile(r" +- +(\S.*)")
LEAK: Final = re.compile(r" +(\d{1,19}) bytes in (\d{1,19}) allocations? from stack")
# Tools print this with -j: a dictionary of Python.
JSON_DISTRIBUTION: Final = re.compile(
    r"\{'ts': '(?P<time>[\d :-]{19})', 'val_type': '(?P<unit>[^']{1,60})', 'data': \[(?P<data>[^\[\]]{0,20000})\]"
    r"(?:, '(?P<section>[^']{1,60})': (?:b?'(?P<text>[^']{0,100})'|(?P<number>\d{1,20})))?\}",
    re.ASCII,
)
JSON_BEGINNING: Final = "{'ts': "
JSON_BUCKET: Final = re.compile(
    r"\{'interval-start': (\d{1,20}), 'interval-end': (\d{1,20}), 'count': (\d{1,19})\}(?:, |$)", re.ASCII
)
INDENT: Final = "  "
DEEP: Final = " " * 9


LAYOUT: Final = TraceLayout


class Reader(TraceReader[TraceLayout]):
    """One call of the reader. `_leak` holds the numbers of a stack of memleak, which stand above it, and where they stood."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        leak = own.get("leak")
        self._leak = (str(leak[0]), str(leak[1]), int(leak[2])) if isinstance(leak, list) else None

    def save(self) -> State:
        """Return the state for the next piece."""
        return {**super().save(), "leak": None if self._leak is None else list(self._leak)}

    def see_blank(self) -> None:
        """End a stack of memleak at a blank line."""
        self._close_leak()
        super().see_blank()

    def finish(self) -> None:
        """Complete the last stack."""
        self._close_leak()
        super().finish()

    def take(self, line: Line) -> Outcome:
        """Return the outcome of the line, by its form and the held-back lines."""
        if self._leak is not None and not line.text.startswith(DEEP):
            self._close_leak()
        json = JSON_DISTRIBUTION.fullmatch(line.text.strip())
        if json is not None:
            return self._take_json(json, line.offset)
        if line.text.startswith(JSON_BEGINNING):
            return Rejected("a distribution in JSON that is not whole, or of another form")
        found = DISTRIBUTION.fullmatch(line.text)
        if found is not None:
            return self._take_distribution(found)
        if self.bucket_key is not None:
            found = BUCKET.fullmatch(line.text)
            if found is not None:
                return self.add_bucket(found[1], found[2], line.offset)
            self.bucket_key = None
        kind = (
            self._take_leak(line)
            or self._take_count(line)
            or self._take_frame(line)
            or self.take_self_talk(line)
            or self.take_stamp(line)
        )
        kind = (
            kind or self.take_known_line(line) or self.take_pairs(line, least=2) or self.take_row(line) or self._take_section(line)
        )
        return kind or self.take_pairs(line) or self._take_folded(line) or self.take_title(line)

    def take_after_time(self, stamp: Timestamp, rest: Line) -> Claim:
        """Return a time and a title: `[11:16:33] Top 2 stacks with outstanding allocations:`."""
        if not rest.text.endswith(":"):
            return NOT_MINE
        self.mark_time(stamp)
        kind = self.hold_text(rest)
        return LineKind.TIMESTAMP if kind is LineKind.HEADER else kind

    # Distributions.

    def _take_distribution(self, found: re.Match[str]) -> Outcome:
        if self.is_too_deep:
            return TOO_DEEP
        texts = self.take_texts() if not self.has_gap else []
        self.forget_texts()
        section = " ".join(texts[-1].text.split()) if texts else ""
        unit = BOUNDS.fullmatch(found[1])
        measured = " ".join(found[1].split()) if unit is None else unit[1]
        return self.begin_histogram(f"{section} {measured}".strip())

    def _take_json(self, found: re.Match[str], offset: int) -> Outcome:
        """Return a distribution of option -j, with the same key and labels as without it."""
        buckets = JSON_BUCKET.findall(found["data"])
        stamp = parse_timestamp(found["time"])
        if stamp is None or not buckets or JSON_BUCKET.sub("", found["data"]):
            return Rejected("a distribution without a time, or with other buckets than intervals")
        self.forget_texts()
        self.mark_time(stamp)
        section = "" if found["section"] is None else f"{found['section']} = {found['text'] or found['number'] or ''}"
        outcomes = [self.begin_histogram(f"{section.strip()} {found['unit']}".strip())]
        outcomes += [self.add_bucket(f"{low} -> {high}", count, offset) for low, high, count in buckets]
        self.bucket_key = None
        return next((outcome for outcome in outcomes if isinstance(outcome, Rejected)), LineKind.SAMPLE)

    def _take_section(self, line: Line) -> Claim:
        """Take `pid = 5068`, the subject of the next distribution."""
        pairs = parse_pairs(line.text) if SECTION.fullmatch(line.text) is not None else None
        is_section = SECTION.fullmatch(line.text) is not None and (pairs is None or len(pairs.columns) == 1)
        return self.hold_text(line) if is_section else NOT_MINE

    # Stacks.

    def _is_in_stack(self, line: Line) -> bool:
        """Return whether the line continues a stack: it is indented, and so is a line that waits."""
        return not self.has_gap and bool(self.texts) and line.text.startswith(INDENT) and self.texts[-1].text.startswith(INDENT)

    def _take_frame(self, line: Line) -> Claim:
        if DELIMITER.fullmatch(line.text) is not None:
            return LineKind.HEADER
        found = LAST_LINE.fullmatch(line.text)
        if found is not None and (self.texts or self.is_too_deep):
            return self.hold_text(Line(INDENT + found[1], line.offset))
        if self.is_too_deep and line.text.startswith(INDENT):
            return TOO_DEEP
        if line.text.startswith(INDENT) and is_frame(line.text):
            return self.hold_text(line)
        return NOT_MINE

    def _take_count(self, line: Line) -> Claim:
        """Return the count below a stack."""
        found = COUNT.fullmatch(line.text)
        if found is None or not is_integer(found[1]):
            return NOT_MINE
        if self.is_too_deep:
            self.forget_texts()
            return TOO_DEEP
        if not self._is_in_stack(line):
            return NOT_MINE
        texts = self.take_texts()
        lines = [text.text for text in texts if text.text.startswith(INDENT)]
        return self.add_stack(fold_stack([], lines), [found[1]], texts[0].offset)

    def _take_leak(self, line: Line) -> LineKind | None:
        """Take the numbers of memleak, which stand above their stack."""
        found = LEAK.fullmatch(line.text)
        if found is None or not is_integer(found[1]) or not is_integer(found[2]):
            return None
        self.forget_texts()
        self._leak = (found[2], found[1], line.offset)
        return LineKind.SAMPLE

    def _close_leak(self) -> None:
        if self._leak is None:
            return
        count, n_bytes, offset = self._leak
        self._leak = None
        lines = [text.text for text in self.take_texts()]
        instance = None if self.is_too_deep else fold_stack([], lines)
        self.add_stack(instance, [count, n_bytes], offset)

    def _take_folded(self, line: Line) -> Claim:
        """Take `comm;root;leaf 12`, a stack that is folded already (option -f of profile, offcputime, stackcount)."""
        frames, _, count = line.text.rpartition(" ")
        if SEPARATOR not in frames or frames.startswith(" ") or not is_integer(count) or self.layout.stacks is None:
            return NOT_MINE
        return self.add_stack(fold_stack(frames.split(SEPARATOR), []), [count], line.offset)

    def take_title(self, line: Line) -> Outcome:
        """Hold a frame or a title. Frames may contain numbers, as in `waker:  vmstat 3212`."""
        if self._is_in_stack(line) or (line.text.startswith(INDENT) and not any(map(is_number, line.text.split()))):
            return self.hold_text(line)
        return super().take_title(line)
