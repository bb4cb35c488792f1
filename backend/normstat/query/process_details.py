"""Details of a process: its user, unit, parent, arguments, start and end, read from the raw output of the tools.

Samples are numbers; all else that a tool prints about a process stays in its raw text. It is found by the line of a sample, so it
is there as long as the raw text is (docs/run.md, Retention).

Entry points: `describe_instances` for some instances of one stat, `read_process` for all of one process or command.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import AnyInstance
from normstat.db.session import driver_of
from normstat.errors import NotFound, shorten
from normstat.query.process_list import find_fields, find_kind, list_process_stats
from normstat.query.raw_reports import RawReports
from normstat.runtime.field_docs import Documented
from normstat.samples import lookup
from normstat.samples.chunks import list_packed_starts, list_starts
from normstat.samples.lookup import InstanceRef, StatRef
from normstat.samples.sample_pages import load_sql
from normstat.samples.sample_source import open_source
from normstat.samples.sealed.sealed_reader import SealedQuery
from normstat.stats.catalogue import load_catalogue
from normstat.stats.engine.report_sums import split_process
from normstat.stats.process_lines import (
    ProcessLines,
    is_table_header,
    parse_row,
    parse_snapshot,
    snapshot_time_s,
)
from normstat.window import Window

# The stat whose raw output is snapshots of /proc.
SNAPSHOTS: Final = "linux_process"
# Differences of a start time that comes from a clock of whole seconds, and of the boot time that the kernel computes.
SAME_START_S: Final = 60
# Samples of one process that are looked at for another one with its number.
MAX_SAMPLES: Final = 20_000
MAX_LIVES: Final = 20
# Maximum number of instances with a PID.
MAX_NAMES: Final = 200
# Samples of a process that began before the agent: the first of each of some streams is enough.
FIRST_SAMPLES: Final = 2
# Snapshots that follow the last sample of a process are looked at one by one, when few.
MAX_STEPS: Final = 200


@dataclass(frozen=True, slots=True)
class SamplePlace:
    """Where a sample is: its time, and its line in the raw output."""

    at: datetime
    stream_id: int
    offset: int


@dataclass(frozen=True, slots=True)
class ProcessFacts(Documented):
    """The details of a process in the raw output. Null: not printed, or the raw output is gone."""

    user: str | None
    """The name, or the number where the agent knew none."""

    parent_pid: int | None
    parent_command: str | None
    arguments: str | None
    """Cut to 512 bytes by the agent, which sends them only where its stats.conf says so."""

    began_at: datetime | None
    """By the kernel's start time."""

    unit: str | None
    """Its systemd unit or container: `nginx.service`, `shop/web-7f4c/nginx`. Null in the root control group, too."""


@dataclass(frozen=True, slots=True)
class ProcessLife(Documented):
    """One process: a PID from its beginning to its end. A PID that is used again is another life."""

    facts: ProcessFacts
    first_sample_at: datetime
    """The first sample in the window."""

    last_sample_at: datetime
    """The last sample in the window. An idle process has none."""

    last_seen_at: datetime | None
    """The last report that lists it, also after the window; null where it is not known."""

    gone_at: datetime | None
    """The first report without it: it ended between both. Null while it runs, or where it is not known."""

    is_running: bool | None
    """Whether the last report of its stream lists it; null where it is not known."""


@dataclass(frozen=True, slots=True)
class ProcessSeries(Documented):
    """A stat that has series of the process or command."""

    stat: str
    title: str
    instance: str
    is_command: bool
    fields: list[str]
    """Keys of the fields, the main ones (CPU, I/O, memory, faults, threads) first."""

    first_sample_at: datetime
    last_sample_at: datetime
    """Of all times, not only of the window; within minutes."""


@dataclass(frozen=True, slots=True)
class ProcessDetail(Documented):
    """Details of one process or command of a host."""

    host: str
    command: str
    pid: int | None
    """Null for a command."""

    series: list[ProcessSeries]
    """The most informative stat first."""

    lives: list[ProcessLife]
    """Of a PID: the processes that had it in the window with this command, oldest first. Empty for a command."""

    other_commands: list[str]
    """Of a PID: its other commands, of all times: of other processes, or of this one before or after it ran another program."""


NOTHING: Final = ProcessFacts(None, None, None, None, None, None)


async def describe_instances(
    session: AsyncSession, host_id: int, stat: StatRef, names: Sequence[str], window: Window
) -> dict[str, ProcessFacts]:
    """Return details of the processes of these instances in the window; no entry where the raw output is gone.

    An instance is a PID and a command ("4711/java"). If its PID was used again in the window, the first process counts.
    """
    source = _Source(session, host_id, stat, RawReports(session))
    instances = await lookup.find_instances(session, host_id, stat.id, names)
    places = await source.first_samples([instance.id for instance in instances], window)
    described: dict[str, ProcessFacts] = {}
    for instance in instances:
        process = split_process(instance.name)
        if process is None or instance.id not in places:
            continue
        facts = await source.read_facts(instance, int(process[0]), places[instance.id])
        if facts is not None:
            described[instance.name] = facts
    return described


async def read_process(session: AsyncSession, host: str, window: Window, *, command: str, pid: int | None) -> ProcessDetail:
    """Return details of a command, or of a process with this PID and command.

    Raises: NotFound for an unknown host, and a command or process that it never had
    """
    host_id = await lookup.require_host(session, host)
    series: list[ProcessSeries] = []
    known: list[tuple[StatRef, InstanceRef]] = []
    other: set[str] = set()
    for stat in await list_process_stats(session, host_id, None):
        is_command = find_kind(stat.name) == "command"
        if is_command is not (pid is None):
            continue
        if pid is None:
            instances = await lookup.find_instances(session, host_id, stat.id, [command])
        else:
            with_pid = await _find_by_pid(session, host_id, stat, pid)
            instances = [instance for instance in with_pid if _command_of(instance.name) == command]
            other |= {name for instance in with_pid if (name := _command_of(instance.name)) is not None}
        known += [(stat, instance) for instance in instances]
        series += [_to_series(stat, instance, is_command=is_command) for instance in instances]
    if not series:
        what = f"command {shorten(command)}" if pid is None else f"process {pid} with the command {shorten(command)}"
        raise NotFound(f"{host} has no {what}", {"host": host, "command": command, "pid": pid})
    lives = [] if pid is None else await _read_lives(session, host_id, known, pid, window)
    return ProcessDetail(host, command, pid, series, lives, sorted(other - {command}))


def _to_series(stat: StatRef, instance: InstanceRef, *, is_command: bool) -> ProcessSeries:
    main = [field.key for _, field in find_fields(stat)]
    rest = [field.key for field in stat.fields if field.key not in main]
    title = load_catalogue().stats[stat.name][1].title
    return ProcessSeries(
        stat.name, title, instance.name, is_command, [*main, *rest], instance.first_sample_at, instance.last_sample_at
    )


def is_same_process(one: ProcessLines | None, other: ProcessLines | None) -> bool:
    """Return whether both lines are of one process, as far as their start times show."""
    if one is None or other is None or one.start_ticks is None or other.start_ticks is None:
        return True
    if one.start_ticks != other.start_ticks:
        return False
    # After a boot, a process may start at the same tick.
    return one.began_s is None or other.began_s is None or abs(one.began_s - other.began_s) <= SAME_START_S


async def _read_lives(
    session: AsyncSession, host_id: int, known: Sequence[tuple[StatRef, InstanceRef]], pid: int, window: Window
) -> list[ProcessLife]:
    """Return the lives of a PID in the window, from the first stat with samples of it."""
    reports = RawReports(session)
    # Snapshots show the start and the end.
    for stat, instance in sorted(known, key=lambda pair: pair[0].name != SNAPSHOTS):
        source = _Source(session, host_id, stat, reports)
        places = await source.samples(instance.id, window, MAX_SAMPLES)
        if not places:
            continue
        lives = []
        for first, last in await source.split_lives(pid, places):
            facts = await source.read_facts(instance, pid, places[first]) or NOTHING
            seen_at, gone_at, is_running = await source.find_end(pid, places[last])
            lives.append(ProcessLife(facts, places[first].at, places[last].at, seen_at, gone_at, is_running))
        return lives
    return []


@dataclass(frozen=True, slots=True)
class _Source:
    """The samples of a process stat of a host, and the raw output that they are from."""

    session: AsyncSession
    host_id: int
    stat: StatRef
    reports: RawReports

    async def split_lives(self, pid: int, places: Sequence[SamplePlace]) -> list[tuple[int, int]]:
        """Return the lives among samples in the order of time, as their first and last places. Start times only grow."""
        starts: dict[int, ProcessLines | None] = {}

        async def start_of(at: int) -> ProcessLines | None:
            if at not in starts:
                starts[at] = await self.read_lines(pid, places[at])
            return starts[at]

        lives: list[tuple[int, int]] = []
        first, last = 0, len(places) - 1
        while first <= last and len(lives) < MAX_LIVES:
            own, low = await start_of(first), last
            if not is_same_process(own, await start_of(last)):
                # low is of this life, high of a later one.
                low, high = first, last
                while high - low > 1:
                    middle = (low + high) // 2
                    if is_same_process(own, await start_of(middle)):
                        low = middle
                    else:
                        high = middle
            lives.append((first, low))
            first = low + 1
        return lives

    async def find_end(self, pid: int, last: SamplePlace) -> tuple[datetime | None, datetime | None, bool | None]:
        """Return the last report that lists the process of a sample, the first one that does not, and whether the last report of
        the stream does. Missing: None for what is not known.

        Snapshots list all processes, so what is between two that do is found by halves.
        """
        snapshot = await self.reports.snapshot_at(last.stream_id, last.offset) if self.stat.name == SNAPSHOTS else None
        own = None if snapshot is None else parse_snapshot(snapshot.data, pid)
        if snapshot is None or own is None:
            return None, None, None
        starts = [snapshot.start, *await list_starts(self.session, last.stream_id, after=snapshot.start)]
        low = await self._last_listing(pid, own, last.stream_id, starts)
        # Packs hold many chunks: within the one that is found, it goes on by chunks.
        within = [starts[low], *await list_packed_starts(self.session, last.stream_id, after=starts[low])]
        inner = await self._last_listing(pid, own, last.stream_id, within)
        is_at_end = (low, inner) == (len(starts) - 1, len(within) - 1)
        seen_at: datetime | None = None
        offset = within[inner]
        for _ in range(MAX_STEPS):
            at, is_own, following = await self._find_in(pid, own, last.stream_id, offset)
            if at is None:
                # The last report of the stream lists it, or a part of the raw output is gone.
                return seen_at, None, True if is_at_end else None
            if not is_own:
                # A report that is still coming in may list it in its second half.
                is_whole = (await self._find_in(pid, own, last.stream_id, following))[0] is not None
                return seen_at, at if is_whole else None, False if is_whole else None
            seen_at, offset = at, following
        return seen_at, None, None

    async def _last_listing(self, pid: int, own: ProcessLines, stream_id: int, starts: Sequence[int]) -> int:
        """Return the place of the last offset at which the process is listed: it is at the first, and never again once it went."""
        low, high = 0, len(starts)
        while high - low > 1:
            middle = (low + high) // 2
            at, is_own, _ = await self._find_in(pid, own, stream_id, starts[middle])
            if at is not None and is_own:
                low = middle
            else:
                high = middle
        return low

    async def _find_in(self, pid: int, own: ProcessLines, stream_id: int, offset: int) -> tuple[datetime | None, bool, int]:
        """Return the time of the report at an offset, whether it lists the process, and where the next report begins."""
        found = await self.reports.snapshot_at(stream_id, offset)
        time_s = None if found is None else snapshot_time_s(found.data)
        if found is None or time_s is None:
            return None, False, offset
        lines = parse_snapshot(found.data, pid)
        return datetime.fromtimestamp(time_s, UTC), lines is not None and is_same_process(own, lines), found.end

    async def read_lines(self, pid: int, place: SamplePlace) -> ProcessLines | None:
        """Return the details of a sample's process in its report. Missing: None where the raw output is gone."""
        if self.stat.name == SNAPSHOTS:
            snapshot = await self.reports.snapshot_at(place.stream_id, place.offset)
            return None if snapshot is None else parse_snapshot(snapshot.data, pid)
        found = await self.reports.lines_before(place.stream_id, place.offset)
        if found is None:
            return None
        before, row = found
        header = next((line for line in before if is_table_header(line)), None)
        return None if header is None else parse_row(header, row, pid)

    async def read_facts(self, instance: InstanceRef, pid: int, place: SamplePlace) -> ProcessFacts | None:
        """Return the facts of the process of a sample. Missing: None where the raw output is gone.

        The agent prints the user, the unit and the arguments once, in the first snapshot of a stream with the process.
        """
        lines = await self.read_lines(pid, place)
        if lines is None:
            return None
        began_at = None if lines.began_s is None else datetime.fromtimestamp(round(lines.began_s, 2), UTC)
        user, arguments, unit = lines.user, lines.arguments, lines.unit
        if self.stat.name == SNAPSHOTS and user is None:
            # The agent of this stream may have started later than the process.
            start = instance.first_sample_at
            if began_at is not None:
                start = max(start, began_at - timedelta(seconds=SAME_START_S))
            earlier = await self.samples(instance.id, Window(start, place.at), FIRST_SAMPLES) if start < place.at else []
            for each in earlier:
                told = await self.read_lines(pid, each)
                if told is not None and told.user is not None and is_same_process(lines, told):
                    user, arguments, unit = told.user, told.arguments, told.unit
                    break
        return ProcessFacts(user, lines.parent_pid, lines.parent_command, arguments, began_at, unit)

    async def first_samples(self, ids: Sequence[int], window: Window) -> Mapping[int, SamplePlace]:
        """Return the first sample of each of these instances in the window."""
        if not ids:
            return {}
        rows = await self._fetch("first_samples", window, ids, {"instance_ids": list(ids)})
        return {int(str(id_)): _to_place(*row) for id_, *row in rows}

    async def samples(self, instance_id: int, window: Window, n: int) -> list[SamplePlace]:
        """Return the first n samples of an instance in the window."""
        rows = await self._fetch("instance_samples", window, [instance_id], {"instance_id": instance_id, "n": n})
        return [_to_place(*row) for row in rows]

    async def _fetch(self, name: str, window: Window, ids: Sequence[int], values: Mapping[str, object]) -> list[tuple[object, ...]]:
        """Return the rows of that statement about samples of these instances in the window."""
        connection = await driver_of(self.session)
        query = SealedQuery(self.host_id, self.stat.name, window, instance_ids=ids, has_lines=True)
        source = await open_source(connection, query)
        asked = {"host_id": self.host_id, "start": window.start, "end": window.end, **values, **source.parameters}
        cursor = await connection.execute(load_sql(name).format(table=source.table), asked, prepare=False)
        return await cursor.fetchall()


def _to_place(at: object, stream_id: object, offset: object) -> SamplePlace:
    assert isinstance(at, datetime)
    return SamplePlace(at, int(str(stream_id)), int(str(offset)))


async def _find_by_pid(session: AsyncSession, host_id: int, stat: StatRef, pid: int) -> list[InstanceRef]:
    """Return the instances of a PID."""
    rows = await session.execute(
        select(AnyInstance.id, AnyInstance.name, AnyInstance.first_sample_at, AnyInstance.last_sample_at)
        .where(
            AnyInstance.host_id == host_id, AnyInstance.stat_id == stat.id, AnyInstance.name.startswith(f"{pid}/", autoescape=True)
        )
        .order_by(AnyInstance.first_sample_at, AnyInstance.id)
        .limit(MAX_NAMES)
    )
    return [InstanceRef(*row) for row in rows]


def _command_of(name: str) -> str | None:
    found = split_process(name)
    return None if found is None else found[1]
