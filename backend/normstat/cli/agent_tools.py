"""What an agent's stats.conf records, as `normstat up` tells it."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# What the agent records by itself, by the name of a line in stats.conf or its first word.
BUILT_IN: Final = {
    "facts": "facts about the host",
    "watch": "jumps of the clock and tools that end",
    "event": "events from log files",
    "proc_pid_linux": "processes",
    "sample": "the counters of /proc",
    "query": "a database",
}


@dataclass(frozen=True, slots=True)
class AgentTools:
    """What an agent's stats.conf records on this host: by itself or with installed programs, and programs that it lacks."""

    recorders: list[str]
    missing: list[str]


def tools_of(stats: Path, path: str) -> AgentTools:
    """Read the lines `name<TAB>command` of an agent's stats.conf; a missing program that is optional (`?`) is not reported."""
    recorders: list[str] = []
    missing: list[str] = []
    for line in stats.read_text().splitlines():
        name, tab, command = line.partition("\t")
        words = command.removeprefix("?").split()
        if not tab or name.startswith("#") or not words:
            continue
        if words[0].startswith("@"):
            words = words[1:]
        program = words[0] if words else ""
        built_in = BUILT_IN.get(name) or BUILT_IN.get(program)
        if built_in is not None:
            recorders.append(built_in)
        elif program and shutil.which(program, path=path) is not None:
            recorders.append(program)
        elif program and not command.startswith("?"):
            missing.append(program)
    return AgentTools(list(dict.fromkeys(recorders)), list(dict.fromkeys(missing)))
