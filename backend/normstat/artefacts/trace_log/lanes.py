"""A log as lanes, one for each CPU or thread, binned to the pixels of a screen: never more items than can be drawn."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.artefacts.parts import NO_NUMBER, LogPart
from normstat.artefacts.trace_log.blocking import find_holds
from normstat.artefacts.trace_log.pairing import (
    Indices,
    LogSpans,
    Mask,
    SpanKind,
    available_rules,
    find_spans,
    task_pids,
    thread_codes,
)
from normstat.errors import BadRequest, shorten
from normstat.runtime.field_docs import Documented

MAX_ITEMS: Final = 20_000
MAX_LANES: Final = 60
# Events of the most frequent names have a colour of their own.
MAX_COLOURS: Final = 8
OTHER: Final = "other"
BY: Final = ("thread", "cpu", "command")
# Spans in which a task does not run: they belong to its thread, not to a CPU.
OFF_CPU: Final = frozenset({"blocked", "scheduling", "wakeup"})


@dataclass(frozen=True, slots=True)
class LaneBins(Documented):
    """Events of a lane by pixel, as columns. Times are nanoseconds after the view's `start`."""

    name: list[int]
    """Numbers into the view's `names`."""

    first_ns: list[int]
    last_ns: list[int]
    count: list[int]


@dataclass(frozen=True, slots=True)
class LaneSpans(Documented):
    """Spans of a lane, as columns. Times are nanoseconds after the view's `start`, and may lie outside the window."""

    kind: list[str]
    """hold, wait or run."""

    label: list[str]
    """What it is: the lock, the event. Of several that share a pixel, the first."""

    start_ns: list[int]
    end_ns: list[int]
    count: list[int]
    """1, or how many short spans are drawn as one."""

    is_open: list[bool]
    """True: its beginning is not in the log; it began then at the earliest."""


@dataclass(frozen=True, slots=True)
class LogLane(Documented):
    """A CPU, a thread or a command."""

    label: str
    command: str
    pid: int | None
    cpu: int | None
    n_events: int
    bins: LaneBins
    spans: LaneSpans


@dataclass(frozen=True, slots=True)
class LogLanes(Documented):
    """What a window of a log looks like."""

    title: str
    clock: str
    """What times count from: epoch, day (the midnight of an unknown day) or relative (boot, or the start of the trace)."""

    decimals: int
    """Digits of a second that the tool printed."""

    first: str
    """Nanoseconds of the log's first event, as decimal digits."""

    last: str
    start: str
    """Nanoseconds of the window's beginning on the log's clock, as decimal digits."""

    width_ns: int
    bin_ns: int
    by: str
    names: list[str]
    """The events that have a colour of their own, most frequent first; the last is `other` where there are more."""

    lanes: list[LogLane]
    n_lanes: int
    """All lanes with events, also those not listed."""

    n_events: int
    """Events in the window that the filter leaves."""

    n_all_events: int
    n_backwards: int
    """Events that were printed after one with a later time."""


@dataclass(frozen=True, slots=True)
class LaneRequest:
    """Which lanes to show. `start_ns`, `end_ns` None: from the first, to the last event."""

    by: str = "thread"
    width: int = 1000
    start_ns: int | None = None
    end_ns: int | None = None


@dataclass(frozen=True, slots=True)
class _Boxes:
    """Spans as columns, before they are binned."""

    lane: Indices
    kind: Indices
    label: Indices
    start: Indices
    end: Indices
    is_open: Mask

    def take(self, rows: Mask | Indices) -> "_Boxes":
        """Return these of the spans, in this order."""
        return _Boxes(
            self.lane[rows], self.kind[rows], self.label[rows], self.start[rows], self.end[rows], self.is_open[rows]
        )  # fmt: skip


KINDS: Final = tuple(SpanKind)


def view_lanes(part: LogPart, mask: Mask, asked: LaneRequest) -> LogLanes:
    """Return the lanes of a window; events and spans of one pixel are one item with a count.

    Raises: BadRequest
    """
    if asked.by not in BY:
        raise BadRequest(f"Lanes are by {', '.join(BY)}, not by {shorten(asked.by)}")
    first, last = (int(part.time_ns[0]), int(part.time_ns[-1])) if part.n_rows else (0, 0)
    start = first if asked.start_ns is None else asked.start_ns
    end = last + 1 if asked.end_ns is None else asked.end_ns
    if end <= start:
        raise BadRequest("The window is empty: its end is not after its start")
    lane_of, labels = _lanes_of(part, asked.by)
    chosen = np.flatnonzero(mask & (part.time_ns >= start) & (part.time_ns < end))
    counts = np.bincount(lane_of[chosen], minlength=len(labels))
    boxes, texts = _boxes(part, mask, lane_of, asked.by)
    inside = (boxes.end >= start) & (boxes.start < end)
    boxes = boxes.take(inside)
    shown = _choose_lanes(counts, boxes, labels)
    names, name_of = _colours(part, chosen)
    is_shown = np.zeros(len(labels), bool)
    is_shown[shown] = True
    drawn = chosen[is_shown[lane_of[chosen]]]
    bin_ns = max(1, -(-(end - start) // asked.width))
    events = _sort_events(lane_of[drawn], name_of[part.event.codes[drawn]], part.time_ns[drawn] - start, len(names) + 1)
    sorted_boxes = _sort_boxes(boxes, shown, start)
    while True:
        bins = _bin_events(*events, bin_ns)
        spans = _bin_spans(sorted_boxes, bin_ns)
        if len(bins[0]) + len(spans[0]) <= MAX_ITEMS:
            break
        bin_ns *= 2
    return LogLanes(
        title=part.title,
        clock=part.clock,
        decimals=part.decimals,
        first=str(first),
        last=str(last),
        start=str(start),
        width_ns=end - start,
        bin_ns=bin_ns,
        by=asked.by,
        names=names,
        lanes=[
            LogLane(*labels[lane], int(counts[lane]), _lane_bins(bins, lane), _lane_spans(spans, lane, texts)) for lane in shown
        ],
        n_lanes=int(np.count_nonzero(counts)),
        n_events=len(chosen),
        n_all_events=part.n_rows,
        n_backwards=part.n_backwards,
    )


Label = tuple[str, str, int | None, int | None]


def _lanes_of(part: LogPart, by: str) -> tuple[Indices, list[Label]]:
    if by == "cpu":
        found, codes = np.unique(part.cpu, return_inverse=True)
        return codes, [
            ("no CPU" if cpu == NO_NUMBER else f"CPU {cpu}", "", None, None if cpu < 0 else cpu) for cpu in found.tolist()
        ]
    if by == "command":
        names = part.command.names
        return part.command.codes.astype(np.int64), [(name or "no command", name, None, None) for name in names]
    threads, known = thread_codes(part)
    names = part.command.names
    labels: list[Label] = []
    for command, pid in known:
        name = names[command]
        label = (name or "no command") if pid == NO_NUMBER else f"{name} {pid}".strip()
        labels.append((label, name, None if pid == NO_NUMBER else pid, None))
    return threads, labels


def _boxes(part: LogPart, mask: Mask, lane_of: Indices, by: str) -> tuple[_Boxes, list[str]]:
    found: list[_Boxes] = []
    texts: list[str] = []
    for rule in available_rules(part):
        if by == "cpu" and rule.name in OFF_CPU:
            continue
        spans = find_spans(part, rule, mask)
        lane = lane_of[spans.begin]
        if rule.whose == "target":
            lane = _lane_of_target(part, spans, lane_of)
        kind = np.where(spans.is_wait, KINDS.index(SpanKind.WAIT), KINDS.index(rule.kind))
        labels = _span_labels(part, spans, texts)
        keep = lane >= 0
        found.append(
            _Boxes(lane[keep], kind[keep], labels[keep], spans.start_ns[keep], spans.end_ns[keep], np.zeros(int(keep.sum()), bool))
        )
    holds = list(find_holds(part, mask))
    if holds:
        starts, ends, events = (np.array(column, np.int64) for column in zip(*holds, strict=True))
        texts.append("")
        held = np.full(len(events), KINDS.index(SpanKind.HOLD))
        found.append(_Boxes(lane_of[events], held, np.full(len(events), len(texts) - 1), starts, ends, np.ones(len(events), bool)))
    if by == "cpu":
        found.append(_runs(part, mask, lane_of, texts))
    if not found:
        none = np.zeros(0, np.int64)
        return _Boxes(none, none, none, none, none, np.zeros(0, bool)), texts
    return _Boxes(*(np.concatenate([getattr(boxes, name) for boxes in found]) for name in _Boxes.__slots__)), texts


def _span_labels(part: LogPart, spans: LogSpans, texts: list[str]) -> Indices:
    """Return the number into `texts`, which grows, of what each span is."""
    column = part.event if spans.rule.group == "event" else part.object
    base = len(texts)
    prefix = {"blocked": "off the CPU", "scheduling": "waits for a CPU", "wakeup": "waits for a CPU"}.get(spans.rule.name)
    if prefix is not None:
        texts.append(prefix)
        return np.full(len(spans), base)
    found, codes = np.unique(column.codes[spans.begin], return_inverse=True)
    texts.extend(column.names[code] for code in found.tolist())
    return base + codes


def _lane_of_target(part: LogPart, spans: LogSpans, lane_of: Indices) -> Indices:
    """Return the lane of the task that comes on the CPU at the end. Missing: NO_NUMBER where it has no event of its own."""
    pids = task_pids(part)[spans.begin]
    known, first = np.unique(part.pid, return_index=True)
    at = np.minimum(np.searchsorted(known, pids), len(known) - 1)
    lanes: Indices = np.where(known[at] == pids, lane_of[first[at]], NO_NUMBER)
    return lanes


def _runs(part: LogPart, mask: Mask, lane_of: Indices, texts: list[str]) -> _Boxes:
    """Return who ran on each CPU: from one switch to the next one of the same CPU, without the idle task."""
    is_switch = np.array([name == "sched_switch" for name in part.event.names], bool)
    at = np.flatnonzero(is_switch[part.event.codes] & (part.cpu != NO_NUMBER) & mask) if len(is_switch) else np.zeros(0, np.int64)
    order = at[np.lexsort((at, part.cpu[at]))]
    same = part.cpu[order[1:]] == part.cpu[order[:-1]]
    begin, end = order[:-1][same], order[1:][same]
    busy = task_pids(part)[begin] != 0
    begin, end = begin[busy], end[busy]
    base = len(texts)
    found, codes = np.unique(part.object.codes[begin], return_inverse=True)
    texts.extend(part.object.names[code] for code in found.tolist())
    kind = np.full(len(begin), KINDS.index(SpanKind.RUN))
    return _Boxes(lane_of[begin], kind, base + codes, part.time_ns[begin], part.time_ns[end], np.zeros(len(begin), bool))


def _choose_lanes(counts: Indices, boxes: _Boxes, labels: list[Label]) -> list[int]:
    """Return the lanes to draw: those that wait and hold longest first, then those with most events; CPUs by their numbers."""
    n = len(labels)
    weight = np.zeros(n)
    telling = boxes.kind != KINDS.index(SpanKind.RUN)
    np.add.at(weight, boxes.lane[telling], (boxes.end - boxes.start)[telling].astype(float))
    used = np.flatnonzero((counts > 0) | (np.bincount(boxes.lane, minlength=n) > 0))
    order = used[np.lexsort((used, -counts[used], -weight[used]))][:MAX_LANES]
    if labels and labels[0][3] is not None:
        order = np.sort(order)
    found: list[int] = order.tolist()
    return found


def _colours(part: LogPart, chosen: Indices) -> tuple[list[str], Indices]:
    counts = np.bincount(part.event.codes[chosen], minlength=len(part.event.names))
    order = [at for at in np.argsort(-counts, kind="stable").tolist() if counts[at]]
    shown = order[:MAX_COLOURS] if len(order) > MAX_COLOURS + 1 else order
    names = [part.event.names[at] for at in shown]
    of = np.full(len(part.event.names), len(names), np.int64)
    of[shown] = np.arange(len(shown))
    if len(shown) < len(order):
        names.append(OTHER)
    return names, of


def _sort_events(lane: Indices, name: Indices, offset: Indices, n_names: int) -> tuple[Indices, Indices, Indices]:
    """Return events by lane, then name. They come in the order of their times, and stay so within a name."""
    key = lane * n_names + name
    # Numbers of 16 bits are sorted in one pass.
    order = np.argsort(_narrow(key), kind="stable")
    return lane[order], name[order], offset[order]


def _narrow(key: Indices) -> npt.NDArray[np.integer]:
    """Return the same order in the fewest bits."""
    if not len(key) or int(key.max()) < 1 << 16:
        return key.astype(np.uint16)
    codes = np.cumsum(np.bincount(key) > 0) - 1
    return codes[key].astype(np.uint16) if int(codes[-1]) < 1 << 16 else key


def _bin_events(lane: Indices, name: Indices, offset: Indices, bin_ns: int) -> tuple[Indices, Indices, Indices, Indices, Indices]:
    bins = offset // bin_ns
    new = np.ones(len(lane), bool)
    new[1:] = (lane[1:] != lane[:-1]) | (name[1:] != name[:-1]) | (bins[1:] != bins[:-1])
    first = np.flatnonzero(new)
    after = np.append(first[1:], len(lane)) if len(first) else first
    return lane[first], name[first], offset[first], offset[after - 1], after - first


def _sort_boxes(boxes: _Boxes, shown: list[int], start: int) -> _Boxes:
    """Return the spans of the lanes shown by lane, kind and beginning, in nanoseconds after `start`."""
    mine = boxes.take(np.isin(boxes.lane, np.array(shown, np.int64)))
    mine = mine.take(np.lexsort((mine.start, mine.kind, mine.lane)))
    return _Boxes(mine.lane, mine.kind, mine.label, mine.start - start, mine.end - start, mine.is_open)


def _bin_spans(boxes: _Boxes, bin_ns: int) -> tuple[npt.NDArray[np.int64], ...]:
    """Return spans as columns: long ones alone, short ones of one kind that begin in one pixel as one."""
    is_long = (boxes.end - boxes.start) >= bin_ns
    # The short ones come first; each kind keeps its order.
    boxes = boxes.take(np.concatenate([np.flatnonzero(~is_long), np.flatnonzero(is_long)]))
    lane, kind, end = boxes.lane, boxes.kind, boxes.end
    bins = boxes.start // bin_ns
    new = np.ones(len(lane), bool)
    n_short = len(lane) - int(is_long.sum())
    new[1:n_short] = (
        (lane[1:n_short] != lane[: max(0, n_short - 1)])
        | (kind[1:n_short] != kind[: max(0, n_short - 1)])
        | (bins[1:n_short] != bins[: max(0, n_short - 1)])
    )
    first = np.flatnonzero(new)
    if not len(first):
        none = np.zeros(0, np.int64)
        return none, none, none, none, none, none, none
    after = np.append(first[1:], len(lane))
    return (
        lane[first], kind[first], boxes.label[first], boxes.start[first], np.maximum.reduceat(end, first), after - first,
        boxes.is_open[first].astype(np.int64),
    )  # fmt: skip


def _lane_bins(bins: tuple[Indices, Indices, Indices, Indices, Indices], lane: int) -> LaneBins:
    low, high = np.searchsorted(bins[0], [lane, lane + 1]).tolist()
    name, first, last, count = (column[low:high].tolist() for column in bins[1:])
    return LaneBins(name, first, last, count)


def _lane_spans(spans: tuple[npt.NDArray[np.int64], ...], lane: int, texts: list[str]) -> LaneSpans:
    mine = spans[0] == lane
    kind, label, start, end, count, is_open = (column[mine].tolist() for column in spans[1:])
    return LaneSpans(
        [KINDS[at].value for at in kind], [texts[at] for at in label], start, end, count, [bool(value) for value in is_open]
    )
