"""Format numbers for sentences: as many digits as needed, sizes and times in the unit that fits."""

import math
from typing import Final

from normstat.comparison.findings.human import format_human, to_singular

SIZES: Final = frozenset({"B", "bytes", "kB", "KiB", "MB", "MiB", "GB", "GiB", "ns", "us", "ms", "s"})


def digits(value: float, n: int = 4) -> str:
    """Return a number with n significant digits, and all its whole ones.

    >>> [digits(value) for value in (3.76753, 663.6, 80316, 12337.33, 1.00243, 0.0, 24.37)]
    ['3.768', '663.6', '80,316', '12,337', '1.002', '0', '24.37']
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    decimals = max(0, n - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(value: float, n: int = 4) -> str:
    """Return a percentage with n significant digits.

    >>> percent(569_898 / 15_126_580 * 100), percent(96.576, 3)
    ('3.768 %', '96.6 %')
    """
    return f"{digits(value, n)} %"


def with_unit(value: float, unit: str) -> str:
    """Return a value with its unit in readable form.

    >>> [with_unit(value, unit) for value, unit in ((15_126_580, "ns"), (80316, "calls"), (24.37, "%"), (1, "samples"))]
    ['15.1 ms', '80,316 calls', '24.37 %', '1 sample']
    """
    if unit.partition("/")[0] in SIZES:
        return format_human(value, unit)
    text = digits(value)
    unit = "" if unit == "count" else unit
    return f"{text} {to_singular(unit) if text == '1' else unit}".rstrip()


def change_words(before: float, after: float) -> str:
    """Return how a sum changed, by the ratio. Both are not negative.

    >>> change_words(15_126_580, 569_898), change_words(10, 470), change_words(100, 112), change_words(5, 5), change_words(0, 5)
    ('to 3.768 % of before', '47 times as much', '12 % more', 'unchanged', 'nothing before')
    """
    if before == after:
        return "unchanged"
    if not before:
        return "nothing before"
    ratio = after / before
    if ratio >= 2:
        return f"{digits(ratio, 3)} times as much"
    if ratio >= 1:
        return f"{digits((ratio - 1) * 100, 3)} % more"
    return f"to {percent(ratio * 100)} of before"
