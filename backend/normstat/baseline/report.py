"""Findings in words: one plain sentence each, with both values in the unit and digits that the tool prints."""

from normstat.baseline.compare import LEAST_BASELINE, LEAST_INCIDENT, Finding, OneSided, SeriesId, Thin, count_at_end
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field


def name_series(series: SeriesId) -> str:
    """What a series is called in a sentence: `CPU 0 %usr (mpstat)`, `vmstat cpu us`.

    >>> from normstat.stats.catalogue import load_catalogue
    >>> spec, stat = load_catalogue().stats["mpstat_linux"]
    >>> usr = next(field for field in stat.fields if field.key == "usr_pct")
    >>> name_series(SeriesId("mpstat_linux", "0", usr))
    'CPU 0 %usr (mpstat)'
    """
    field = series.field
    column = f"{field.group} {field.column}" if field.printed_key != field.column else field.column
    known = load_catalogue().stats.get(series.stat)
    if known is None:
        return f"{series.instance} {column} ({series.stat})".lstrip()
    spec, stat = known
    if not series.instance:
        return f"{spec.tool} {field.group} {field.column}" if field.group else f"{spec.tool} {field.column}"
    return f"{stat.instance_title} {series.instance} {column} ({spec.tool})".lstrip()


def to_text(field: Field, value: float) -> str:
    """The value with the digits that the tool prints, and its unit; `1/s` reads `/s`."""
    unit = field.unit.replace("1/", "/") if field.unit.startswith("1/") else field.unit
    return f"{_number(field, value)} {unit}".rstrip()


def describe_finding(finding: Finding) -> str:
    """What moved, from where to where, and how unusual that is."""
    field, baseline, incident = finding.series.field, finding.baseline, finding.incident
    subject = name_series(finding.series)
    before, after = to_text(field, finding.before), to_text(field, finding.after)
    times = f"{finding.score:.1f}" if finding.score < 100 else f"{finding.score:.0f}"
    if finding.kind == "level":
        verb = "rose" if finding.shift > 0 else "fell"
        change = f"{subject} {verb} from {before} to {after} (median of {baseline.n} and {incident.n} samples)"
        return f"{change}, {_place(finding)}; {times} times its usual change."
    some = f"{count_at_end(incident.n)} of {incident.n} samples"
    match finding.kind, finding.direction:
        case "top", "up":
            change = f"{some} reached {after} or more"
        case "top", _:
            change = f"only {some} reached {after} or more"
        case "bottom", "down":
            change = f"{some} fell to {after} or less"
        case _:
            change = f"only {some} were at {after} or less"
    medians = f"the median went from {to_text(field, baseline.median)} to {to_text(field, incident.median)}"
    usual = f"where {before} is usual ({baseline.n} samples)"
    return f"{subject}: {change}, {usual}; {times} times the usual change, while {medians}."


def describe_one_sided(series: OneSided) -> str:
    """What appeared or vanished, and how much of it there was."""
    stats, field = series.stats, series.series.field
    level = f"median {to_text(field, stats.median)}, highest {to_text(field, stats.highest)}, {_samples(stats.n)}"
    subject = name_series(series.series)
    if series.side == "incident":
        return f"{subject} appeared: {level} in the incident, none in the baseline."
    return f"{subject} vanished: {level} in the baseline, none in the incident."


def describe_thin(thin: Thin) -> str:
    """Why a series was not judged."""
    for side, n, least in (("baseline", thin.n_baseline, LEAST_BASELINE), ("incident", thin.n_incident, LEAST_INCIDENT)):
        if n == 0:
            return f"the {side} has no sample of this field of {thin.series.stat} at all"
        if n < least:
            return f"{_samples(n)} in the {side}; {least} are needed to judge"
    return "too few samples"


def _place(finding: Finding) -> str:
    """Where the incident's median lies in what the baseline shows."""
    baseline, field = finding.baseline, finding.series.field
    if not baseline.lowest <= finding.after <= baseline.highest:
        return f"outside everything the baseline shows ({_span(field, baseline.lowest, baseline.highest)})"
    band = f"(5..95 %: {_span(field, baseline.p5, baseline.p95)})"
    if not baseline.p5 <= finding.after <= baseline.p95:
        return f"outside the usual band of the baseline {band}"
    return f"inside the usual band of the baseline {band}, but further than its median moves"


def _span(field: Field, low: float, high: float) -> str:
    return f"{_number(field, low)} to {_number(field, high)}"


def _number(field: Field, value: float) -> str:
    text = f"{value:.{field.decimals}f}"
    # A median between two whole numbers is not one of them.
    return text if field.decimals or float(text) == value else f"{value:.1f}"


def _samples(n: int) -> str:
    return "1 sample" if n == 1 else f"{n} samples"
