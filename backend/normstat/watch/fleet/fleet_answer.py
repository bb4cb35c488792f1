"""Build the fleet's answer from the data read. Pure."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import numpy as np

from normstat.baselines.rolling_baseline import MIN_RECORDED
from normstat.query.fleet_rows import PastStreams
from normstat.query.host_lists import HostInfo
from normstat.query.host_numbers import StreamState, to_state
from normstat.query.minute_means import MinuteMeans
from normstat.runtime.readable import describe_range, format_human
from normstat.stats.engine.times.calls import stream_interval
from normstat.stats.spec import Kind
from normstat.watch.fleet.baseline_normals import CoveredHost
from normstat.watch.fleet.fleet_model import Fleet, FleetHost, FleetLine, HostVerdict
from normstat.watch.fleet.judging import (
    RECENT_MINUTES,
    FleetJudgement,
    FleetSeries,
    judge,
    largest_by_host,
    level_of,
    to_lines,
    to_ribbons,
)
from normstat.watch.fleet.key_metrics import KEY_METRICS, LOOPBACK, RESOURCES, KeyField
from normstat.watch.fleet.normals import SeriesName, SeriesNormal
from normstat.window import Window, to_us

DAY: Final = timedelta(days=1)
HOUR: Final = timedelta(hours=1)
HOUR_S: Final = 3600.0


def describe_series(key: KeyField, instance: str, value: float, normal: SeriesNormal) -> str:
    """Return the present value of a series and its normal range: `disk vda busy 98 %, normally 0 to 6 %`."""
    text = KEY_METRICS[key.metric].words.format(
        instance=instance or "all", value=format_human(value, key.field.unit), what=key.meaning.rpartition(".")[2]
    )
    return f"{text}, normally {describe_range(normal.low, normal.high, key.field.unit)}"


def describe_calm(n_series: int, baseline: str) -> str:
    """Return the sentence of a host as it normally is."""
    return f"as in {baseline}: {n_series} key metrics within their normal variation"


def describe_last_days(windows: Sequence[Window]) -> str:
    """Return what a rolling baseline is: `the last 7 days`."""
    days = round((windows[-1].end - windows[0].start) / DAY) if windows else 0
    return "the last day" if days <= 1 else f"the last {days} days"


def describe_learning(recorded_s: float) -> str:
    """Return why a host that sends has no normal yet."""
    needed_h = MIN_RECORDED / HOUR
    if recorded_s >= needed_h * HOUR_S:
        return "learning what is normal: its last days are read next"
    return f"learning what is normal: {recorded_s / HOUR_S:.0f} h of {needed_h:.0f} h recorded"


def name_line(key: KeyField, instance: str) -> str:
    """Return the label of a sparkline."""
    metric = KEY_METRICS[key.metric]
    match metric.resource:
        case "cpu":
            return "CPU not idle"
        case "run_queue":
            return "run queue"
        case "memory":
            return f"memory {key.meaning.rpartition('.')[2]}"
        case "disk":
            return f"{instance or 'disk'} busy"
        case "network":
            return f"{instance or 'network'} {'in' if key.meaning == 'net.in' else 'out'}"


MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class PastState:
    """The state of a host at a moment. Missing: `last_sample_ms` is None where its exact time is unknown"""

    state: StreamState
    last_sample_ms: int | None
    n_running: int


def to_past_state(streams: PastStreams, minutes: Sequence[bool] | None, at: datetime) -> PastState:
    """Return the state at a moment, by the server's rules for the present.

    `minutes`: in which of the minutes before it the host has samples; None if it sends nothing that the fleet page reads: then
    its running streams decide.
    """
    if minutes is None:
        newest = at if streams.n_running else streams.ended_at
    else:
        n_silent = next((n for n, has_samples in enumerate(reversed(minutes)) if has_samples), None)
        seen = None if n_silent is None else at - n_silent * MINUTE
        newest = max((time for time in (seen, streams.ended_at) if time is not None), default=None)
    # For a host whose tools all report rarely, a minute without samples says nothing.
    interval_s = min((own for own in map(stream_interval, streams.commands) if own is not None), default=None)
    ended_ms = None if streams.ended_at is None else to_us(streams.ended_at) // 1000
    return PastState(
        state=to_state(newest, at, interval_s=interval_s),
        last_sample_ms=None if streams.n_running else ended_ms,
        n_running=streams.n_running,
    )


MINUTE_MS: Final = 60_000
FULL_PERCENT: Final = 100.0
NO_STREAMS: Final = PastStreams()


@dataclass(frozen=True, slots=True)
class HostPart:
    """A host and its key series: the field of a stat, and the instance with its id."""

    id: int
    info: HostInfo
    groups: Sequence[str]
    series: Sequence[tuple[str, KeyField, str, int]]
    sends_key_stats: bool = True
    past: PastStreams = NO_STREAMS


@dataclass(frozen=True, slots=True, eq=False)
class StatMinutes:
    """The minutes of a stat, in order; None where they are not read yet. `columns`: the place of each field in the means"""

    columns: Mapping[str, int]
    minutes: Sequence[MinuteMeans | None]


@dataclass(frozen=True, slots=True, eq=False)
class FleetParts:
    """The inputs of the answer. `covered`: by the host's id; `minutes`: by stat; `first_minute`: of the epoch"""

    hosts: Sequence[HostPart]
    covered: Mapping[int, CoveredHost]
    minutes: Mapping[str, StatMinutes]
    first_minute: int
    n_minutes: int
    n_read: int
    # The moment in the past that is shown; None for the present.
    at: datetime | None = None
    # For hosts without a baseline that send now: the seconds recorded in the last days, by id.
    learned_s: Mapping[int, float] = field(default_factory=dict)
    # The sentence of the continuous comparison about hosts that are unusual at that moment, by id.
    said: Mapping[int, str] = field(default_factory=dict)


class _Row(NamedTuple):
    """One series of the answer: where it is from, and its normal."""

    key: KeyField
    instance: str
    normal: SeriesNormal | None


def make_fleet(parts: FleetParts) -> Fleet:
    """Return the answer."""
    rows, series, has_data = _gather(parts)
    judged = judge(series)
    is_read = np.array(
        [all(own.minutes[at] is not None for own in parts.minutes.values()) for at in range(parts.n_minutes)], np.bool_
    )
    ribbons = to_ribbons(largest_by_host(judged.minute_ratio, series.host, len(parts.hosts)), has_data, is_read)
    recent, ratios = judged.recent.tolist(), judged.recent_ratio.tolist()
    bounds = np.searchsorted(series.host, np.arange(len(parts.hosts) + 1)).tolist()
    drawn = _choose_drawn(rows, series, judged, bounds)
    lines = _draw(rows, series, judged, drawn)
    hosts = []
    for at, host in enumerate(parts.hosts):
        own = range(bounds[at], bounds[at + 1])
        said = [(rows[row], recent[row], ratios[row]) for row in own]
        answer = _judge_host(parts.covered.get(host.id), said, parts.learned_s.get(host.id), parts.said.get(host.id))
        shown = _with(host, answer, ribbons[at], [lines[row] for row in own if row in lines])
        hosts.append(shown if parts.at is None else _in_past(host, shown, has_data[at].tolist(), parts.at))
    return Fleet(
        end_ms=(parts.first_minute + parts.n_minutes) * MINUTE_MS,
        n_minutes=parts.n_minutes,
        n_minutes_read=parts.n_read,
        n_recent_minutes=RECENT_MINUTES,
        hosts=hosts,
    )


def _gather(parts: FleetParts) -> tuple[list[_Row], FleetSeries, np.ndarray]:
    """Return all series in the order of their hosts, and which hosts have samples in which minutes."""
    rows: list[_Row] = []
    places: dict[str, list[tuple[int, int, int]]] = {}
    host_of: list[int] = []
    for at, host in enumerate(parts.hosts):
        covered = parts.covered.get(host.id)
        known = {} if covered is None or covered.normals is None else covered.normals
        for stat, key, instance, instance_id in host.series:
            places.setdefault(stat, []).append((len(rows), instance_id, parts.minutes[stat].columns[key.field.key]))
            host_of.append(at)
            rows.append(_Row(key, instance, known.get(SeriesName(stat, instance, key.field.key))))
    means = np.full((len(rows), parts.n_minutes), np.nan, np.float32)
    n_rows = np.zeros((len(rows), parts.n_minutes), np.int64)
    for stat, own in places.items():
        _fill(means, n_rows, parts.minutes[stat], np.array(own, np.int64))
    owner = np.array(host_of, np.int64)
    has_data = np.zeros((len(parts.hosts), parts.n_minutes), np.bool_)
    if rows:
        begins = np.flatnonzero(np.diff(owner, prepend=-1))
        has_data[owner[begins]] = np.add.reduceat(n_rows, begins, axis=0) > 0
    normals = [
        (np.nan,) * 4 if own is None else (own.low, own.high, own.minute_scale, own.recent_scale)
        for own in (row.normal for row in rows)
    ]
    low, high, minute_scale, recent_scale = np.array(normals, np.float64).reshape(-1, 4).T.copy()
    series = FleetSeries(owner, means, n_rows, low, high, minute_scale, recent_scale)
    return rows, series, has_data


def _fill(means: np.ndarray, n_rows: np.ndarray, stat: StatMinutes, places: np.ndarray) -> None:
    """Put the minutes of a stat into the rows of its series. Shape: places (n, 3): row, instance, column"""
    for at, minute in enumerate(stat.minutes):
        if minute is None or not len(minute.instance_id):
            continue
        found = np.minimum(np.searchsorted(minute.instance_id, places[:, 1]), len(minute.instance_id) - 1)
        is_there = minute.instance_id[found] == places[:, 1]
        target, source = places[is_there, 0], found[is_there]
        means[target, at] = minute.means[source, places[is_there, 2]]
        n_rows[target, at] = minute.n_rows[source]


def _choose_drawn(rows: Sequence[_Row], series: FleetSeries, judged: FleetJudgement, bounds: Sequence[int]) -> list[int]:
    """Return the series to draw: of each resource of a host the most unusual now, else the highest."""
    height = np.nansum(series.means, axis=1)
    ratios, heights = np.nan_to_num(judged.recent_ratio).tolist(), height.tolist()
    drawn = []
    for begin, end in itertools.pairwise(bounds):
        best: dict[str, tuple[tuple[float, bool, float], int]] = {}
        for row in range(begin, end):
            metric = KEY_METRICS[rows[row].key.metric]
            if not metric.is_drawn:
                continue
            ratio = ratios[row]
            is_other = rows[row].instance not in LOOPBACK
            rank = (ratio if ratio >= 1 else 0.0, is_other, heights[row])
            if metric.resource not in best or rank > best[metric.resource][0]:
                best[metric.resource] = (rank, row)
        drawn += [best[resource][1] for resource in RESOURCES if resource in best]
    return drawn


def _draw(rows: Sequence[_Row], series: FleetSeries, judged: FleetJudgement, drawn: Sequence[int]) -> dict[int, FleetLine]:
    """Return the sparklines of these series."""
    if not drawn:
        return {}
    places = np.array(drawn)
    is_idle = np.array([KEY_METRICS[rows[row].key.metric].is_idle for row in drawn])
    is_percent = np.array([rows[row].key.field.kind is Kind.PERCENT for row in drawn])

    def turned(values: np.ndarray) -> np.ndarray:
        sign = is_idle if values.ndim == 1 else is_idle[:, None]
        return np.where(sign, FULL_PERCENT - values, values)

    values, recent = turned(series.means[places]), turned(judged.recent[places])
    bands = [turned(series.low[places]), turned(series.high[places])]
    low, high = np.minimum(*bands), np.maximum(*bands)
    tops = np.fmax(np.fmax.reduce(values, axis=1), high)
    tops = np.where(is_percent, np.fmax(tops, FULL_PERCENT), tops)
    tops = np.where(np.nan_to_num(tops) > 0, tops, 1.0)
    heights = to_lines(values, tops)
    levels = level_of(np.nan_to_num(judged.recent_ratio[places])).tolist()
    return {
        row: FleetLine(
            resource=KEY_METRICS[rows[row].key.metric].resource,
            label=name_line(rows[row].key, rows[row].instance),
            unit=rows[row].key.field.unit,
            now=_number(recent[at]),
            low=_number(low[at]),
            high=_number(high[at]),
            top=_number(tops[at]) or 1.0,
            heights=heights[at],
            level=levels[at],
        )
        for at, row in enumerate(drawn)
    }


@dataclass(frozen=True, slots=True)
class _Verdict:
    verdict: HostVerdict
    sentence: str
    ratio: float | None = None
    baseline_id: int | None = None
    baseline_name: str = ""
    is_rolling: bool = False


def _judge_host(
    covered: CoveredHost | None, rows: Sequence[tuple[_Row, float, float]], learned_s: float | None, who: str | None
) -> _Verdict:  # fmt: skip
    """Return a host's summary. `rows`: its series, each with the mean of the last minutes and its change ratio

    `who`: the sentence of the continuous comparison, which names the processes responsible where they are known
    """
    if covered is None:
        if learned_s is not None:
            return _Verdict("learning", describe_learning(learned_s))
        return _Verdict("no_baseline", "no baseline covers this host")
    baseline = covered.baseline
    name = describe_last_days(baseline.windows) if baseline.is_rolling else baseline.name
    own = (baseline.id, baseline.name, baseline.is_rolling)
    if covered.normals is None:
        return _Verdict("building", f"the profile of {name} is being built", None, *own)
    if all(math.isnan(recent) for _, recent, _ in rows):
        return _Verdict("no_samples", f"no samples in the last {RECENT_MINUTES} minutes", None, *own)
    judged = [found for found in rows if not math.isnan(found[2])]
    if not judged:
        return _Verdict("no_metrics", f"none of the metrics that this host sends now are in {name}", None, *own)
    row, recent, ratio = max(judged, key=lambda found: found[2])
    if ratio < 1 or row.normal is None:
        return _Verdict("judged", describe_calm(len(judged), name), ratio, *own)
    if who is not None:
        return _Verdict("judged", who, ratio, *own)
    sentence = describe_series(row.key, row.instance, recent, row.normal)
    return _Verdict("judged", f"{sentence} in {name}" if baseline.is_rolling else sentence, ratio, *own)


def _with(host: HostPart, said: _Verdict, ribbon: str, lines: list[FleetLine]) -> FleetHost:
    info = host.info
    return FleetHost(
        name=info.name,
        os=info.os,
        state=info.state,
        last_seen_ms=None if info.last_seen_at is None else to_us(info.last_seen_at) // 1000,
        last_sample_ms=None if info.last_sample_at is None else to_us(info.last_sample_at) // 1000,
        clock_offset_s=info.clock_offset_s,
        n_streams_live=info.n_streams_live,
        n_streams=info.n_streams,
        n_rejected=info.n_rejected,
        n_rejected_last_hour=info.n_rejected_last_hour,
        n_rejected_hour_before=info.n_rejected_hour_before,
        has_reject_rise=info.has_reject_rise,
        groups=list(host.groups),
        tags=info.tags,
        agent_tags=info.agent_tags,
        verdict=said.verdict,
        change_ratio=None if said.ratio is None else float(f"{said.ratio:.3g}"),
        level=0 if said.ratio is None else int(level_of(np.array([said.ratio]))[0]),
        sentence=said.sentence,
        baseline_id=said.baseline_id,
        baseline_name=said.baseline_name,
        is_rolling=said.is_rolling,
        ribbon=ribbon,
        lines=lines,
    )


def _in_past(host: HostPart, shown: FleetHost, minutes: Sequence[bool], at: datetime) -> FleetHost:
    """Return the host with its state at a moment in the past, without what is known about the present only."""
    found = to_past_state(host.past, minutes if host.sends_key_stats else None, at)
    return replace(
        shown,
        # Files are loaded later than they were recorded, so nothing is known about an agent.
        state=host.info.state if host.info.state is StreamState.RECORDED else found.state,
        last_sample_ms=found.last_sample_ms,
        n_streams_live=found.n_running,
        clock_offset_s=None,
        has_reject_rise=False,
    )


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(f"{value:.4g}")
