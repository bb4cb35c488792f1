"""Format values for people: three significant digits and a prefix that fits, as on the page's axes (frontend logic/unit.ts)."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from normstat.stats.units import STATE, name_state

BINARY: Final[Sequence[tuple[str, float]]] = (
    ("B", 1), ("KiB", 2.0**10), ("MiB", 2.0**20), ("GiB", 2.0**30), ("TiB", 2.0**40), ("PiB", 2.0**50),
)  # fmt: skip
DECIMAL: Final[Sequence[tuple[str, float]]] = (("B", 1), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("PB", 1e15))
TIMES: Final[Sequence[tuple[str, float]]] = (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0))
LENGTHS: Final[Sequence[tuple[int, str]]] = ((1, "s"), (60, "min"), (3600, "h"), (86_400, "days"))
# Singular of units that do not just lose their s.
SINGULAR: Final[Mapping[str, str]] = {"processes": "process", "switches": "switch", "entries": "entry"}
MIN_PLURAL_LENGTH: Final = 4
DIGITS: Final = 3
MIN_WHOLE: Final = 1000


def scale(value: float, unit: str) -> tuple[float, str] | None:
    """Return a size or a time in the unit in which it has one to three digits. Missing: None for other units.

    >>> scale(1_894_930.0, "KiB/s")
    (1.8071460723876953, 'GiB/s')
    """
    base, slash, rest = unit.partition("/")
    base = "B" if base == "bytes" else base
    family = next((some for some in (DECIMAL, BINARY, TIMES) if any(name == base for name, _ in some)), None)
    if family is None:
        return None
    in_base = value * dict(family)[base]
    name, size = next(
        ((name, size) for name, size in reversed(family) if abs(in_base) >= size),
        family[0] if in_base else (base, dict(family)[base]),
    )
    return in_base / size, f"{name}{slash}{rest}"


def format_digits(value: float) -> str:
    """Return a number with three significant digits, from a thousand on with all whole digits.

    >>> [format_digits(value) for value in (0, 0.0423, 2.834, 86.4, 24.0, 1894930.2)]
    ['0', '0.0423', '2.83', '86.4', '24', '1,894,930']
    """
    if value == 0:
        return "0"
    if abs(value) >= MIN_WHOLE:
        return f"{value:,.0f}"
    decimals = max(0, DIGITS - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_human(value: float | None, unit: str) -> str:
    """Return a value in human units: `1.81 GiB/s`, `86 %`, `4,264 /s`. Missing: `no value`.

    >>> [format_human(value, unit) for value, unit in ((4264, "1/s"), (11, "1"), (1, "packets"), (4, "state"))]
    ['4,264 /s', '11', '1 packet', 'red']
    """
    if value is None:
        return "no value"
    if unit == STATE and (state := name_state(value)) is not None:
        return state
    if unit == "%":
        # A third digit of a percentage is noise.
        text = f"{value:.0f} %" if abs(value) >= 10 else f"{value:.1f} %"
        return "0 %" if text in ("0.0 %", "-0.0 %") else text
    number, shown = scale(value, unit) or (value, unit.removeprefix("1") if unit == "1" or unit.startswith("1/") else unit)
    digits = format_digits(number)
    return f"{digits} {to_singular(shown) if digits == '1' else shown}".rstrip()


def format_seconds(seconds: float) -> str:
    """Return a duration in one unit: seconds up to two minutes, minutes up to two hours, hours up to two days.

    >>> [format_seconds(value) for value in (0.4, 15, 119, 150, 7199, 9000, 200_000)]
    ['0 s', '15 s', '119 s', '2 min', '119 min', '2 h', '2 days']
    """
    whole = max(0, round(seconds))
    size, unit = next(((size, unit) for size, unit in reversed(LENGTHS) if whole >= 2 * size), LENGTHS[0])
    return f"{whole // size} {unit}"


def to_singular(unit: str) -> str:
    """Return the unit of one thing: `process` for `processes`; units that are no plural stay.

    >>> [to_singular(unit) for unit in ("processes", "requests", "packets/s", "ms", "%")]
    ['process', 'request', 'packets/s', 'ms', '%']
    """
    if len(unit) < MIN_PLURAL_LENGTH or not unit.endswith("s") or "/" in unit:
        return unit
    return SINGULAR.get(unit, unit[:-1])


def describe_range(low: float, high: float, unit: str) -> str:
    """Return a range in human units; a unit that both ends share is said once.

    >>> describe_range(0, 16, "%"), describe_range(33, 33, "%"), describe_range(900, 4200, "KiB/s")
    ('0 to 16 %', '33 %', '900 KiB/s to 4.1 MiB/s')
    """
    first, last = format_human(low, unit), format_human(high, unit)
    if first == last:
        return last
    number, _, own = first.partition(" ")
    return f"{number if own == last.partition(' ')[2] or low == 0 else first} to {last}"


def join_words(words: Sequence[str]) -> str:
    """Return words as a list: `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def name_processes(command: str, pids: Sequence[int]) -> str:
    """Return a command with its process id, or with their number: `dd (29206)`, `yes (2 processes)`."""
    if not pids:
        return command
    return f"{command} ({pids[0]})" if len(pids) == 1 else f"{command} ({len(pids)} processes)"
