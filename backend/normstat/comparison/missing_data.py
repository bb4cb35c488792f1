"""Times without samples in the incident: a tool, or all of them, that printed nothing for longer than it usually does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.comparison.findings.coming_and_going import is_process_stat
from normstat.comparison.findings.wording import tool_of
from normstat.comparison.read_side import StatSide
from normstat.comparison.score import StatPair
from normstat.scoring.summary import FloatArray

# A tool is silent when the distance to its next report is this many times its usual one, and this many seconds.
MIN_TIMES: Final = 4.0
MIN_SILENCE_S: Final = 5.0
# Few reports do not show how often a tool reports.
MIN_REPORTS: Final = 5
USUAL_QUANTILE: Final = 0.95
# Two tools are silent together when both times share this much of the longer one.
MIN_SHARED: Final = 0.5


@dataclass(frozen=True, slots=True)
class Silence:
    """A time without samples. `tools`: those that were silent together; `is_all`: every tool that reports as often"""

    tools: tuple[str, ...]
    start_s: float
    end_s: float
    is_all: bool


@dataclass(slots=True)
class _Joint:
    tools: set[str]
    start_s: float
    end_s: float


def find_silences(stats: Sequence[StatPair]) -> list[Silence]:
    """Return the times without samples within the incident, the first one first. Stats of processes are silent when none works."""
    # Two stats of one tool, devices and CPUs of iostat, are silent together or not at all.
    usual: dict[str, float] = {}
    alone: list[_Joint] = []
    for stat in stats:
        name = stat.incident.stat.name
        if is_process_stat(name) or stat.incident.n_rows_skipped:
            continue
        interval = _usual_distance(stat)
        if interval is None:
            continue
        usual[tool_of(name)] = min(interval, usual.get(tool_of(name), interval))
        alone += [_Joint({tool_of(name)}, *span) for span in _silent_spans(stat.incident, interval)]
    joint: list[_Joint] = []
    for one in sorted(alone, key=lambda item: (item.start_s, -item.end_s)):
        same = next((other for other in joint if _is_same(one, other)), None)
        if same is None:
            joint.append(one)
        else:
            same.tools |= one.tools
            same.start_s, same.end_s = max(same.start_s, one.start_s), min(same.end_s, one.end_s)
    return [_to_silence(item, usual) for item in joint]


def _to_silence(item: _Joint, usual: dict[str, float]) -> Silence:
    length = item.end_s - item.start_s
    as_often = {tool for tool, interval in usual.items() if length > max(MIN_SILENCE_S, MIN_TIMES * interval)}
    return Silence(tuple(sorted(item.tools)), item.start_s, item.end_s, len(item.tools) > 1 and as_often <= item.tools)


def _usual_distance(stat: StatPair) -> float | None:
    """Return how far the reports of a stat are apart, but for a few. Missing: None with too few reports."""
    sides = [side for side in (stat.incident, stat.baseline) if side is not None and not side.n_rows_skipped]
    distances: FloatArray = np.concatenate([np.diff(side.times_s) for side in sides])
    return float(np.quantile(distances, USUAL_QUANTILE)) if len(distances) >= MIN_REPORTS else None


def _silent_spans(side: StatSide, interval: float) -> list[tuple[float, float]]:
    distances = np.diff(side.times_s)
    places = np.flatnonzero((distances > MIN_TIMES * interval) & (distances > MIN_SILENCE_S))
    return [(float(side.times_s[at]), float(side.times_s[at + 1])) for at in places.tolist()]


def _is_same(one: _Joint, other: _Joint) -> bool:
    shared = min(one.end_s, other.end_s) - max(one.start_s, other.start_s)
    return shared >= MIN_SHARED * max(one.end_s - one.start_s, other.end_s - other.start_s)
