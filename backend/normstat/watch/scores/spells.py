"""Find the times in which a subsystem of a host was unusual, minute by minute; they are stored as episodes. Pure.

A spell begins when the score of five minutes was ON for MIN_MINUTES in a row, and ends when it was below OFF for END_MINUTES: a
score that swings around a limit is one spell and not ten.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from normstat.records.episode_rows import CONTINUOUS, FoundEpisode
from normstat.records.score_rows import ScoreRow
from normstat.runtime.readable import format_human
from normstat.watch.rules.episode_tracker import EpisodeEnd
from normstat.watch.rules.rule_file import COLOURS, Colour
from normstat.watch.scores.host_bands import SUBSYSTEMS
from normstat.watch.scores.minute_scores import UnusualSeries
from normstat.watch.scores.score_words import describe_repetition, describe_series

# Measured over weeks of made-up hosts (bench_alarms): the highest calm minute has 0.28, and 0.4 misses what 0.3 finds.
ON: Final = 0.3
OFF: Final = 0.15
CRITICAL: Final = 0.6
MIN_MINUTES: Final = 2
END_MINUTES: Final = 5
MINUTE: Final = timedelta(minutes=1)
# The sentence about the repetition, where there is one.
REPEATS: Final = "repeats"
ACTION: Final = "Open the host at this time and compare it with its baseline: the comparison names the process."


@dataclass(frozen=True, slots=True)
class EarlierSpell:
    """A stored spell that began before the first row and had not ended by then: a run continues it."""

    instance: str
    start_at: datetime
    last_at: datetime
    colour: Colour
    worst_at: datetime
    sentence: str
    saw: Sequence[dict[str, Any]]


@dataclass(slots=True)
class _Spell:
    """A spell while it is found. `score`: the highest so far; None for an earlier one, whose colour alone is stored"""

    found: FoundEpisode
    score: float | None
    n_calm: int = 0


def find_spells(
    rows: Sequence[ScoreRow], earlier: Iterable[EarlierSpell], begin: datetime, until: datetime
) -> list[FoundEpisode]:  # fmt: skip
    """Return the spells of a host: those that began in its rows, and the earlier ones as they are now.

    `rows`: the minutes of [begin, until) in order, those without samples left out
    """
    by_instance = {spell.instance: spell for spell in earlier}
    found: list[FoundEpisode] = []
    for place, subsystem in enumerate(SUBSYSTEMS):
        finder = _Finder(place, subsystem, by_instance.get(subsystem), begin)
        for row in rows:
            finder.step(row)
        found += finder.finish(until)
    return found


class _Finder:
    """Goes through the minutes of a subsystem."""

    def __init__(self, place: int, subsystem: str, earlier: EarlierSpell | None, begin: datetime) -> None:
        self._place = place
        self._subsystem = subsystem
        self._seen = begin - MINUTE
        self._high: list[ScoreRow] = []
        self._spell: _Spell | None = None
        self._ended: list[FoundEpisode] = []
        if earlier is not None:
            # The minutes since its last high one were calm.
            self._spell = _Spell(_to_episode(earlier), None, max(0, (begin - earlier.last_at) // MINUTE - 1))

    def step(self, row: ScoreRow) -> None:
        """Go on to the next minute with samples."""
        self._note_silence(row.minute_at)
        if row.minute_at - self._seen > MINUTE:
            self._high = []
        self._seen = row.minute_at
        score = self._score_of(row)
        self._high = [*self._high, row] if score >= ON else []
        if self._spell is None:
            self._begin_if_high()
        elif score >= OFF:
            _go_on(self._spell, row, score, self._subsystem)
        else:
            self._spell.n_calm += 1
            if self._spell.n_calm >= END_MINUTES:
                self._end(row.minute_at + MINUTE, EpisodeEnd.FINE)

    def finish(self, until: datetime) -> list[FoundEpisode]:
        """Return the spells, the one that lasts included."""
        self._note_silence(until)
        return [*self._ended, *([] if self._spell is None else [self._spell.found])]

    def _score_of(self, row: ScoreRow) -> float:
        return row.scores_5[self._place] or 0.0

    def _begin_if_high(self) -> None:
        if len(self._high) >= MIN_MINUTES:
            self._spell = _Spell(_begin(self._high[0], self._subsystem), 0.0)
            for own in self._high:
                _go_on(self._spell, own, self._score_of(own), self._subsystem)

    def _note_silence(self, at: datetime) -> None:
        if at - self._seen > END_MINUTES * MINUTE:
            self._end(self._seen + END_MINUTES * MINUTE, EpisodeEnd.NO_SAMPLES)

    def _end(self, at: datetime, by: EpisodeEnd) -> None:
        if self._spell is not None:
            self._ended.append(replace(self._spell.found, ended_at=at, ended_by=by))
        self._spell = None


def _to_episode(earlier: EarlierSpell) -> FoundEpisode:
    return FoundEpisode(
        source=CONTINUOUS,
        source_version=1,
        instance=earlier.instance,
        start_at=earlier.start_at,
        last_at=earlier.last_at,
        ended_at=None,
        ended_by=None,
        colour=earlier.colour,
        worst_at=earlier.worst_at,
        title=_title(earlier.instance),
        sentence=earlier.sentence,
        action=ACTION,
        saw=earlier.saw,
    )


def _begin(row: ScoreRow, subsystem: str) -> FoundEpisode:
    at = row.minute_at
    return FoundEpisode(
        CONTINUOUS, row.method, subsystem, at, at, None, None, Colour.AMBER, at, _title(subsystem), "", ACTION, ()
    )  # fmt: skip


def _go_on(spell: _Spell, row: ScoreRow, score: float, subsystem: str) -> None:
    """Lead the spell on to a minute, and keep the worst of it."""
    colour = Colour.RED if score >= CRITICAL else Colour.AMBER
    is_worse = COLOURS.index(colour) > COLOURS.index(Colour(spell.found.colour))
    spell.n_calm = 0
    spell.found = replace(spell.found, last_at=row.minute_at)
    is_higher = is_worse or (spell.score is not None and score > spell.score)
    top = next((finding for finding in row.findings if finding["subsystem"] == subsystem), None)
    if top is None or not is_higher:
        return
    series = UnusualSeries.from_stored(top)
    spell.score = score
    spell.found = replace(
        spell.found,
        colour=max(colour, Colour(spell.found.colour), key=COLOURS.index),
        worst_at=row.minute_at,
        sentence=f"{describe_series(series)}.",
        saw=_to_values(series, row.minute_at),
    )


def _to_values(series: UnusualSeries, at: datetime) -> list[dict[str, Any]]:
    name = " ".join(part for part in (series.stat, series.field, series.instance) if part)
    text = format_human(series.value, series.unit)
    saw = {"name": name, "value": series.value, "unit": series.unit, "text": text, "at": at.isoformat()}
    return [saw if series.repetition is None else {**saw, REPEATS: describe_repetition(series)}]


def _title(subsystem: str) -> str:
    return f"Unusual: {NAMES.get(subsystem, subsystem)}"


NAMES: Final = {
    "cpu": "CPU", "disk": "disk I/O", "memory": "memory", "network": "network", "locks": "locks", "filesystem": "file systems",
    "nfs": "NFS", "other": "other metrics",
}  # fmt: skip
