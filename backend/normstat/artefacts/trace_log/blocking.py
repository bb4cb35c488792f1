"""Who blocked whom: a thread that waited, and the one that held what it waited for or woke it.

Three kinds of evidence, where the log has them:
- hand-over: a thread takes a lock a moment after another one released it. How long the other one held it is known when its lock
  event is there, else at most since the event of the lock before.
- futex: a FUTEX_WAIT ends after another thread's FUTEX_WAKE of the same address (strace).
- wakeup: a task off the CPU is woken by another task (sched_waking, sched_switch).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.artefacts.parts import NO_NUMBER, LogPart
from normstat.artefacts.trace_log.pairing import (
    PRINTED_RULE,
    Indices,
    LogSpans,
    Mask,
    available_rules,
    find_spans,
    task_pids,
    thread_codes,
)
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import format_span

# A lock that was free for longer was not waited for.
MAX_GAP_NS: Final = 100_000
MAX_BLOCKINGS: Final = 500
HOLDS: Final = frozenset({"hold", "lock_hold"})
WAKEUPS: Final = ("sched_waking", "sched_wakeup", "sched_wakeup_new")


@dataclass(frozen=True, slots=True)
class LogThread(Documented):
    """A thread, at one event."""

    command: str
    pid: int | None
    cpu: int | None
    function: str
    line: int | None
    """The line of the text; null where that is not known."""


@dataclass(frozen=True, slots=True)
class Blocking(Documented):
    """One thread waited for another. Times are nanoseconds on the log's clock, as decimal digits; differences are numbers."""

    how: str
    """handover, futex or wakeup: what shows it."""

    object: str
    waiter: LogThread
    holder: LogThread
    wait_start: str
    wait_end: str
    wait_ns: int
    wait_is_limit: bool
    """True: the log does not show when it began to wait; it waited at most that long."""

    released: str
    """When the holder released it, or woke the waiter."""

    held_start: str | None
    """When the holder took it, or could have taken it at the earliest; null for wakeups."""

    held_ns: int | None
    held_is_limit: bool
    gap_ns: int
    """From the release until the waiter went on."""

    sentence: str


@dataclass(frozen=True, slots=True)
class BlockingList(Documented):
    """Who blocked whom, the longest wait first."""

    rows: list[Blocking]
    n_rows: int
    n_by_interrupt: int
    """Waits that an interrupt or a timer ended while the CPU was idle: no thread was in their way."""


@dataclass(frozen=True, slots=True)
class _Found:
    """Waits by number of events: wait from start_ns to end_ns, of the thread of `waiter`, ended by the event `holder`."""

    how: str
    waiter: Indices
    holder: Indices
    start_ns: Indices
    end_ns: Indices
    is_limit: Mask
    held_ns: Indices
    held_is_limit: Mask


def find_blocking(part: LogPart, mask: Mask | None = None, *, limit: int = 100) -> BlockingList:
    """Return the longest waits among the events of the mask, and what ended each."""
    found: list[_Found] = []
    n_by_interrupt = 0
    for rule in available_rules(part):
        if rule.name in HOLDS:
            found.append(_handovers(part, find_spans(part, rule, mask)))
        elif rule.name == "blocked":
            woken, n_idle = _wakeups(part, find_spans(part, rule, mask))
            n_by_interrupt += n_idle
            found.append(woken)
        elif rule is PRINTED_RULE:
            found.append(_futexes(part, find_spans(part, rule, mask)))
    rows = sorted(_each(found), key=lambda item: (-item[0], item[1]))
    return BlockingList([_to_blocking(part, found[of], at) for _, _, of, at in rows[:limit]], len(rows), n_by_interrupt)


def find_holds(part: LogPart, mask: Mask | None = None) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and event of holds whose lock event is missing: from the lock's event before on, at the earliest."""
    for rule in available_rules(part):
        if rule.name in HOLDS:
            spans = find_spans(part, rule, mask)
            previous = _previous_of_object(part, spans)
            for event in spans.unmatched_end[:MAX_BLOCKINGS].tolist():
                before = int(previous[event])
                yield int(part.time_ns[max(before, 0)]), int(part.time_ns[event]), event


def _each(found: list[_Found]) -> Iterator[tuple[int, int, int, int]]:
    for of, waits in enumerate(found):
        lengths = waits.end_ns - waits.start_ns
        for at in range(len(waits.waiter)):
            yield int(lengths[at]), int(waits.start_ns[at]), of, at


def _previous_of_object(part: LogPart, spans: LogSpans) -> Indices:
    """Return for each event of a lock's rule the number of the one before on the same lock. Missing: NO_NUMBER."""
    events = np.sort(np.concatenate([spans.begin, spans.end, spans.unmatched_begin, spans.unmatched_end]))
    order = events[np.lexsort((events, part.object.codes[events]))]
    previous = np.full(part.n_rows, NO_NUMBER, np.int64)
    same = part.object.codes[order[1:]] == part.object.codes[order[:-1]]
    previous[order[1:][same]] = order[:-1][same]
    return previous


def _handovers(part: LogPart, spans: LogSpans) -> _Found:
    previous = _previous_of_object(part, spans)
    threads = thread_codes(part)[0]
    released_by = np.zeros(part.n_rows, bool)
    released_by[spans.end] = released_by[spans.unmatched_end] = True
    taken = np.sort(np.concatenate([spans.begin, spans.unmatched_begin]))
    taken = taken[previous[taken] >= 0]
    release = previous[taken]
    taken_from = np.full(part.n_rows, NO_NUMBER, np.int64)
    taken_from[spans.end] = spans.begin
    began = taken_from[release]
    is_open = began < 0
    before = np.where(is_open, previous[release], began)
    # Before the first event of a lock there is only the beginning of the trace.
    held_start = part.time_ns[np.maximum(before, 0)]
    held_ns = part.time_ns[release] - held_start
    gap = part.time_ns[taken] - part.time_ns[release]
    # The waiter waits at the earliest from when it was seen last.
    seen = _previous_of_thread(threads)[taken]
    seen_ns = np.where(seen >= 0, part.time_ns[np.maximum(seen, 0)], held_start)
    start = np.maximum(held_start, seen_ns)
    keep = released_by[release] & (threads[release] != threads[taken]) & (gap <= MAX_GAP_NS) & (gap <= held_ns)
    return _Found(
        "handover",
        taken[keep],
        release[keep],
        start[keep],
        part.time_ns[taken][keep],
        np.ones(int(keep.sum()), bool),
        held_ns[keep],
        is_open[keep],
    )


def _previous_of_thread(threads: Indices) -> Indices:
    order = np.argsort(threads, kind="stable")
    previous = np.full(len(threads), NO_NUMBER, np.int64)
    same = threads[order[1:]] == threads[order[:-1]]
    previous[order[1:][same]] = order[:-1][same]
    return previous


def _wakeups(part: LogPart, spans: LogSpans) -> tuple[_Found, int]:
    names = np.array([name in WAKEUPS for name in part.event.names], bool)
    wakes = np.flatnonzero(names[part.event.codes])
    last = _last_between(wakes, task_pids(part)[wakes], part.pid[spans.begin].astype(np.int64), spans.end, part.n_rows)
    known = (last > spans.begin) & (last >= 0)
    is_idle = known & (part.pid[np.maximum(last, 0)] == 0)
    keep = known & ~is_idle
    return _no_holds("wakeup", spans, keep, last), int(is_idle.sum())


def _futexes(part: LogPart, spans: LogSpans) -> _Found:
    is_futex = np.array([name == "futex" for name in part.event.names], bool)[part.event.codes]
    waits_for = np.array(["FUTEX_WAIT" in text[:80] for text in part.arguments.names], bool)[part.arguments.codes]
    wakes_of = np.array(["FUTEX_WAKE" in text[:80] for text in part.arguments.names], bool)[part.arguments.codes]
    wakes = np.flatnonzero(is_futex & wakes_of)
    until = np.searchsorted(part.time_ns, spans.end_ns, side="right")
    objects = part.object.codes.astype(np.int64)
    last = _last_between(wakes, objects[wakes], objects[spans.begin], until, part.n_rows)
    waiting = (is_futex & waits_for)[spans.begin]
    keep = waiting & (last > spans.begin) & (part.pid[np.maximum(last, 0)] != part.pid[spans.begin])
    return _no_holds("futex", spans, keep, last)


def _last_between(events: Indices, keys: Indices, wanted: Indices, until: Indices, n: int) -> Indices:
    """Return for each wanted key the last of the events before `until` that has it. Missing: NO_NUMBER."""
    if not len(events) or not len(wanted):
        return np.full(len(wanted), NO_NUMBER, np.int64)
    codes = np.unique(np.concatenate([keys, wanted]), return_inverse=True)[1]
    own, asked = codes[: len(keys)], codes[len(keys) :]
    places = own * (n + 1) + events
    order = np.argsort(places)
    at = np.searchsorted(places[order], asked * (n + 1) + until, side="left") - 1
    found = order[np.maximum(at, 0)]
    last: Indices = np.where((at >= 0) & (own[found] == asked), events[found], NO_NUMBER)
    return last


def _no_holds(how: str, spans: LogSpans, keep: npt.NDArray[np.bool_], last: Indices) -> _Found:
    n = int(keep.sum())
    none = np.full(n, NO_NUMBER, np.int64)
    return _Found(
        how, spans.begin[keep], last[keep], spans.start_ns[keep], spans.end_ns[keep], np.zeros(n, bool), none, np.zeros(n, bool)
    )


def thread_at(part: LogPart, event: int) -> LogThread:
    """Return the thread of an event."""
    pid, cpu, line = int(part.pid[event]), int(part.cpu[event]), int(part.line[event])
    return LogThread(
        part.command[event],
        None if pid == NO_NUMBER else pid,
        None if cpu == NO_NUMBER else cpu,
        part.function[event] if part.event[event] != "sched_switch" else "",
        None if line == NO_NUMBER else line,
    )


def _to_blocking(part: LogPart, found: _Found, at: int) -> Blocking:
    waiter, holder = int(found.waiter[at]), int(found.holder[at])
    start, end, released = int(found.start_ns[at]), int(found.end_ns[at]), int(part.time_ns[holder])
    held_ns = int(found.held_ns[at])
    is_limit, held_is_limit = bool(found.is_limit[at]), bool(found.held_is_limit[at])
    about = part.object[waiter] if found.how != "wakeup" else ""
    by, who = thread_at(part, holder), thread_at(part, waiter)
    return Blocking(
        how=found.how,
        object=about,
        waiter=who,
        holder=by,
        wait_start=str(start),
        wait_end=str(end),
        wait_ns=end - start,
        wait_is_limit=is_limit,
        released=str(released),
        held_start=None if held_ns < 0 else str(released - held_ns),
        held_ns=None if held_ns < 0 else held_ns,
        held_is_limit=held_is_limit,
        gap_ns=end - released,
        sentence=_say(found.how, about, who, by, (end - start, end - released, held_ns), held_is_limit=held_is_limit),
    )


def _say(how: str, about: str, waiter: LogThread, holder: LogThread, lengths: tuple[int, int, int], *, held_is_limit: bool) -> str:
    wait, gap, held = map(format_span, lengths)
    who, by = _name(waiter), _name(holder)
    where = f" in {holder.function}" if holder.function else ""
    if how == "handover":
        lock = f"lock {about}" if about else "the lock"
        most = "at most " if held_is_limit else ""
        return f"{who} got {lock} {gap} after {by} released it{where}; {by} held it for {most}{held}"
    if how == "futex":
        return f"{who} waited {wait} for futex {about} until {by} woke it"
    return f"{who} was off the CPU for {wait} until {by} woke it"


def _name(thread: LogThread) -> str:
    if thread.pid is None:
        return thread.command or "a thread"
    return f"{thread.command or 'pid'} {thread.pid}"
