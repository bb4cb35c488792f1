"""Parse what only human-readable reports print: numbers with thousands separators or exponents, repeated names.

Readers bring such words to the plain form of formats.py before they add a row.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Final

GROUPED: Final = re.compile(r"[-+]?[0-9]{1,3}(?:([,'\u2019\u00a0\u202f])[0-9]{3})(?:\1[0-9]{3})*(?:\.[0-9]+)?")
EXPONENT: Final = re.compile(r"([-+]?)([0-9]*)\.?([0-9]*)[eE]([-+]?[0-9]{1,2})")
# No number of a report has more digits.
MAX_LENGTH: Final = 40
# Maximum number of distinct names in one report; no human-readable report is longer.
MAX_NAMES: Final = 4096


def ungroup(word: str) -> str:
    """Return the number without its thousands separators; any other word as it is.

    >>> ungroup("1,993"), ungroup("2,809,725,593"), ungroup("61'477.5"), ungroup("0,14"), ungroup("1,99")
    ('1993', '2809725593', '61477.5', '0,14', '1,99')
    """
    found = GROUPED.fullmatch(word)
    return word.replace(found[1], "") if found is not None else word


def spell_out(word: str) -> str:
    """Return the number without an exponent, digit for digit; any other word as it is.

    >>> spell_out("1.8E-07"), spell_out("2.49E-05"), spell_out("1.5e3"), spell_out("0x1e5"), spell_out("16.14")
    ('0.00000018', '0.0000249', '1500', '0x1e5', '16.14')
    """
    found = EXPONENT.fullmatch(word) if len(word) <= MAX_LENGTH else None
    if found is None or not found[2] + found[3]:
        return word
    sign, whole, fraction, power = found[1], found[2], found[3], int(found[4])
    digits = whole + fraction
    point = len(whole) + power
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    digits = digits.ljust(point, "0")
    head, tail = digits[:point].lstrip("0") or "0", digits[point:]
    return f"{sign}{head}.{tail}" if tail else f"{sign}{head}"


class Repeats:
    """Makes equal names in one report unique: the second gets " #2", the third " #3"."""

    __slots__ = ("_times",)

    def __init__(self, state: object = None) -> None:
        self._times = {str(key): int(value) for key, value in state.items()} if isinstance(state, dict) else {}

    def name(self, name: str) -> str:
        """Return the name, with a number unless it is the first of its kind in this report."""
        key = hashlib.blake2b(name.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()
        if key not in self._times and len(self._times) >= MAX_NAMES:
            return name
        times = self._times[key] = self._times.get(key, 0) + 1
        return name if times == 1 else f"{name} #{times}"

    def clear(self) -> None:
        """Start a new report."""
        self._times.clear()

    def to_state(self) -> Mapping[str, int]:
        """For the reader's state."""
        return dict(self._times)
