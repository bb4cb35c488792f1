"""live_test.se of the SE toolkit: the states by Virtual Adrian's rules for a host and its subsystems.

Overall current state is red at: Wed Jul 29 00:12:32 1998

Subsystem     State     Action
Disk          white     No activity
  c1t10d0     white
Mutex         red       MP Kernel overloaded
  Serious mutex contention, use the lockstat(1M) command to diagnose the cause
  [cpu0 350 green] [cpu9 637 red  ]

States are numbers: white 0, blue 1, green 2, amber 3, red 4, black 5. A report that was squeezed into one line is read as well, as
long as no word for a state is left over. The texts after a state, its action and explanation, are samples of the state too, whose
instance is the text: a line that is there as long as the rule says so.

Keys of `[layout]`: `states`, `advice` and `mutex` are the stats of states, texts and CPUs, `subsystems` the names of the
subsystems.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = " ".join(__doc__.split("\\n\\n", 3)[1:3]).encode() + b"\\n"
>>> blocks = read(require_spec("livetest_solaris"), excerpt, state={}, offset=0, is_final=True).blocks
>>> [(block.instances, [values.tolist() for values in block.values]) for block in blocks if "advice" not in block.stat.name]
[(['Overall', 'Disk', 'Disk/c1t10d0', 'Mutex'], [[4, 0, 0, 4]]), (['cpu0', 'cpu9'], [[350, 637], [2, 4]])]
>>> [(block.instances[0], block.values[0].tolist()) for block in blocks if "advice" in block.stat.name]
[('Disk: No activity', [0, 4])]
"""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.times.timestamps import parse_timestamp
from normstat.stats.pattern import compile_once
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Layout, Stat

STATES: Final = ("white", "blue", "green", "amber", "red", "black")
STATE: Final = "|".join(STATES)
LEFT_OVER: Final = re.compile(rf"(?<!\S)(?:{STATE})(?!\S)")
OVERALL: Final = "Overall"
MAX_SUBSYSTEMS: Final = 100
# The longest rule of the SE toolkit explains itself in some hundred characters.
MAX_TEXT: Final = 2000


@dataclass(frozen=True, slots=True)
class Advice:
    """The state of a subsystem with the texts after it, which may go on in the next line."""

    subsystem: str
    state: str
    text: str
    offset: int
    time_us: int


@dataclass(frozen=True)
class LiveTestLayout(Layout):
    """The stats of states, of mutexes by CPU and of texts, and the names of the subsystems."""

    states: Stat
    mutex: Stat
    subsystems: tuple[str, ...]
    # User specs of older versions have none; texts are not samples then.
    advice: Stat | None = None

    def validate(self, stats: Sequence[Stat]) -> None:  # noqa: ARG002 (the base class has it)
        """Require few subsystems: each is tried at each word of a line."""
        if len(self.subsystems) > MAX_SUBSYSTEMS:
            raise ValueError(f"subsystems: {len(self.subsystems)} names, at most {MAX_SUBSYSTEMS} expected")

    @functools.cached_property
    def part(self) -> re.Pattern[str]:
        """The parts of a line."""
        names = "|".join(r"\s+".join(map(re.escape, name.split())) for name in self.subsystems)
        return compile_once(
            rf"Overall current state is (?P<overall>{STATE}) at:\s+(?P<date>\w+ \w+\s+\d+ [\d:]+(?: \w+)? \d{{4}})(?!\S)"
            rf"|(?<!\S)(?P<header>Subsystem\s+State\s+Action)(?!\S)"
            rf"|(?<!\S)(?P<subsystem>{names})\s+(?P<state>{STATE})(?!\S)"
            rf"|(?<!\S)(?P<device>[A-Za-z]+\d\w*)\s+(?P<device_state>{STATE})(?!\S)"
            rf"|\[(?P<cpu>cpu\d+)\s+(?P<smtx>\d{{1,15}})\s+(?P<cpu_state>{STATE})\s*\]",
            re.ASCII,
        )


LAYOUT: Final = LiveTestLayout


class Reader(LineReader[LiveTestLayout]):
    """One call of the reader: `_subsystem` is the one that devices stand under, "" before the first of a report."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        self._part = self.layout.part
        self._is_in_report = own.get("in_report") is True
        self._subsystem = str(own.get("subsystem", ""))
        advice = own.get("advice")
        self._advice = Advice(*advice) if isinstance(advice, list) and len(advice) == 5 else None

    def save(self) -> State:
        """Return the state for `load`."""
        advice = self._advice
        kept = None if advice is None else [advice.subsystem, advice.state, advice.text, advice.offset, advice.time_us]
        return {"in_report": self._is_in_report, "subsystem": self._subsystem, "advice": kept}

    def finish(self) -> None:
        """Complete the last text."""
        self._flush_advice()

    def open_lines(self) -> tuple[int, ...]:
        """Return the line of the state whose text may go on."""
        return () if self._advice is None else (self._advice.offset,)

    def take_line(self, line: Line) -> Outcome:
        """Return the parts of a line, one after another."""
        if not line.text.strip(" \t"):
            return LineKind.IGNORED
        parts = list(self._part.finditer(line.text))
        if LEFT_OVER.search(self._part.sub(" ", line.text)) is not None:
            return Rejected("a state of an unknown subsystem")
        if not self._is_in_report and (not parts or parts[0]["overall"] is None):
            return Rejected("a line before any report")
        if not parts:
            return LineKind.SAMPLE if self._add_text(line.text) else LineKind.IGNORED
        kinds = []
        for part, end in zip(parts, [*(other.start() for other in parts[1:]), len(line.text)], strict=True):
            kinds.append(self._take_part(part, line.offset))
            self._add_text(line.text[part.end() : end])
        return next((kind for kind in kinds if kind is LineKind.SAMPLE), kinds[0])

    def _add_text(self, text: str) -> bool:
        """Add words of an action or an explanation; return whether they belong to a state."""
        words = " ".join(text.split())
        advice = self._advice
        if advice is None or not words or len(advice.text) + len(words) >= MAX_TEXT:
            return advice is not None
        self._advice = replace(advice, text=f"{advice.text} {words}".strip())
        return True

    def _flush_advice(self) -> None:
        """Add the text of the last subsystem."""
        advice, self._advice = self._advice, None
        if advice is not None and advice.text and self.layout.advice is not None:
            self.add_row(
                self.layout.advice,
                ("state",),
                (advice.state,),
                instance=f"{advice.subsystem}: {advice.text}",
                time_us=advice.time_us,
                offset=advice.offset,
            )

    def _take_part(self, part: re.Match[str], offset: int) -> LineKind:
        if part["header"] is not None:
            return LineKind.HEADER
        if part["cpu"] is not None:
            mutex = self.layout.mutex
            self.add_row(mutex, ("smtx", "state"), (part["smtx"], _code(part["cpu_state"])), instance=part["cpu"], offset=offset)
            return LineKind.SAMPLE
        if part["overall"] is not None:
            self._flush_advice()
            stamp = parse_timestamp(part["date"])
            if stamp is not None:
                self.see_stamp(stamp)
            self.begin_report()
            self._is_in_report, self._subsystem = True, ""
            name, state = OVERALL, part["overall"]
        elif part["subsystem"] is not None:
            self._flush_advice()
            name = self._subsystem = " ".join(part["subsystem"].split())
            state = part["state"]
            self._advice = Advice(name, _code(state), "", offset, self.report_us)
        else:
            name = f"{self._subsystem}/{part['device']}" if self._subsystem else part["device"]
            state = part["device_state"]
        self.add_row(self.layout.states, ("state",), (_code(state),), instance=name, offset=offset)
        return LineKind.SAMPLE


def _code(state: str) -> str:
    return str(STATES.index(state))
