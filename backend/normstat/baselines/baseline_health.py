"""The health of a baseline for each of its hosts: how much of it has samples, how old it is, which instances changed since, and
whether normal did.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.baseline_records import BaselineInfo
from normstat.baselines.baseline_rows import read_baseline
from normstat.baselines.baseline_versions import effective_windows
from normstat.baselines.lifecycle import to_rule
from normstat.baselines.recurrence import next_window
from normstat.baselines.window_sets import Windows, intersect, length_s, merge
from normstat.errors import NotFound, shorten
from normstat.query.artefact_times import ArtefactTime, read_artefact_times
from normstat.query.baseline_contents import InstanceChanges, StatContents, read_contents, read_instance_changes
from normstat.query.report_coverage import read_first_and_last
from normstat.records.normal_change_rows import NormalChange, list_normal_changes
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import count_of, format_seconds, name_some
from normstat.samples.lookup import list_host_stats, require_host
from normstat.stats.observer_effect import Effect, describe_effect
from normstat.window import EPOCH, Window

State = Literal["good", "stale", "insufficient_data", "empty"]

DAY: Final = timedelta(days=1)
# With less data, percentiles of most series are meaningless.
MIN_COVERED_S: Final = 600.0
MIN_COVERAGE: Final = 0.5
# Hosts are patched and programs released about once a month.
STALE_DAYS: Final = 30.0
# When this share of a stat's instances has changed, the baseline describes another machine. Processes come and go all the time.
STALE_SHARE: Final = 0.25
FLEETING_SHARE: Final = 0.75
MAX_LASTING: Final = 500
MAX_SHOWN: Final = 5
MAX_OBSERVED: Final = 3
# A change of normal of fewer series leaves the baseline good.
MIN_MOVED: Final = 3


@dataclass(frozen=True, slots=True)
class StatHealth(Documented):
    """Health of one stat in a baseline."""

    stat: str
    n_samples: int
    is_estimate: bool
    """`n_samples` is an estimate."""

    coverage: float
    """The part of the past effective windows that has samples, 0..1."""

    instances_gone: list[str]
    """In the baseline, but not in the last day of data; at most 20 names."""

    n_instances_gone: int
    instances_new: list[str]
    """In the last day of data, but not in the baseline; at most 20 names."""

    n_instances_new: int


@dataclass(frozen=True, slots=True)
class HostHealth(Documented):
    """Health of one host in a baseline."""

    host: str
    state: State
    reasons: list[str]
    """Sentences; empty if nothing is wrong."""

    windows: list[Window]
    """The effective windows, including future ones, which count nowhere else."""

    coverage: float
    """The part of the past effective windows that has samples, 0..1."""

    n_samples: int
    newest_at: datetime | None
    """The newest sample in the baseline; null without any."""

    age_days: float | None
    stats: list[StatHealth]


@dataclass(frozen=True, slots=True)
class _StatData:
    """What was read about one stat; `has_recent`: it has samples in the last day of the host's data."""

    name: str
    contents: StatContents
    changes: InstanceChanges
    has_recent: bool


async def read_health(
    session: AsyncSession, baseline_id: int, now: datetime, *, host: str | None = None
) -> tuple[int, list[HostHealth]]:
    """Return the baseline's version and its health for each host by name, or for one host.

    Raises: NotFound, also for a host that the baseline does not cover
    """
    record = await read_baseline(session, baseline_id)
    if host is not None and host not in record.hosts:
        raise NotFound(
            f"Baseline {record.name} does not cover {shorten(host)}", {"baseline": baseline_id, "host": host}
        )  # fmt: skip
    return record.version, [await _read_host(session, record, name, now) for name in record.hosts if host in (None, name)]


async def _read_host(session: AsyncSession, record: BaselineInfo, host: str, now: datetime) -> HostHealth:
    host_id = await require_host(session, host)
    effective = await effective_windows(session, record.id, host_id)
    past = clip_at(effective, now)
    _, last = await read_first_and_last(session, host_id)
    found = []
    if past and last is not None:
        # The last sample belongs to the last day.
        recent = Window(last - DAY, last + timedelta(microseconds=1))
        for stat in await list_host_stats(session, host_id):
            contents = await read_contents(session, host_id, stat, past)
            changes = await read_instance_changes(session, host_id, stat, past, recent)
            has_recent = changes.n_new > 0 or changes.n_before > changes.n_gone
            found.append(_StatData(stat.name, contents, changes, has_recent))
    past_s = length_s(past)
    # Instances may have begun before and ended after the windows without a sample in them.
    stats = [_to_stat(item, past_s) for item in found if item.contents.n_samples]
    covered_s = length_s(merge(piece for item in found for piece in item.contents.covered))
    newest = max((item.contents.newest_at for item in found if item.contents.newest_at is not None), default=None)
    age_days = None if newest is None else max(0.0, (now - newest) / DAY)
    state, reasons = assess(record, effective, now, covered_s=covered_s, age_days=age_days)
    state, more = (state, []) if state == "empty" else _assess_stats(state, found)
    more = [*describe_observed(await read_heavy(session, host_id, past), past), *more]
    if past and state != "empty":
        state, moved = assess_changes(state, past, await list_normal_changes(session, host_ids=[host_id], start=past[0].start))
        more = [*moved, *more]
    return HostHealth(
        host=host,
        state=state,
        reasons=[*reasons, *more],
        windows=list(effective),
        coverage=round(min(1.0, covered_s / past_s), 4) if past_s else 0.0,
        n_samples=sum(stat.n_samples for stat in stats),
        newest_at=newest,
        age_days=None if age_days is None else round(age_days, 3),
        stats=stats,
    )


async def read_heavy(session: AsyncSession, host_id: int, windows: Windows) -> list[ArtefactTime]:
    """Return the artefacts of tools that slow down a host several times, from the first to the last of the windows."""
    if not windows:
        return []
    start, end = min(window.start for window in windows), max(window.end for window in windows)
    return await read_artefact_times(session, [host_id], start=start, end=end, effects=(Effect.HEAVY,))


def describe_observed(heavy: Sequence[ArtefactTime], windows: Windows) -> list[str]:
    """Return a sentence for each time in the windows at which a tool slowed down the host several times, the latest of many."""
    within = [time for time in heavy if time.window is not None and intersect(windows, [time.window])]
    said = [
        f"Observed under {time.tool or 'a tracer'} from {time.start:%Y-%m-%d %H:%M:%S} to {time.end:%H:%M:%S} UTC"
        f" (artefact {time.id}), which {describe_effect(time.tool, time.effect)}: exclude that period."
        for time in within[-MAX_OBSERVED:]
    ]
    left = len(within) - len(said)
    return [*said, f"{left} earlier times under such tools."] if left else said


def assess_changes(state: State, past: Windows, changes: Sequence[NormalChange]) -> tuple[State, list[str]]:
    """Return the state after the changes of normal since the windows began, and a sentence for those after them and within them.

    `past`: windows, at least one, in order
    """
    since = [change for change in changes if change.at >= past[-1].end]
    within = [change for change in changes if past[0].start < change.at < past[-1].end]
    reasons = []
    if since:
        again = f", and {count_of(len(since) - 1, 'more time')}" if len(since) > 1 else ""
        reasons.append(f"Normal has moved since {_day(since[0])}: {since[0].sentence}{again}. Mark a newer baseline.")
    if within:
        reasons.append(f"Normal moved within it on {_day(within[-1])}: {within[-1].sentence}. Leave out the time before.")
    has_moved = any(change.n_series >= MIN_MOVED for change in [*since, *within])
    return ("stale" if state == "good" and has_moved else state), reasons


def _day(change: NormalChange) -> str:
    return f"{change.at:%Y-%m-%d}"


def clip_at(windows: Windows, now: datetime) -> Windows:
    """Return the windows clipped at `now`."""
    return intersect(windows, [Window(EPOCH, now)]) if now > EPOCH else ()


def assess(
    record: BaselineInfo, effective: Windows, now: datetime, *, covered_s: float, age_days: float | None
) -> tuple[State, list[str]]:
    """Return the state of the windows and their samples as a whole, with reasons; no reasons means nothing is wrong.

    Units: covered_s seconds     Missing: age_days None without any sample
    """
    past = clip_at(effective, now)
    reasons = []
    if record.recording_until is not None and record.recording_until > now:
        reasons.append(f"Recording until {_clock(record.recording_until)}.")
    if age_days is None or covered_s == 0:
        return "empty", [*reasons, _why_empty(record, effective, past, now)]
    state: State = "good"
    coverage = covered_s / length_s(past)
    if age_days > STALE_DAYS:
        state = "stale"
        reasons.append(f"The newest sample is {age_days:.0f} days old; normal behaviour may have changed since.")
    # Ten minutes of samples cover ten minutes minus one interval.
    if round(covered_s / 60) * 60 < MIN_COVERED_S:
        state = "insufficient_data"
        reasons.append(f"Only {format_seconds(covered_s)} of data; use at least {format_seconds(MIN_COVERED_S)}.")
    if coverage < MIN_COVERAGE:
        state = "insufficient_data"
        reasons.append(f"Only {100 * coverage:.0f} % of the windows have samples.")
    return state, reasons


def _assess_stats(state: State, found: Sequence[_StatData]) -> tuple[State, list[str]]:
    """Return the state after checking each stat, and the reasons."""
    reasons = []
    gone = [item.name for item in found if item.contents.n_samples and not item.has_recent]
    if gone:
        reasons.append(f"No samples in the last day of data: {_names(gone, len(gone))}.")
    new = [item.name for item in found if item.has_recent and not item.contents.n_samples]
    if new:
        reasons.append(f"Samples today, but none in the baseline: {_names(new, len(new))}; these cannot be compared.")
    for item in found:
        changes = item.changes
        if not item.contents.n_samples or not item.has_recent or not (changes.n_gone or changes.n_new):
            continue
        share = (changes.n_gone + changes.n_new) / (changes.n_before + changes.n_new)
        if changes.n_before > MAX_LASTING or share > FLEETING_SHARE:
            reasons.append(f"{item.name}: {changes.n_gone} short-lived instances disappeared and {changes.n_new} appeared since.")
            continue
        if state == "good" and share >= STALE_SHARE:
            state = "stale"
        went = f"disappeared since: {_names(changes.gone, changes.n_gone)}" if changes.n_gone else ""
        came = f"appeared since: {_names(changes.new, changes.n_new)}" if changes.n_new else ""
        reasons.append(f"{item.name}: {'; '.join(filter(None, (went, came)))}.")
    return state, reasons


def _why_empty(record: BaselineInfo, effective: Windows, past: Windows, now: datetime) -> str:
    if not record.windows:
        rule = to_rule(record.rule, record.time_zone)
        coming = None if rule is None else next_window(rule, now)
        if coming is None:
            return "The baseline has no windows."
        return f"The rule has no finished window yet; the first one ends at {_clock(coming.end)}."
    if not effective:
        return "All windows are excluded as incidents."
    if not past:
        return f"The first window begins at {_clock(effective[0].start)}."
    return "The windows have no samples of this host."


def _to_stat(item: _StatData, past_s: float) -> StatHealth:
    contents, changes = item.contents, item.changes
    return StatHealth(
        stat=item.name,
        n_samples=contents.n_samples,
        is_estimate=contents.is_estimate,
        coverage=round(min(1.0, length_s(merge(contents.covered)) / past_s), 4),
        instances_gone=changes.gone,
        n_instances_gone=changes.n_gone,
        instances_new=changes.new,
        n_instances_new=changes.n_new,
    )


def _names(names: Sequence[str], n: int) -> str:
    return name_some([name if len(name) <= 40 else f"{name[:40]}..." for name in names], MAX_SHOWN, n)


def _clock(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M} UTC"
