"""time(1) of shells and systems, and ptime: how long a run took, and how much of it in user mode and in the kernel.

    real    7m32.730s          real        5.148      0.1u 0.2s 0:07.1 99% 0+0k 0+0io 0pf+0w
    user    0m16.597s          user        0.001      0.00user 0.01system 0:00.02elapsed 99%CPU (...)
    sys     7m17.231s          sys         0.003      sleep 1  0.00s user 0.00s system 0% cpu 1.002 total

One sample a run; its lines may come in any order. Times are stored in seconds.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"real\\t7m32.730s\\nuser\\t0m16.597s\\nsys\\t7m17.231s\\n"
>>> (block,) = read(require_spec("time"), text, state={}, offset=0, is_final=True).blocks
>>> [column.tolist() for column in block.values]
[[452.73], [16.597], [437.231]]
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Layout, Stat

CLOCK: Final = r"(?:\d{1,6}h)?(?:\d{1,9}m)?\d{1,9}(?:[.,]\d{1,9})?s?|(?:\d{1,6}:)?\d{1,6}:\d{2}(?:[.,]\d{1,9})?"
PARTS: Final = re.compile(r"(?:(?P<h>\d+)[h:](?=\d+[m:]))?(?:(?P<m>\d+)[m:])?(?P<s>\d+(?:\.\d+)?)s?", re.ASCII)
# The microstates of ptime -m as well.
LINE: Final = re.compile(
    rf"\s*(?P<name>real|user|sys|system|elapsed|total|trap|tflt|dflt|kflt|lock|slp|lat|stop)\s+(?P<time>{CLOCK})\s*", re.ASCII
)
COLUMN_OF: Final = {"system": "sys", "elapsed": "real", "total": "real"}
# 5.01 real  0.00 user  0.00 sys of BSD, 0m5.01s real  0m0.00s user  0m0.00s system of mksh.
BEHIND: Final = re.compile(rf"\s*(?P<real>{CLOCK}) real\s+(?P<user>{CLOCK}) user\s+(?P<sys>{CLOCK}) sys(?:tem)?\s*", re.ASCII)
ZSH: Final = re.compile(
    rf"(?:(?P<command>.{{1,300}}?)\s+)?(?P<user>{CLOCK}) user\s+(?P<sys>{CLOCK}) system\s+(?P<cpu>\d{{1,7}})% cpu\s+"
    rf"(?P<real>{CLOCK}) total",
    re.ASCII,
)
CSH: Final = re.compile(
    rf"\s*(?P<user>\d{{1,9}}\.\d+)u (?P<sys>\d{{1,9}}\.\d+)s (?P<real>{CLOCK}) (?P<cpu>\d{{1,7}}(?:\.\d+)?)%"
    r"(?:[ \t]+(?P<text>\d{1,9})\+(?P<data>\d{1,9})k (?P<inputs>\d{1,18})\+(?P<outputs>\d{1,18})io (?P<major>\d{1,18})pf"
    r"\+(?P<swaps>\d{1,18})w)?\s*",
    re.ASCII,
)
GNU: Final = re.compile(
    rf"\s*(?P<user>\d{{1,9}}\.\d+)user (?P<sys>\d{{1,9}}\.\d+)system (?P<real>{CLOCK})elapsed (?P<cpu>\d{{1,7}}|\?)%CPU"
    r" \((?P<text>\d{1,18})avgtext\+(?P<data>\d{1,18})avgdata (?P<maxrss>\d{1,18})maxresident\)k\s*",
    re.ASCII,
)
GNU_SECOND: Final = re.compile(
    r"\s*(?P<inputs>\d{1,18})inputs\+(?P<outputs>\d{1,18})outputs \((?P<major>\d{1,18})major\+(?P<minor>\d{1,18})minor\)pagefaults"
    r" (?P<swaps>\d{1,18})swaps\s*",
    re.ASCII,
)
# /usr/bin/time -v.
VERBOSE_COLUMNS: Final = {
    "User time (seconds)": "user",
    "System time (seconds)": "sys",
    "Percent of CPU this job got": "cpu",
    "Elapsed (wall clock) time (h:mm:ss or m:ss)": "real",
    "Maximum resident set size (kbytes)": "maxrss",
    "Major (requiring I/O) page faults": "major",
    "Minor (reclaiming a frame) page faults": "minor",
    "Voluntary context switches": "voluntary",
    "Involuntary context switches": "involuntary",
    "Swaps": "swaps",
    "File system inputs": "inputs",
    "File system outputs": "outputs",
    "Socket messages sent": "sent",
    "Socket messages received": "received",
    "Signals delivered": "signals",
    "Average shared text size (kbytes)": "text",
    "Average unshared data size (kbytes)": "data",
    "Average stack size (kbytes)": "stack",
    "Average total size (kbytes)": "total size",
    "Average resident set size (kbytes)": "avgrss",
    "Page size (bytes)": "page size",
    "Exit status": "exit",
}
COMMAND: Final = re.compile(r'\s*Command being timed: "(?P<command>.{0,300})"\s*')
MESSAGE: Final = re.compile(r"(?:Command (?:exited with|terminated by) .*|.{0,200}[#$%>]\s*(?:\S*/)?p?time .*)")
TIMES: Final = frozenset({"real", "user", "sys", "trap", "tflt", "dflt", "kflt", "lock", "slp", "lat", "stop"})
MAX_LINE: Final = 1000


@dataclass(frozen=True)
class RunTimesLayout(Layout):
    """The stat of the runs."""

    runs: Stat


LAYOUT: Final = RunTimesLayout


class Reader(LineReader[RunTimesLayout]):
    """One call of the reader."""

    def load(self, own: State) -> None:
        """Restore the current run, and the position of its first line."""
        self._runs = self.layout.runs
        words = own.get("words")
        self._words = {str(key): str(word) for key, word in words.items()} if isinstance(words, dict) else {}
        self._run_command = str(own.get("command", ""))
        self._at = int(str(own.get("at", 0)))

    def save(self) -> State:
        """Return the state as JSON values."""
        return {"words": dict(self._words), "command": self._run_command, "at": self._at}

    def begin_call(self) -> None:
        """Complete the run."""
        self._close()

    def finish(self) -> None:
        """Complete the run."""
        self._close()

    def take_line(self, line: Line) -> Outcome:
        """Return one of a run's lines, or all of a run."""
        text = line.text
        if not text.strip():
            # ptime -m has blank lines between its groups; the next run says real once more.
            return LineKind.IGNORED
        if len(text) > MAX_LINE:
            return Rejected("longer than any line of time")
        words = self._parse(text)
        if words is not None:
            return self._gather(words, line.offset)
        if (found := COMMAND.fullmatch(text)) is not None:
            self._close()
            self._run_command = found["command"]
            return LineKind.HEADER
        self._close()
        if self.see_time_line(text):
            return LineKind.TIMESTAMP
        return LineKind.IGNORED if MESSAGE.fullmatch(text.strip()) is not None else Rejected("not a line of time")

    def _parse(self, text: str) -> dict[str, str] | None:
        if (found := LINE.fullmatch(text)) is not None:
            return {COLUMN_OF.get(found["name"], found["name"]): found["time"]}
        for pattern in (BEHIND, CSH, GNU, GNU_SECOND):
            if (found := pattern.fullmatch(text)) is not None:
                return {name: word for name, word in found.groupdict().items() if word is not None}
        if "% cpu " in text and (found := ZSH.fullmatch(text.strip())) is not None:
            words = {name: word for name, word in found.groupdict().items() if word is not None}
            self._close()
            self._run_command = words.pop("command", "")
            return words
        name, _, word = text.strip().rpartition(": ")
        return {VERBOSE_COLUMNS[name]: word} if name in VERBOSE_COLUMNS else None

    def _gather(self, words: dict[str, str], offset: int) -> Outcome:
        for name, word in words.items():
            if name in TIMES and PARTS.fullmatch(word.replace(",", ".")) is None:
                return Rejected(f"{word[:40]!r} is not a time")
        if not self._words.keys().isdisjoint(words):
            self._close()
        if not self._words:
            self._at = offset
        self._words |= {name: _seconds(word) if name in TIMES else word.rstrip("%") for name, word in words.items()}
        return LineKind.SAMPLE

    def _close(self) -> None:
        words, self._words = self._words, {}
        command, self._run_command = self._run_command, ""
        if words:
            self.begin_report()
            missing = frozenset({"?", ""})
            self.add_row(self._runs, list(words), list(words.values()), instance=command, offset=self._at, missing=missing)


def _seconds(word: str) -> str:
    found = PARTS.fullmatch(word.replace(",", "."))
    assert found is not None
    return f"{int(found['h'] or 0) * 3600 + int(found['m'] or 0) * 60 + Decimal(found['s']):f}"
