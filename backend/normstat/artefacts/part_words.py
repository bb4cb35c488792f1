"""The names in parts by which an artefact is searched: locks, functions, system calls, commands."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

import numpy as np

from normstat.artefacts.parts import HistogramPart, LogPart, Part, StackPart, TablePart

MAX_NAMES: Final = 400
MAX_CHARACTERS: Final = 12_000
# PostgreSQL's text has no NUL; other control characters are useless in a search.
CONTROL: Final = re.compile(r"[\x00-\x1f]+")


def find_words(parts: Sequence[Part]) -> str:
    """Return the names of all parts, the costly ones first, in lower case, cut to MAX_CHARACTERS."""
    names: dict[str, None] = {}
    for part in parts:
        names.update(dict.fromkeys(islice(_names_of(part), MAX_NAMES)))
    return CONTROL.sub(" ", " ".join(names)).casefold()[:MAX_CHARACTERS]


def _names_of(part: Part) -> Iterator[str]:
    if isinstance(part, TablePart):
        order = range(part.n_rows)
        if part.weight:
            weights = [-(value or 0) for value in part.column(part.weight)]
            order = np.argsort(np.array(weights, float), kind="stable").tolist()
        for row in order:
            yield from (key[row] for key in part.keys)
    elif isinstance(part, StackPart):
        yield from part.names
    elif isinstance(part, HistogramPart):
        yield from part.keys
    elif isinstance(part, LogPart):
        for texts in (part.command, part.event, part.function, part.object):
            yield from islice(texts.names, MAX_NAMES // 4)
