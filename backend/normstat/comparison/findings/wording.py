"""Describe findings: one sentence each, with both values in the unit and digits that the tool prints."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from normstat.comparison.model import FindingKind
from normstat.comparison.side_values import SideName, SideValues
from normstat.runtime.readable import count_of, format_human, format_ratio, to_singular
from normstat.runtime.units import BYTES
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field

# If the mean moved more than this many times as far as the median, the sentence gives the mean.
MEAN_BEYOND_MEDIAN: Final = 3.0


@dataclass(frozen=True, slots=True)
class Change:
    """The change of a series. `change`: signed size, as the kind measures it"""

    field: Field
    kind: FindingKind
    baseline: SideValues
    incident: SideValues
    change: float

    @property
    def is_up(self) -> bool:
        """Whether the incident has more of it."""
        return self.change > 0

    def text(self, value: float | None) -> str:
        """Return a value with its unit."""
        return to_text(self.field, value)

    @property
    def medians(self) -> str:
        """Both medians: `from 3 % to 95 %`."""
        return f"from {self.text(self.baseline.median)} to {self.text(self.incident.median)}"

    @property
    def means(self) -> str:
        """Both means: `from 3 % to 95 %`."""
        return f"from {self.text(self.baseline.mean)} to {self.text(self.incident.mean)}"


def name_series(stat: str, instance: str, field: Field) -> str:
    """Return the name of a series in a sentence: `CPU 0 %usr (mpstat)`, `vmstat cpu us`.

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
    """Return the column as the tool prints it, with its group where the column alone is ambiguous."""
    return f"{field.group} {field.column}" if field.printed_key != field.column else field.column


def name_instance(stat: str, instance: str) -> str:
    """Return the name of an instance with its title: `CPU 7`; the bare name where the title is unknown or names several parts."""
    known = load_catalogue().stats.get(stat)
    title = "" if known is None else known[1].instance_title
    return f"{title} {instance}" if title and _is_plain(title) else instance


def tool_of(stat: str) -> str:
    """Return the tool that a stat is from; the name of the stat where it is unknown."""
    known = load_catalogue().stats.get(stat)
    return stat if known is None else known[0].tool


def name_group(stat: str, field: Field, n_members: int, n_instances: int) -> str:
    """Return the name of several series of a field: `%usr of 61 of 64 CPUs (mpstat)`."""
    known = load_catalogue().stats.get(stat)
    title = "" if known is None else known[1].instance_title
    things = _plural(title) if title and _is_plain(title) else "instances"
    count = f"all {n_instances:,}" if n_members == n_instances else f"{n_members:,} of {n_instances:,}"
    if n_members == n_instances <= 2:
        # One alone changed together with the summary of all.
        count, things = ("both", things) if n_members == 2 else ("the only", title if things != "instances" else "instance")
    return f"{name_column(field)} of {count} {things} ({tool_of(stat)})"


def to_text(field: Field, value: float | None) -> str:
    """Return the value with the digits that the tool prints, and its unit: `1/s` as `/s`, `1 process`; sizes as people say them."""
    if value is None:
        return "no value"
    if field.unit.removesuffix("/s") in BYTES:
        return format_human(value, field.unit)
    number = _number(field, value)
    unit = field.unit.removeprefix("1") if field.unit.startswith("1/") else field.unit
    return f"{number} {to_singular(unit) if number == '1' else unit}".rstrip()


def describe_change(subject: str, change: Change, change_ratio: float, *, by_load: bool) -> str:
    """Return the sentence of a finding: what changed, from what to what, and how large that is."""
    load = ", which the load of the host does not explain" if by_load else ""
    basis = f"{change.baseline.n:,} and {count_of(change.incident.n, 'sample')}"
    return f"{subject} {describe_kind(change)}{load}; {format_ratio(change_ratio)}x its normal variation ({basis})."


def describe_kind(change: Change) -> str:
    """Return what changed, without the subject."""
    return WORDS[change.kind](change)


def describe_unmatched(stat: str, instance: str, field: Field, side: SideName, values: SideValues) -> str:
    """Return the sentence of a series that appeared or disappeared, with its level."""
    level = f"median {to_text(field, values.median)}, highest {to_text(field, values.highest)}, {count_of(values.n, 'sample')}"
    subject = name_series(stat, instance, field)
    if side == "incident":
        return f"{subject} appeared: {level} in the incident, none in the baseline."
    return f"{subject} disappeared: {level} in the baseline, none in the incident."


def describe_insufficient_data(stat: str, n_baseline: int, n_incident: int, min_baseline: int, min_incident: int) -> str:
    """Return the reason that a series was not scored."""
    for side, n, minimum in (("baseline", n_baseline, min_baseline), ("incident", n_incident, min_incident)):
        if n == 0:
            return f"the {side} has no sample of this field of {stat}"
        if n < minimum:
            return f"{count_of(n, 'sample')} in the {side}; at least {minimum} are needed"
    return "too few samples"


def is_moved_by_median(baseline: SideValues, incident: SideValues) -> bool:
    """Return whether the median moved about as the mean did: a median does not show a few outliers."""
    if baseline.median is None or incident.median is None or baseline.mean is None or incident.mean is None:
        return False
    moved = incident.median - baseline.median
    return moved != 0 and abs(incident.mean - baseline.mean) <= MEAN_BEYOND_MEDIAN * abs(moved)


# --- kind by kind ---


def _level(change: Change) -> str:
    baseline, incident = change.baseline, change.incident
    verb = "rose" if change.is_up else "fell"
    if baseline.median is None or incident.median is None or not is_moved_by_median(baseline, incident):
        return f"{verb} on average {change.means}" if change.change else f"is distributed differently {change.means} on average"
    if (incident.median > baseline.median) != change.is_up:
        return f"{verb} on average {change.means} (median {change.medians})"
    return f"{verb} {change.medians}{_place(change.field, baseline, incident)}"


def _zero(change: Change) -> str:
    was = (
        "was always zero"
        if change.baseline.highest == 0
        else f"was nearly always zero (at most {change.text(change.baseline.highest)})"
    )
    return f"{was} and no longer is: {change.text(change.incident.mean)} on average, at most {change.text(change.incident.highest)}"


def _missing(change: Change) -> str:
    share = round(100 * abs(change.change))
    word = "more" if change.is_up else "fewer"
    many = f"{share} {word} of 100 reports" if share else f"slightly {word} reports (less than 1 %)"
    return f"is missing from {many} than in the baseline"


def _frozen(change: Change) -> str:
    if change.incident.lowest == change.incident.highest:
        return f"is frozen at {change.text(change.incident.median)}"
    return f"hardly moves from sample to sample (median {change.text(change.incident.median)})"


def _movement(change: Change) -> str:
    return f"moves {'more' if change.is_up else 'less'} from sample to sample (median {change.medians})"


def _rhythm(change: Change) -> str:
    return f"goes up and down with a period that the baseline does not show (median {change.medians})"


def _spikes(change: Change) -> str:
    baseline, incident = change.baseline, change.incident
    below = f"99 % of the baseline is below {change.text(baseline.p99)}"
    if _is_above(incident.highest, baseline.highest):
        return f"has spikes up to {change.text(incident.highest)}, in the baseline up to {change.text(baseline.highest)} ({below})"
    return f"is high more often: up to {change.text(incident.highest)}; {below}"


def _top(change: Change) -> str:
    baseline, incident = change.baseline, change.incident
    highest = f"at most {change.text(incident.highest)}"
    if _is_above(baseline.p99, incident.highest):
        return f"no longer reaches {change.text(baseline.p99)}: {highest} (median {change.medians})"
    return f"is high less often: {highest}, in the baseline {change.text(baseline.highest)} (median {change.medians})"


def _stall(change: Change) -> str:
    lowest = change.incident.lowest or 0.0
    quantiles = change.incident.quantiles or []
    n_lowest = sum(value <= lowest for value in quantiles)
    often = f"in about {100 * n_lowest / len(quantiles):.0f} % of its samples" if n_lowest > 1 else "for a moment"
    return f"falls to {change.text(lowest)} {often}; 95 % of the baseline is above {change.text(change.baseline.p5)}"


def _bottom(change: Change) -> str:
    baseline, incident = change.baseline, change.incident
    if not change.is_up:
        if _is_above(baseline.lowest, incident.lowest):
            lows = f"{change.text(incident.lowest)}, in the baseline to {change.text(baseline.lowest)}"
            return f"falls to {lows} (median {change.medians})"
        return f"is low more often: down to {change.text(incident.lowest)} (median {change.medians})"
    if _is_above(incident.lowest, baseline.lowest):
        lows = f"{change.text(incident.lowest)}, in the baseline down to {change.text(baseline.lowest)}"
        return f"no longer falls below {lows} (median {change.medians})"
    return f"is low less often: down to {change.text(incident.lowest)} (median {change.medians})"


def _trend(change: Change) -> str:
    size = change.text(abs(change.change))
    verb, place = ("rises", "higher") if change.is_up else ("falls", "lower")
    return f"{verb} within the incident: later it is {size} {place} than at the start (median {change.medians})"


def _saturated(change: Change) -> str:
    return f"is at a limit: often exactly {change.text(change.incident.highest)}, never more (median {change.medians})"


def _appeared(change: Change) -> str:
    return f"appeared: {change.text(change.incident.median)} (median)"


def _disappeared(change: Change) -> str:
    return f"disappeared: it was {change.text(change.baseline.median)} (median)"


WORDS: Final[Mapping[FindingKind, Callable[[Change], str]]] = {
    "level": _level, "top": _top, "bottom": _bottom, "stall": _stall, "spikes": _spikes,
    "movement": _movement, "frozen": _frozen, "saturated": _saturated, "trend": _trend, "missing": _missing, "appeared": _appeared,
    "disappeared": _disappeared, "zero": _zero, "rhythm": _rhythm,
}  # fmt: skip


# --- parts of sentences ---


def _place(field: Field, baseline: SideValues, incident: SideValues) -> str:
    """Return where the incident's median lies relative to the baseline, if outside."""
    if (
        baseline.lowest is None
        or baseline.highest is None
        or baseline.p5 is None
        or baseline.p95 is None
        or incident.median is None
    ):
        return ""
    if not baseline.lowest <= incident.median <= baseline.highest:
        return f", outside the range of the baseline ({_span(field, baseline.lowest, baseline.highest)})"
    if not baseline.p5 <= incident.median <= baseline.p95:
        return f", outside the band of the baseline ({_span(field, baseline.p5, baseline.p95)})"
    return ""


def _span(field: Field, low: float, high: float) -> str:
    return f"{_without_unit(field, low)} to {to_text(field, high)}"


def _without_unit(field: Field, value: float) -> str:
    """Return the first of two values; sizes keep their unit, as that of the second may be another."""
    return to_text(field, value) if field.unit.removesuffix("/s") in BYTES else _number(field, value)


def _number(field: Field, value: float) -> str:
    text = f"{value:,.{field.decimals}f}"
    if not float(text.replace(",", "")):
        # A small value must not read as zero, and zero has no sign.
        return text.removeprefix("-") if not value else f"{value:.2g}"
    # A median between two whole numbers gets a decimal.
    return text if field.decimals or float(text.replace(",", "")) == value or abs(value) >= 10 else f"{value:.1f}"


def _is_above(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and one > other


def _is_plain(title: str) -> bool:
    """Return whether the title is one noun, which has a plural."""
    return not any(word in title for word in (",", " and ", " or ", " behind ", " in the "))


def _plural(title: str) -> str:
    return f"{title}es" if title.endswith(("s", "ch")) else f"{title}s"
