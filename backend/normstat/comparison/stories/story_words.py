"""The sentences of stories: short clauses with values in human units, each with what is normal."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from normstat.comparison.findings.coming_and_going import MIN_CPU_PCT, is_process_stat, least_bytes
from normstat.comparison.findings.wording import is_moved_by_median, name_instance, tool_of
from normstat.comparison.model import Finding, FindingGroup
from normstat.comparison.next_questions.question_rules import load_rules
from normstat.comparison.side_values import SideValues
from normstat.comparison.steady_processes import STEADY_STATS
from normstat.comparison.stories.story_table import StoryPlace, find_place
from normstat.runtime.readable import describe_range, format_human, to_singular
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field
from normstat.stats.summaries import is_summary

# The subject of a clause where a stat has no instances.
HOST_SUBJECTS: Final = {"cpu": "the CPUs", "disk": "the disks", "network": "the network", "memory": "the host"}
# Kinds whose median says little: their ends do.
HIGH_KINDS: Final = frozenset({"spikes", "zero", "top"})
LOW_KINDS: Final = frozenset({"stall", "bottom"})
PLURALS: Final = frozenset({"the CPUs", "both CPUs", "the disks"})
MAX_NAMES: Final = 2
# Above this number, errors are given as a rate.
MAX_COUNTED: Final = 99
# Topics whose instances are known by their names alone: vda, eth0, /home.
NAMED_PLAINLY: Final = frozenset({"disk", "network", "nfs", "filesystem"})


# The roles of series that waited for the resource, or failed.
CONSEQUENCES: Final = frozenset({"latency", "wait", "errors"})
# Page faults, switches or requests of a process; packets, of 1 KiB, that are 1 MiB/s.
MIN_PER_S: Final = 50.0
MIN_PACKETS_PER_S: Final = 1024.0
# A service does less when it does less than this part of what is normal.
MAX_LEFT: Final = 0.75


class Amount(str):
    """A value with its unit in a clause: `36/s`; `{value:writes}` puts the noun before it, as in `3,702 writes/s`."""

    __slots__ = ()

    def __format__(self, noun: str) -> str:
        """Return the text, with the noun."""
        number, _, unit = self.partition(" ")
        if not noun:
            return str(self).replace(" /", "/")
        noun = to_singular(noun) if str(self) == "1" else noun
        return f"{number} {noun}{unit}" if unit.startswith("/") or not unit else str(self)


def _is_mean_told(finding: Finding) -> bool:
    """Return whether the mean says what changed: of ends, and where the median hardly moved."""
    return finding.kind in HIGH_KINDS or finding.kind in LOW_KINDS or not is_moved_by_median(finding.baseline, finding.incident)


def describe_value(finding: Finding, unit: str) -> str:
    """Return the value of the series in the incident: its median, or its mean where the median is unchanged or hides the change."""
    return format_human(finding.incident.mean if _is_mean_told(finding) else finding.incident.median, unit)


def describe_end(finding: Finding, unit: str) -> str:
    """Return how high or low the series went, where that is the change. Empty for other kinds."""
    if finding.kind in HIGH_KINDS and finding.direction == "up":
        return f"up to {Amount(format_human(finding.incident.highest, unit)):}"
    if finding.kind in LOW_KINDS and finding.direction == "down":
        return f"down to {Amount(format_human(finding.incident.lowest, unit)):}"
    return ""


def describe_expected(finding: Finding, unit: str) -> str:
    """Return what people expect of the series: `expected 4,000/s`. Empty where none was given."""
    return "" if finding.expected is None else f"expected {Amount(format_human(finding.expected, unit)):}"


def describe_normal(baseline: SideValues, unit: str) -> str:
    """Return what is normal: the middle 90 % of the baseline's samples. Empty without samples."""
    if baseline.p5 is None or baseline.p95 is None:
        return ""
    return f"normally {Amount(describe_range(baseline.p5, baseline.p95, unit)):}"


def describe_normal_of(finding: Finding, unit: str) -> str:
    """Return what was normal for the value of `describe_value`: the baseline's band, or its middle where the value is in the band.

    For a disk that is busy 18 % of the time, "normally 0 to 21 %" says little: it was busy 0.9 %, and 21 % now and then.
    """
    before, told = finding.baseline, finding.incident.mean if _is_mean_told(finding) else finding.incident.median
    if not is_in_band(told, before) or finding.kind in HIGH_KINDS or finding.kind in LOW_KINDS:
        return describe_normal(before, unit)
    middle = format_human(before.mean if _is_mean_told(finding) else before.median, unit)
    end = before.p5 if finding.direction == "down" else before.p95
    if middle == format_human(told, unit) or end is None:
        return describe_normal(before, unit)
    rarely = format_human(end, unit)
    return f"normally {Amount(middle):}" if rarely == middle else f"normally {Amount(middle):}, at times {Amount(rarely):}"


def describe_clause(group: FindingGroup, place: StoryPlace, length_s: float) -> str:
    """Return the clause of a resource's finding: `vda was busy 86 % of the time (normally 0 to 6 %)`.

    `length_s`: of the incident. A few errors that never happened before are counted: "3 processes" instead of 0.0691 a second
    """
    finding = representative(group)
    value = Amount(describe_value(finding, group.unit))
    ends = [describe_end(finding, group.unit), describe_expected(finding, group.unit), describe_normal_of(finding, group.unit)]
    normal = "; ".join(end for end in ends if end)
    if n_errors := count_errors(finding, group.unit, length_s) if place.role == "errors" else 0:
        value, normal = Amount(n_errors), "normally none"
    who = name_members(group, finding, place)
    words = _plain(group, finding, place, value)
    if place.words:
        words = place.words.format(who=who, was="were" if is_plural(who) else "was", value=value)
    if finding.kind == "appeared":
        return f"{words} (not there in the baseline)"
    if finding.kind == "disappeared":
        gone = format_human(finding.baseline.median, group.unit)
        return f"{name_series(group, finding)} is gone (it was {gone})"
    if finding.kind == "missing" or (finding.kind in ("frozen", "movement", "rhythm") and is_usual(finding)):
        return finding.sentence.partition(";")[0]
    return f"{words} ({normal})" if normal else words


def count_errors(finding: Finding, unit: str, length_s: float) -> int:
    """Return the number of errors in the incident. 0 where the baseline has some, too, or there are too many to count."""
    if not unit.endswith("/s") or finding.baseline.highest != 0 or finding.incident.mean is None:
        return 0
    n_errors = round(finding.incident.mean * length_s)
    return n_errors if n_errors <= MAX_COUNTED else 0


def is_usual(finding: Finding) -> bool:
    """Return whether the incident's median is within the middle 90 % of the baseline."""
    return is_in_band(finding.incident.median, finding.baseline)


def is_in_band(value: float | None, baseline: SideValues) -> bool:
    """Return whether a value is within the middle 90 % of the baseline. Missing: it is not"""
    low, high = baseline.p5, baseline.p95
    return value is not None and low is not None and high is not None and low <= value <= high


def representative(group: FindingGroup) -> Finding:
    """Return the member that represents a group: the sum of the others where all changed, else the strongest."""
    for member in group.members:
        if group.n_members == group.n_instances > 1 and is_summary(group.stat, member.instance):
            return member
    return group.members[0]


def place_of(group: FindingGroup, finding: Finding) -> StoryPlace:
    """Return the place of a finding of a group in a story. A change below the least of its meaning is a detail."""
    place = find_place(group.stat, group.field, finding.instance)
    return replace(place, role="detail") if change_of(finding) < place.least else place


def change_of(finding: Finding) -> float:
    """Return by how much a series changed, in its unit: the mean, or the end of the middle 90 % that changed most."""
    now, normal = finding.incident, finding.baseline
    ends = ((now.p5, normal.p5), (now.mean, normal.mean), (now.p95, normal.p95))
    return max(abs((end or 0.0) - (usual or 0.0)) for end, usual in ends)


def is_amount_that_matters(group: FindingGroup, finding: Finding | None = None) -> bool:
    """Return whether a change is as large as one that a line of the ledger would report. Latencies and errors always are.

    `finding`: of the group; without it the one that represents the group.

    What stops matters to those who wait for it, however little it did; so does a service that is always there and does less.
    """
    finding = representative(group) if finding is None else finding
    place = place_of(group, finding)
    if place.role == "detail":
        return False
    now, normal = finding.incident, finding.baseline
    does_less = group.stat in STEADY_STATS and (now.mean or 0.0) < MAX_LEFT * (normal.mean or 0.0)
    has_stopped = now.p95 == 0 and bool(normal.p5)
    is_count_of_process = is_process_stat(group.stat) and group.unit == "1/s"
    if (place.role in CONSEQUENCES and not is_count_of_process) or has_stopped or does_less:
        return True
    if group.unit.startswith("packets"):
        least = MIN_PACKETS_PER_S
    elif group.unit == "%":
        least = MIN_CPU_PCT
    else:
        least = least_bytes(group.unit) or (MIN_PER_S if is_count_of_process else 0.0)
    return change_of(finding) >= least


def name_members(group: FindingGroup, finding: Finding, place: StoryPlace) -> str:
    """Return the subject of a group: `vda`, `each CPU`, `vda and 2 more`."""
    name = name_subject(group.stat, finding.instance, place)
    if not finding.instance or is_summary(group.stat, finding.instance):
        return name
    if group.n_members == group.n_instances > 1 and place.meaning.startswith("cpu."):
        return "each CPU" if group.n_instances > MAX_NAMES else "both CPUs"
    return name if group.n_members == 1 else f"{name} and {group.n_members - 1} more"


def name_subject(stat: str, instance: str, place: StoryPlace) -> str:
    """Return the subject of a clause: `vda`, `CPU 3`, `the disks`."""
    is_of_cpus = place.meaning.startswith("cpu.")
    if not instance or is_summary(stat, instance):
        return HOST_SUBJECTS.get("cpu" if is_of_cpus else place.topic, "the host")
    return instance if place.topic in NAMED_PLAINLY and not is_of_cpus else name_instance(stat, instance)


def is_plural(who: str) -> bool:
    """Return whether the verb after a subject is `were`."""
    return who in PLURALS or who.endswith(" more")


def _plain(group: FindingGroup, finding: Finding, place: StoryPlace, value: Amount) -> str:
    """Return a clause without words of its own: the instance, the words of the meaning or the column, and the value."""
    name = _name_plainly(group, finding)
    meaning = load_rules().meanings.get(place.meaning)
    if meaning is None:
        return f"{name_series(group, finding)} {value:}"
    return f"{name.rstrip()}: {meaning.words} {value:}" if name else f"{meaning.words}: {value:}"


def name_series(group: FindingGroup, finding: Finding) -> str:
    """Return the instance and the column of a group: `key reads: amqrmppa count (dtrace)`."""
    return f"{_name_plainly(group, finding)}{column_with_tool(group)}"


def _name_plainly(group: FindingGroup, finding: Finding) -> str:
    """Return the instance and a blank. Empty without one"""
    who = name_instance(group.stat, finding.instance) if finding.instance else ""
    more = f" and {group.n_members - 1} more" if group.n_members > 1 and who else ""
    return f"{who}{more} " if who else ""


def join_clauses(clauses: Sequence[str]) -> str:
    """Return a sentence of clauses.

    >>> join_clauses(["dd is new and wrote 1.8 GiB/s", "vda was busy 86 % of the time"])
    'dd is new and wrote 1.8 GiB/s; vda was busy 86 % of the time.'
    """
    text = "; ".join(clauses)
    return f"{text[:1].upper() + text[1:] if text[:1].islower() and ' ' in text and text.split()[0] in STARTERS else text}."


def lower_starter(sentence: str) -> str:
    """Return a sentence as a clause of another one: without the capital that `join_clauses` gave it.

    >>> lower_starter("The CPUs waited."), lower_starter("Xorg is new.")
    ('the CPUs waited.', 'Xorg is new.')
    """
    small = sentence[:1].lower() + sentence[1:]
    return small if small.split(" ")[0] in STARTERS else sentence


# First words that take a capital; names of processes and devices keep theirs.
STARTERS: Final = frozenset({"the", "tasks", "each", "both", "a", "every", "shared"})


def column_with_tool(group: FindingGroup) -> str:
    """Return the column and its tool: `bo (vmstat)`."""
    return f"{group.column} ({tool_of(group.stat)})"


def field_of(stat: str, key: str) -> Field | None:
    """Return a field of the catalogue. Missing: None for a stat that is gone."""
    known = load_catalogue().stats.get(stat)
    return None if known is None else next((field for field in known[1].fields if field.key == key), None)
