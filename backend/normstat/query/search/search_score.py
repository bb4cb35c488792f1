"""How well words fit a thing: one small rule, the same in frontend/src/logic/finder.ts (both are held to one table of cases).

Every word must fit. A word fits the names of a thing (what a person calls it) better than its texts (what is said about it), and
the whole name better than a part. Lower is better.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

EXACT: Final = 0
START: Final = 1
PART: Final = 2
INSIDE: Final = 3
TEXT_PART: Final = 4
TEXT_INSIDE: Final = 5
LETTERS: Final = 8
# Fewer letters fit nearly everything.
MIN_LETTERS: Final = 3
MAX_WORDS: Final = 12
_EDGES: Final = re.compile(r"^[\W_]+|[\W_]+$")


@dataclass(frozen=True, slots=True)
class Searchable:
    """The texts of a thing, in lower case. `names` it has, and `texts` about it."""

    names: tuple[str, ...]
    texts: tuple[str, ...]
    # All of it, for a quick look.
    whole: str

    @staticmethod
    def of(names: Sequence[str], texts: Sequence[str] = ()) -> "Searchable":
        """Return the thing with these names and texts."""
        low_names = tuple(name.lower() for name in names if name)
        low_texts = tuple(text.lower() for text in texts if text)
        return Searchable(low_names, low_texts, "\n".join((*low_names, *low_texts)))


def split_words(query: str) -> list[str]:
    """Return the words of a query, in lower case.

    >>> split_words(" SDA  %util ")
    ['sda', '%util']
    """
    return query.lower().split()[:MAX_WORDS]


def score(words: Sequence[str], thing: Searchable) -> int | None:
    """Return how well all words fit, 0 for best. Missing: None if one of them does not fit.

    >>> score(["iowait"], Searchable.of(["%iowait"])), score(["iowait"], Searchable.of(["wa"], ["same as %iowait"]))
    (0, 4)
    >>> score(["iowait", "disk"], Searchable.of(["%iowait"])) is None
    True
    """
    total = 0
    for word in words:
        own = _score_word(word, thing)
        if own is None:
            return None
        total += own
    return total


def _score_word(word: str, thing: Searchable) -> int | None:
    if word in thing.whole:
        best = min((_score_name(word, name) for name in thing.names), default=LETTERS)
        if best <= INSIDE:
            return best
        starts = _part_start(word)
        return TEXT_PART if any(starts.search(text) for text in thing.texts) else TEXT_INSIDE
    bare = _EDGES.sub("", word)
    if bare and any(bare == _EDGES.sub("", name) for name in thing.names):
        return EXACT
    if len(word) >= MIN_LETTERS and any(_letters(word).search(name) for name in thing.names):
        return LETTERS
    return None


def _score_name(word: str, name: str) -> int:
    bare = _bare(name)
    if word in (name, bare):
        return EXACT
    if name.startswith(word) or bare.startswith(word):
        return START
    if word not in name:
        return LETTERS
    return PART if _part_start(word).search(name) else INSIDE


@lru_cache(maxsize=20_000)
def _bare(name: str) -> str:
    """Return a name without the signs around it: `%iowait` is asked for as iowait."""
    return _EDGES.sub("", name)


@lru_cache(maxsize=256)
def _part_start(word: str) -> re.Pattern[str]:
    """Return the pattern of a word at the beginning of a part: after a sign, or first."""
    return re.compile(r"(?<![^\W_])" + re.escape(word))


@lru_cache(maxsize=256)
def _letters(word: str) -> re.Pattern[str]:
    """Return the pattern of the letters in their order, the first one at the beginning of a part: `mpst` for mpstat."""
    return re.compile(r"(?<![^\W_])" + ".*?".join(map(re.escape, word)))
