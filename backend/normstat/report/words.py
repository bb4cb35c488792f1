"""Format numbers and times for readers."""

import math
from datetime import UTC, datetime
from typing import Final

MISSING: Final = "–"
MINUS: Final = "−"
_STEPS: Final = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def number(value: float | None) -> str:
    """Return about four digits, with thousands separators. Missing: an en dash."""
    if value is None or not math.isfinite(value):
        return MISSING
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 1e15 or size < 1e-6:
        text = f"{size:.3e}"
    elif size >= 1000:
        text = f"{size:,.0f}"
    else:
        text = f"{size:.{max(0, 3 - math.floor(math.log10(size)))}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{MINUS}{text}" if value < 0 else text


def with_unit(value: float | None, unit: str) -> str:
    """Return a value with its unit: `1,234 KiB/s`."""
    return f"{number(value)} {unit}".rstrip() if value is not None else MISSING


def count(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 sample`, `1,310 series`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def instant(at: datetime) -> str:
    """Return an instant: `2026-11-21 10:00:00 UTC`, with decimals only if it has some."""
    text = at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
    fraction = f".{at.microsecond:06d}".rstrip("0") if at.microsecond else ""
    return f"{text}{fraction} UTC"


def clock(at_ms: float) -> str:
    """Return the time of day in UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%H:%M:%S")


def instant_of(at_ms: int) -> str:
    """Return an instant in whole seconds, from milliseconds since the epoch."""
    return instant(datetime.fromtimestamp(at_ms // 1000, UTC))


def duration(seconds: float) -> str:
    """Return a duration in its two largest units: `1 h 30 min`."""
    left = round(seconds)
    parts: list[str] = []
    for size, name in _STEPS:
        n, left = divmod(left, size)
        if n or (name == "s" and not parts):
            parts.append(f"{n} {name}")
    return " ".join(parts[:2])
