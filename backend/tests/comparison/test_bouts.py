"""What a resource does again and again is one sentence: how often, for how long, and what goes with it."""

import re

import numpy as np
import pytest

from tests.comparison.sides import Values, compare_values

N, M = 1200, 200


def noise(mean: float, n: int, seed: int) -> np.ndarray:
    return np.round(mean * np.random.default_rng(seed).lognormal(0, 0.05, n), 2)


def disk_that_stops(begins: range, length: int) -> dict[str, tuple[Values, Values]]:
    """Reads of sd3 fall to nothing, while a request takes half a second."""
    sides: list[dict[tuple[str, str], np.ndarray]] = []
    for n, seed in ((N, 1), (M, 50)):
        values = {}
        for number in range(8):
            for place, (field, mean) in enumerate((("r_per_s", 200.0), ("r_await_ms", 5.0), ("util_pct", 20.0))):
                values[f"sd{number}", field] = noise(mean, n, seed + 10 * number + place)
        sides.append(values)
    for begin in begins:
        sides[1]["sd3", "r_per_s"][begin : begin + length] = 0
        sides[1]["sd3", "r_await_ms"][begin : begin + length] = 500
    return {"iostat_linux": (sides[0], sides[1])}


def test_a_disk_that_stops_is_told_by_its_period_with_what_rises_meanwhile() -> None:
    found = compare_values(disk_that_stops(range(10, 200, 38), 5))
    sentence = found.stories[0].story.sentence
    assert sentence.startswith("Every 38 s sd3 stops for 5 s: ")
    assert "a request to sd3 took 500 ms (normally 4.99 ms) and sd3 served 0 reads/s (normally 201/s)" in sentence


def stops_of_a_service(begins: range) -> dict[str, tuple[Values, Values]]:
    """Reads of a server, as counted by a tracer, fall to nothing, and its CPUs with them."""
    sides: list[dict[tuple[str, str], np.ndarray]] = []
    cpus: list[dict[tuple[str, str], np.ndarray]] = []
    for n, seed in ((N, 3), (M, 60)):
        sides.append({("reads: amqrmppa", "count"): np.round(noise(15_000.0, n, seed))})
        cpus.append({(str(cpu), "usr_pct"): noise(12.0, n, seed + cpu) for cpu in range(4)})
    for begin in begins:
        for column in (*sides[1].values(), *cpus[1].values()):
            column[begin : begin + 5] = 0
    return {"dtrace_keys": (sides[0], sides[1]), "mpstat_solaris": (cpus[0], cpus[1])}


def test_what_stands_still_meanwhile_is_part_of_the_sentence() -> None:
    at_once = compare_values(disk_that_stops(range(10, 200, 38), 5) | stops_of_a_service(range(10, 200, 38)))
    sentence = at_once.stories[0].story.sentence
    assert "; meanwhile " in sentence
    assert re.search(r"reads: amqrmppa count \(dtrace\) fell to 0 count \(normally 1[45],\d{3} count\)", sentence)
    assert re.search(r"each CPU spent 0 % of the time in programs \(normally 12 %\)", sentence)
    assert sum("meanwhile" in item.story.sentence for item in at_once.stories) == 1
    # As often, and at other times: it has another cause.
    apart = compare_values(disk_that_stops(range(10, 200, 38), 5) | stops_of_a_service(range(30, 200, 38)))
    assert not any("meanwhile" in item.story.sentence for item in apart.stories)


def test_stops_without_a_period_are_counted() -> None:
    found = compare_values(disk_that_stops(range(10, 11), 5) | {})
    assert "stops" not in found.stories[0].story.sentence
    sides = disk_that_stops(range(10, 10), 5)
    incident = sides["iostat_linux"][1]
    for begin in (10, 30, 150):
        incident["sd3", "r_per_s"][begin : begin + 5] = 0
    assert compare_values(sides).stories[0].story.sentence.startswith("3 times sd3 stops for 5 s")


@pytest.mark.parametrize("seed", [1, 2])
def test_bursts_are_told_as_stops_are(seed: int) -> None:
    sides: list[dict[tuple[str, str], np.ndarray]] = [
        {(f"sd{number}", "util_pct"): noise(5, n, seed + number + n) for number in range(8)} for n in (N, M)
    ]
    for begin in range(5, 200, 20):
        sides[1]["sd3", "util_pct"][begin : begin + 4] = 98
    sentence = compare_values({"iostat_linux": (sides[0], sides[1])}).stories[0].story.sentence
    assert sentence.startswith("Every 20 s sd3 was busy 98 % of the time (normally 5.0 %), for 4 s")


@pytest.mark.parametrize(("n_started", "is_told"), [(7, False), (60, True)])
def test_the_few_processes_that_an_agent_starts_for_a_request_lead_no_story(n_started: int, is_told: bool) -> None:
    starts = [np.where(np.arange(n) % 15 < 1, n_started * side, 0.0) for side, n in ((0, N), (1, M))]
    stories = compare_values({"linux_kernel": ({("", "forks_per_s"): starts[0]}, {("", "forks_per_s"): starts[1]})}).stories
    assert any("new processes/s" in item.story.sentence for item in stories) == is_told


def test_a_level_whose_median_hardly_moved_is_told_by_its_mean() -> None:
    """A fifth of the requests take half a second: the median went from 5.0 to 5.1 ms, which says nothing."""
    sides = disk_that_stops(range(0), 5)
    rng = np.random.default_rng(5)
    sides["iostat_linux"][1]["sd3", "r_await_ms"][rng.random(M) < 0.2] = 500
    group = next(group for group in compare_values(sides).groups if group.field == "r_await_ms")
    assert "500" in group.sentence
    assert not re.search(r"from 5\.\d* \w* ?to 5\.", group.sentence)
