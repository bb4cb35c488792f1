"""Where the processes of the first stories come from: their user, their unit, their parent, their arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.comparison.model import Story, StoryProcess
from normstat.comparison.stories.actors import command_of
from normstat.query.process_details import ProcessFacts, describe_instances
from normstat.query.process_list import find_kind, list_process_stats
from normstat.samples.lookup import StatRef
from normstat.window import Window

# Raw output is read for the processes of these stories only.
MAX_STORIES: Final = 3
MAX_PROCESSES: Final = 3


async def add_origins(
    session: AsyncSession, stories: Sequence[Story], host_ids: Mapping[str, int], incident: Window
) -> list[Story]:
    """Return the stories, the processes of the first ones with their origin where the raw output says it."""
    stats: dict[str, list[StatRef]] = {}
    told = []
    for story in stories[:MAX_STORIES]:
        processes = []
        for process in story.processes[:MAX_PROCESSES]:
            if process.host not in stats:
                all_stats = await list_process_stats(session, host_ids[process.host], incident)
                stats[process.host] = [stat for stat in all_stats if find_kind(stat.name) == "process"]
            origin = await _read_origin(session, process, host_ids[process.host], stats[process.host], incident)
            processes.append(replace(process, origin=origin))
        told.append(replace(story, processes=[*processes, *story.processes[MAX_PROCESSES:]]))
    return [*told, *stories[MAX_STORIES:]]


async def _read_origin(
    session: AsyncSession, process: StoryProcess, host_id: int, stats: Sequence[StatRef], incident: Window
) -> str:
    if not process.pids:
        return ""
    name = f"{process.pids[0]}/{command_of(process.stat, process.instance)[1]}"
    for stat in stats:
        facts = (await describe_instances(session, host_id, stat, [name], incident)).get(name)
        origin = "" if facts is None else describe_origin(facts)
        if origin:
            return origin
    return ""


def describe_origin(facts: ProcessFacts) -> str:
    """Return user, unit, parent and arguments in words.

    >>> describe_origin(ProcessFacts("ann", 812, "bash", "dd if=/dev/zero of=x", None, "cron.service"))
    'user ann; unit cron.service; started by bash (812); dd if=/dev/zero of=x'
    """
    parent = facts.parent_command or ""
    if facts.parent_pid is not None:
        parent = f"{parent} ({facts.parent_pid})" if parent else f"process {facts.parent_pid}"
    unit = f"unit {facts.unit}" if facts.unit else ""
    parts = (f"user {facts.user}" if facts.user else "", unit, f"started by {parent}" if parent else "", facts.arguments or "")
    return "; ".join(part for part in parts if part)
