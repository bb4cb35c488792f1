"""The ledger as rows of short texts, as the CLI and the report show them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.comparison.ledger.ledger_words import culprits_of, describe_certainty, describe_newcomer
from normstat.comparison.ledger_model import Certainty, LedgerLine, LedgerPart, Resource
from normstat.runtime.readable import describe_range, format_human

RESOURCES: Final[dict[Resource, str]] = {
    "cpu": "CPU",
    "memory": "memory",
    "disk": "disk",
    "network": "network",
    "processes": "new processes",
    "gpu": "GPU",
    "throttling": "throttled",
    "database": "sessions of",
    "memory_limit": "memory limit",
}
CERTAINTIES: Final[dict[Certainty, str]] = {"sure": "sure", "likely": "likely", "nothing": "as normal"}
AMOUNTS: Final = {
    "cpu": "{}",
    "memory": "{}",
    "read": "read {}",
    "written": "wrote {}",
    "blocked": "waited for a disk {} of the time",
    "children": "short-lived children: {} of a CPU",
    "statement": "{}",
    "blocking": "blocked {}",
    "gpu": "{}",
}
NOT_SEEN: Final[dict[Resource, str]] = {
    "cpu": "not seen: processes too short to be sampled, the kernel",
    "memory": "not seen: the kernel, and processes that were not recorded",
}
# Shares of these mean little: they do not add up to the total.
WITHOUT_SHARE: Final = frozenset({"blocked", "children", "blocking"})


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """A line in short texts: `CPU`, `98 %`, `12 to 19 %`, `yes (812) 85 %, 97 % of the rise, new`, `sure`. `who`: may be empty"""

    host: str
    resource: str
    now: str
    normal: str
    who: str
    certainty: str
    is_normal: bool


def to_rows(lines: Sequence[LedgerLine]) -> list[LedgerRow]:
    """Return the rows in the order of the lines."""
    return [
        LedgerRow(
            host=line.host,
            resource=name_resource(line),
            now=describe_use(line),
            normal=_normal(line),
            who=_who(line),
            certainty=CERTAINTIES[line.certainty],
            is_normal=line.certainty == "nothing",
        )
        for line in lines
    ]


def describe_ledger(lines: Sequence[LedgerLine], said: str = "") -> list[str]:
    """Return the sentences of the lines, then one about those that are as normal. Several hosts are named.

    `said`: what the reader has read already; a sentence that it contains is left out
    """
    hosts = list(dict.fromkeys(line.host for line in lines))
    told: list[str] = []
    for host in hosts:
        own = [line for line in lines if line.host == host]
        where = f"{host}: " if len(hosts) > 1 else ""
        told += [f"{where}{describe_certainty(line)}" for line in own if _is_told(line, said)]
        normal = [
            f"{name_resource(line)} {describe_use(line)}{describe_newcomer(line)}" for line in own if line.certainty == "nothing"
        ]
        if normal:
            told.append(f"{where}As normal: {', '.join(normal)}.")
    return told


def name_resource(line: LedgerLine) -> str:
    """Return the resource, and of several its device: `disk vda`, `sessions of PostgreSQL`."""
    if line.resource == "gpu":
        return line.name
    device = line.instance if line.resource in ("disk", "network", "throttling", "memory_limit") else ""
    device = line.name if line.resource == "database" else device
    return f"{RESOURCES[line.resource]} {device}".rstrip()


def describe_use(line: LedgerLine) -> str:
    """Return how much was used: `98 %` of all CPUs, `1.3 of 23.6 GiB`."""
    now = _amount(line, line.incident)
    if line.resource != "memory" or line.capacity is None:
        return now
    whole = _amount(line, line.capacity)
    return f"{now.removesuffix(' ' + whole.partition(' ')[2])} of {whole}"


def _is_told(line: LedgerLine, said: str) -> bool:
    return line.certainty != "nothing" and line.sentence.removesuffix(".") not in said


def _normal(line: LedgerLine) -> str:
    factor, unit = _factor(line), _unit(line)
    return describe_range(factor * line.low, factor * line.high, unit).replace(" /s", "/s")


def _amount(line: LedgerLine, value: float) -> str:
    return format_human(_factor(line) * value, _unit(line)).replace(" /s", "/s")


def _factor(line: LedgerLine) -> float:
    """Return the factor for displayed amounts: CPU time is shown as a share of all CPUs."""
    return 100.0 / line.capacity if line.resource == "cpu" and line.capacity else 1.0


def _unit(line: LedgerLine) -> str:
    if line.resource == "memory_limit":
        return "killed/min" if line.unit == "1/min" else "times/s"
    return "requests/s" if line.resource == "disk" and line.unit == "1/s" else line.unit


def _who(line: LedgerLine) -> str:
    if line.certainty == "nothing":
        return ""
    culprits = [_describe_part(line, part) for part in culprits_of(line)]
    if culprits or line.note:
        return "; ".join([*culprits, *([line.note] if line.note else [])])
    if line.remainder is None and not line.parts:
        return "no recorded tool shows who"
    return NOT_SEEN.get(line.resource, "not seen")


def _describe_part(line: LedgerLine, part: LedgerPart) -> str:
    value = part.baseline if part.is_gone else part.incident
    factor = 100.0 if part.quantity == "blocked" else _factor(line) if part.quantity == "cpu" else 1.0
    unit = "%" if part.quantity == "blocked" else part.unit
    told = [f"{part.name} {AMOUNTS[part.quantity].format(format_human(factor * value, unit))}"]
    if part.is_gone:
        told[0] += " in the baseline"
    if part.share is not None and part.quantity not in WITHOUT_SHARE:
        told.append(f"{format_human(100.0 * part.share, '%')} of the {'rise' if part.change > 0 else 'fall'}")
    if part.is_new or part.is_gone:
        told.append("gone" if part.is_gone else "new")
    return ", ".join(told)
