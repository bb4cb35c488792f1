"""The column `printed`: the words of a row that would not come back digit for digit from its columns, each with its field's key.

    usr_pct=007 idle_pct=-0

Only those words, and by key: a table's rows come from releases that print different columns in different orders, so the place of a
word in its row would say nothing later. A word has no blank in it, because readers split rows at blanks.

>>> format_printed({"usr_pct": "007", "idle_pct": "-0"})
'usr_pct=007 idle_pct=-0'
>>> parse_printed("usr_pct=007 idle_pct=-0")
{'usr_pct': '007', 'idle_pct': '-0'}
"""

from collections.abc import Mapping
from typing import Final

# What a missing value is taken to have been printed as; any other word for it is kept.
NO_VALUE: Final = "-"


def format_printed(words: Mapping[str, str]) -> str:
    """Return the text of the column for these words by key."""
    return " ".join(f"{key}={word}" for key, word in words.items())


def parse_printed(text: str) -> dict[str, str]:
    """Return the words by key that the column's text holds."""
    return dict(pair.split("=", 1) for pair in text.split(" ") if "=" in pair)
