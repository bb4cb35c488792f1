"""The column `printed`: the words of a row that its columns cannot reproduce digit for digit, each with its field's key.

    usr_pct=007 idle_pct=-0

Only those words, and by key: a table's rows come from releases that print different columns in different orders, so a position
would mean nothing later. A word has no blank in it, because readers split rows at blanks.

>>> format_printed({"usr_pct": "007", "idle_pct": "-0"})
'usr_pct=007 idle_pct=-0'
>>> parse_printed("usr_pct=007 idle_pct=-0")
{'usr_pct': '007', 'idle_pct': '-0'}
"""

from collections.abc import Mapping
from typing import Final

# The word assumed for a missing value; any other word is stored.
NO_VALUE: Final = "-"


def format_printed(words: Mapping[str, str]) -> str:
    """Return the column's text for these words by key."""
    return " ".join(f"{key}={word}" for key, word in words.items())


def parse_printed(text: str) -> dict[str, str]:
    """Return the words by key in the column's text."""
    return dict(pair.split("=", 1) for pair in text.split(" ") if "=" in pair)
