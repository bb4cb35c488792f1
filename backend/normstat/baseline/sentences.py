"""Findings in words: one plain sentence each, with both values in the unit and digits that the tool prints."""

from typing import Final

from normstat.baseline.records import FindingKind, SideName, SideValues
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field

PERCENT: Final = 100


def name_series(stat: str, instance: str, field: Field) -> str:
    """What a series is called in a sentence: `CPU 0 %usr (mpstat)`, `vmstat cpu us`.

    >>> from normstat.stats.catalogue import load_catalogue
    >>> spec, stat = load_catalogue().stats["mpstat_linux"]
    >>> usr = next(field for field in stat.fields if field.key == "usr_pct")
    >>> name_series("mpstat_linux", "0", usr)
    'CPU 0 %usr (mpstat)'
    """
    column = f"{field.group} {field.column}" if field.printed_key != field.column else field.column
    known = load_catalogue().stats.get(stat)
    if known is None:
        return f"{instance} {column} ({stat})".lstrip()
    spec, found = known
    if not instance:
        return f"{spec.tool} {field.group} {field.column}" if field.group else f"{spec.tool} {field.column}"
    return f"{found.instance_title} {instance} {column} ({spec.tool})".lstrip()


def name_group(stat: str, field: Field, n_members: int, n_instances: int) -> str:
    """What several series of a field are called: `%usr of 61 of 64 CPUs (mpstat)`."""
    column = f"{field.group} {field.column}" if field.printed_key != field.column else field.column
    known = load_catalogue().stats.get(stat)
    title = "instance" if known is None or not known[1].instance_title else known[1].instance_title
    tool = stat if known is None else known[0].tool
    count = f"all {n_instances}" if n_members == n_instances else f"{n_members} of {n_instances}"
    return f"{column} of {count} {_plural(title)} ({tool})"


def to_text(field: Field, value: float | None) -> str:
    """The value with the digits that the tool prints, and its unit; `1/s` reads `/s`."""
    if value is None:
        return "nothing"
    unit = field.unit.replace("1/", "/") if field.unit.startswith("1/") else field.unit
    return f"{_number(field, value)} {unit}".rstrip()


def describe_change(
    stat: str,
    instance: str,
    field: Field,
    kind: FindingKind,
    before: SideValues,
    after: SideValues,
    change: float,
    score: float,
    *,
    by_load: bool,
) -> str:
    """What happened to one series, from where to where, and how unusual that is."""
    what = describe_kind(field, kind, before, after, change)
    times = f"{_times(score)} times its usual change"
    basis = f"{before.n:,} and {after.n:,} samples"
    load = ", more than the load of the host explains" if by_load else ""
    return f"{name_series(stat, instance, field)} {what}{load}; {times} ({basis})."


def describe_kind(field: Field, kind: FindingKind, before: SideValues, after: SideValues, change: float) -> str:
    """What happened, without whom it happened to."""
    medians = f"from {to_text(field, before.median)} to {to_text(field, after.median)}"
    up = change > 0
    match kind:
        case "zero":
            return f"is no longer zero: up to {to_text(field, after.highest)} where {to_text(field, before.highest)} was the most"
        case "missing":
            return (
                f"is missing in {abs(change):.0%} more of the reports"
                if up
                else f"is missing in {abs(change):.0%} fewer of the reports"
            )
        case "frozen":
            return f"stands still at {to_text(field, after.median)}"
        case "movement":
            return f"moves {'more' if up else 'less'} from sample to sample than before (median {medians})"
        case "spread":
            return (
                f"is spread {'wider' if up else 'less'}: its middle reaches from {to_text(field, after.p5)} to {to_text(field, after.p95)}, "
                f"before from {to_text(field, before.p5)} to {to_text(field, before.p95)}"
            )
        case "spikes":
            return f"has spikes up to {to_text(field, after.highest)}, where {to_text(field, before.p99)} was usual at most (median {medians})"
        case "top":
            return f"no longer reaches {to_text(field, before.p99)}: at most {to_text(field, after.highest)} (median {medians})"
        case "stall":
            return f"falls to {to_text(field, after.lowest)} again and again, where {to_text(field, before.p5)} was usual at least"
        case "bottom":
            return (
                f"falls to {to_text(field, after.lowest)}, where {to_text(field, before.p5)} was usual at least"
                if not up
                else (f"no longer falls below {to_text(field, after.lowest)}, before down to {to_text(field, before.lowest)}")
            )
        case "trend":
            return f"{'rises' if up else 'falls'} all the time of the incident, by {to_text(field, abs(change))} between its halves (median {medians})"
        case "saturated":
            return f"stands at its limit of {to_text(field, after.highest)} (median {medians})"
        case "shape":
            return f"is distributed otherwise than before: mean from {to_text(field, before.mean)} to {to_text(field, after.mean)}"
        case _:
            if before.median == after.median:
                medians = f"on the mean from {to_text(field, before.mean)} to {to_text(field, after.mean)}"
            return f"{'rose' if up else 'fell'} {medians}{_place(field, before, after)}"


def describe_one_sided(stat: str, instance: str, field: Field, side: SideName, values: SideValues) -> str:
    """What appeared or vanished, and how much of it there was."""
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


def _place(field: Field, before: SideValues, after: SideValues) -> str:
    """Where the incident's median lies in what the baseline shows."""
    if before.lowest is None or before.highest is None or before.p5 is None or before.p95 is None or after.median is None:
        return ""
    if not before.lowest <= after.median <= before.highest:
        return f", outside everything the baseline shows ({_span(field, before.lowest, before.highest)})"
    if not before.p5 <= after.median <= before.p95:
        return f", outside the usual band of {_span(field, before.p5, before.p95)}"
    return ""


def _span(field: Field, low: float, high: float) -> str:
    return f"{_number(field, low)} to {_number(field, high)}"


def _number(field: Field, value: float) -> str:
    text = f"{value:,.{field.decimals}f}"
    # A median between two whole numbers is not one of them.
    return text if field.decimals or float(text.replace(",", "")) == value or abs(value) >= 10 else f"{value:.1f}"


def _times(score: float) -> str:
    return f"{score:.1f}" if score < PERCENT else f"{score:,.0f}"


def _samples(n: int) -> str:
    return "1 sample" if n == 1 else f"{n:,} samples"


def _plural(title: str) -> str:
    return f"{title}es" if title.endswith(("s", "ss", "ch")) else f"{title}s"
