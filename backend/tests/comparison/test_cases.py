"""The cases in cases/*.case: small files that say what a comparison must find, and what not.

# Everything after a # is a comment.
[mpstat_linux / 0 / usr_pct]           stat / instance / field; no instance for stats of one row; 0..63: 64 instances
baseline  1.00 2.00 1.50 x 20          these values, twenty times over; - is a missing value
incident  about 98.00 +- 1.00 x 60     sixty values that scatter around 98
baseline  whole about 1.30 +- 0.40 x 60        the same, printed without digits
baseline  10 20 30 20 x 5 each 60 +- 1.00      each value for a minute, the four minutes five times over
incident  from 20.00 to 60.00 +- 1.00 x 60     sixty values that rise

[expected]                             all groups of findings; the first one of the file stands first. Then what stands apart.
finding    mpstat_linux / 0 / usr_pct  level up worse                a|b: either kind
group      mpstat_linux / usr_pct  61 of 64  level up
appeared   pidstat_linux / 7/yes / cpu_pct
disappeared ...
insufficient_data ...
unchanged  3
sentence   CPU 0 %usr (mpstat) rose from ...      how the sentence of the first group begins
"""

import re
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from normstat.comparison.host_comparison import HostComparison
from normstat.comparison.model import FindingGroup
from normstat.scoring.summary import FloatArray
from tests.comparison.sides import compare_values

CASES = sorted((Path(__file__).parent / "cases").glob("*.case"))
ABOUT = re.compile(r"about (\S+) \+- (\S+) x (\d+)")
RAMP = re.compile(r"from (\S+) to (\S+) \+- (\S+) x (\d+)")
MANY = re.compile(r"(\d+)\.\.(\d+)")


@dataclass
class Case:
    # Stat, instance and field -> side -> values.
    sides: dict[tuple[str, str, str], dict[str, FloatArray]] = field(default_factory=lambda: defaultdict(dict))
    expected: list[str] = field(default_factory=list)
    sentence: str = ""


def read_values(text: str, name: str) -> FloatArray:
    """The values that a line stands for, with the digits of the field."""
    # Scattered, and the same every time.
    random = np.random.default_rng(zlib.crc32(name.encode()))
    if text.startswith("whole "):
        return np.round(read_values(text.removeprefix("whole "), name))
    if " each " in text:
        text, _, each = text.partition(" each ")
        n, _, width = each.partition(" +- ")
        values = np.repeat(read_values(text, name), int(n))
        return np.round(values + random.normal(0, float(width or 0), len(values)), 2)
    if about := ABOUT.fullmatch(text):
        return np.round(float(about[1]) + random.normal(0, float(about[2]), int(about[3])), 2)
    if ramp := RAMP.fullmatch(text):
        length = int(ramp[4])
        return np.round(np.linspace(float(ramp[1]), float(ramp[2]), length) + random.normal(0, float(ramp[3]), length), 2)
    words, _, times = text.partition(" x ")
    return np.tile(np.array([np.nan if word == "-" else float(word) for word in words.split()]), int(times or 1))


def names_of(text: str) -> Iterator[tuple[str, str, str]]:
    stat, *instance, key = (part.strip() for part in text.strip("[]").split(" / "))
    if instance and (many := MANY.fullmatch(instance[0])):
        yield from ((stat, str(number), key) for number in range(int(many[1]), int(many[2]) + 1))
    else:
        yield stat, instance[0] if instance else "", key


def read_case(path: Path) -> Case:
    case, series = Case(), ""
    for line in path.read_text().splitlines():
        text = line.split("#")[0].strip()
        if text.startswith("["):
            series = text
        elif series == "[expected]" and text.startswith("sentence"):
            case.sentence = text.removeprefix("sentence").strip()
        elif series == "[expected]" and text:
            case.expected.append(" ".join(text.split()))
        elif text:
            side, _, values = text.partition(" ")
            assert side in {"baseline", "incident"}, f"{path.name}: {line!r} is neither baseline nor incident"
            for name in names_of(series):
                case.sides[name][side] = read_values(" ".join(values.split()), " / ".join(filter(None, name)) + side)
    assert case.expected, f"{path.name} expects nothing"
    return case


def compare_case(case: Case) -> HostComparison:
    stats: dict[str, tuple[dict[tuple[str, str], FloatArray], dict[tuple[str, str], FloatArray]]] = defaultdict(lambda: ({}, {}))
    for (stat, instance, key), sides in case.sides.items():
        for number, side in enumerate(("baseline", "incident")):
            if side in sides:
                stats[stat][number][instance, key] = sides[side]
    return compare_values(stats)


def write_name(stat: str, instance: str, key: str) -> str:
    return " / ".join(filter(None, (stat, instance, key)))


def write_group(group: FindingGroup) -> str:
    verdict = {True: " worse", False: " better", None: ""}[group.is_worse]
    what = f"{group.kind} {group.direction}{verdict}"
    if group.n_members > 1:
        return f"group {group.stat} / {group.field} {group.n_members} of {group.n_instances} {what}"
    return f"finding {write_name(group.stat, group.instances[0], group.field)} {what}"


def write_outcome(found: HostComparison) -> list[str]:
    return [
        *map(write_group, found.groups),
        *(f"appeared {write_name(item.stat, item.instance, item.field)}" for item in found.appeared),
        *(f"disappeared {write_name(item.stat, item.instance, item.field)}" for item in found.disappeared),
        *(f"insufficient_data {write_name(item.stat, item.instance, item.field)}" for item in found.insufficient_data),
        *([f"unchanged {found.n_unchanged}"] if found.n_unchanged else []),
    ]


def is_as(line: str, expected: str) -> bool:
    """Whether a line is one of those that are meant."""
    words, wanted = line.split(), expected.split()
    return len(words) == len(wanted) and all(word in choice.split("|") for word, choice in zip(words, wanted, strict=True))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path) -> None:
    case = read_case(path)
    found = compare_case(case)
    lines = write_outcome(found)
    told = "\n".join(["found:", *lines, *(group.sentence for group in found.groups)])
    assert len(lines) == len(case.expected), told
    assert is_as(lines[0], case.expected[0]), told
    for line in case.expected:
        assert sum(is_as(other, line) for other in lines) == 1, f"{line}\n{told}"
    if case.sentence:
        assert found.groups[0].sentence.startswith(case.sentence)


def test_there_are_cases() -> None:
    assert len(CASES) >= 20
