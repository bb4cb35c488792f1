"""The reader of dtrace: aggregations as dtrace and the scripts of the DTraceToolkit print them.

dtrace: description 'syscall:::entry ' matched 228 probes
^C
     1109  svc.startd                                                        1
       82  nscd                                                              6

  Xorg
           value  ------------- Distribution ------------- count
               0 |@@@@@@@@@@@@@@@@@@@                      26
               1 |                                         0

The last number of a row is its count and everything before it the key: dtrace prints one value for each key unless a script says
otherwise, and nothing distinguishes numeric keys from a second value. The key of a distribution stands on the line above it, so a
row is held back until the next line shows that it was one.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> result = read(require_spec("dtrace"), b"  nscd     1\\n  svc.startd   12\\n", state={}, offset=0, is_final=True)
>>> result.blocks[0].instances, result.blocks[0].values[0].tolist()
(['nscd', 'svc.startd'], [1, 12])
"""

import re
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.trace.question_names import Rank, TracedQuestion, brief_program, script_name
from normstat.stats.engine.trace.stacks import TOO_DEEP, fold_lines, fold_stack, is_frame
from normstat.stats.engine.trace.trace_layout import TraceLayout
from normstat.stats.engine.trace.trace_lines import is_integer, is_number
from normstat.stats.engine.trace.trace_reader import HeldRow, TraceReader, count_reason
from normstat.stats.records import LineKind, State

DISTRIBUTION: Final = re.compile(r" *(?:value|key) +-+ Distribution -+ +count")
# The bar of a count below zero grows to the left.
BUCKET: Final = re.compile(r" *((?:[<>]=? )?-?\d{1,40}) [@ ]*\|(?:[@ ]* )?(-?\d{1,19})")
NAMED_BUCKET: Final = re.compile(r" *(\S[^|]{0,200}?) [@ ]*\|(?:[@ ]* )?(-?\d{1,19})")
PROBES: Final = re.compile(r" *CPU +ID +FUNCTION:NAME")
PROBE: Final = re.compile(r" *\d+ +\d+ +\S*:\S+( .*)?")
BY_DTRACE: Final = "dtrace: "
MATCHED: Final = re.compile(r"dtrace: (description|script) '(.{1,2000}?) *' matched \d")
# dtruss: `read(0x3, "x", 0x1)   = 1 0`.
CALL: Final = re.compile(r"\) +=")
DIGITS: Final = re.compile(r"-?[0-9]{19,}")
UNIT: Final = re.compile(r"(.*\S) +(-?\d{1,19}) ([KMG]B|[KMG]?bytes|Kb|Mb|pages|[mnu]s|secs?|ticks)")
# dtrace prints at most this many unnamed numbers in a row; more are a table whose header was not seen.
MAX_NUMBERS: Final = 8
NO_HEADER: Final = Rejected("a row of numbers that fits no header")
NO_DECIMALS: Final = Rejected("a number with decimals under no header: dtrace has none")
# This many numbers under as many words are a row under a header, not a block under a title, which has a colon or an aside.
MIN_ROW: Final = 3
TITLE_ENDS: Final = ":,;)."
FRAME_INDENT: Final = 10


LAYOUT: Final = TraceLayout


class Reader(TraceReader[TraceLayout]):
    """One call of the reader."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        self._has_probes = own.get("probes") is True
        self._is_by_name = own.get("by_name") is True

    def save(self) -> State:
        """Return the state for the next piece."""
        return {**super().save(), "probes": self._has_probes, "by_name": self._is_by_name}

    def see_blank(self) -> None:
        """Keep a lone row with a colon at a blank line: it may be the key of the distribution below."""
        held = self.block.pop() if len(self.block) == 1 and re.search("[:=]", self.block[0].key) else None
        super().see_blank()
        if held is not None:
            self.block.append(held)

    def take(self, line: Line) -> Outcome:
        """Return the outcome of the line, by its form and the held-back lines."""
        if DISTRIBUTION.fullmatch(line.text) is not None:
            return self._take_distribution(line)
        if self.bucket_key is not None:
            found = (NAMED_BUCKET if self._is_by_name else BUCKET).fullmatch(line.text)
            if found is not None:
                return self._add_bucket(found, line.offset)
            if "|" in line.text:
                return Rejected("a bucket that cannot be read")
            self.bucket_key = None
        if line.text.startswith(BY_DTRACE):
            self._see_program(line.text)
            return self.take_self_talk(line) or self._ignore()
        if self.has_gap and self.block:
            # The row that was held back over a blank line was no key of a distribution.
            self.flush_block()
        kind = self._take_probe(line) or self.take_self_talk(line) or self.take_stamp(line) or self.take_known_line(line)
        return kind or self.take_row(line) or self._take_count(line) or self.take_pairs(line) or self.hold_text(line)

    def _see_program(self, text: str) -> None:
        """`dtrace: description 'syscall:::entry ' matched 228 probes`, `dtrace: script './opens.d' matched 4 probes`"""
        found = MATCHED.match(text)
        if found is not None:
            name = script_name(found[2]) if found[1] == "script" else brief_program(found[2])
            self.flush_block()
            self.see_question(TracedQuestion(name, Rank.HINT))

    def _ignore(self) -> LineKind:
        self.flush_block()
        self.forget_texts()
        return LineKind.IGNORED

    # Distributions.

    def _take_distribution(self, line: Line) -> Outcome:
        key = self._distribution_key()
        if key is None:
            return TOO_DEEP
        self._is_by_name = line.text.lstrip().startswith("key")
        return self.begin_histogram(key)

    def _distribution_key(self) -> str | None:
        """Return the key, which is the line above: a row held back, a text, or the stack that ends there."""
        if self.block and (not self.has_gap or len(self.block) == 1):
            row = self.block.pop()
            return f"{row.key} {row.word}".strip()
        if self.is_too_deep:
            return None
        texts = [line.text for line in self.take_texts()]
        if any(map(is_frame, texts)):
            return fold_lines(texts)
        return " ".join(texts[-1].split()).rstrip(",") if texts else ""

    def _add_bucket(self, found: re.Match[str], offset: int) -> Outcome:
        if not self._is_by_name:
            return self.add_bucket(found[1], found[2], offset)
        key = f"{self.bucket_key} {found[1]}".strip()
        stat = self.layout.keys
        if stat is None or not is_integer(found[2]):
            return Rejected(count_reason(found[2]))
        return self.add(stat, ["count"], [found[2]], instance=" ".join(key.split()), offset=offset)

    # Probes, rows and stacks.

    def _take_probe(self, line: Line) -> Claim:
        if PROBES.fullmatch(line.text) is not None:
            self._has_probes = True
            self._ignore()
            return LineKind.HEADER
        found = PROBE.fullmatch(line.text) if self._has_probes else None
        if found is None:
            return NOT_MINE
        self._ignore()
        self.mark_report()
        rest = (found[1] or "").strip()
        if not rest:
            return LineKind.IGNORED
        return self.take_stamp(Line(rest, line.offset)) or Rejected("the output of a single probe, not an aggregation")

    def _take_count(self, line: Line) -> Claim:
        """Return a counted key, or the count below a stack."""
        words = line.text.split()
        if not is_integer(words[-1]):
            return Rejected(count_reason(words[-1])) if DIGITS.fullmatch(words[-1]) else self._take_unit(line)
        if self.is_too_deep:
            self.forget_texts()
            return TOO_DEEP
        if self.texts and self._is_stack(has_key=len(words) > 1):
            return self._take_stack(words)
        if self.has_gap and self.has_frames():
            self.forget_texts()
        if CALL.search(line.text) is not None:
            return Rejected("a single call, not an aggregation")
        return self._doubt(words) or self._hold_key(" ".join(words[:-1]), words[-1], line.offset)

    def _doubt(self, words: list[str]) -> Rejected | None:
        """Return why a row is not one of dtrace, or lacks its header; None for a row that is fine."""
        numbers = [word for word in words if is_number(word)]
        if any(not is_integer(word) for word in numbers):
            return NO_DECIMALS
        is_under_text = bool(self.texts) and not self.has_gap and self.texts[-1].text[-1] not in TITLE_ENDS
        is_row = is_under_text and min(len(numbers), len(self.texts[-1].text.split())) >= MIN_ROW
        return NO_HEADER if is_row or len(numbers) > MAX_NUMBERS else None

    def _take_unit(self, line: Line) -> Claim:
        """`RAM  Kernel  112 MB`"""
        found = UNIT.fullmatch(line.text)
        if found is None or ":" in found[1] or not is_integer(found[2]):
            return NOT_MINE
        return self._hold_key(f"{' '.join(found[1].split())} {found[3]}", found[2], line.offset)

    def _hold_key(self, key: str, word: str, offset: int) -> LineKind:
        return self.hold_row(HeldRow(self.use_title(), key, word, offset))

    def _is_stack(self, *, has_key: bool) -> bool:
        """Return whether the lines above are a stack: frames, or lines of any kind with a bare count right below them."""
        if self.has_frames():
            return not (has_key and self.has_gap)
        if has_key or self.has_gap:
            return False
        return len(self.texts) > 1 or self.texts[0].text.startswith(" " * FRAME_INDENT)

    def _take_stack(self, words: list[str]) -> Outcome:
        texts = self.take_texts()
        lines = [text.text for text in texts]
        instance = fold_stack([" ".join(words[:-1])], lines) if len(words) > 1 else fold_lines(lines)
        return self.add_stack(instance, words[-1:], texts[0].offset)
