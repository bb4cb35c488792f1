"""The order of names as people expect it."""

import re
from functools import lru_cache
from typing import Final

DIGITS: Final = re.compile(r"(\d+)")


@lru_cache(maxsize=65_536)
def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts names naturally: texts before numbers (`all` before `0`), and 9 before 10."""
    parts = [part for part in DIGITS.split(name) if part]
    return tuple((1, int(part[:18]), part) if part.isascii() and part.isdecimal() else (0, 0, part) for part in parts)
