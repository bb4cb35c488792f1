"""How many requests a disk had at a time, from the events of its requests, and whether that was the end of its queue."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.artefacts.parts import LogPart
from normstat.artefacts.trace_log.pairing import LogSpans, Mask, PairRule, SpanKind, available_rules, find_spans
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import format_percent

# Usual ends of queues: NCQ's 32, virtio's 256, and the 512 of a block device of Linux 2.4 with its fractions and multiples.
QUEUE_LIMITS: Final = (32, 64, 128, 256, 512, 1024)
# A queue is at its limit within a tenth of it, and saturated when it is there half of the time.
NEAR: Final = 0.9
SATURATED: Final = 0.5
MAX_QUEUES: Final = 20
QUEUED: Final = PairRule(
    "queued", "in the queue (block_rq_insert to block_rq_complete)", SpanKind.WAIT, "block_rq_insert", "block_rq_complete",
    ("object",), ("object",), "object",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class QueueDepth(Documented):
    """How many requests of one disk were open, over the time that the log covers."""

    object: str
    """The disk, as the log names it: major,minor."""

    stage: str
    """queued: from the insertion into the queue on; issued: handed to the disk."""

    longest: int
    average: float
    limit: int | None
    """The end of the queue: as asked for, else the usual one that the longest queue came near to; null for neither."""

    share_at_limit: float | None
    """Share of the time, 0 to 1, in which at least nine tenths of the limit were open."""

    is_saturated: bool
    sentence: str


def measure_queues(part: LogPart, mask: Mask | None = None, *, limit: int | None = None) -> list[QueueDepth]:
    """Return the queues of the disks, those first that are longest at their limit. Missing: empty without requests."""
    rules = {rule.name: rule for rule in available_rules(part)}
    found: list[QueueDepth] = []
    if "block_io" in rules:
        found += _by_disk(part, find_spans(part, rules["block_io"], mask), "issued", mask, limit)
        if "block_rq_insert" in part.event.names:
            found += _by_disk(part, find_spans(part, QUEUED, mask), "queued", mask, limit)
    found.sort(key=lambda each: (-(each.share_at_limit or 0.0), -each.longest, each.object, each.stage))
    return found[:MAX_QUEUES]


def _by_disk(part: LogPart, spans: LogSpans, stage: str, mask: Mask | None, limit: int | None) -> list[QueueDepth]:
    if not len(spans):
        return []
    times = part.time_ns if mask is None else part.time_ns[mask]
    window_ns = int(times[-1] - times[0])
    known: dict[str, int] = {}
    disks = np.array([known.setdefault(name.partition(" ")[0], len(known)) for name in part.object.names], np.int64)
    disk_of = disks[part.object.codes[spans.begin]]
    found = []
    for name, disk in known.items():
        mine = disk_of == disk
        if mine.any():
            depth, lasted = depths(spans.start_ns[mine], spans.end_ns[mine])
            found.append(_to_depth((name, stage), depth, lasted, window_ns, limit))
    return found


def depths(
    start_ns: npt.NDArray[np.int64], end_ns: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:  # fmt: skip
    """Return how many spans are open after each beginning and end, and for how many nanoseconds. What ends at the beginning of
    another is closed before it.
    """
    times = np.concatenate([end_ns, start_ns])
    steps = np.concatenate([np.full(len(end_ns), -1), np.ones(len(start_ns), np.int64)])
    # An end is listed before a beginning of the same time, but no span ends before it begins.
    order = np.lexsort((steps, times))
    open_ = np.maximum(np.cumsum(steps[order]), 0)
    return open_, np.append(np.diff(times[order]), 0)


def _to_depth(
    names: tuple[str, str], depth: npt.NDArray[np.int64], lasted: npt.NDArray[np.int64], window_ns: int, limit: int | None
) -> QueueDepth:
    name, stage = names
    longest = int(depth.max())
    average = float((depth * lasted).sum() / window_ns) if window_ns else float(longest)
    if limit is None:
        limit = next((each for each in QUEUE_LIMITS if NEAR * each <= longest <= each), None)
    share = None if limit is None or not window_ns else float(lasted[depth >= NEAR * limit].sum() / window_ns)
    is_saturated = share is not None and share >= SATURATED
    what = f"Disk {name or '?'}: " + ("the queue" if stage == "queued" else "what was handed to it")
    if share and limit is not None:
        verdict = ": it is saturated" if is_saturated else ""
        said = (
            f"{what} was at its limit of {limit:,} for {format_percent(100 * share, 3)} of the time{verdict}; {longest:,} at most."
        )
    else:
        said = f"{what} was {longest:,} long at most, {average:.3g} on average."
    return QueueDepth(name, stage, longest, average, limit, share, is_saturated, said)
