"""Spans from pairs of events: what begins with one event and ends with the next of its kind and key.

An end belongs to the last beginning of the same key that has no end yet. A beginning that is followed by another one, and an end
without a beginning, stay unmatched: they are counted and listed, never guessed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.artefacts.parts import NO_NUMBER, LogPart
from normstat.artefacts.trace_log.tracepoints import RUNNABLE, STATE
from normstat.errors import BadRequest, shorten

Indices = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
PRINTED: Final = "printed"
CUSTOM: Final = re.compile(r"([\w*:.,/-]{1,200})->([\w*:.,/-]{1,200})")
TASK: Final = re.compile(r".*:(\d{1,10})", re.DOTALL)
KEYS: Final = ("cpu", "pid", "command", "function", "object")


class SpanKind(StrEnum):
    """What happens in a span: something is held, is waited for, or runs."""

    HOLD = "hold"
    WAIT = "wait"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class PairRule:
    """Two events that make a span. Names may be several, by commas; * in both stands for the same text.

    `begin_keys` and `end_keys` must be equal for two events to belong together; "target" is the pid in the event's object.
    `begin_state`: "off" takes only switches away from a task that could not go on.
    `whose`: the task of the span is that of the event's own pid, or the one that it is about ("target").
    """

    name: str
    title: str
    kind: SpanKind
    begin: str
    end: str
    begin_keys: tuple[str, ...]
    end_keys: tuple[str, ...]
    group: str
    begin_state: str = ""
    whose: str = "pid"


# The most informative come first: waits, then holds, then runs.
RULES: Final = (
    PairRule("contention", "waiting for a lock (contention_begin to contention_end)", SpanKind.WAIT, "contention_begin",
             "contention_end", ("pid", "object"), ("pid", "object"), "object"),
    PairRule("lock_wait", "waiting for a lock (lock_contended to lock_acquired)", SpanKind.WAIT, "lock_contended", "lock_acquired",
             ("pid", "object"), ("pid", "object"), "object"),
    PairRule("blocked", "off the CPU, not able to run (sched_switch to sched_switch)", SpanKind.WAIT, "sched_switch",
             "sched_switch", ("pid",), ("target",), "command", begin_state="off"),
    PairRule("scheduling", "able to run, waiting for a CPU (sched_waking to sched_switch)", SpanKind.WAIT,
             "sched_waking,sched_wakeup_new", "sched_switch", ("target",), ("target",), "object", whose="target"),
    PairRule("wakeup", "able to run, waiting for a CPU (sched_wakeup to sched_switch)", SpanKind.WAIT,
             "sched_wakeup,sched_wakeup_new", "sched_switch", ("target",), ("target",), "object", whose="target"),
    PairRule("hold", "holding a lock (lock to unlock)", SpanKind.HOLD, "lock", "unlock", ("thread", "object"), ("thread", "object"),
             "object"),
    PairRule("lock_hold", "holding a lock (lock_acquired to lock_release)", SpanKind.HOLD, "lock_acquired", "lock_release",
             ("pid", "object"), ("pid", "object"), "object"),
    PairRule("block_io", "I/O at the disk (block_rq_issue to block_rq_complete)", SpanKind.WAIT, "block_rq_issue",
             "block_rq_complete", ("object",), ("object",), "command"),
    PairRule("irq", "interrupt (irq_handler_entry to irq_handler_exit)", SpanKind.RUN, "irq_handler_entry", "irq_handler_exit",
             ("cpu", "object"), ("cpu", "object"), "object"),
    PairRule("softirq", "soft interrupt (softirq_entry to softirq_exit)", SpanKind.RUN, "softirq_entry", "softirq_exit",
             ("cpu", "object"), ("cpu", "object"), "object"),
    PairRule("syscall", "system call (sys_enter to sys_exit)", SpanKind.RUN, "sys_enter", "sys_exit", ("pid", "object"),
             ("pid", "object"), "object"),
    PairRule("syscalls", "system call (sys_enter_* to sys_exit_*)", SpanKind.RUN, "sys_enter_*", "sys_exit_*", ("pid",), ("pid",),
             "event"),
)  # fmt: skip
PRINTED_RULE: Final = PairRule(PRINTED, "durations as the tool printed them", SpanKind.RUN, "", "", (), (), "event")
# Events with a printed duration in which a thread waits.
WAIT_EVENTS: Final = re.compile(
    r"futex.*|wait|runnable|poll|ppoll|select|pselect6|epoll_p?wait.*|wait4|waitid|nanosleep|clock_nanosleep|pause|rt_sigtimedwait|flock|io_getevents|accept4?|semtimedop|semop"
)


@dataclass(frozen=True, slots=True)
class LogSpans:
    """Spans of one rule, in the order of their beginnings.

    Shape: begin, end (n) numbers of events, end NO_NUMBER for printed durations; start_ns, end_ns (n) int64; is_wait (n) bool.
    unmatched_begin, unmatched_end: numbers of the events that found no partner.
    """

    rule: PairRule
    begin: Indices
    end: Indices
    start_ns: Indices
    end_ns: Indices
    is_wait: Mask
    unmatched_begin: Indices
    unmatched_end: Indices

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def duration_ns(self) -> Indices:
        """Nanoseconds of each span."""
        return self.end_ns - self.start_ns


def find_rule(name: str, keys: Sequence[str] = (), group: str = "") -> PairRule:
    """Return the rule of that name, or the one that A->B describes, matched by `keys` (default: cpu and pid).

    Raises: BadRequest
    """
    if name == PRINTED:
        return PRINTED_RULE
    known = next((rule for rule in RULES if rule.name == name), None)
    if known is not None:
        return known
    found = CUSTOM.fullmatch(name)
    if found is None:
        names = ", ".join([rule.name for rule in RULES] + [PRINTED])
        raise BadRequest(f"There is no pair {shorten(name)}; name one of {names}, or two events as A->B")
    for key in keys:
        if key not in KEYS:
            raise BadRequest(f"Events cannot be matched by {shorten(key)}; by {', '.join(KEYS)}")
    chosen = tuple(keys) or ("pid",)
    return PairRule(name, f"from {found[1]} to {found[2]}", SpanKind.RUN, found[1], found[2], chosen, chosen, group or "object")


def available_rules(part: LogPart) -> list[PairRule]:
    """Return the rules whose events the log has, the most telling first."""
    found = [rule for rule in RULES if _any_named(part, rule.begin) and _any_named(part, rule.end)]
    if _any_named(part, "sched_waking"):
        # A wakeup comes after it, with the same information.
        found = [rule for rule in found if rule.name != "wakeup"]
    if part.n_rows and int(part.duration_ns.max()) != NO_NUMBER:
        found.append(PRINTED_RULE)
    return found


def choose_rule(part: LogPart, name: str, keys: Sequence[str] = (), group: str = "") -> PairRule | None:
    """Return the rule asked for, else the most telling one that the log has. Missing: None where it has none.

    Raises: BadRequest
    """
    return find_rule(name, keys, group) if name else next(iter(available_rules(part)), None)


def find_spans(part: LogPart, rule: PairRule, mask: Mask | None = None) -> LogSpans:
    """Return the spans of a rule among the events of the mask; without it among all."""
    chosen = np.ones(part.n_rows, bool) if mask is None else mask
    if rule.name == PRINTED:
        return _printed(part, chosen)
    begins, begin_suffix = _named(part, rule.begin)
    ends, end_suffix = _named(part, rule.end)
    begins &= chosen
    ends &= chosen
    if "target" in rule.end_keys:
        # A CPU's idle task is not a thread: each has one, and all have pid 0.
        targets = task_pids(part) != 0
        ends &= targets
        begins &= targets if "target" in rule.begin_keys else part.pid != 0
    begin_at, end_at = np.flatnonzero(begins), np.flatnonzero(ends)
    key = _joined_keys(part, rule, begin_at, end_at, (begin_suffix, end_suffix))
    # An event can be both, as a switch is: then its end comes before its beginning.
    events = np.concatenate([end_at, begin_at])
    is_begin = np.concatenate([np.zeros(len(end_at), bool), np.ones(len(begin_at), bool)])
    order = np.lexsort((is_begin, events, key))
    events, is_begin, key = events[order], is_begin[order], key[order]
    pairs = is_begin[:-1] & ~is_begin[1:] & (key[:-1] == key[1:]) if len(events) else np.zeros(0, bool)
    first = np.flatnonzero(pairs)
    matched = np.zeros(len(events), bool)
    matched[first] = matched[first + 1] = True
    if rule.begin_state:
        # A task that lost the CPU though it could run on waits for nothing: its pair is known, and is no span.
        first = first[_is_off(part, events[first])]
    begin, end = events[first], events[first + 1]
    by_time = np.argsort(begin, kind="stable")
    begin, end = begin[by_time], end[by_time]
    return LogSpans(
        rule=rule,
        begin=begin,
        end=end,
        start_ns=part.time_ns[begin],
        end_ns=part.time_ns[end],
        is_wait=np.full(len(begin), rule.kind is SpanKind.WAIT),
        unmatched_begin=np.sort(events[~matched & is_begin]),
        unmatched_end=np.sort(events[~matched & ~is_begin]),
    )


def task_pids(part: LogPart) -> npt.NDArray[np.int64]:
    """Return the pid that the object of each event names, as in bash:21173. Missing: NO_NUMBER."""
    pids = part.object.remember("pids", _pids_of)
    return pids[part.object.codes] if len(pids) else np.zeros(0, np.int64)


def _pids_of(names: Sequence[str]) -> npt.NDArray[np.int64]:
    found = (TASK.fullmatch(name) if ":" in name else None for name in names)
    return np.array([NO_NUMBER if each is None else int(each[1]) for each in found], np.int64)


def thread_codes(part: LogPart) -> tuple[npt.NDArray[np.int64], list[tuple[int, int]]]:
    """Return a number for each event's thread, and command code and pid of each: those with a pid are one thread by it alone."""
    if not part.n_rows:
        return np.zeros(0, np.int64), []
    has_pid = part.pid != NO_NUMBER
    is_idle = part.pid == 0
    # Each CPU has its own idle task, all with pid 0; a thread's command may change, its pid does not.
    merged = np.where(has_pid & ~is_idle, part.pid.astype(np.int64), -2 - part.command.codes.astype(np.int64))
    found, first, codes = np.unique(merged, return_index=True, return_inverse=True)
    last = np.zeros(len(found), np.int64)
    last[codes] = np.arange(part.n_rows)
    del first
    return codes, [(int(part.command.codes[at]), int(part.pid[at])) for at in last.tolist()]


def _any_named(part: LogPart, pattern: str) -> bool:
    return any(_suffix_of(name, pattern) is not None for name in part.event.names)


def _suffix_of(event: str, pattern: str) -> str | None:
    for each in pattern.split(","):
        before, star, after = each.partition("*")
        if not star and event == each:
            return ""
        if star and len(event) >= len(before) + len(after) and event.startswith(before) and event.endswith(after):
            return event[len(before) : len(event) - len(after)]
    return None


def _named(part: LogPart, pattern: str) -> tuple[Mask, list[str]]:
    suffixes = [_suffix_of(name, pattern) for name in part.event.names]
    hit = np.array([suffix is not None for suffix in suffixes], bool)
    return hit[part.event.codes] if len(hit) else np.zeros(0, bool), [suffix or "" for suffix in suffixes]


def _joined_keys(
    part: LogPart, rule: PairRule, begin_at: Indices, end_at: Indices, suffixes: tuple[list[str], list[str]]
) -> Indices:
    """Return one number for each key, of the ends and then of the beginnings."""
    begin_suffix, end_suffix = suffixes
    columns = [
        np.concatenate([_key_column(part, end)[end_at], _key_column(part, begin)[begin_at]])
        for begin, end in zip(rule.begin_keys, rule.end_keys, strict=True)
    ]
    if "*" in rule.begin:
        known: dict[str, int] = {}
        begins = np.array([known.setdefault(suffix, len(known)) for suffix in begin_suffix], np.int64)
        ends = np.array([known.setdefault(suffix, len(known)) for suffix in end_suffix], np.int64)
        columns.append(np.concatenate([ends[part.event.codes[end_at]], begins[part.event.codes[begin_at]]]))
    joined = np.zeros(len(begin_at) + len(end_at), np.int64)
    for column in columns:
        codes = np.unique(column, return_inverse=True)[1]
        joined = np.unique(joined * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
    return joined


def _key_column(part: LogPart, key: str) -> npt.NDArray[np.int64]:
    if key == "target":
        return task_pids(part)
    if key == "thread":
        return thread_codes(part)[0]
    column = getattr(part, key)
    return np.asarray(column.codes if key not in {"cpu", "pid"} else column).astype(np.int64)


def _is_off(part: LogPart, switches: Indices) -> Mask:
    """Return which of these switches take the CPU from a task that is not able to run on, and is not the idle one."""
    used, codes = np.unique(part.arguments.codes[switches], return_inverse=True)
    states = [STATE.search(part.arguments.names[code]) for code in used.tolist()]
    is_runnable = np.array([found is not None and (found[1] or found[2]).startswith(RUNNABLE) for found in states], bool)
    off: Mask = ~is_runnable[codes] if states else np.zeros(0, bool)
    return off


def _printed(part: LogPart, chosen: Mask) -> LogSpans:
    begin = np.flatnonzero(chosen & (part.duration_ns != NO_NUMBER))
    waits = np.array([WAIT_EVENTS.fullmatch(name) is not None for name in part.event.names], bool)
    none = np.zeros(0, np.int64)
    return LogSpans(
        rule=PRINTED_RULE,
        begin=begin,
        end=np.full(len(begin), NO_NUMBER, np.int64),
        start_ns=part.time_ns[begin],
        end_ns=part.time_ns[begin] + part.duration_ns[begin],
        is_wait=waits[part.event.codes[begin]] if len(waits) else np.zeros(0, bool),
        unmatched_begin=np.flatnonzero(chosen & (part.duration_ns == NO_NUMBER)),
        unmatched_end=none,
    )
