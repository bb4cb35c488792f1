"""ping, with times (`-D`) or without: a sample for each reply.

PING db1 (10.0.0.2) 56(84) bytes of data.
[1795305600.123456] 64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.201 ms
[1795305601.123456] no answer yet for icmp_seq=2
[1795305602.123456] 64 bytes from 10.0.0.2: icmp_seq=3 ttl=64 time=0.199 ms

--- db1 ping statistics ---
3 packets transmitted, 2 received, 33.3333% packet loss, time 2002ms
rtt min/avg/max/mdev = 0.199/0.200/0.201/0.001 ms

A sample has the number of requests without a reply since the reply before it. Without times in the lines, a reply is as many
intervals after the start as its number says: start and interval must be known from elsewhere (option -i is, with the command).

Keys of `[layout]`: `replies` and `totals`, the stats of the replies and of the line at the end.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> result = read(require_spec("ping"), __doc__.encode(), state={}, offset=0, is_final=True)
>>> [(block.stat.name, block.instances, [column.tolist() for column in block.values]) for block in result.blocks]
[('ping', ['db1', 'db1'], [[0.201, 0.199], [64, 64], [0, 1]]), ('ping_total', ['db1'], [[3], [2]])]
"""

import re
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.line_prefix import FormKind
from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.times.calls import interval_in_command
from normstat.stats.engine.times.timestamps import parse_clock
from normstat.stats.layout import StatName
from normstat.stats.records import NO_TIME, LineKind, State
from normstat.stats.spec import Layout

MICRO: Final = 1_000_000
# iputils with -D; macOS with --apple-time.
STAMP: Final = re.compile(r"(?:\[(?P<epoch>\d{9,11}(?:\.\d{1,6})?)\]|(?P<clock>\d\d:\d\d:\d\d(?:\.\d{1,6})?)) ", re.ASCII)
BEGIN: Final = re.compile(r"PING6?[ :](?: ?)(?P<target>[^\s:(]{1,255})(?P<rest>.*)")
# Output of iputils, whose numbers begin at 1.
FROM_ONE: Final = re.compile(r"\d+\(\d+\) bytes", re.ASCII)
USUAL_INTERVAL_S: Final = 1.0
REPLY: Final = re.compile(
    r"\d{1,6} bytes from (?P<from>[^\s(]{1,255}?):?(?: \(\S{1,60}\))?[:,]? (?:icmp_)?seq=(?P<seq>\d{1,10})\.?"
    r"(?: (?:ttl|hlim)=(?P<ttl>\d{1,3}))?(?: time=(?P<rtt>\d{1,9}(?:\.\d{1,6})?) ?(?P<unit>ms|us|s)?\.?)?(?P<rest>(?: .*)?)",
    re.ASCII,
)
DUPLICATE: Final = "(DUP!)"
# A request without a reply: it is counted with the next reply.
NO_REPLY: Final = re.compile(
    r"(?:no answer yet for icmp_seq=\d+|Request timeout for icmp_seq \d+|From \S+(?: \(\S+\))?:? (?:icmp_seq=\d+ )?\D.*|"
    r"ping: (?:sendmsg|sendto): .*|no answer from \S+)",
    re.ASCII,
)
TOTAL: Final = re.compile(r"(?P<sent>\d{1,10}) packets transmitted, (?P<received>\d{1,10}) (?:packets )?received.*", re.ASCII)
SUMMARY: Final = re.compile(
    r"(?:--- ?\S+ ping6? statistics ?---|----.* PING Statistics----|(?:rtt|round-trip)\b.*|pipe \d+.*|\S+ is alive)"
)
TO_MS: Final = {"ms": 1.0, "us": 1e-3, "s": 1e3, None: 1.0}
# Numbers of requests have 16 bits.
CYCLE: Final = 1 << 16


@dataclass(frozen=True)
class PingLayout(Layout):
    """The stats; the module's docstring explains the keys."""

    replies: StatName
    totals: StatName


LAYOUT: Final = PingLayout


class Reader(LineReader[PingLayout]):
    """One call of the reader.

    `_target` is what was called; `_first` and `_last` are the numbers of the first and the latest reply, -1 before any; `_n_before`
    is how often numbers began again; `_time_us` is the time of the latest reply.
    """

    prefix_kinds = frozenset(FormKind)

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        self._target = str(own.get("target", ""))
        last, first, n_before, time_us = (own.get(key) for key in ("last", "first", "cycles", "time"))
        self._last = last if isinstance(last, int) else -1
        self._first = first if isinstance(first, int) else -1
        self._n_before = n_before if isinstance(n_before, int) else 0
        self._time_us = time_us if isinstance(time_us, int) else NO_TIME

    def load_after_gap(self, own: State) -> None:
        """Keep the target; lost lines are not requests without a reply."""
        self.load({"target": own.get("target", "")})

    def save(self) -> State:
        """Return the state for the next piece."""
        return {
            "target": self._target, "last": self._last, "first": self._first, "cycles": self._n_before, "time": self._time_us,
        }  # fmt: skip

    def take_line(self, line: Line) -> Outcome:
        """Return what the line is, after adding its row."""
        text = line.text.strip()
        stamp = STAMP.match(text)
        if stamp is not None:
            text = text[stamp.end() :]
        begin = BEGIN.fullmatch(text)
        if begin is not None:
            is_from_one = FROM_ONE.search(begin["rest"]) is not None
            self.load({"target": begin["target"], **({"last": 0, "first": 1} if is_from_one else {})})
            return LineKind.HEADER
        found = REPLY.fullmatch(text)
        if found is not None:
            return self._take_reply(found, None if stamp is None else self._stamp_us(stamp), line.offset)
        total = TOTAL.fullmatch(text)
        if total is not None:
            return self._add_total(total["sent"], total["received"], line.offset)
        if not text or SUMMARY.fullmatch(text) is not None or NO_REPLY.fullmatch(text) is not None:
            return LineKind.IGNORED
        return LineKind.TIMESTAMP if self.see_time_line(text) else Rejected("not a line of ping")

    # Internals.

    def _stamp_us(self, stamp: re.Match[str]) -> int:
        """Return the instant before a reply. Missing: NO_TIME for a clock while the day is unknown."""
        if stamp["epoch"]:
            return round(float(stamp["epoch"]) * MICRO)
        seconds = parse_clock(stamp["clock"])
        return NO_TIME if seconds is None else self.timeline.clock_us(seconds)

    def _take_reply(self, found: re.Match[str], time_us: int | None, offset: int) -> Outcome:
        seq = int(found["seq"])
        is_again = DUPLICATE in found["rest"]
        n_lost = self._count_lost(seq) if not is_again else 0
        if is_again or found["rtt"] is None:
            return LineKind.IGNORED
        self._time_us = self._reply_us(seq) if time_us is None else time_us
        rtt = f"{float(found['rtt']) * TO_MS[found['unit']]:.3f}" if found["unit"] != "ms" else found["rtt"]
        columns = [("time", rtt), ("ttl", found["ttl"]), ("lost", str(n_lost))]
        return (
            self.add_row(
                self.stat(self.layout.replies),
                [column for column, word in columns if word is not None],
                [word for _, word in columns if word is not None],
                instance=self._target or found["from"],
                time_us=self._time_us,
                offset=offset,
            )
            or LineKind.SAMPLE
        )

    def _count_lost(self, seq: int) -> int:
        """Return how many requests before this one had no reply. A reply that comes after a later one was counted."""
        if self._last < 0:
            self._first = self._last = seq
            return 0
        step = (seq - self._last) % CYCLE
        if step == 0 or step > CYCLE // 2:
            return 0
        self._n_before += seq < self._last
        self._last = seq
        return step - 1

    def _reply_us(self, seq: int) -> int:
        """Return the instant of a reply whose line has no time. Missing: NO_TIME where start or interval are unknown."""
        if self.prefix_us != NO_TIME or self.base_us == NO_TIME:
            return self.prefix_us
        n_since = seq - self._first + self._n_before * CYCLE
        interval_us = self.timing.interval_us
        if interval_us is None and self.command:
            interval_us = round((interval_in_command(self.command, self.spec.tool) or USUAL_INTERVAL_S) * MICRO)
        if n_since == 0:
            return self.base_us
        return NO_TIME if interval_us is None else self.base_us + n_since * interval_us

    def _add_total(self, sent: str, received: str, offset: int) -> Outcome:
        columns = ["transmitted", "received"]
        stat = self.stat(self.layout.totals)
        refused = self.add_row(stat, columns, [sent, received], instance=self._target, time_us=self._time_us, offset=offset)
        return refused or LineKind.SAMPLE
