"""The cases in cases/*.case: small files that say what a comparison must find, and what not.

# Everything behind a # is a remark.
[mpstat_linux / 0 / usr_pct]           stat / instance / field; an empty instance for stats of one row
baseline  1.00 2.00 1.50 x 20          these values, twenty times over; - is a missing value
incident  about 98.00 +- 1.00 x 60     sixty values that scatter around 98

[expected]                             all findings, the first first, then all series that stand apart
finding    mpstat_linux / 0 / usr_pct  level up worse
appeared   pidstat_linux / 7/yes / cpu_pct
vanished   ...
thin       ...
unchanged  3
sentence   CPU 0 %usr (mpstat) rose from ...      the sentence of the first finding
"""

import re
import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from normstat.baseline.compare import FloatArray, InstanceInput, Outcome, SeriesId, StatInput, compare_stat, rank
from normstat.baseline.report import describe_finding
from normstat.stats.catalogue import load_catalogue

CASES = sorted((Path(__file__).parent / "cases").glob("*.case"))
ABOUT = re.compile(r"about (\S+) \+- (\S+) x (\d+)")


@dataclass
class Case:
    sides: dict[str, dict[str, FloatArray]] = field(default_factory=lambda: defaultdict(dict))
    expected: list[str] = field(default_factory=list)
    sentence: str = ""


def read_values(text: str, name: str) -> FloatArray:
    """The values that a line stands for, with the digits of the field."""
    if about := ABOUT.fullmatch(text):
        middle, width, n = float(about[1]), float(about[2]), int(about[3])
        # Scattered, and the same every time.
        noise = np.random.default_rng(zlib.crc32(name.encode())).normal(0, width, n)
        return np.round(middle + noise, 2)
    words, _, times = text.partition(" x ")
    values = [np.nan if word == "-" else float(word) for word in words.split()]
    return np.tile(np.array(values, dtype=np.float64), int(times or 1))


def read_case(path: Path) -> Case:
    case, series = Case(), ""
    for line in path.read_text().splitlines():
        text = line.split("#")[0].strip()
        if text.startswith("["):
            series = " / ".join(part.strip() for part in text.strip("[]").split(" / "))
        elif series == "expected" and text.startswith("sentence"):
            case.sentence = text.removeprefix("sentence").strip()
        elif series == "expected" and text:
            case.expected.append(" ".join(text.split()))
        elif text:
            side, _, values = text.partition(" ")
            assert side in {"baseline", "incident"}, f"{path.name}: {line!r} is neither baseline nor incident"
            case.sides[series][side] = read_values(" ".join(values.split()), series + side)
    assert case.expected, f"{path.name} expects nothing"
    return case


def compare_case(case: Case) -> Outcome:
    """Each series is compared in a stat of its own field; instances of a field stand together, as they do in a table."""
    fields: dict[tuple[str, str], list[InstanceInput]] = defaultdict(list)
    nothing = np.empty(0)
    for name, sides in case.sides.items():
        stat, instance, key = name.split(" / ") if name.count(" / ") == 2 else (name.split(" / ")[0], "", name.split(" / ")[-1])
        left, right = sides.get("baseline", nothing), sides.get("incident", nothing)
        fields[stat, key].append(InstanceInput(instance, left.reshape(-1, 1), right.reshape(-1, 1)))
    return rank(
        compare_stat(StatInput(stat, [next(f for f in load_catalogue().stats[stat][1].fields if f.key == key)], instances))
        for (stat, key), instances in fields.items()
    )


def write_name(series: SeriesId) -> str:
    return " / ".join(part for part in (series.stat, series.instance, series.field.key) if part)


def write_outcome(outcome: Outcome) -> list[str]:
    verdicts = {True: " worse", False: " better", None: ""}
    return [
        *(f"finding {write_name(f.series)} {f.kind} {f.direction}{verdicts[f.is_worse]}" for f in outcome.findings),
        *(f"{'appeared' if s.side == 'incident' else 'vanished'} {write_name(s.series)}" for s in outcome.one_sided),
        *(f"thin {write_name(s.series)}" for s in outcome.thin),
        *([f"unchanged {outcome.n_unchanged}"] if outcome.n_unchanged else []),
    ]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path) -> None:
    case = read_case(path)
    outcome = compare_case(case)
    assert write_outcome(outcome) == case.expected
    if case.sentence:
        assert describe_finding(outcome.findings[0]) == case.sentence


def test_there_are_cases() -> None:
    assert len(CASES) >= 10
