"""What a minute scores, and when a subsystem was unusual: the same answer whatever the run began with."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from normstat.profiles.profile_builder import StatSeries
from normstat.profiles.profile_codec import Band
from normstat.records.episode_rows import FoundEpisode
from normstat.records.score_rows import ScoreRow
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field
from normstat.watch.rules.rule_file import Colour
from normstat.watch.scores.host_bands import NOT_SCORED, SUBSYSTEMS, HostBand, StatBands, table_bands
from normstat.watch.scores.minute_scores import StatMeans, UnusualSeries, score_minutes
from normstat.watch.scores.spells import EarlierSpell, find_spells

CPU, DISK = SUBSYSTEMS.index("cpu"), SUBSYSTEMS.index("disk")
ONE, FIVE, FIFTEEN = 0, 1, 2

START = datetime(2026, 11, 16, 8, tzinfo=UTC)
NONE = (None,) * len(SUBSYSTEMS)


def fields_of(stat: str, *keys: str) -> tuple[Field, ...]:
    known = {field.key: field for field in load_catalogue().stats[stat][1].fields}
    return tuple(known[key] for key in keys)


def host(stat: str, fields: tuple[Field, ...], names: dict[str, int], bands: dict[str, tuple[float, float, float]]) -> HostBand:
    """A host with these instances (name: id), whose series all have the band of their field, and a change scale of 2."""
    places = [(row, column) for row in range(len(names)) for column in range(len(bands))]
    series = StatSeries(
        stat, tuple(names), tuple(bands), np.array([row for row, _ in places]), np.array([column for _, column in places])
    )
    quantiles = np.array([list(bands.values())[column] for _, column in places], np.float64)
    return HostBand(
        Band((series,), quantiles, np.full(len(places), 100)), np.full((2, len(places)), 2.0, np.float32), {stat: names}
    )


def cpus(*hosts: dict[str, int], **bands: tuple[float, float, float]) -> StatBands:
    fields = fields_of("mpstat_linux", *bands)
    table = table_bands("mpstat_linux", fields, [host("mpstat_linux", fields, names, bands) for names in hosts])
    assert table is not None
    return table


def means(*minutes: object, n_rows: int = 6) -> StatMeans:
    """Shape: minutes, instances, fields."""
    values = np.array(minutes, np.float32)
    return StatMeans(values, np.where(np.isnan(values).all(axis=2), 0, n_rows))


def test_inside_the_band_is_zero_and_outside_grows_with_how_much_there_is_more() -> None:
    own = cpus({"all": 7}, usr_pct=(10, 20, 30))
    found = score_minutes([own], [means([[10]], [[30]], [[40]], [[90]])], 1, 4)
    scores = found.scores[:, 0, ONE, CPU].tolist()
    assert scores[:2] == [0, 0]
    assert 0.1 < scores[2] < 0.4
    assert 0.6 < scores[3] < 1
    assert np.isnan(found.scores[:, 0, ONE, DISK]).all()
    assert found.n_judged.tolist() == [[1], [1], [1], [1]]


def test_five_minutes_are_the_mean_of_their_rows_and_name_the_series() -> None:
    own = cpus({"all": 7, "0": 8}, usr_pct=(10, 20, 30))
    read = means(*([[[20], [20]]] * 4), [[20], [90]])
    read.n_rows[4, 1] = 24
    found = score_minutes([own], [read], 1, 1)
    (series,) = found.findings[0][0]
    assert (series.subsystem, series.stat, series.field, series.instance) == ("cpu", "mpstat_linux", "usr_pct", "0")
    assert (series.value, series.low, series.high) == ((4 * 6 * 20 + 24 * 90) / 48, 10, 30)
    assert series.anomaly_score == pytest.approx(found.scores[0, 0, FIVE, CPU], abs=1e-4)
    assert found.scores[0, 0, ONE, CPU] > found.scores[0, 0, FIVE, CPU] > 0


def test_a_window_reaches_into_the_minutes_before_and_no_farther() -> None:
    own = cpus({"all": 7}, usr_pct=(10, 20, 24))
    found = score_minutes([own], [means([[100]], *([[[20]]] * 15))], 1, 15)
    # After four more minutes the burst has left the five minutes, after fourteen all of them.
    assert (found.scores[:, 0, ONE, CPU] == 0).all()
    assert (found.scores[:, 0, FIVE, CPU] > 0).tolist() == [True] * 4 + [False] * 11
    assert (found.scores[:, 0, FIFTEEN, CPU] > 0).tolist() == [True] * 14 + [False]


def test_hosts_are_apart_and_missing_values_are_no_zero() -> None:
    own = cpus({"all": 7}, {"all": 9}, {"all": 11}, usr_pct=(10, 20, 30))
    found = score_minutes([own], [means([[90], [20], [np.nan]])], 3, 1)
    assert found.scores[0, 0, ONE, CPU] > 0.5
    assert found.scores[0, 1, ONE, CPU] == 0
    assert np.isnan(found.scores[0, 2]).all()
    assert found.n_judged.tolist() == [[1, 1, 0]]
    assert [bool(own) for own in found.findings[0]] == [True, False, False]


def test_a_change_for_the_better_scores_less() -> None:
    worse = score_minutes([cpus({"all": 7}, iowait_pct=(40, 50, 60))], [means([[90]])], 1, 1)
    better = score_minutes([cpus({"all": 7}, iowait_pct=(40, 50, 60))], [means([[10]])], 1, 1)
    assert better.scores[0, 0, ONE, DISK] == pytest.approx(0.8 * worse.scores[0, 0, ONE, DISK])


def test_a_thousandfold_rate_counts_more_than_a_double_one() -> None:
    own = cpus({"all": 7}, irq_pct=(0, 0, 0))
    assert own.subsystem.tolist() == [[CPU]]
    fields = fields_of("linux_net", "rxkb_per_s")
    table = table_bands("linux_net", fields, [host("linux_net", fields, {"eth0": 3}, {"rxkb_per_s": (10, 20, 30)})])
    assert table is not None
    found = score_minutes([table], [means([[40]], [[20_000]])], 1, 2).scores[:, 0, ONE, SUBSYSTEMS.index("network")]
    assert 0 < found[0] < 0.3 < found[1]


def test_details_and_series_without_a_normal_are_not_scored() -> None:
    fields = fields_of("vmstat_linux", "system_in", "procs_r")
    table = table_bands(
        "vmstat_linux", fields, [host("vmstat_linux", fields, {"": 1}, {"system_in": (1, 2, 3), "procs_r": (0, 1, 2)})]
    )
    assert table is not None
    assert table.subsystem.tolist() == [[NOT_SCORED, CPU]]
    new = host("vmstat_linux", fields, {"": 1}, {"system_in": (1, 2, 3)})
    assert table_bands("vmstat_linux", fields, [new]) is None


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
