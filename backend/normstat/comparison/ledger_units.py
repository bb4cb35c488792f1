"""Which systemd unit or container the processes of the ledger are in, as far as the raw output says it; sentences name it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.comparison.ledger.ledger_words import describe
from normstat.comparison.ledger_model import LedgerLine, LedgerPart
from normstat.comparison.model import Story
from normstat.query.process_details import SNAPSHOTS, describe_instances
from normstat.samples.lookup import list_host_stats
from normstat.window import Window

# Raw output is read for the processes of the lines that have changed, the heaviest lines first.
MAX_PROCESSES: Final = 20


async def add_units(
    session: AsyncSession, lines: Sequence[LedgerLine], host_ids: Mapping[str, int], incident: Window
) -> list[LedgerLine]:
    """Return the lines of hosts with units; each process of those that have changed has its unit, in the sentence, too."""
    units = {host: await _read_units(session, host_ids[host], _names_of(lines, host), incident) for host in _hosts_of(lines)}
    start_s = incident.start.timestamp()
    return [_with_units(line, units.get(line.host, {}), start_s) for line in lines]


def retell(stories: Sequence[Story], before: Sequence[LedgerLine], after: Sequence[LedgerLine]) -> list[Story]:
    """Return the stories with the sentences of lines as they are now."""
    changed = {one.sentence: other.sentence for one, other in zip(before, after, strict=True) if one.sentence != other.sentence}
    told = list(stories)
    for old, new in changed.items():
        told = [replace(story, sentence=story.sentence.replace(old.removesuffix("."), new.removesuffix("."))) for story in told]
    return told


def _hosts_of(lines: Sequence[LedgerLine]) -> list[str]:
    """Return the hosts with units that something changed on."""
    with_units = {line.host for line in lines if line.units}
    return list(dict.fromkeys(line.host for line in lines if line.host in with_units and _is_asked(line)))


def _is_asked(line: LedgerLine) -> bool:
    return line.certainty != "nothing" and any(part.pids for part in line.parts)


def _names_of(lines: Sequence[LedgerLine], host: str) -> list[str]:
    """Return the first process of each part, as its instance is named; those that sentences name come first."""
    parts = [part for line in lines if line.host == host and _is_asked(line) for part in line.parts if part.pids]
    parts.sort(key=lambda part: not part.is_culprit)
    return list(dict.fromkeys(map(_first_process, parts)))[:MAX_PROCESSES]


def _first_process(part: LedgerPart) -> str:
    return f"{part.pids[0]}/{part.command}"


async def _read_units(session: AsyncSession, host_id: int, names: Sequence[str], incident: Window) -> dict[str, str]:
    stat = next((stat for stat in await list_host_stats(session, host_id) if stat.name == SNAPSHOTS), None)
    if stat is None or not names:
        return {}
    facts = await describe_instances(session, host_id, stat, names, incident)
    return {name: own.unit for name, own in facts.items() if own.unit}


def _with_units(line: LedgerLine, units: Mapping[str, str], start_s: float) -> LedgerLine:
    if not units or not _is_asked(line):
        return line
    parts = [replace(part, of_unit=units.get(_first_process(part), "")) if part.pids else part for part in line.parts]
    named = replace(line, parts=parts)
    return replace(named, sentence=describe(named, start_s))
