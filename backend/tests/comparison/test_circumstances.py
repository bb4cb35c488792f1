"""What is said of the circumstances of an incident: every sentence, by a table of cases."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from normstat.comparison.circumstance_reader import to_onset
from normstat.comparison.circumstances import Onset, describe_events, describe_losses, describe_observer, describe_silences
from normstat.comparison.missing_data import Silence, find_silences
from normstat.comparison.observers import Observer, merge_observers
from normstat.comparison.score import StatPair
from normstat.query.host_events import HostEvent
from normstat.query.stream_losses import StreamLoss
from normstat.records.event_rows import EventSource
from normstat.scoring.summary import FloatArray
from normstat.stats.fact_words import EventKind
from normstat.window import Window
from tests.comparison.sides import Values, compare_values, make_side, stat_of

START = datetime(2026, 11, 22, 12, tzinfo=UTC)
INCIDENT = Window(START, START + timedelta(minutes=10))
BEGAN = Onset(START + timedelta(seconds=30), is_known=True)
UNKNOWN = Onset(START, is_known=False)


def event(at_s: float, text: str = "deployed 1.4", not_before_s: float | None = None) -> HostEvent:
    """An event so many seconds after the start of the incident."""
    earliest = None if not_before_s is None else START + timedelta(seconds=not_before_s)
    at = START + timedelta(seconds=at_s)
    return HostEvent(at, earliest, EventKind.SETTING, text, None, [], ["web1"], EventSource.FACTS, "", None)


@pytest.mark.parametrize(
    ("one", "onset", "sentence"),
    [
        (event(15), BEGAN, "Likely cause: deployed 1.4, 15 s before it began"),
        (event(15), UNKNOWN, "deployed 1.4, 15 s after the incident began"),
        (event(-15), UNKNOWN, "deployed 1.4, 15 s before the incident began"),
        (event(-150), BEGAN, "Likely cause: deployed 1.4, 3 min before it began"),
        (event(90), BEGAN, "deployed 1.4, 60 s after it began"),
        (event(30.2), BEGAN, "deployed 1.4, as it began"),
        (event(0), UNKNOWN, "deployed 1.4, as the incident began"),
        (event(-1770, not_before_s=-3570), BEGAN, "deployed 1.4, between 60 min and 30 min before it began"),
        (event(1800, not_before_s=-1800), UNKNOWN, "deployed 1.4, between 30 min before and 30 min after the incident began"),
        (event(400, not_before_s=330), BEGAN, "deployed 1.4, between 5 min and 6 min after it began"),
        (
            event(-5, "CPU governor:\n powersave → performance."),
            BEGAN,
            "Likely cause: CPU governor: powersave → performance, 35 s before it began",
        ),
        (event(-5, "x" * 300), BEGAN, f"Likely cause: {'x' * 159}…, 35 s before it began"),
    ],
)
def test_events(one: HostEvent, onset: Onset, sentence: str) -> None:
    [told] = describe_events([("web1", one)], INCIDENT, onset)
    assert (told.kind, told.host, told.sentence) == ("event", "web1", sentence)
    times = [round(time.timestamp() * 1000) for time in (one.not_before, one.at) if time is not None]
    assert [told.start_ms, told.end_ms] == (times if len(times) == 2 else [*times, None])


def test_events_come_by_how_well_their_times_fit() -> None:
    times = (-3000, 20, 500, -4000, 700, 31, -60, -10, -20)
    told = describe_events([("web1", event(at, f"{at}")) for at in times], INCIDENT, BEGAN)
    # More than an hour before the incident, and after its end, is not of it.
    assert [one.sentence.partition(",")[0] for one in told] == [
        "Likely cause: 20", "-10", "-20", "-60", "31", "2 more events from an hour before the incident to its end",
    ]  # fmt: skip
    assert [one.is_likely_cause for one in told] == [True, *5 * [False]]
    assert (told[-1].start_ms, told[-1].end_ms) == (None, None)


def test_a_cause_changes_the_host_and_comes_before_its_effect() -> None:
    note = replace(event(25, "lunch"), kind=EventKind.NOTE)
    deployment = replace(event(10, "web 1.4"), kind=EventKind.DEPLOYMENT, source=EventSource.CLI)
    told = describe_events([("web1", one) for one in (event(31, "late"), note, deployment)], INCIDENT, BEGAN)
    assert [one.sentence for one in told] == [
        "Likely cause: deployment “web 1.4”, 20 s before it began", "late, 1 s after it began", "lunch, 5 s before it began",
    ]  # fmt: skip
    # Six minutes are too long, and of an incident without an onset nothing is known.
    for one, onset in ((event(30 - 6 * 60), BEGAN), (event(-5), UNKNOWN), (note, BEGAN)):
        assert not describe_events([("web1", one)], INCIDENT, onset)[0].is_likely_cause


def test_an_event_of_one_of_several_hosts_names_it() -> None:
    [told] = describe_events([("db1", event(15))], INCIDENT, BEGAN, names_hosts=True)
    assert told.sentence == "db1: Likely cause: deployed 1.4, 15 s before it began"


def test_without_a_story_the_incident_itself_is_the_onset() -> None:
    assert to_onset([], INCIDENT) == UNKNOWN


def observer(first_s: float, last_s: float, *, pids: tuple[int, ...] = (4711,), ends: str = "") -> Observer:
    start = START.timestamp()
    return Observer("truss", pids, start + first_s, start + last_s, "start" in ends, "end" in ends, is_process=True)


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (observer(0, 599, ends="start end"), "truss (4711) ran throughout the incident"),
        (observer(0, 42, ends="start"), "truss (4711) ran until 42 s into the incident"),
        (observer(60, 599, ends="end"), "truss (4711) ran from 60 s into the incident to its end"),
        (observer(60, 180), "truss (4711) ran for 2 min, from 60 s into the incident on"),
        (observer(60, 180, pids=(4, 5)), "truss (2 processes) ran for 2 min, from 60 s into the incident on"),
        (observer(0, 599, pids=(), ends="start end"), "truss ran throughout the incident"),
    ],
)
def test_observers_in_words(one: Observer, words: str) -> None:
    told = describe_observer("web1", one, INCIDENT)
    assert told.sentence == f"Observer: {words}; it slows what it watches"
    assert (told.kind, told.command) == ("observer", "truss")
    assert (told.start_ms, told.end_ms) == (round(1000 * one.first_s), round(1000 * one.last_s))


@pytest.mark.parametrize(
    ("silence", "sentence"),
    [
        (Silence(("iostat",), 12, 52, False), "No sample of iostat for 40 s, from 12 s into the incident on"),
        (Silence(("iostat", "vmstat"), 12, 52, False), "No sample of iostat and vmstat for 40 s, from 12 s into the incident on"),
        (
            Silence(("a", "b", "c", "d"), 0, 300, False),
            "No sample of a, b, c and 1 more tool for 5 min, from 0 s into the incident on",
        ),
        (Silence(("iostat", "vmstat"), 12, 52, True), "No sample of any tool for 40 s, from 12 s into the incident on"),
    ],
)
def test_silences_in_words(silence: Silence, sentence: str) -> None:
    start = START.timestamp()
    own = Silence(silence.tools, start + silence.start_s, start + silence.end_s, silence.is_all)
    [told] = describe_silences("web1", [own], INCIDENT)
    assert (told.kind, told.sentence) == ("no_samples", sentence)


def test_many_silences_are_counted() -> None:
    start = START.timestamp()
    told = describe_silences(
        "web1", [Silence(("iostat",), start + at, start + at + 9, False) for at in range(0, 100, 20)], INCIDENT
    )
    assert len(told) == 4
    assert told[-1].sentence == "No samples of a tool at 2 more times of the incident"


def loss(n_rejected: int = 0, n_lost_bytes: int = 0, *, has_samples: bool = True, is_more: bool = False) -> StreamLoss:
    return StreamLoss(
        7, "iostat", n_rejected, is_more, "10 fields, the header has 12", n_lost_bytes, has_samples, START, INCIDENT.end
    )


@pytest.mark.parametrize(
    ("one", "sentences"),
    [
        (loss(3), ["3 lines of iostat were rejected in this window: 10 fields, the header has 12"]),
        (loss(1), ["1 line of iostat was rejected in this window: 10 fields, the header has 12"]),
        (loss(1000, is_more=True), ["At least 1,000 lines of iostat were rejected in this window: 10 fields, the header has 12"]),
        (loss(40, has_samples=False), ["No sample of iostat in this window; 40 lines were rejected: 10 fields, the header has 12"]),
        (loss(0, 4096), ["4.1 kB of the output of iostat were lost on the host before the agent could send them"]),
        (loss(1, 4096), ["4.1 kB of the output of iostat were lost on the host before the agent could send them",
                         "1 line of iostat was rejected in this window: 10 fields, the header has 12"]),
    ],
)  # fmt: skip
def test_losses_in_words(one: StreamLoss, sentences: Sequence[str]) -> None:
    told = describe_losses("web1", [one])
    assert [item.sentence for item in told] == sentences
    assert {item.stream_id for item in told} == {7}


# --- what is found in the samples ---

N, M = 200, 60


def flat(n: int, value: float = 5.0) -> FloatArray:
    return value + np.arange(n, dtype=np.float64) % 2


def test_an_observer_is_found_among_the_processes() -> None:
    sides: dict[str, tuple[Values, Values]] = {
        "pidstat_linux": ({("1/init", "cpu_pct"): flat(N)}, {("1/init", "cpu_pct"): flat(M), ("77/strace", "cpu_pct"): flat(20)}),
    }
    [found] = compare_values(sides).observers
    assert (found.command, found.pids, found.is_from_start, found.is_to_end) == ("strace", (77,), True, False)
    assert found.last_s - found.first_s == 19


def test_an_observer_that_the_baseline_has_all_the_time_is_none() -> None:
    sides: dict[str, tuple[Values, Values]] = {
        "pidstat_linux": ({("70/tcpdump", "cpu_pct"): flat(N)}, {("77/tcpdump", "cpu_pct"): flat(M)}),
    }
    assert compare_values(sides).observers == []


def test_a_trace_stream_and_its_process_are_one_observer() -> None:
    one = observer(10, 20)
    other = Observer("truss", (), one.first_s - 5, one.last_s + 1, False, True, is_process=False)
    assert merge_observers([one], [other]) == [Observer("truss", (4711,), one.first_s - 5, one.last_s + 1, False, True, True)]


def test_a_tool_that_is_silent_is_told_and_one_that_reports_rarely_is_not() -> None:

    def pair(name: str, times: FloatArray) -> StatPair:
        side = make_side(stat_of(name), {("", "x"): flat(len(times))}, 0)
        return StatPair({}, None, replace(side, times_s=times))

    every_second, every_minute = np.arange(300.0), np.arange(0.0, 601.0, 60)
    hole = np.concatenate([np.arange(100.0), np.arange(140.0, 300.0)])
    both = [
        pair("vmstat_linux", hole),
        pair("iostat_linux", hole),
        pair("iostat_linux_cpu", hole),
        pair("free_linux", every_minute),
    ]
    assert find_silences(both) == [Silence(("iostat", "vmstat"), 99.0, 140.0, True)]
    one = [pair("vmstat_linux", every_second), pair("iostat_linux", hole)]
    assert find_silences(one) == [Silence(("iostat",), 99.0, 140.0, False)]
    assert find_silences([pair("pidstat_linux", hole), pair("vmstat_linux", np.array([0.0, 1, 50]))]) == []
