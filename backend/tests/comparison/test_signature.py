"""Signatures: what moved and which way, by meaning; and which incidents are alike."""

import numpy as np
import pytest

from normstat.comparison.past_incident_rows import AlikeIncident, PastIncident, Recall, describe_recall
from normstat.comparison.signature import MIN_COMMON_KEYS, is_telling, likeness_of, signature_of
from normstat.scoring.summary import FloatArray
from tests.comparison.sides import START, Values, compare_values

N, N_INCIDENT = 600, 60
CPU_FIELDS = ("usr_pct", "sys_pct", "iowait_pct", "idle_pct")


def normal(seed: int, n: int, level: float) -> FloatArray:
    return np.asarray(np.round(np.random.default_rng(seed).normal(level, 1.0, n), 2), np.float64)


def cpus(n_cpus: int, hot: int, seed: int = 0, **levels: float) -> tuple[Values, Values]:
    """CPUs at 20 % in each field; one of them is elsewhere in the incident."""
    baseline, incident = {}, {}
    for cpu in range(n_cpus):
        for at, field in enumerate(CPU_FIELDS):
            key = 100 * seed + 10 * cpu + at
            baseline[str(cpu), field] = normal(key, N, 20)
            incident[str(cpu), field] = normal(5000 + key, N_INCIDENT, levels.get(field, 20) if cpu == hot else 20)
    return baseline, incident


def test_it_names_meanings_and_the_instance_that_moved_farthest() -> None:
    found = signature_of([compare_values({"mpstat_linux": cpus(4, 2, usr_pct=80, idle_pct=2)}).rows])
    assert set(found) == {"cpu.usr", "cpu.sys", "cpu.wait", "cpu.idle"}
    assert found["cpu.usr"] > 2
    assert found["cpu.idle"] < -2
    assert abs(found["cpu.sys"]) < 0.8
    assert is_telling(found)
    assert not is_telling(signature_of([compare_values({"mpstat_linux": cpus(4, 2)}).rows]))


def test_it_is_the_same_on_another_host_with_another_tool() -> None:
    one = signature_of([compare_values({"mpstat_linux": cpus(4, 2, usr_pct=80, idle_pct=2)}).rows])
    renamed = {"usr_pct": "usr_pct", "sys_pct": "sys_pct", "iowait_pct": "wt_pct", "idle_pct": "idl_pct"}
    sides = cpus(64, 9, seed=7, usr_pct=60, idle_pct=5)
    other = tuple({(cpu, renamed[field]): values for (cpu, field), values in side.items()} for side in sides)
    another = signature_of([compare_values({"mpstat_solaris": (other[0], other[1])}).rows])
    # They have only four fields, fewer than say anything.
    assert likeness_of(one, [another]).tolist() == [0.0]
    padded = [signature | {f"quiet.{at}": 0.0 for at in range(MIN_COMMON_KEYS)} for signature in (one, another)]
    assert likeness_of(padded[0], [padded[1]])[0] > 0.9


def test_a_muted_series_processes_and_units_are_left_out() -> None:
    sides = cpus(2, 1, usr_pct=80)
    mutes = [("mpstat_linux", "usr_pct", None)]
    muted = signature_of([compare_values({"mpstat_linux": sides}, mutes=mutes).rows])
    # CPU 0 is not unusual, so it is not muted either.
    assert abs(muted["cpu.usr"]) < 1
    processes = ({("1/yes", "cpu_pct"): normal(1, N, 1)}, {("1/yes", "cpu_pct"): normal(2, N_INCIDENT, 90)})
    assert signature_of([compare_values({"pidstat_linux": processes}).rows]) == {}
    units = ({("web.service", "memory_kb"): normal(1, N, 100)}, {("web.service", "memory_kb"): normal(2, N_INCIDENT, 900)})
    assert signature_of([compare_values({"linux_unit": units}).rows]) == {}


@pytest.mark.parametrize(
    ("other", "likeness"),
    [
        ({"a": 3.0, "b": 0.0, "c": 0.0, "d": 0.0, "e": -3.0}, 1.0),
        ({"a": 9.0, "b": 0.0, "c": 0.0, "d": 0.0, "e": -9.0}, 1.0),
        # However far one of them moves, the others count.
        ({"a": 1000.0, "b": 0.0, "c": 0.0, "d": 0.0, "e": -8.0}, 1.0),
        ({"a": -3.0, "b": 0.0, "c": 0.0, "d": 0.0, "e": 3.0}, 0.0),
        ({"a": 3.0, "b": 0.0, "c": 0.0, "d": 0.0, "e": 0.0}, 0.707),
        # Four fields in common are too few, and a tool that measured what moved most is missing on the other host.
        ({"a": 3.0, "b": 0.0, "c": 0.0, "d": 0.0}, 0.0),
        ({"a": 3.0, "b": 0.0, "c": 0.0, "d": 0.0, "e": -3.0, "x": 9.0}, 0.0),
        ({"a": 3.0, "b": 0.0, "c": 0.0, "d": 0.0, "e": -3.0, "x": 1.0}, 1.0),
        ({"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0, "e": 0.0}, 0.0),
        ({}, 0.0),
    ],
)
def test_likeness(other: dict[str, float], likeness: float) -> None:
    one = {"a": 3.0, "b": 0.0, "c": 0.0, "d": 0.0, "e": -3.0}
    assert likeness_of(one, [other])[0] == pytest.approx(likeness, abs=0.001)
    assert likeness_of(other, [one])[0] == pytest.approx(likeness, abs=0.001)


def test_likeness_to_nothing() -> None:
    assert likeness_of({"a": 1.0}, []).tolist() == []
    assert likeness_of({}, [{"a": 1.0}]).tolist() == [0.0]


def past(**change: object) -> PastIncident:
    values: dict[str, object] = {
        "id": 1, "hosts": ["web1"], "start": START, "end": START, "title": "Slow", "sentence": "", "note": "", "cause": "",
        "remedy": "", "named_by": "", "named_at": None, "is_off": False, "origin": "", "comparison": 1,
    }  # fmt: skip
    return PastIncident(**(values | change))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("alike", "sentence"),
    [
        ([], ""),
        ([(0.91, past())], "Looks like 2026-11-21 on web1 (91 % alike): Slow; no cause is named."),
        ([(0.91, past(note="Ask\n Kim"))], "Looks like 2026-11-21 on web1 (91 % alike): Ask Kim."),
        (
            [(0.95, past()), (0.8, past(cause="backup ran late", remedy="moved to 03:00"))],
            "Looks like 2026-11-21 on web1 (80 % alike): cause “backup ran late”, helped “moved to 03:00”.",
        ),
        ([(0.8, past(cause="a leak"))], "Looks like 2026-11-21 on web1 (80 % alike): cause “a leak”."),
    ],
)
def test_recall_in_words(alike: list[tuple[float, PastIncident]], sentence: str) -> None:
    assert describe_recall(Recall(None, [AlikeIncident(*one) for one in alike], 5)) == sentence
