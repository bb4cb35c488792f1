"""Find the rows of a sample whose numbers follow their names: `icmp_seq=1 ttl=64 time=0.201 ms`. Pure.

[1795305600.123456] 64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.201 ms
"""

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.header import slug
from normstat.stats.pattern import compile_linear

PAIR: Final = re.compile(
    r"(?<![\w.])(?P<name>[A-Za-z][\w.-]{0,39})=(?P<value>[^\s=,;]{1,60})(?:[,;]?\s+(?P<next>[^\s=]{1,10})(?![^\s,;]))?"
)
# With the unit glued to it, as in 12ms.
NUMBER: Final = re.compile(r"(?P<number>[-+]?\d+(?:[.,]\d+)?)(?P<unit>[A-Za-z%]{0,6})", re.ASCII)
UNITS: Final = frozenset({"ns", "us", "ms", "s", "B", "bytes", "KB", "kB", "MB", "GB", "KiB", "MiB", "GiB", "%"})
STAMP: Final = r"\d{9,10}(?:\.\d{1,9})?|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*|\d\d:\d\d:\d\d"
LEADING: Final = re.compile(rf"\[?(?:{STAMP})\]?\s", re.ASCII)
NUMBER_GROUP: Final = r"[-+]?[0-9]+(?:[.,][0-9]+)?"
WORD_GROUP: Final = r"[^\s=,;]+"
MAX_PAIRS: Final = 60


@dataclass(frozen=True, slots=True)
class PairTable:
    """Rows of pairs. `rows`: values in the order of `names`, numbers without units; `units`: "" where none is shown."""

    names: tuple[str, ...]
    groups: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    units: tuple[str, ...]
    is_number: tuple[bool, ...]
    has_stamp: bool

    def pattern_of(self, used: Set[str]) -> str:
        """Return a regular expression of a row, with a group for each value of these names, and `stamp` for a time before it."""
        stamp = rf"(?:\[?(?P<stamp>{STAMP})\]?\s+)?" if self.has_stamp else ""
        values = []
        for name, group, number in zip(self.names, self.groups, self.is_number, strict=True):
            value = NUMBER_GROUP if number else WORD_GROUP
            values.append(rf"\b{re.escape(name)}={f'(?P<{group}>{value})' if name in used else value}")
        # Without "=" between values each line is looked at once, whatever it has.
        return f"{stamp}[^=]*{'[^=]*'.join(values)}.*"


def find_pairs(texts: Sequence[str]) -> PairTable | None:
    """Return the rows with the most frequent names. Missing: None where not most of the lines with numbers have such names."""
    found = [list(PAIR.finditer(text))[:MAX_PAIRS] for text in texts]
    shapes = Counter(
        tuple(pair["name"] for pair in pairs) for pairs in found if any(NUMBER.fullmatch(pair["value"]) for pair in pairs)
    )
    if not shapes:
        return None
    names, n_rows = max(shapes.items(), key=lambda item: (item[1], len(item[0])))
    n_lines = sum(any(sign.isdigit() for sign in text) for text in texts)
    if 2 * n_rows < n_lines or len(set(names)) < len(names):
        return None
    kept = [(text, pairs) for text, pairs in zip(texts, found, strict=True) if tuple(pair["name"] for pair in pairs) == names]
    columns = list(zip(*([(pair["value"], pair["next"] or "") for pair in pairs] for _, pairs in kept), strict=True))
    numbers = [[NUMBER.fullmatch(value) for value, _ in column] for column in columns]
    is_number = tuple(all(column) for column in numbers)
    if not any(is_number):
        return None
    values = [
        [match["number"] if match is not None and whole else value for match, (value, _) in zip(matches, column, strict=True)]
        for matches, column, whole in zip(numbers, columns, is_number, strict=True)
    ]
    units = [
        _only({(match["unit"] if match is not None else "") or after for match, (_, after) in zip(matches, column, strict=True)})
        for matches, column in zip(numbers, columns, strict=True)
    ]
    table = PairTable(
        names=names,
        groups=_groups(names),
        rows=tuple(zip(*values, strict=True)),
        units=tuple(unit if number else "" for unit, number in zip(units, is_number, strict=True)),
        is_number=is_number,
        has_stamp=2 * sum(LEADING.match(text.strip()) is not None for text, _ in kept) > len(kept),
    )
    # As the spec of the user will be.
    pattern = compile_linear(table.pattern_of(frozenset(names)))
    return table if all(pattern.fullmatch(text.strip()) is not None for text, _ in kept) else None


def _only(units: set[str]) -> str:
    unit = units.pop() if len(units) == 1 else ""
    return unit if unit in UNITS else ""


def _groups(names: Sequence[str]) -> tuple[str, ...]:
    found: list[str] = []
    for name in names:
        group = slug(name, lead="x_") or "x"
        while group in {*found, "stamp", "key", "value", "numbers"}:
            group += "_2"
        found.append(group)
    return tuple(found)
