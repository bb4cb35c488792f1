"""Numbers, sizes, durations and names as people read them; the page writes them alike (frontend/src/logic/readable_cases.json)."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from normstat.runtime.units import STATE, name_state, scale

# A missing value, and the minus of a report.
MISSING: Final = "–"
MINUS: Final = "−"
LENGTHS: Final[Sequence[tuple[int, str, str]]] = ((86_400, "d", "days"), (3600, "h", "h"), (60, "min", "min"), (1, "s", "s"))
SPANS: Final = (("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1000), ("ns", 1))
# Singular of units that do not just lose their s.
SINGULAR: Final[Mapping[str, str]] = {"processes": "process", "switches": "switch", "entries": "entry"}
MIN_PLURAL_LENGTH: Final = 4
MAX_PLAIN: Final = 1e15
MIN_PLAIN: Final = 1e-6
# From here on a change ratio has no decimals.
MIN_WHOLE_RATIO: Final = 100
MAX_RATIO: Final = 1000


# --- numbers ---


def format_digits(value: float, n: int = 4) -> str:
    """Return a number with n significant digits, and all its whole ones.

    >>> [format_digits(value) for value in (0, 0.0423, 3.76753, 86.4, 24.0, 1894930.2)], format_digits(2.834, 3)
    (['0', '0.0423', '3.768', '86.4', '24', '1,894,930'], '2.83')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    text = f"{value:,.{max(0, n - 1 - math.floor(math.log10(abs(value))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_number(value: float | None) -> str:
    """Return a number of a report, with four significant digits and a real minus. Missing: an en dash.

    >>> format_number(-12345.6), format_number(None), format_number(3e-7)
    ('−12,346', '–', '3.000e-07')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    size = abs(value)
    is_plain = size == 0 or MIN_PLAIN <= size < MAX_PLAIN
    text = format_digits(size) if is_plain else f"{size:.3e}"
    return f"{MINUS}{text}" if value < 0 else text


def format_percent(value: float, n: int = 4) -> str:
    """Return a percentage with n significant digits.

    >>> format_percent(569_898 / 15_126_580 * 100), format_percent(96.576, 3)
    ('3.768 %', '96.6 %')
    """
    return f"{format_digits(value, n)} %"


def format_times(value: float) -> str:
    """Return how many times, always with three digits, so that a column of them is aligned.

    >>> format_times(47.04), format_times(1.984), format_times(250.3)
    ('47.0', '1.98', '250')
    """
    size = abs(value)
    return f"{value:,.{0 if size >= 100 else 1 if size >= 10 else 2}f}"


def format_ratio(change_ratio: float) -> str:
    """Return a change ratio with one decimal, a large one without; beyond a thousand more says nothing more."""
    if change_ratio >= MAX_RATIO:
        return f"more than {MAX_RATIO:,}"
    return f"{change_ratio:.1f}" if change_ratio < MIN_WHOLE_RATIO else f"{change_ratio:.0f}"


def format_factor(ratio: float) -> str:
    """Return how many times a value is another one: `24.4`, `0.93`."""
    return format_ratio(ratio) if ratio >= 1 else f"{ratio:.2g}"


def count_of(n: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> count_of(1, "sample"), count_of(1200, "sample"), count_of(3, "series", "series")
    ('1 sample', '1,200 samples', '3 series')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


# --- values with their unit ---


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
    return _with_unit(format_digits(number, 3), shown)


def format_amount(value: float, unit: str) -> str:
    """Return a value that is counted with four digits, and sizes and times in human units.

    >>> [format_amount(value, unit) for value, unit in ((15_126_580, "ns"), (80316, "calls"), (24.37, "%"), (1, "samples"))]
    ['15.1 ms', '80,316 calls', '24.37 %', '1 sample']
    """
    if scale(value, unit) is not None:
        return format_human(value, unit)
    return _with_unit(format_digits(value), "" if unit == "count" else unit)


def format_bytes(n_bytes: float | None) -> str:
    """Return a size in powers of 1024. Missing: a hyphen.

    >>> format_bytes(16_785_797_120), format_bytes(0), format_bytes(None)
    ('15.6 GiB', '0 B', '-')
    """
    if n_bytes is None:
        return "-"
    return format_human(n_bytes / 1024, "KiB") if n_bytes else "0 B"


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


def to_singular(unit: str) -> str:
    """Return the unit of one thing: `process` for `processes`; units that are no plural stay.

    >>> [to_singular(unit) for unit in ("processes", "requests", "packets/s", "ms", "%")]
    ['process', 'request', 'packets/s', 'ms', '%']
    """
    if len(unit) < MIN_PLURAL_LENGTH or not unit.endswith("s") or "/" in unit:
        return unit
    return SINGULAR.get(unit, unit[:-1])


def _with_unit(digits: str, unit: str) -> str:
    return f"{digits} {to_singular(unit) if digits == '1' else unit}".rstrip()


# --- times ---


def format_seconds(length: timedelta | float) -> str:
    """Return a duration (a number: seconds) in one unit: seconds up to two minutes, minutes to two hours, hours to two days.

    >>> [format_seconds(value) for value in (0.4, 15, 119, 150, 7199, 9000, 200_000)]
    ['0 s', '15 s', '119 s', '2 min', '119 min', '2 h', '2 days']
    """
    whole = max(0, round(length.total_seconds() if isinstance(length, timedelta) else length))
    size, unit = next(((size, unit) for size, _, unit in LENGTHS if whole >= 2 * size), (1, "s"))
    return f"{whole // size} {unit}"


def format_duration(seconds: float) -> str:
    """Return a duration in its two largest units.

    >>> format_duration(5400), format_duration(0), format_duration(90_061)
    ('1 h 30 min', '0 s', '1 d 1 h')
    """
    left = round(seconds)
    parts: list[str] = []
    for size, name, _ in LENGTHS:
        n, left = divmod(left, size)
        if n or (size == 1 and not parts):
            parts.append(f"{n} {name}")
    return " ".join(parts[:2])


def format_span(span_ns: float, digits: int = 4) -> str:
    """Return a short duration in the unit that suits it.

    >>> format_span(16433966497), format_span(2486), format_span(209), format_span(0)
    ('16.43 s', '2.486 µs', '209 ns', '0 ns')
    """
    unit, size = next(((unit, size) for unit, size in SPANS if span_ns >= size), SPANS[-1])
    return f"{span_ns / size:.{digits}g} {unit}"


def format_instant(instant: datetime) -> str:
    """Return an instant: `2026-11-21 10:00:00 UTC`, with decimals only if it has some."""
    text = instant.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
    fraction = f".{instant.microsecond:06d}".rstrip("0") if instant.microsecond else ""
    return f"{text}{fraction} UTC"


def format_clock(at_ms: float) -> str:
    """Return the time of day in UTC, from milliseconds since the epoch."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%H:%M:%S")


def to_iso(instant: datetime | None, timespec: str = "auto") -> str:
    """Return an instant in UTC as ISO 8601: `2026-11-21T10:00:00Z`. Missing: an empty text."""
    return "" if instant is None else instant.astimezone(UTC).isoformat(timespec=timespec).replace("+00:00", "Z")


# --- lists ---


def join_words(words: Sequence[str]) -> str:
    """Return words as a list: `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def name_some(names: Sequence[str], most: int, n: int | None = None) -> str:
    """Return the first names and the number of the others. `n`: how many there are, where not all are given

    >>> name_some(["web1", "web2", "web3"], 2), name_some(["web1"], 2)
    ('web1, web2 and 1 more', 'web1')
    """
    more = (len(names) if n is None else n) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def name_processes(command: str, pids: Sequence[int]) -> str:
    """Return a command with its process id, or with their number: `dd (29206)`, `yes (2 processes)`."""
    if not pids:
        return command
    return f"{command} ({pids[0]})" if len(pids) == 1 else f"{command} ({len(pids)} processes)"


DIGITS: Final = re.compile(r"(\d+)")


@lru_cache(maxsize=65_536)
def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts names naturally: texts before numbers (`all` before `0`), and 9 before 10."""
    parts = [part for part in DIGITS.split(name) if part]
    return tuple((1, int(part[:18]), part) if part.isascii() and part.isdecimal() else (0, 0, part) for part in parts)


def name_statement(instance: str) -> str:
    """Return a statement of a database with its number.

    >>> name_statement("0x4f2a1b3c UPDATE orders")
    'statement 0x4f2a1b3c: UPDATE orders'
    """
    return f"statement {instance.replace(' ', ': ', 1)}"


def name_sessions(text: str, pids: Sequence[int]) -> str:
    """Return sessions of a database that execute the same statement: `session 4711 (UPDATE orders)`."""
    if len(pids) == 1:
        return f"session {pids[0]} ({text})"
    return f"{len(pids) or 'several'} sessions ({text})"
