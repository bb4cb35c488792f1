"""Measured values of a run: values with units, read from a command's output, and which direction of a unit is better. Pure."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from normstat.errors import BadRequest, shorten
from normstat.stats.measured_value import MeasuredValue

Better = Literal["lower", "higher"]
MAX_NAME: Final = 100
NAME: Final = re.compile(r"[^\x00-\x1f=,]{1,100}")
TIMES: Final = frozenset({"s", "ms", "us", "µs", "ns", "min", "h"})
SUFFIXES: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
LEVEL: Final = re.compile(r"\s*([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([kKmMgGtT]?)(?:i?[bB])?\s*")
# The first three are what every run has that a command made.
REAL: Final = "real"
USER: Final = "user"
SYS: Final = "sys"
# Computed from them, not stored.
CPUS_USED: Final = "cpus_used"
SYS_SHARE: Final = "sys_share"


@dataclass(frozen=True, slots=True)
class ResultPattern:
    """How a value is found in what a command prints: the last match of the pattern, whose first group is the number."""

    name: str
    unit: str
    pattern: re.Pattern[str]


def parse_result_pattern(text: str) -> ResultPattern:
    """Return the pattern of an option NAME[:UNIT]=REGEX.

    Raises: BadRequest

    >>> found = parse_result_pattern("throughput:KiB/s=([0-9.]+) KiB/s")
    >>> found.name, found.unit
    ('throughput', 'KiB/s')
    """
    label, equals, expression = text.partition("=")
    name, _, unit = label.partition(":")
    if not equals or not name.strip() or not expression:
        raise BadRequest(f"Found the result {shorten(text)}; expected NAME:UNIT=REGEX, such as 'tps:1/s=([0-9.]+) per sec'")
    try:
        pattern = re.compile(expression, re.MULTILINE)
    except re.error as error:
        raise BadRequest(f"The pattern of result {shorten(name)} is not a regular expression: {error}") from None
    if pattern.groups < 1:
        raise BadRequest(f"The pattern of result {shorten(name)} has no group; put ( ) around the number")
    return ResultPattern(name.strip(), unit.strip(), pattern)


def read_patterns(patterns: Iterable[ResultPattern], text: str) -> tuple[list[MeasuredValue], list[str]]:
    """Return the values that the patterns find in a text, and why the others found none."""
    found, problems = [], []
    for asked in patterns:
        matches = [match for match in asked.pattern.finditer(text) if match[1] is not None]
        if not matches:
            problems.append(f"result {asked.name}: nothing that the command printed matches {asked.pattern.pattern!r}")
            continue
        try:
            value = float(matches[-1][1].replace(",", ""))
        except ValueError:
            problems.append(f"result {asked.name}: found {shorten(matches[-1][1])}, expected a number")
            continue
        if math.isfinite(value):
            found.append(MeasuredValue(asked.name, value, asked.unit))
        else:
            problems.append(f"result {asked.name}: found {shorten(matches[-1][1])}, expected a finite number")
    return found, problems


def parse_factors(texts: Iterable[str]) -> dict[str, str]:
    """Return the factors of options NAME=VALUE.

    Raises: BadRequest

    >>> parse_factors(["threads=4", "file_size=8G"])
    {'threads': '4', 'file_size': '8G'}
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not value or NAME.fullmatch(name) is None:
            raise BadRequest(f"Found the factor {shorten(text)}; expected NAME=VALUE, such as threads=4")
        if name in found:
            raise BadRequest(f"The factor {shorten(name)} is given twice")
        found[name] = value
    return found


def level_of(text: str) -> float | None:
    """Return the number that a factor's value means; K, M, G and T are powers of 1024. Missing: None if it is not a number.

    >>> level_of("4"), level_of("8G"), level_of("2731M"), level_of("512k"), level_of("ext4")
    (4.0, 8589934592.0, 2863661056.0, 524288.0, None)
    """
    found = LEVEL.fullmatch(text)
    if found is None:
        return None
    value = float(found[1]) * SUFFIXES[found[2].lower()]
    return value if math.isfinite(value) else None


def better_of(unit: str) -> Better:
    """Return which direction is better: lower for times, higher for rates and everything else.

    >>> better_of("s"), better_of("KiB/s"), better_of("ms")
    ('lower', 'higher', 'lower')
    """
    return "lower" if unit in TIMES else "higher"


def with_derived(results: Sequence[MeasuredValue]) -> list[MeasuredValue]:
    """Return the results, and what follows from real, user and sys: how many CPUs were used, and the kernel's share of the time.

    7m32.730s real, 0m16.597s user, 7m17.231s sys:

    >>> values = [MeasuredValue("real", 452.73, "s"), MeasuredValue("user", 16.597, "s"), MeasuredValue("sys", 437.231, "s")]
    >>> [f"{each.name} {each.value:.3f} {each.unit}" for each in with_derived(values)[3:]]
    ['cpus_used 1.002 CPUs', 'sys_share 96.577 %']
    """
    seconds: Mapping[str, float] = {each.name: each.value for each in results if each.unit == "s"}
    real, user, kernel = (seconds.get(name) for name in (REAL, USER, SYS))
    names = {each.name for each in results}
    found = list(results)
    if real and kernel is not None:
        if user is not None and CPUS_USED not in names:
            found.append(MeasuredValue(CPUS_USED, (user + kernel) / real, "CPUs"))
        if SYS_SHARE not in names:
            found.append(MeasuredValue(SYS_SHARE, 100 * kernel / real, "%"))
    return found
