"""Facts of a host: which lines are facts, and from when to when a value held."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.stats.fact_lines import Fact, FactName, FactSnapshot, find_spans, parse_fact, parse_snapshots

CPUS, KERNEL, HOME, BOOT = FactName("cpus"), FactName("kernel"), FactName("mount", "/home"), FactName("boot_time")


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("cpus\t2", Fact(CPUS, "2")),
        ("mount /mnt/two words\text4 /dev/sdb1", Fact(FactName("mount", "/mnt/two words"), "ext4 /dev/sdb1")),
        ("cpu_model\t", Fact(FactName("cpu_model"), "")),
        ("cpus 2", None),
        ("Cpus\t2", None),
        ("\t2", None),
        ("cpus\t2\t3", None),
        ("cpus\t" + "x" * 1001, None),
    ],
)
def test_lines(line: str, fact: Fact | None) -> None:
    assert parse_fact(line) == fact


def test_snapshots_begin_with_their_time() -> None:
    lines = ["kernel\tbefore any time", "1795305600", "cpus\t2", "no fact", "", "1795309200", "cpus\t4", "kernel\t6.1"]
    assert list(parse_snapshots(lines)) == [
        FactSnapshot(1795305600, {CPUS: "2"}),
        FactSnapshot(1795309200, {CPUS: "4", KERNEL: "6.1"}),
    ]


def test_a_fact_that_is_there_twice_has_both_values() -> None:
    (snapshot,) = parse_snapshots(["1795305600", "cpus\t2", "kernel\ta", "kernel\tb"])
    assert snapshot.facts == {CPUS: "2", KERNEL: "a; b"}


def test_a_value_that_returns_is_a_span_of_its_own() -> None:
    snapshots = [FactSnapshot(time, {CPUS: value}) for time, value in ((1, "4"), (2, "2"), (3, "2"), (4, "4"))]
    assert [(span.value, span.since_s, span.until_s) for span in find_spans(snapshots)] == [
        ("4", 1, 2),
        ("2", 2, 4),
        ("4", 4, None),
    ]


def test_a_fact_that_is_no_longer_there_ends() -> None:
    spans = find_spans([FactSnapshot(1, {CPUS: "4", HOME: "/dev/sdb1"}), FactSnapshot(2, {}), FactSnapshot(3, {CPUS: "4"})])
    assert [(span.name, span.until_s) for span in spans] == [(CPUS, None), (HOME, 3)]


def test_the_time_of_a_boot_wobbles_with_the_clock() -> None:
    def boots(*times: int) -> list[str]:
        return [span.value for span in find_spans([FactSnapshot(n, {BOOT: str(time)}) for n, time in enumerate(times)])]

    assert boots(1795300000, 1795300001, 1795299999) == ["1795300000"]
    assert boots(1795300000, 1795300300) == ["1795300000", "1795300300"]


@given(st.lists(st.dictionaries(st.sampled_from([CPUS, KERNEL, HOME]), st.sampled_from("ab"), min_size=1), max_size=8))
def test_spans_give_each_snapshot_back(facts: list[dict[FactName, str]]) -> None:
    spans = find_spans(FactSnapshot(time, values) for time, values in enumerate(facts))
    for time, values in enumerate(facts):
        assert {
            span.name: span.value for span in spans if span.since_s <= time and (span.until_s is None or time < span.until_s)
        } == values
