"""Sentences: both values, in the unit and digits that the tool prints."""

import doctest

import numpy as np
import pytest

from normstat.baseline import report
from normstat.baseline.compare import ChangeKind, Finding, OneSided, SeriesId, Side, Thin, summarise
from normstat.baseline.report import describe_finding, describe_one_sided, describe_thin, name_series, to_text
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field


def field(stat: str, key: str) -> Field:
    return next(field for field in load_catalogue().stats[stat][1].fields if field.key == key)


READS = SeriesId("iostat_linux", "sda", field("iostat_linux", "r_per_s"))
RUNNING = SeriesId("vmstat_linux", "", field("vmstat_linux", "procs_r"))


def finding(series: SeriesId, kind: ChangeKind, before: float, after: float) -> Finding:
    baseline, incident = np.arange(101.0), np.arange(50.0)
    return Finding(series, kind, summarise(baseline), summarise(incident), before, after, scale=0.5, ks=0.5, impact=0.1)


@pytest.mark.parametrize(
    ("kind", "before", "after", "words"),
    [
        (
            "level",
            50,
            400.5,
            "device sda r/s (iostat) rose from 50.00 /s to 400.50 /s (median of 101 and 50 samples), outside everything",
        ),
        ("level", 50, 98, "outside the usual band of the baseline (5..95 %: 5.00 to 95.00); 96.0 times"),
        ("level", 50, 20, "fell from 50.00 /s to 20.00 /s (median of 101 and 50 samples), inside the usual band of the baseline"),
        (
            "top",
            3,
            900,
            "device sda r/s (iostat): 3 of 50 samples reached 900.00 /s or more, where 3.00 /s is usual (101 samples); 1794 times",
        ),
        ("top", 900, 3, ": only 3 of 50 samples reached 3.00 /s or more, where 900.00 /s is usual"),
        ("bottom", 40, 0, ": 3 of 50 samples fell to 0.00 /s or less, where 40.00 /s is usual"),
        ("bottom", 0, 40, ": only 3 of 50 samples were at 40.00 /s or less, where 0.00 /s is usual"),
        ("bottom", 0, 40, "while the median went from 50.00 /s to 24.50 /s."),
    ],
)
def test_a_finding_says_what_moved_and_how_far(kind: ChangeKind, before: float, after: float, words: str) -> None:
    assert words in describe_finding(finding(READS, kind, before, after))


def test_a_median_between_two_whole_numbers_keeps_its_half() -> None:
    assert "vmstat procs r rose from 1 processes to 2.5 processes" in describe_finding(finding(RUNNING, "level", 1, 2.5))


@pytest.mark.parametrize(
    ("side", "values", "sentence"),
    [
        ("incident", [7.0], "appeared: median 7.00 /s, highest 7.00 /s, 1 sample in the incident, none in the baseline."),
        ("baseline", [1.0, 3.0], "vanished: median 2.00 /s, highest 3.00 /s, 2 samples in the baseline, none in the incident."),
    ],
)
def test_what_has_one_side_appeared_or_vanished(side: Side, values: list[float], sentence: str) -> None:
    assert describe_one_sided(OneSided(READS, side, summarise(np.array(values)), 0.1)) == f"device sda r/s (iostat) {sentence}"


def test_a_thin_series_says_why_it_was_not_judged() -> None:
    assert describe_thin(Thin(READS, 9, 60)) == "9 samples in the baseline; 10 are needed to judge"
    assert describe_thin(Thin(READS, 300, 1)) == "1 sample in the incident; 5 are needed to judge"
    assert describe_thin(Thin(READS, 300, 0)) == "the incident has no sample of this field of iostat_linux at all"


def test_a_stat_that_the_catalogue_no_longer_has_keeps_its_name() -> None:
    assert name_series(SeriesId("old_tool", "x", READS.field)) == "x r/s (old_tool)"
    assert name_series(SeriesId("old_tool", "", READS.field)) == "r/s (old_tool)"


def test_units_read_as_people_write_them() -> None:
    assert to_text(READS.field, 1.5) == "1.50 /s"
    assert to_text(field("iostat_linux", "util_pct"), 0) == "0.00 %"
    assert to_text(field("pidstat_linux", "pid"), 7) == "7"


def test_examples_in_the_docstrings_are_true() -> None:
    assert doctest.testmod(report).failed == 0
