"""The diff of two artefacts: their parts in pairs, one pair compared, the answer in a sentence on top. Before comes first."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from normstat.artefacts.diff.histogram_diff import HistogramDiff, diff_histograms, histogram_sentence
from normstat.artefacts.diff.part_pairing import PartPair, pair_parts
from normstat.artefacts.diff.table_diff import TableDiff, TableDiffRequest, diff_tables, table_sentence
from normstat.artefacts.duration import watched_seconds
from normstat.artefacts.parts import HistogramPart, LogPart, Number, Part, PartColumn, StackPart, TablePart
from normstat.errors import BadRequest, NotFound
from normstat.runtime.field_docs import Documented
from normstat.stats.spec import Kind, Worse

EVENTS: Final = PartColumn("count", "events", "events", Kind.COUNT, Worse.NEITHER, 0, "How often the event was recorded.", True)  # noqa: FBT003 (a field)


@dataclass(frozen=True, slots=True)
class DiffSide:
    """Data of an artefact that the diff needs besides its parts."""

    tool: str
    command: str
    duration_s: float | None
    effect: str


@dataclass(frozen=True, slots=True)
class DiffRequest:
    """`pair` None: the first that can be compared. `limit`: see `diff_histograms`."""

    pair: int | None = None
    table: TableDiffRequest = field(default_factory=TableDiffRequest)
    limit: float | None = None

    def paged(self, limit: int, offset: int) -> "DiffRequest":
        """Return the same request for other rows."""
        return replace(self, table=replace(self.table, limit=limit, offset=offset))


@dataclass(frozen=True, slots=True)
class PartDiff(Documented):
    """What changed between two artefacts, in one pair of their parts."""

    pairs: list[PartPair]
    pair: int | None
    """The number of the pair that is compared; null where none can be."""

    headline: str
    normalisation: str
    """How the totals were normalised, in words; empty where there are none."""

    table: TableDiff | None
    """Of stacks: by function, what was spent in the function itself. Of logs: by event, how often."""

    histogram: HistogramDiff | None
    warnings: list[str]
    """Reasons why the two are less comparable."""


def diff_artefacts(before: Sequence[Part], after: Sequence[Part], sides: tuple[DiffSide, DiffSide], asked: DiffRequest) -> PartDiff:
    """Return the pairs of parts, and what changed in one of them.

    Raises: NotFound for a pair that does not exist; BadRequest for one without a counterpart, an unknown column or key
    """
    pairs = pair_parts(before, after)
    warnings = _warnings(sides)
    at = asked.pair
    if at is None:
        at = _first_comparable(pairs, before)
    elif at >= len(pairs):
        raise NotFound(f"There is no pair {at}; the two artefacts have {len(pairs)} pairs of parts, numbered from 0")
    if at is None:
        return PartDiff(pairs, None, _no_pair(before, after, sides), "", None, None, warnings)
    pair = pairs[at]
    if pair.before is None or pair.after is None:
        missing = "before" if pair.before is None else "after"
        raise BadRequest(f"Only one of the two artefacts has a part {pair.title!r}; the one {missing} has none like it")
    left, right = before[pair.before], after[pair.after]
    if isinstance(left, HistogramPart) and isinstance(right, HistogramPart):
        histogram = diff_histograms(left, right, limit=asked.limit)
        return PartDiff(pairs, at, histogram_sentence(histogram), "", None, histogram, warnings)
    first, last = as_table(left), as_table(right)
    durations = tuple(
        watched_seconds(side.duration_s, side.command, len(part.report_us)) for side, part in zip(sides, (first, last), strict=True)
    )
    table = diff_tables(first, last, asked.table, (durations[0], durations[1]))
    return PartDiff(pairs, at, table_sentence(table), _normalisation_words(table, durations), table, None, warnings)


def as_table(part: Part) -> TablePart:
    """Return a part as a table: of stacks by function, of a log by event.

    Raises: BadRequest for distributions
    """
    if isinstance(part, TablePart):
        return part
    if isinstance(part, StackPart):
        return _functions(part)
    if isinstance(part, LogPart):
        return _events(part)
    raise BadRequest("Distributions are compared by bucket, not by row")


def _functions(part: StackPart) -> TablePart:
    """Return what was spent in each function itself, without its callees."""
    n_names = len(part.names)
    sums = [np.bincount(part.name, values.astype(np.float64), n_names) for values in part.values]
    used = np.flatnonzero(np.any([each != 0 for each in sums], axis=0)) if sums else np.array([], np.int64)
    columns: list[list[Number | None]] = []
    for values, each in zip(part.values, sums, strict=True):
        is_whole = values.dtype.kind == "i"
        columns.append([int(value) if is_whole else float(value) for value in each[used].tolist()])
    names = [part.names[at] for at in used.tolist()]
    return TablePart(
        part.stat, part.title, ("function",), (names,), part.columns, tuple(columns), part.weight, [0] * len(names), (None,)
    )


def _events(part: LogPart) -> TablePart:
    counts: dict[tuple[str, str, str], int] = {}
    for key in zip(part.command, part.event, part.function, strict=True):
        counts[key] = counts.get(key, 0) + 1
    keys = tuple([key[at] for key in counts] for at in range(3))
    values = (list(counts.values()),)
    return TablePart(
        part.stat, part.title, ("command", "event", "function"), keys, (EVENTS,), values, "count", [0] * len(counts), (None,)
    )


def _first_comparable(pairs: Sequence[PartPair], before: Sequence[Part]) -> int | None:
    """Return the pair with the most rows: totals and sections have few. Missing: None without any."""
    found = [(at, pair) for at, pair in enumerate(pairs) if pair.before is not None and pair.after is not None]
    return max(found, key=lambda each: (before[each[1].before or 0].n_rows, -each[0]))[0] if found else None


def _no_pair(before: Sequence[Part], after: Sequence[Part], sides: tuple[DiffSide, DiffSide]) -> str:
    for parts, side, word in ((before, sides[0], "before"), (after, sides[1], "after")):
        if not parts:
            return f"The artefact {word} has no parts: {side.tool or 'no reader'} found nothing to compare in its text."
    return "The two artefacts have no parts of the same kind, so there is nothing to compare by key."


def _normalisation_words(table: TableDiff, durations: Sequence[float | None]) -> str:
    if table.normalisation == "per_second":
        return f"per second of what each tool watched ({durations[0]:g} s before, {durations[1]:g} s after)"
    if table.normalisation == "share":
        return "as shares of each side's total"
    if table.before_total is None:
        return "as printed"
    if all(durations):
        return "as printed, not by duration"
    unknown = [word for word, seconds in zip(("before", "after"), durations, strict=True) if not seconds]
    return f"as printed: how long the tool watched is unknown {' and '.join(unknown)}"


def _warnings(sides: tuple[DiffSide, DiffSide]) -> list[str]:
    found = []
    if sides[0].tool != sides[1].tool:
        names = [side.tool or "an unknown tool" for side in sides]
        found.append(f"Before is of {names[0]}, after of {names[1]}.")
    heavy = [word for word, side in zip(("before", "after"), sides, strict=True) if side.effect == "heavy"]
    if len(heavy) == 1:
        found.append(f"Only the one {heavy[0]} was taken with a tool that slows down what it watches, which lowers its counts.")
    return found
