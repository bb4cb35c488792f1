"""Findings in words: one plain sentence each, with both values in the unit and digits that the tool prints."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from normstat.comparison.model import FindingKind, SideName, SideValues
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field

# From here on a factor has no digit behind the point.
LARGE: Final = 100
# Units are written in the plural; these do not only lose their s.
SINGULAR: Final[Mapping[str, str]] = {"processes": "process", "switches": "switch", "entries": "entry"}
MIN_PLURAL_LENGTH: Final = 4


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to a series. `change`: how large it is with its sign, as the kind measures it"""

    field: Field
    kind: FindingKind
    before: SideValues
    after: SideValues
    change: float

    @property
    def is_up(self) -> bool:
        """Whether there is more of it now."""
        return self.change > 0

    def text(self, value: float | None) -> str:
        """Return a value with its unit."""
        return to_text(self.field, value)

    @property
    def medians(self) -> str:
        """From where to where."""
        return f"from {self.text(self.before.median)} to {self.text(self.after.median)}"

    @property
    def means(self) -> str:
        """From where to where on average."""
        return f"from {self.text(self.before.mean)} to {self.text(self.after.mean)}"


def name_series(stat: str, instance: str, field: Field) -> str:
    """Return what a series is called in a sentence: `CPU 0 %usr (mpstat)`, `vmstat cpu us`.

    >>> from normstat.stats.catalogue import load_catalogue
    >>> spec, stat = load_catalogue().stats["mpstat_linux"]
    >>> usr = next(field for field in stat.fields if field.key == "usr_pct")
    >>> name_series("mpstat_linux", "0", usr)
    'CPU 0 %usr (mpstat)'
    """
    column = name_column(field)
    known = load_catalogue().stats.get(stat)
    if known is None:
        return f"{instance} {column} ({stat})".lstrip()
    spec, _ = known
    if not instance:
        return f"{spec.tool} {field.group} {field.column}" if field.group else f"{spec.tool} {field.column}"
    return f"{name_instance(stat, instance)} {column} ({spec.tool})"


def name_column(field: Field) -> str:
    """Return the column as the tool prints it, with its group where the column alone may stand twice."""
    return f"{field.group} {field.column}" if field.printed_key != field.column else field.column


def name_instance(stat: str, instance: str) -> str:
    """`CPU 7`; the bare name where an instance has several parts, or nobody knows what they are."""
    known = load_catalogue().stats.get(stat)
    title = "" if known is None else known[1].instance_title
    return f"{title} {instance}" if title and _is_plain(title) else instance


def name_group(stat: str, field: Field, n_members: int, n_instances: int) -> str:
    """Return what several series of a field are called: `%usr of 61 of 64 CPUs (mpstat)`."""
    known = load_catalogue().stats.get(stat)
    title = "" if known is None else known[1].instance_title
    things = _plural(title) if title and _is_plain(title) else "instances"
    tool = stat if known is None else known[0].tool
    count = f"all {n_instances:,}" if n_members == n_instances else f"{n_members:,} of {n_instances:,}"
    if n_members == n_instances == 2:
        count = "both"
    return f"{name_column(field)} of {count} {things} ({tool})"


def to_text(field: Field, value: float | None) -> str:
    """Return the value with the digits that the tool prints, and its unit; `1/s` reads `/s`, and one of many is one."""
    if value is None:
        return "no value"
    number = _number(field, value)
    unit = field.unit.removeprefix("1") if field.unit.startswith("1/") else field.unit
    if number == "1" and len(unit) >= MIN_PLURAL_LENGTH and unit.endswith("s") and "/" not in unit:
        unit = SINGULAR.get(unit, unit[:-1])
    return f"{number} {unit}".rstrip()


def describe_change(subject: str, change: Change, score: float, *, by_load: bool) -> str:
    """Return what happened to one series, from where to where, and how unusual that is."""
    load = ", which the load of the host does not explain" if by_load else ""
    basis = f"{change.before.n:,} and {_samples(change.after.n)}"
    return f"{subject} {describe_kind(change)}{load}; {to_times(score)} times its usual change ({basis})."


def describe_kind(change: Change) -> str:
    """Return what happened, without whom it happened to."""
    return WORDS[change.kind](change)


def describe_one_sided(stat: str, instance: str, field: Field, side: SideName, values: SideValues) -> str:
    """Return what appeared or vanished, and how much of it there was."""
    level = f"median {to_text(field, values.median)}, highest {to_text(field, values.highest)}, {_samples(values.n)}"
    subject = name_series(stat, instance, field)
    if side == "incident":
        return f"{subject} appeared: {level} in the incident, none in the baseline."
    return f"{subject} vanished: {level} in the baseline, none in the incident."


def describe_thin(stat: str, n_baseline: int, n_incident: int, least_baseline: int, least_incident: int) -> str:
    """Why a series was not judged."""
    for side, n, least in (("baseline", n_baseline, least_baseline), ("incident", n_incident, least_incident)):
        if n == 0:
            return f"the {side} has no sample of this field of {stat} at all"
        if n < least:
            return f"{_samples(n)} in the {side}; {least} are needed to judge"
    return "too few samples"


def to_times(score: float) -> str:
    """Return how many times, with a digit behind the point where that says something."""
    return f"{score:.1f}" if score < LARGE else f"{score:,.0f}"


# --- kind by kind ---


def _level(change: Change) -> str:
    before, after = change.before, change.after
    verb = "rose" if change.is_up else "fell"
    if before.median is None or after.median is None or before.median == after.median:
        return f"{verb} on average {change.means}" if change.change else f"is distributed differently {change.means} on average"
    if (after.median > before.median) != change.is_up:
        return f"{verb} on average {change.means} (median {change.medians})"
    return f"{verb} {change.medians}{_place(change.field, before, after)}"


def _zero(change: Change) -> str:
    was = (
        "was always zero"
        if change.before.highest == 0
        else f"was nearly always zero (at most {change.text(change.before.highest)})"
    )
    return f"{was} and is not any more: {change.text(change.after.mean)} on average, {change.text(change.after.highest)} at most"


def _missing(change: Change) -> str:
    share = round(100 * abs(change.change))
    many = f"in {share} of 100 reports" if share else "in less than 1 of 100 reports"
    return f"has no value {many} {'more' if change.is_up else 'fewer'} than before"


def _frozen(change: Change) -> str:
    if change.after.lowest == change.after.highest:
        return f"stands still at {change.text(change.after.median)}"
    return f"hardly moves any more from sample to sample (median {change.text(change.after.median)})"


def _movement(change: Change) -> str:
    return f"moves {'more' if change.is_up else 'less'} from sample to sample than before (median {change.medians})"


def _spread(change: Change) -> str:
    halves = [_middle_half(change, side) for side in (change.before, change.after)]
    wide = "wider" if change.is_up else "less wide"
    return f"is spread {wide}: half of its samples lie between {halves[1]}, before between {halves[0]}"


def _spikes(change: Change) -> str:
    before, after = change.before, change.after
    usual = f"99 of 100 samples of the baseline are below {change.text(before.p99)}"
    if _is_above(after.highest, before.highest):
        return f"has spikes up to {change.text(after.highest)}, before up to {change.text(before.highest)} ({usual})"
    return f"is high more often: up to {change.text(after.highest)}, and {usual}"


def _top(change: Change) -> str:
    before, after = change.before, change.after
    if _is_above(before.p99, after.highest):
        return f"no longer reaches {change.text(before.p99)}: at most {change.text(after.highest)} (median {change.medians})"
    return (
        f"is high less often: at most {change.text(after.highest)}, before {change.text(before.highest)} (median {change.medians})"
    )


def _stall(change: Change) -> str:
    nothing = change.after.lowest or 0.0
    quantiles = change.after.quantiles or []
    n_there = sum(value <= nothing for value in quantiles)
    often = f"in about {100 * n_there / len(quantiles):.0f} of 100 samples" if n_there > 1 else "for a moment"
    usual = change.text(change.before.p5)
    return f"falls to {change.text(nothing)} {often}, where 95 of 100 samples of the baseline are above {usual}"


def _bottom(change: Change) -> str:
    before, after = change.before, change.after
    if not change.is_up:
        if _is_above(before.lowest, after.lowest):
            return f"falls to {change.text(after.lowest)}, before to {change.text(before.lowest)} (median {change.medians})"
        return f"is low more often: down to {change.text(after.lowest)} (median {change.medians})"
    if _is_above(after.lowest, before.lowest):
        was = change.text(before.lowest)
        return f"no longer falls below {change.text(after.lowest)}, before down to {was} (median {change.medians})"
    return f"is low less often: down to {change.text(after.lowest)} (median {change.medians})"


def _trend(change: Change) -> str:
    size = change.text(abs(change.change))
    verb, place = ("rises", "higher") if change.is_up else ("falls", "lower")
    return f"{verb} within the incident: later on it is {size} {place} than at its beginning (median {change.medians})"


def _saturated(change: Change) -> str:
    return f"stands at a limit: often just {change.text(change.after.highest)}, never more (median {change.medians})"


def _shape(change: Change) -> str:
    return f"is distributed differently: {change.means} on average (median {change.medians})"


def _appeared(change: Change) -> str:
    return f"appeared: {change.text(change.after.median)} (median)"


WORDS: Final[Mapping[FindingKind, Callable[[Change], str]]] = {
    "level": _level, "spread": _spread, "shape": _shape, "top": _top, "bottom": _bottom, "stall": _stall, "spikes": _spikes,
    "movement": _movement, "frozen": _frozen, "saturated": _saturated, "trend": _trend, "missing": _missing, "appeared": _appeared,
    "zero": _zero,
}  # fmt: skip


# --- parts of sentences ---


def _middle_half(change: Change, side: SideValues) -> str:
    if not side.quantiles:
        return "no values"
    quarter = len(side.quantiles) // 4
    low, high = side.quantiles[quarter], side.quantiles[-1 - quarter]
    return f"{_number(change.field, low)} and {change.text(high)}"


def _place(field: Field, before: SideValues, after: SideValues) -> str:
    """Return where the incident's median lies in what the baseline shows."""
    if before.lowest is None or before.highest is None or before.p5 is None or before.p95 is None or after.median is None:
        return ""
    if not before.lowest <= after.median <= before.highest:
        return f", outside everything the baseline shows ({_span(field, before.lowest, before.highest)})"
    if not before.p5 <= after.median <= before.p95:
        return f", outside the usual band of {_span(field, before.p5, before.p95)}"
    return ""


def _span(field: Field, low: float, high: float) -> str:
    return f"{_number(field, low)} to {to_text(field, high)}"


def _number(field: Field, value: float) -> str:
    text = f"{value:,.{field.decimals}f}"
    if not float(text.replace(",", "")):
        # What rounds to nothing is nothing of the sort, and nothing is not negative.
        return text.removeprefix("-") if not value else f"{value:.2g}"
    # A median between two whole numbers is not one of them.
    return text if field.decimals or float(text.replace(",", "")) == value or abs(value) >= 10 else f"{value:.1f}"


def _is_above(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and one > other


def _samples(n: int) -> str:
    return "1 sample" if n == 1 else f"{n:,} samples"


def _is_plain(title: str) -> bool:
    """Return whether it is one noun, that has a plural."""
    return not any(word in title for word in (",", " and ", " or ", " behind ", " in the "))


def _plural(title: str) -> str:
    return f"{title}es" if title.endswith(("s", "ch")) else f"{title}s"
