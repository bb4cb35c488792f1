"""Pair the parts of two artefacts that show the same thing."""

from collections.abc import Sequence
from dataclasses import dataclass

from normstat.artefacts.parts import HistogramPart, Part, StackPart, TablePart
from normstat.runtime.field_docs import Documented


@dataclass(frozen=True, slots=True)
class PartPair(Documented):
    """A part of the artefact before and its counterpart after."""

    before: int | None
    """Position of the part; null where only the other artefact has such a part."""

    after: int | None
    kind: str
    """table, stacks, histogram or log."""

    stat: str
    title: str


def pair_parts(before: Sequence[Part], after: Sequence[Part]) -> list[PartPair]:
    """Return all parts in pairs: of one stat with the same columns, else of one stat, else of one kind with the same names of keys.

    Parts without a counterpart come last.
    """
    free = list(range(len(after)))
    found: dict[int, int] = {}
    for alike in (_is_same, _is_same_stat, _is_same_shape):
        for at, part in enumerate(before):
            if at in found:
                continue
            match = next((other for other in free if alike(part, after[other])), None)
            if match is not None:
                found[at] = match
                free.remove(match)
    pairs = [_pair(before[at], at, found[at]) for at in sorted(found)]
    pairs += [_pair(part, at, None) for at, part in enumerate(before) if at not in found]
    return [*pairs, *(_pair(after[at], None, at) for at in free)]


def _pair(part: Part, before: int | None, after: int | None) -> PartPair:
    return PartPair(before, after, part.kind, part.stat, part.title)


def _columns(part: Part) -> tuple[str, ...]:
    return tuple(column.key for column in part.columns) if isinstance(part, TablePart | StackPart) else ()


def _is_same(before: Part, after: Part) -> bool:
    return _is_same_stat(before, after) and _columns(before) == _columns(after)


def _is_same_stat(before: Part, after: Part) -> bool:
    return before.kind is after.kind and before.stat == after.stat and _share_columns(before, after)


def _is_same_shape(before: Part, after: Part) -> bool:
    if before.kind is not after.kind:
        return False
    if isinstance(before, TablePart) and isinstance(after, TablePart):
        return before.key_names == after.key_names and _share_columns(before, after)
    if isinstance(before, HistogramPart) and isinstance(after, HistogramPart):
        return before.unit == after.unit
    return _share_columns(before, after)


def _share_columns(before: Part, after: Part) -> bool:
    own = _columns(before)
    return not own or bool(set(own) & set(_columns(after)))
