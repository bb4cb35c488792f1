"""The log that a command reads, from a file, standard input or an artefact, and the choice of its events."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from normstat.artefacts.artefact_service import load_parts
from normstat.artefacts.parts import LogPart, Part
from normstat.artefacts.reading import read_artefact
from normstat.artefacts.trace_log.log_filter import Mask, choose_by, choose_events
from normstat.artefacts.trace_log.log_times import read_time
from normstat.cli.db_session import run_in_session
from normstat.cli.local_database import use_running_database
from normstat.db.session import WriteSession
from normstat.errors import BadRequest, NotFound, TooLarge
from normstat.records import artefact_rows
from normstat.runtime.input_limits import MAX_ARTEFACT_BYTES
from normstat.runtime.readable import format_bytes, format_instant

STDIN: Final = "-"


@dataclass(frozen=True, slots=True)
class LogInput:
    """A log with its raw text and its name."""

    part: LogPart
    pieces: Sequence[bytes]
    name: str
    facts: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LogOrigin:
    """Where a log comes from: a file or an artefact."""

    file: Path | None
    artefact: int | None
    part: int | None
    spec: str | None


@dataclass(frozen=True, slots=True)
class EventChoice:
    """Which events: all conditions together."""

    start: str
    end: str
    cpus: Sequence[int]
    pids: Sequence[int]
    commands: Sequence[str]
    events: Sequence[str]
    where: str

    def mask(self, part: LogPart) -> Mask:
        """Return the chosen events.

        Raises: BadRequest
        """
        mask = choose_events(part, self.where)
        first = int(part.time_ns[0]) if part.n_rows else 0
        for text, op in ((self.start, ">="), (self.end, "<")):
            if text:
                at = read_time(text, clock=part.clock, first_ns=first)
                mask &= part.time_ns >= at if op == ">=" else part.time_ns < at
        for name, values in (("cpu", self.cpus), ("pid", self.pids), ("command", self.commands), ("event", self.events)):
            if values:
                mask &= choose_by(part, name, "=", ",".join(f'"{value}"' for value in values))
        return mask

    def words(self) -> str:
        """Return the conditions as one line, or "" for all events."""
        said = [f"{name} {value}" for name, value in (("from", self.start), ("to", self.end)) if value]
        for name, values in (("cpu", self.cpus), ("pid", self.pids), ("command", self.commands), ("event", self.events)):
            said += [f"{name}={','.join(map(str, values))}"] if values else []
        return " and ".join([*said, *([self.where.strip()] if self.where.strip() else [])])


def read_log(origin: LogOrigin) -> LogInput:
    """Return the log.

    Raises: BadRequest for a file that cannot be read, or that is not a log; NotFound, TooLarge
    """
    if (origin.file is None) == (origin.artefact is None):
        raise BadRequest("Name one log: a FILE (- for standard input), or --artefact ID")
    return _of_file(origin, origin.file) if origin.file is not None else _of_artefact(origin, origin.artefact or 0)


def _of_file(origin: LogOrigin, file: Path) -> LogInput:
    name = "standard input" if str(file) == STDIN else str(file)
    try:
        if str(file) == STDIN:
            data = sys.stdin.buffer.read(MAX_ARTEFACT_BYTES + 1)
        else:
            with file.open("rb") as stream:
                data = stream.read(MAX_ARTEFACT_BYTES + 1)
    except OSError as error:
        raise BadRequest(f"Cannot read {file}: {error.strerror}; name a readable file, or - for standard input") from None
    if len(data) > MAX_ARTEFACT_BYTES:
        raise TooLarge(f"{name} has more than {format_bytes(MAX_ARTEFACT_BYTES)}; filter it first, or trace for a shorter time")
    found = read_artefact(data, name="" if str(file) == STDIN else file.name, spec=origin.spec)
    facts = [("Log", name), ("Tool", found.tool or "unknown")]
    if found.n_rejected:
        facts.append(("Not read", f"{found.n_rejected:,} of {found.n_lines:,} lines are not events"))
    return LogInput(_choose(found.parts, origin.part, name), (data,), name, facts)


def _of_artefact(origin: LogOrigin, artefact_id: int) -> LogInput:
    use_running_database()

    async def work(session: WriteSession) -> LogInput:
        known = await artefact_rows.read_artefact_row(session, artefact_id)
        part = _choose(await load_parts(session, artefact_id), origin.part, f"artefact {artefact_id}")
        pieces = [piece async for piece in artefact_rows.read_text(session, artefact_id)]
        facts = [
            ("Log", f"artefact {artefact_id}, {known.title or known.question or known.command or known.file_name}".rstrip(", ")),
            ("Tool", f"{known.tool or 'unknown'} on {known.host} at {format_instant(known.start)}"),
        ]
        return LogInput(part, pieces, f"artefact {artefact_id}", facts)

    return run_in_session(work)


def _choose(parts: Sequence[Part], number: int | None, name: str) -> LogPart:
    logs = [at for at, part in enumerate(parts) if isinstance(part, LogPart)]
    if not logs:
        kinds = ", ".join(dict.fromkeys(f"{part.kind} of {part.title or part.stat}" for part in parts)) or "no reader knows it"
        raise BadRequest(
            f"{name} is not a log of events ({kinds}); read are strace -ttt -T, perf trace, perf script, perf sched, ftrace, LKST"
        )
    at = logs[0] if number is None else number
    found = parts[at] if at < len(parts) else None
    if not isinstance(found, LogPart):
        raise NotFound(f"Part {at} of {name} is not a log; its logs are {', '.join(map(str, logs))}")
    return found
