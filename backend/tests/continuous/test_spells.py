"""When a subsystem was unusual: beginnings, swings, ends, silence, and the same answer whatever the run began with."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import pytest

from normstat.continuous.host_bands import SUBSYSTEMS
from normstat.continuous.minute_scores import UnusualSeries
from normstat.continuous.spells import EarlierSpell, find_spells
from normstat.rules.rule_file import Colour
from normstat.storage.episode_rows import FoundEpisode
from normstat.storage.score_rows import ScoreRow

START = datetime(2026, 11, 16, 8, tzinfo=UTC)
DISK = SUBSYSTEMS.index("disk")
NONE = (None,) * len(SUBSYSTEMS)


def at(minute: int) -> datetime:
    return START + timedelta(minutes=minute)


def minute_of(instant: datetime | None) -> int | None:
    return None if instant is None else round((instant - START).total_seconds() / 60)


def row(minute: int, disk: float) -> ScoreRow:
    series = UnusualSeries("disk", "iostat_linux", "util_pct", "%", "vda", 100 * disk, 0, 6, 5, disk)
    scores = tuple(disk if place == DISK else None for place in range(len(SUBSYSTEMS)))
    return ScoreRow(1, at(minute), 1, 1, 1, 10, NONE, scores, NONE, (asdict(series),))


def rows(*scores: float | None, begin: int = 0) -> list[ScoreRow]:
    """A row for each minute from `begin` on; None: no samples."""
    return [row(begin + place, score) for place, score in enumerate(scores) if score is not None]


def times(found: Sequence[FoundEpisode]) -> list[tuple[int | None, int | None, int | None, str | None]]:
    """Of each spell: its first and last minute, when it ended and why."""
    return [(minute_of(spell.start_at), minute_of(spell.last_at), minute_of(spell.ended_at), spell.ended_by) for spell in found]


def test_a_spell_needs_two_minutes_and_says_what_was_worst() -> None:
    assert find_spells(rows(0.1, 0.5, 0.25, 0.5, 0.1), (), START, at(5)) == []
    (spell,) = find_spells(rows(0.1, 0.45, 0.7, 0.5), (), START, at(4))
    assert times([spell]) == [(1, 3, None, None)]
    assert (spell.source, spell.instance, spell.title, spell.colour) == ("comparison", "disk", "Unusual: disk I/O", Colour.RED)
    assert spell.sentence == "vda was busy 70 % of the time (normally 0 to 6.0 %)."
    assert spell.saw == [{"name": "iostat_linux util_pct vda", "value": 70, "unit": "%", "text": "70 %", "at": at(2).isoformat()}]
    assert spell.worst_at == at(2)


def test_a_score_that_swings_is_one_spell_and_ends_after_five_calm_minutes() -> None:
    swinging = [0.5, 0.5, 0.1, 0.1, 0.25, 0.1, 0.1, 0.1, 0.1, 0.45]
    assert times(find_spells(rows(*swinging), (), START, at(10))) == [(0, 9, None, None)]
    assert times(find_spells(rows(*swinging, 0, 0, 0, 0, 0, 0.5, 0.5), (), START, at(17))) == [
        (0, 9, 15, "fine"),
        (15, 16, None, None),
    ]


def test_without_samples_it_ends_unknown() -> None:
    silent = rows(0.5, 0.5, 0.5, None, None, None, None, None, None, 0.5, 0.5)
    assert times(find_spells(silent, (), START, at(11))) == [(0, 2, 7, "no_samples"), (9, 10, None, None)]
    assert times(find_spells(rows(0.5, 0.5), (), START, at(15))) == [(0, 1, 6, "no_samples")]


@pytest.mark.parametrize("begin", range(1, 40))
def test_a_run_that_sees_only_the_last_minutes_finds_the_same(begin: int) -> None:
    calm, busy = [0.0], [0.5, 0.8, 0.3]
    scores = calm * 3 + busy * 4 + calm * 3 + busy + calm * 6 + busy * 2 + [None] * 8 + busy + calm * 5
    whole = find_spells(rows(*scores), (), START, at(len(scores)))
    left = rows(*scores[begin:], begin=begin)
    earlier = [
        EarlierSpell("disk", spell.start_at, min(spell.last_at, at(begin)), Colour(spell.colour), spell.worst_at, "", ())
        for spell in whole
        if spell.start_at < at(begin) and (spell.ended_at is None or spell.ended_at > at(begin))
    ]
    found = find_spells(left, earlier, at(begin), at(len(scores)))
    wanted = [spell for spell in whole if spell.ended_at is None or spell.ended_at > at(begin)]
    assert [spell.start_at for spell in found] == [spell.start_at for spell in wanted]
    # Calm minutes before the first row are not counted again.
    assert [spell.last_at for spell in found] == [spell.last_at for spell in wanted]
