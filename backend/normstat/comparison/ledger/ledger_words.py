"""The sentence of a line of the ledger: who, how much of the change, and what is normal."""

from collections.abc import Sequence
from typing import Final

from normstat.comparison.ledger_model import LedgerLine, LedgerPart
from normstat.runtime.readable import describe_range, format_human, format_seconds, join_words

# Maximum number of users in a sentence, and of those from whom they took it.
MAX_TOLD: Final = 2
MAX_GIVERS: Final = 2
# Minimum share of the change for a user within its own range to be named.
MIN_TOLD_SHARE: Final = 0.5
# Minimum share of further users, relative to the first.
BESIDE: Final = 0.25
# A unit is named where it made this share of the change, and processes that were seen explain less than this share of what it did.
MIN_UNIT_SHARE: Final = 0.5
MAX_EXPLAINED: Final = 0.5

VERBS: Final = {
    "cpu": "used {} of a CPU",
    "memory": "held {}",
    "written": "wrote {}",
    "read": "read {}",
    "blocked": "waited for a disk {} of the time",
    "children": "had short-lived children that used {} of a CPU",
    "statement": "kept {} busy",
    "blocking": "blocked {}",
    "gpu": "kept the GPU busy {} of the time",
}
# The least share of a resource at its capacity that a newcomer takes to be named.
MIN_NEWCOMER: Final = 0.05
NOTHING: Final = {
    "cpu": "used no CPU time",
    "memory": "held nothing",
    "written": "wrote nothing",
    "read": "read nothing",
    "blocked": "did not wait for a disk",
    "children": "had no short-lived children",
    "statement": "was not executed",
    "blocking": "blocked no session",
    "gpu": "did not use it",
}


def describe(line: LedgerLine, start_s: float) -> str:
    """Return the sentence of a line. `start_s`: of the incident, seconds since the epoch"""
    told = culprits_of(line)
    clauses = [describe_part(part, line, start_s) for part in told]
    if told and line.is_full and line.resource in ("cpu", "gpu"):
        givers = [f"{part.name} ({format_human(part.change, '%')})" for part in line.parts if part.change < 0 and part.command]
        if givers and told[0].change > 0:
            clauses[-1] += f", taken from {join_words(givers[:MAX_GIVERS])}"
    text = "; ".join([*clauses, _total(line)])
    if line.note:
        text = f"{text}; {line.note}"
    return f"{text.replace('the ', 'The ', 1) if text.startswith(('the CPUs', 'the kernel')) else text}."


def describe_certainty(line: LedgerLine) -> str:
    """Return the sentence of a line by itself: one that is not sure says so."""
    return line.sentence if line.certainty == "sure" else f"Likely: {line.sentence}"


def culprits_of(line: LedgerLine) -> list[LedgerPart]:
    """Return the users that made the change of a line, as chosen. Empty: none"""
    return [part for part in (*line.units, *line.parts) if part.is_culprit]


def describe_newcomer(line: LedgerLine) -> str:
    """Return who is new at a resource that is always at its capacity, where the total says nothing. Empty: the resource is not, or
    no newcomer takes enough of it

    As in ` (yes, which is new, used 25 % of a CPU)`.
    """
    if not line.is_full or line.capacity is None:
        return ""
    least = MIN_NEWCOMER * line.capacity
    new = [part for part in line.parts if part.is_new and part.command and part.unit == line.unit and part.incident >= least]
    if not new:
        return ""
    most = max(new, key=lambda part: part.incident)
    amount = VERBS[most.quantity].format(format_human(most.incident, most.unit))
    return f" ({most.name}, which {'are' if _is_plural(most) else 'is'} new, {amount})"


def choose_culprits(line: LedgerLine) -> list[LedgerPart]:
    """Return the users that made the change of a line: those outside their normal range, or the one that made most of it.

    A unit whose processes were too short to be seen, or too many, comes first. Empty: none.
    """
    told = _choose_processes(line)
    unit = _choose_unit(line, told)
    return told if unit is None else [unit, *told][:MAX_TOLD]


def _choose_unit(line: LedgerLine, told: Sequence[LedgerPart]) -> LedgerPart | None:
    """Return the unit that explains more than the processes that are named. Missing: None"""
    sign = 1.0 if line.is_full or line.outside >= 0 else -1.0
    for unit in line.units:
        if unit.is_outside and unit.change * sign > 0 and (unit.share or 0.0) >= MIN_UNIT_SHARE:
            explained = sum(abs(part.change) for part in told if part.quantity == unit.quantity and part.change * sign > 0)
            return unit if explained < MAX_EXPLAINED * abs(unit.change) else None
    return None


def _choose_processes(line: LedgerLine) -> list[LedgerPart]:
    """Return the processes and commands that made the change. Empty: none"""
    outside = [part for part in line.parts if part.is_outside and part.kind not in ("others", "remainder")]
    # A process may also have begun on a host that is less busy than normal. Memory that it takes matters more than what was freed.
    rose = [part.change > 0 for part in outside]
    has_risen = any(rose) if line.resource == "memory" else bool(rose) and all(rose)
    sign = 1.0 if line.is_full or line.outside >= 0 or has_risen else -1.0
    # Less of what a process does is no reason for more.
    same = [part for part in line.parts if part.change * sign > 0 and part.kind not in ("others", "remainder")]
    outside = [part for part in same if part.is_outside]
    # Who blocks others is the cause of what their statements take.
    outside.sort(key=lambda part: part.quantity != "blocking")
    if not outside:
        most = [part for part in same if (part.share or 0.0) >= MIN_TOLD_SHARE and line.outside]
        return most[:1]
    first = outside[0]
    beside = [part for part in outside[1:] if (part.share or 0.0) >= BESIDE * (first.share or 1.0) and part.name != first.name]
    return [first, *beside][:MAX_TOLD]


def describe_part(part: LedgerPart, line: LedgerLine, start_s: float) -> str:
    """Return the clause of a user. `start_s`: of the incident, seconds since the epoch"""
    is_plural = _is_plural(part)
    name = f"{part.name} of {part.of_unit}" if part.of_unit else part.name
    if part.start_ms is not None and part.change > 0:
        when = f", which began {format_seconds(part.start_ms / 1000 - start_s)} into the incident,"
    elif part.is_new and part.change > 0:
        when = f", which {'are' if is_plural else 'is'} new,"
    else:
        when = ""
    if part.is_gone:
        used = VERBS[part.quantity].format(format_human(_factor(part) * part.baseline, _unit(part)))
        return f"{name} {'are' if is_plural else 'is'} gone; {'they' if is_plural else 'it'} {used} in the baseline"
    value = format_human(_factor(part) * part.incident, _unit(part))
    if part.kind == "kernel":
        words = f"{part.name} took {value}" if part.unit != "%" else f"{part.name} took {value} of a CPU"
    else:
        words = f"{name}{when} {VERBS[part.quantity].format(value) if part.incident else NOTHING[part.quantity]}"
    unit = "1" if part.unit == "sessions" else _unit(part)
    normal = "" if part.is_new else f" (normally {describe_range(*_range(part), unit)})"
    share = ""
    is_told = part.quantity != "blocking" and line.outside * part.change > 0 and not line.is_full
    if part.share is not None and is_told and part.unit == line.unit:
        share = f", {format_human(100.0 * part.share, '%')} of the {'rise' if part.change > 0 else 'fall'}"
    return f"{words}{normal}{share}"


def _is_plural(part: LedgerPart) -> bool:
    return part.name.endswith(" processes)") or (part.kind == "session" and len(part.pids) != 1)


def _unit(part: LedgerPart) -> str:
    return "%" if part.quantity == "blocked" else part.unit


def _factor(part: LedgerPart) -> float:
    """Return the factor for displayed amounts: one process that is blocked half of the time, 0.5, is shown as a percentage."""
    return 100.0 if part.quantity == "blocked" else 1.0


def _range(part: LedgerPart) -> tuple[float, float]:
    return _factor(part) * part.low, _factor(part) * part.high


def _total(line: LedgerLine) -> str:
    low, high, now = line.low, line.high, line.incident
    if line.resource == "memory" and line.capacity is not None:
        whole = format_human(line.capacity, line.unit)
        used = format_human(now, line.unit)
        used = used.removesuffix(f" {whole.partition(' ')[2]}")
        return (
            f"{used} of {whole} of memory {'was' if used == '1' else 'were'} used (normally {describe_range(low, high, line.unit)})"
        )
    if line.resource in ("throttling", "memory_limit"):
        return _total_of_unit(line)
    if line.unit == "%":
        factor = 1.0 if line.capacity is None else 100.0 / line.capacity
        was = "were" if line.resource == "cpu" else "was"
        if line.is_full:
            return f"{line.name} {was} busy {format_human(factor * now, '%')} of the time, as normal"
        normal = describe_range(factor * low, factor * high, "%")
        return f"{line.name} {was} busy {format_human(factor * now, '%')} of the time (normally {normal})"
    normal = describe_range(low, high, line.unit).replace(" /s", "/s")
    if line.resource == "database":
        normal = "as normal" if line.is_full else f"normally {describe_range(low, high, '1')}"
        return f"{line.name} had {format_human(now, line.unit)} at work ({normal})"
    if line.resource == "processes":
        return f"{_number(now)} processes began per second (normally {describe_range(low, high, '1')})"
    if line.unit == "1/s":
        return f"{line.name} served {_number(now)} requests/s (normally {normal})"
    verb = "carried" if line.resource == "network" else "moved"
    return f"{line.name} {verb} {format_human(now, line.unit)} (normally {normal})"


def _total_of_unit(line: LedgerLine) -> str:
    """Return how a unit ran into its limit: `web was throttled 34 % of the time at its limit of 0.5 CPUs (normally 0 %)`."""
    normal = describe_range(line.low, line.high, "%" if line.unit == "%" else "1")
    if line.resource == "throttling":
        cpus = None if line.limit is None else format_human(line.limit, "1")
        limit = "" if cpus is None else f" at its limit of {cpus} CPU{'' if cpus == '1' else 's'}"
        return f"{line.name} was throttled {format_human(line.incident, '%')} of the time{limit} (normally {normal})"
    limit = "its limit of memory" if line.limit is None else f"its limit of {format_human(line.limit, 'KiB')} of memory"
    if line.unit == "1/min":
        killed = format_human(round(line.incident, 1), "processes")
        return f"the kernel killed {killed} of {line.name} per minute at {limit} (normally {normal})"
    return f"{line.name} was at {limit} {_number(line.incident)} times per second (normally {normal})"


def _number(value: float) -> str:
    return format_human(value, "1")
