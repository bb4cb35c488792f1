"""The users of the processes of a report, from its raw text: for hundreds of processes with a few reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.query.process_details import SNAPSHOTS, describe_instances, is_same_process
from normstat.query.raw_reports import RawReports
from normstat.samples.lookup import StatRef
from normstat.stats.engine.report_sums import split_process
from normstat.stats.process_lines import ProcessLines, is_table_header, parse_row, parse_snapshot
from normstat.window import MICROSECOND, Window

# The header of a table is at most this far before its first row.
HEADER_REACH: Final = 64 * 1024
MAX_REPORT: Final = 4 * 1024 * 1024
# Processes that started after the first snapshot of their stream are searched one by one.
MAX_SINGLE: Final = 20


@dataclass(frozen=True, slots=True)
class ReportedLine:
    """A process of a report, and its line in the raw output."""

    instance: str
    instance_id: int
    stream_id: int
    offset: int


async def read_users(
    session: AsyncSession, host_id: int, stat: StatRef, at: datetime, lines: Sequence[ReportedLine]
) -> tuple[dict[str, str], int]:
    """Return the users by instance, and the number of processes that were not searched.

    Missing: no entry where the raw output does not have the user, or is gone
    """
    processes = {line: int(process[0]) for line in lines if (process := split_process(line.instance)) is not None}
    reports = RawReports(session)
    found: dict[str, str] = {}
    if stat.name != SNAPSHOTS:
        for stream_id in dict.fromkeys(line.stream_id for line in processes):
            own = {line: pid for line, pid in processes.items() if line.stream_id == stream_id}
            found |= await _read_table(reports, stream_id, own)
        return found, 0
    found, missing = await _read_snapshots(reports, processes)
    searched = missing[:MAX_SINGLE]
    if searched:
        described = await describe_instances(session, host_id, stat, searched, Window(at, at + MICROSECOND))
        found |= {name: facts.user for name, facts in described.items() if facts.user is not None}
    return found, len(missing) - len(searched)


async def _read_table(reports: RawReports, stream_id: int, processes: dict[ReportedLine, int]) -> dict[str, str]:
    """Return the users from the rows of a table."""
    offsets = {line.offset: line for line in processes}
    first, last = min(offsets), max(offsets)
    reach = max(HEADER_REACH, min(MAX_REPORT, last - first + HEADER_REACH))
    text = await reports.text_around(stream_id, first, reach)
    if text is None:
        return {}
    users: dict[str, str] = {}
    header, at = None, text.start
    for line in text.data.split(b"\n"):
        known = offsets.get(at)
        if known is not None and header is not None:
            said = parse_row(header, line.decode("utf-8", "backslashreplace"), processes[known])
            if said is not None and said.user is not None:
                users[known.instance] = said.user
        elif b"PID" in line and is_table_header(line.decode("utf-8", "backslashreplace")):
            header = line.decode("utf-8", "backslashreplace")
        at += len(line) + 1
        if at > last:
            break
    return users


async def _read_snapshots(reports: RawReports, processes: dict[ReportedLine, int]) -> tuple[dict[str, str], list[str]]:
    """Return the users from this snapshot of /proc and the first one of its stream, and the processes that started in between.

    The agent prints the user in the first snapshot of a stream with the process.
    """
    users: dict[str, str] = {}
    missing: list[str] = []
    for line, pid in processes.items():
        own = await _parse_at(reports, line.stream_id, line.offset, pid)
        if own is None:
            continue
        first = own if own.user is not None else await _parse_at(reports, line.stream_id, 0, pid)
        if first is not None and first.user is not None and is_same_process(own, first):
            users[line.instance] = first.user
        else:
            missing.append(line.instance)
    return users, missing


async def _parse_at(reports: RawReports, stream_id: int, offset: int, pid: int) -> ProcessLines | None:
    snapshot = await reports.snapshot_at(stream_id, offset)
    return None if snapshot is None else parse_snapshot(snapshot.data, pid)
