"""The answer of the fleet page: all hosts at one moment."""

from dataclasses import dataclass
from typing import Literal

from normstat.query.host_numbers import StreamState
from normstat.runtime.field_docs import Documented
from normstat.watch.fleet.key_metrics import Resource

# judged: compared with its baseline; building: the profile of the baseline is not ready; learning: no baseline, and too little is
# recorded yet for a rolling one; no_samples: none in the last minutes; no_metrics: no key metric is both in the baseline and among
# the samples.
HostVerdict = Literal["judged", "no_baseline", "learning", "building", "no_samples", "no_metrics"]


@dataclass(frozen=True, slots=True)
class FleetLine(Documented):
    """The sparkline of a resource of a host."""

    resource: Resource
    label: str
    """What is drawn, with the instance: `vda busy`."""

    unit: str
    now: float | None
    """The mean of the last minutes."""

    low: float | None
    """The band of the baseline, p5 to p95; null without a baseline."""

    high: float | None
    top: float
    """The value of the highest letter."""

    heights: str
    """A letter for each minute: 0-9, A-Z, a-z are 62 heights from 0 to `top`, - is a minute without samples."""

    level: int
    """How unusual it is now: 0 within normal variation, 1 from a change ratio of 1, 2 from 3, 3 from 10."""


@dataclass(frozen=True, slots=True)
class FleetHost(Documented):
    """A host beside its normal."""

    name: str
    os: str
    state: StreamState
    """At that moment. Of the past: by the minutes with samples, or by its streams if it sends no key metric."""

    last_seen_ms: int | None
    """The last request of its agent, as known today; null for imported hosts."""

    last_sample_ms: int | None
    """Of the past: null while it was sending."""

    clock_offset_s: float | None
    """Null in the past."""

    n_streams_live: int
    n_streams: int
    n_rejected: int
    """This and the two hours are as known today."""

    n_rejected_last_hour: int
    n_rejected_hour_before: int
    has_reject_rise: bool
    """False in the past."""

    groups: list[str]
    tags: list[str]
    agent_tags: list[str]
    """The tags that the agent sets."""

    verdict: HostVerdict
    change_ratio: float | None
    """The largest change ratio of its key metrics in the last minutes; null unless judged."""

    level: int
    sentence: str
    """What is most unusual, in human units; else why the host is not judged."""

    baseline_id: int | None
    baseline_name: str
    is_rolling: bool
    """Whether that is the rolling baseline of the host: its last days, not marked by a person."""

    ribbon: str
    """A letter for each minute: 0 to 3 how unusual, ? samples but no normal, - no samples, . not read yet."""

    lines: list[FleetLine]


@dataclass(frozen=True, slots=True)
class Fleet(Documented):
    """All hosts in the hour before a moment, by name."""

    end_ms: int
    """The end of the last minute."""

    n_minutes: int
    n_minutes_read: int
    """Fewer than `n_minutes` while the server still reads the hour: ask again."""

    n_recent_minutes: int
    """The last minutes, which `change_ratio` covers."""

    hosts: list[FleetHost]
