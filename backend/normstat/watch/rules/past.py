"""Evaluate a rule on the recorded past of a host: when it would have fired, for how long, and how often."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.comparison.read_side import StatSide, read_side
from normstat.errors import NoData
from normstat.query.cpu_counts import read_cpu_counts
from normstat.runtime import work_budget
from normstat.runtime.readable import name_some
from normstat.samples.lookup import StatRef, list_host_stats
from normstat.watch.rules.episode_tracker import Episode, EpisodeTracker
from normstat.watch.rules.rolling import MAX_DISTANCES, usual_distance
from normstat.watch.rules.rule_file import COLOURS, Colour, WatchInput, WatchRule
from normstat.watch.rules.rule_frame import NO_COUNTS, ChosenInput, HourlyForecast, build_frame, choose_inputs, name_sources
from normstat.watch.rules.rule_run import run_rule, without_reports_before
from normstat.watch.rules.time_to import read_forecasts
from normstat.window import Window

# Read at once: an hour of 256 CPUs each second is a million rows, and what was read is dropped before the next piece.
PIECE: Final = timedelta(hours=1)
MAX_SOURCES: Final = 6
# Reads the samples of a stat: some of its fields.
# Called around each piece: progress, limits.
AroundPiece = Callable[[], AbstractAsyncContextManager[object]]
ReadStat = Callable[[str, frozenset[str]], Awaitable[StatSide]]
ChooseInputs = Callable[[WatchRule, Sequence[str], Mapping[str, int]], tuple[list[ChosenInput], list[WatchInput]]]


@dataclass(slots=True)
class PastRun:
    """The result of a rule over a window of a host.

    `seconds`: how long the worst instance was of each colour; `unknown_s`: how long it could not be judged; `sources`: the fields
    that were read, by input; `n_reports`: reports that were judged
    """

    rule: WatchRule
    host: str
    window: Window
    seconds: dict[Colour, float] = field(default_factory=dict)
    unknown_s: float = 0.0
    n_reports: int = 0
    episodes: list[Episode] = field(default_factory=list)
    sources: dict[str, list[str]] = field(default_factory=dict)

    @property
    def covered(self) -> timedelta:
        """The time with reports."""
        return timedelta(seconds=self.unknown_s + sum(self.seconds.values()))

    @property
    def n_a_week(self) -> float:
        """Episodes in a week of samples. Missing: 0.0 without samples"""
        return len(self.episodes) * (timedelta(days=7) / self.covered) if self.covered else 0.0


async def run_over_past(
    session: AsyncSession, host: tuple[int, str], rule: WatchRule, window: Window, *, around: AroundPiece = nullcontext
) -> PastRun:
    """Return the result of a rule over a window, piece by piece. `host`: id and name; `around`: entered for each piece.

    Raises: NoData, when the host never sent one of the inputs, or has none of them in this window
    """
    host_id, name = host
    stats = {stat.name: stat for stat in await list_host_stats(session, host_id)}
    counts = await read_counts(session, host_id, window.end) if any(each.fact for each in rule.inputs) else NO_COUNTS
    _, missing = choose_inputs(rule, list(stats), counts)
    if missing:
        raise NoData(_say_missing(name, rule, missing))
    past = PastRun(rule, name, window)
    tracker = EpisodeTracker(rule)
    for start in _starts(window):
        piece = Window(start, min(start + PIECE, window.end))
        async with around():
            chosen, sides = await _read_piece(session, host_id, rule, stats, piece, counts=counts)
            if chosen:
                forecasts = await read_forecasts(session, host_id, rule, chosen, stats=stats, window=piece)
                await work_budget.run_in_thread(
                    _judge, past, tracker, chosen, sides, counts=counts, after=piece.start, forecasts=forecasts
                )
    past.episodes = sorted([*past.episodes, *tracker.open_ones], key=lambda episode: episode.start_s)
    if not past.n_reports:
        raise NoData(f"{name} has no samples of {', '.join(each.name for each in rule.inputs)} in this window")
    return past


def count_pieces(window: Window) -> int:
    """Return in how many pieces a window is read."""
    return -(-(window.end - window.start) // PIECE)


def _starts(window: Window) -> list[datetime]:
    return [window.start + at * PIECE for at in range(count_pieces(window))]


async def read_counts(session: AsyncSession, host_id: int, at: datetime) -> dict[str, int]:
    """Return what the facts of a host say, up to an instant, of the number of instances of inputs: by fact."""
    counts = await read_cpu_counts(session, [host_id], at)
    return {"cpus": counts[host_id]} if host_id in counts else {}


async def _read_piece(
    session: AsyncSession, host_id: int, rule: WatchRule, stats: dict[str, StatRef], piece: Window, *, counts: Mapping[str, int]
) -> tuple[list[ChosenInput], dict[str, StatSide]]:
    """Return the inputs that have samples in a piece, with its samples and those that its first report looks back on."""
    longer = Window(piece.start - timedelta(seconds=rule.span_s), piece.end)

    async def read(stat: str, keys: frozenset[str]) -> StatSide:
        fields = [own for own in stats[stat].fields if own.key in keys]
        return await read_side(session, host_id, stats[stat], (longer,), fields=fields, max_rows=None)

    return await read_inputs(rule, list(stats), read, counts)


async def read_inputs(
    rule: WatchRule,
    stats: Sequence[str],
    read: ReadStat,
    counts: Mapping[str, int],
    *,
    choose: ChooseInputs = choose_inputs,
) -> tuple[list[ChosenInput], dict[str, StatSide]]:
    """Return the inputs that have samples, and the samples by stat. Where a tool has none, another one may have run instead.

    Missing: nothing where an input has no samples of any of these stats
    """
    usable = list(stats)
    while True:
        chosen, missing = choose(rule, usable, counts)
        if missing:
            return [], {}
        sides: dict[str, StatSide] = {}
        for stat in dict.fromkeys(each.stat for each in chosen):
            sides[stat] = await read(stat, frozenset(field.key for each in chosen if each.stat == stat for field in each.fields))
        empty = {each.stat for each in chosen if each.source_with_values(sides[each.stat]) is None}
        if not empty:
            return chosen, sides
        usable = [stat for stat in usable if stat not in empty]


def _judge(
    past: PastRun,
    tracker: EpisodeTracker,
    chosen: Sequence[ChosenInput],
    sides: dict[str, StatSide],
    *,
    counts: Mapping[str, int],
    after: datetime,
    forecasts: Mapping[str, HourlyForecast],
) -> None:
    frame = build_frame(past.rule, chosen, sides, counts, forecasts)
    run = without_reports_before(run_rule(past.rule, frame), after.timestamp())
    for wanted in past.rule.inputs:
        if wanted.fact in counts and all(each.name != wanted.name for each in chosen):
            past.sources.setdefault(wanted.name, [f"the host's facts ({wanted.fact})"])
    for each in chosen:
        source = each.source_with_values(sides[each.stat])
        known = past.sources.setdefault(each.name, [])
        if source is not None and str(source) not in known:
            known.append(str(source))
    distance_s = usual_distance(run.times_s)
    covered_s = np.minimum(np.diff(run.times_s, prepend=run.times_s[:1] - distance_s), MAX_DISTANCES * distance_s)
    colours = run.host_colours()
    for place, colour in enumerate(COLOURS):
        if (own := float(covered_s[colours == place].sum())) > 0:
            past.seconds[colour] = past.seconds.get(colour, 0.0) + own
    past.unknown_s += float(covered_s[colours < 0].sum())
    past.n_reports += len(run.times_s)
    past.episodes += tracker.feed(run)


def _say_missing(host: str, rule: WatchRule, missing: Sequence[WatchInput]) -> str:
    first = missing[0]
    if first.own:
        return f"rule {rule.name} is about data that normstat has without samples, which has no recorded past"
    sources = name_sources(first)
    known = name_some(sources, MAX_SOURCES)
    return f"rule {rule.name} needs {first.name}, which {host} never sent; {known} would give it"
