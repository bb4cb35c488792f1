"""Texts of other people in CSV: a spreadsheet must not take one for a formula."""

from typing import Final

FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(text: str) -> str:
    """Return the text, with an apostrophe before it where a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
