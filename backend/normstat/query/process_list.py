"""Commands and processes of a window: the use of each, from samples in a short window, from rollups in a long one."""

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from datetime import datetime
from typing import Final

import anyio.to_thread
import numpy as np
import psycopg
from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.codecs.rollup_codec import Buckets
from normstat.codecs.sealed_codec import SealedRows
from normstat.db.session import driver_of
from normstat.errors import BadRequest, NotFound
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import natural_key
from normstat.samples import lookup
from normstat.samples.lookup import StatRef
from normstat.samples.rollups.rollup_reader import BUCKET_US, LEVELS, Grain, Span, plan, read_buckets, read_heads, read_rolled
from normstat.samples.rollups.rollup_rows import HOUR_US, Place
from normstat.samples.sample_pages import load_sql, to_floats
from normstat.samples.sealed.sealed_reader import SealedQuery, read_block
from normstat.samples.sealed.sealed_rows import find_blocks
from normstat.samples.stat_tables import table_of
from normstat.samples.wide_columns import stored_sql
from normstat.stats.catalogue import load_catalogue
from normstat.stats.engine.report_sums import split_process
from normstat.stats.spec import Field, Storage, Worse
from normstat.window import Window, from_us, to_us

# Up to this length the samples are read: about a million rows of processes and commands.
RAW_UP_TO_US: Final = 6 * HOUR_US
MINUTES_UP_TO_US: Final = 48 * HOUR_US
PROCESS_TITLE: Final = "process"
# Quantities of a process, by the keys that tools have for them, in the order of a table.
QUANTITIES: Final = {
    "cpu": ("cpu_pct",),
    "cpu_user": ("usr_pct", "usr"),
    "cpu_system": ("system_pct", "sys_pct", "sys"),
    "cpu_wait": ("wait_pct", "lat_pct", "lat"),
    "lock_wait": ("lck_pct", "lck"),
    "syscalls": ("scl",),
    "reads": ("kb_rd_per_s",),
    "writes": ("kb_wr_per_s",),
    "memory": ("rss_kb", "rss", "res"),
    "major_faults": ("majflt_per_s",),
    "minor_faults": ("minflt_per_s",),
    "switches": ("cswch_per_s", "vcx"),
    "forced_switches": ("nvcswch_per_s", "icx"),
    "threads": ("threads", "nlwp", "nth", "thr"),
    "processes": ("processes",),
}
# Those that are sizes: a process that was there twice as long did not take twice as much.
SIZES: Final = frozenset({"memory", "threads", "processes"})
# Without permission pidstat prints -1 for these, which is not an amount.
MAY_BE_REFUSED: Final = frozenset({"kb_rd_per_s", "kb_wr_per_s"})
# The tools for processes, the most informative first.
TOOLS: Final = ("pidstat", "proc", "prstat", "top", "ps")


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """A stat of the host whose instances are commands or processes."""

    name: str
    title: str
    is_command: bool


@dataclass(frozen=True, slots=True)
class ProcessField(Documented):
    """A column of the list."""

    quantity: str
    """The quantity, independent of the tool: cpu, reads, writes, memory, ..."""

    key: str
    """The key of the stat's field."""

    column: str
    """As the tool calls it."""

    unit: str
    help: str


@dataclass(frozen=True, slots=True)
class ListedProcess(Documented):
    """A command or a process in the window. One value for each field of the list."""

    instance: str
    """The name of the instance in graphs."""

    command: str
    pid: int | None
    """Null for a command."""

    first_sample_at: datetime
    last_sample_at: datetime
    n_samples: int
    mean: list[float | None]
    """Over the samples of this instance; null without a value."""

    max: list[float | None]


@dataclass(frozen=True, slots=True)
class ProcessList(Documented):
    """Commands or processes of a host in a window, from one stat."""

    host: str
    start: datetime
    end: datetime
    stat: str | None
    """Null where no stat of the host has commands or processes in the window."""

    stats: list[ProcessStat]
    """Those that have samples in the window, the most informative first."""

    fields: list[ProcessField]
    """The columns of which some row has a value in the window, before the search; all of them without rows."""

    sort: str | None
    """The quantity by which the rows are in order."""

    precision_s: int
    """How exact the first and last times are: 0 for exact; a long window is read from minutes or hours."""

    n_found: int
    """Rows before the limit."""

    rows: list[ListedProcess]


@dataclass(frozen=True, slots=True)
class ProcessRequest:
    """The processes to list: of a command, of a part of a name, of a PID. `stat` None: the most informative one."""

    host: str
    window: Window
    is_command: bool
    stat: str | None = None
    command: str | None = None
    search: str = ""
    sort: str | None = None
    limit: int = 200


@dataclass(slots=True)
class InstanceTotals:
    """The use of an instance: its samples, and for each field the number, sum and highest of its values."""

    first_us: int
    last_us: int
    n_samples: int
    n: list[int]
    sums: list[float]
    highest: list[float]

    def add(self, other: "InstanceTotals") -> None:
        """Add its use in another part of the window."""
        self.first_us, self.last_us = min(self.first_us, other.first_us), max(self.last_us, other.last_us)
        self.n_samples += other.n_samples
        self.n = [a + b for a, b in zip(self.n, other.n, strict=True)]
        self.sums = [a + b for a, b in zip(self.sums, other.sums, strict=True)]
        self.highest = [max(a, b) for a, b in zip(self.highest, other.highest, strict=True)]


@dataclass(slots=True)
class _Found:
    """The totals by instance."""

    by_instance: dict[int, InstanceTotals] = dataclass_field(default_factory=dict)
    precision_us: int = 0

    def add(self, id_: int, totals: InstanceTotals) -> None:
        known = self.by_instance.get(id_)
        if known is None:
            self.by_instance[id_] = totals
        else:
            known.add(totals)

    def keep_filled(self, fields: list[tuple[str, Field]]) -> list[tuple[str, Field]]:
        """Return the fields of which an instance has a value, and forget the others."""
        kept = [at for at in range(len(fields)) if any(totals.n[at] for totals in self.by_instance.values())]
        if not self.by_instance or len(kept) == len(fields):
            return fields
        for totals in self.by_instance.values():
            totals.n = [totals.n[at] for at in kept]
            totals.sums = [totals.sums[at] for at in kept]
            totals.highest = [totals.highest[at] for at in kept]
        return [fields[at] for at in kept]


async def read_processes(session: AsyncSession, request: ProcessRequest) -> ProcessList:
    """Return the commands or processes of a window, the largest first.

    Raises: NotFound for an unknown host or stat; BadRequest for a quantity that the stat does not have
    """
    host_id = await lookup.require_host(session, request.host)
    stats = await list_process_stats(session, host_id, request.window)
    infos = [to_info(stat) for stat in stats]
    ref = _choose(stats, request)
    if ref is None:
        return ProcessList(request.host, request.window.start, request.window.end, None, infos, [], None, 0, 0, [])
    fields = find_fields(ref)
    quantities = [quantity for quantity, _ in fields]
    sort = request.sort or (quantities[0] if quantities else None)
    if sort is not None and sort not in quantities:
        raise BadRequest(f"{ref.name} has no {sort}; sort by one of {', '.join(quantities)}", {"stat": ref.name, "sort": sort})
    found = await _read_totals(session, Place(host_id, ref.id), ref, fields, request.window)
    fields = found.keep_filled(fields)
    # No order by a quantity that no row has.
    if fields and sort not in [quantity for quantity, _ in fields]:
        sort = fields[0][0]
    names = await lookup.read_instance_names(session, sorted(found.by_instance))
    rows = await anyio.to_thread.run_sync(_to_rows, request, found, names, fields, sort)
    return ProcessList(
        host=request.host,
        start=request.window.start,
        end=request.window.end,
        stat=ref.name,
        stats=infos,
        fields=[ProcessField(quantity, field.key, field.column, field.unit, field.help) for quantity, field in fields],
        sort=sort,
        precision_s=found.precision_us // 1_000_000,
        n_found=len(rows),
        rows=rows[: request.limit],
    )


async def list_process_stats(session: AsyncSession, host_id: int, window: Window | None) -> list[StatRef]:
    """Return the stats of the host whose instances are commands or processes, present in the window, the most informative first."""
    refs = []
    for ref in await lookup.list_host_stats(session, host_id):
        if find_kind(ref.name) is None:
            continue
        if window is None or await lookup.read_possible_window(session, host_id, ref.id, window) is not None:
            refs.append(ref)
    return sorted(refs, key=rank_tool)


def rank_tool(ref: StatRef) -> tuple[int, int, str]:
    """Return the place of a stat among those of processes: the most informative comes first."""
    tool = load_catalogue().stats[ref.name][0].tool
    return TOOLS.index(tool) if tool in TOOLS else len(TOOLS), -len(find_fields(ref)), ref.name


def find_kind(stat: str) -> str | None:
    """Return what the instances of a stat are: "command" or "process". Missing: None for something else.

    >>> find_kind("linux_command"), find_kind("linux_process"), find_kind("iostat_linux")
    ('command', 'process', None)
    """
    known = load_catalogue().stats.get(stat)
    if known is None:
        return None
    if known[1].summary_of:
        return "command"
    return PROCESS_TITLE if known[1].instance_title == PROCESS_TITLE else None


def to_info(ref: StatRef) -> ProcessStat:
    """Return the stat as the API shows it."""
    return ProcessStat(ref.name, load_catalogue().stats[ref.name][1].title, find_kind(ref.name) == "command")


def find_fields(ref: StatRef) -> list[tuple[str, Field]]:
    """Return the quantities of the stat, each with its field."""
    known = {field.key: field for field in ref.fields}
    found = ((quantity, next((known[key] for key in keys if key in known), None)) for quantity, keys in QUANTITIES.items())
    return [(quantity, field) for quantity, field in found if field is not None]


def _choose(stats: Sequence[StatRef], request: ProcessRequest) -> StatRef | None:
    """Return the stat to list. Missing: None where none has samples in the window."""
    if request.stat is not None and find_kind(request.stat) is None:
        raise NotFound(f"{request.stat} is not a stat of commands or processes", {"stat": request.stat})
    wanted = "command" if request.is_command else PROCESS_TITLE
    own = [ref for ref in stats if find_kind(ref.name) == wanted and request.stat in (None, ref.name)]
    return own[0] if own else None


async def _read_totals(
    session: AsyncSession, place: Place, ref: StatRef, fields: Sequence[tuple[str, Field]], window: Window
) -> _Found:
    connection = await driver_of(session)
    length_us = window.end_us - window.start_us
    grain = Grain.RAW if length_us <= RAW_UP_TO_US else Grain.MINUTE if length_us <= MINUTES_UP_TO_US else Grain.HOUR
    found = _Found()
    for span in plan(window, await read_rolled(connection, place, window), grain):
        if span.grain is Grain.RAW:
            for id_, totals in await _sum_samples(connection, place, ref, fields, span):
                found.add(id_, totals)
            query = SealedQuery(place.host_id, ref.name, span.window, [field for _, field in fields])
            for block in await find_blocks(connection, place.host_id, ref.name, span.window):
                rows = await read_block(connection, query, block)
                for id_, totals in await anyio.to_thread.run_sync(_sum_rows, rows, query.fields):
                    found.add(id_, totals)
        else:
            found.precision_us = max(found.precision_us, BUCKET_US[span.grain])
            blocks = await read_heads(connection, place, LEVELS[span.grain], [field.key for _, field in fields], span.window)
            buckets = await read_buckets(session, place, ref, blocks, None, grain=span.grain)
            for id_, totals in await anyio.to_thread.run_sync(_sum_buckets, buckets, fields, span):
                found.add(id_, totals)
    return found


async def _sum_samples(
    connection: psycopg.AsyncConnection, place: Place, ref: StatRef, fields: Sequence[tuple[str, Field]], span: Span
) -> list[tuple[int, InstanceTotals]]:
    each: list[sql.Composable] = [
        sql.SQL("count({0}), sum({0}::float8), max({0})::float8").format(stored_sql(field, "t")) for _, field in fields
    ]
    statement = load_sql("process_totals").format(
        table=table_of(ref.name), sums=sql.SQL(", ").join([sql.SQL("count(*) AS n"), *each])
    )
    asked = {"host_id": place.host_id, "start": span.window.start, "end": span.window.end}
    cursor = await connection.execute(statement, asked, prepare=False)
    rows = await cursor.fetchall()
    powers = [10.0**field.decimals if field.storage is Storage.DEC4 else 1.0 for _, field in fields]
    return await anyio.to_thread.run_sync(_to_totals, rows, powers)


def _to_totals(rows: Sequence[tuple[object, ...]], powers: Sequence[float]) -> list[tuple[int, InstanceTotals]]:
    found = []
    for id_, first, last, n, *sums in rows:
        assert isinstance(first, datetime)
        assert isinstance(last, datetime)
        own = [sums[3 * at : 3 * at + 3] for at in range(len(powers))]
        totals = InstanceTotals(
            to_us(first),
            to_us(last),
            int(str(n)),
            [int(str(n_own)) for n_own, _, _ in own],
            [0.0 if total is None else float(str(total)) / power for (_, total, _), power in zip(own, powers, strict=True)],
            [-np.inf if top is None else float(str(top)) / power for (_, _, top), power in zip(own, powers, strict=True)],
        )
        found.append((int(str(id_)), totals))
    return found


def _sum_rows(rows: SealedRows, fields: Sequence[Field]) -> list[tuple[int, InstanceTotals]]:
    """Return what each instance did in sealed samples."""
    order = np.argsort(rows.instance_id, kind="stable")
    ids, starts, sizes = np.unique(rows.instance_id[order], return_index=True, return_counts=True)
    if not len(ids):
        return []
    times = rows.time_us[order]
    n, sums, highest = [], [], []
    for field in fields:
        column = rows.columns.get(field.key)
        values = np.full(len(times), np.nan) if column is None else to_floats(field, column)[order]
        is_known = ~np.isnan(values)
        n.append(np.add.reduceat(is_known.astype(np.int64), starts).tolist())
        sums.append(np.add.reduceat(np.where(is_known, values, 0.0), starts).tolist())
        highest.append(np.maximum.reduceat(np.where(is_known, values, -np.inf), starts).tolist())
    return [
        (
            id_,
            InstanceTotals(
                int(times[start]),
                int(times[start + size - 1]),
                size,
                [own[at] for own in n],
                [own[at] for own in sums],
                [own[at] for own in highest],
            ),
        )
        for at, (id_, start, size) in enumerate(zip(ids.tolist(), starts.tolist(), sizes.tolist(), strict=True))
    ]


def _sum_buckets(buckets: dict[str, Buckets], fields: Sequence[tuple[str, Field]], span: Span) -> list[tuple[int, InstanceTotals]]:
    """Return the use of each instance in the buckets of a span; its times are the beginning and the end of buckets."""
    bucket_us = BUCKET_US[span.grain]
    found: dict[int, InstanceTotals] = {}
    for at, (_, field) in enumerate(fields):
        own = buckets.get(field.key)
        if own is None:
            continue
        own = own.take((own.bucket * bucket_us >= span.start_us) & (own.bucket * bucket_us < span.end_us))
        if not len(own):
            continue
        ids, starts = np.unique(own.instance, return_index=True)
        ends = np.append(starts[1:], len(own)) - 1
        each = zip(
            ids.tolist(),
            (own.bucket[starts] * bucket_us).tolist(),
            ((own.bucket[ends] + 1) * bucket_us - 1).tolist(),
            np.add.reduceat(own.n, starts).tolist(),
            np.add.reduceat(own.total, starts).tolist(),
            np.maximum.reduceat(own.high, starts).tolist(),
            strict=True,
        )
        for id_, first_us, last_us, n, total, high in each:
            totals = found.get(id_)
            if totals is None:
                none = len(fields)
                totals = found[id_] = InstanceTotals(first_us, last_us, 0, [0] * none, [0.0] * none, [-np.inf] * none)
            totals.first_us, totals.last_us = min(totals.first_us, first_us), max(totals.last_us, last_us)
            # Fields that a report did not have are in fewer samples.
            totals.n_samples = max(totals.n_samples, n)
            totals.n[at], totals.sums[at], totals.highest[at] = n, total, high
    return list(found.items())


def _to_rows(
    request: ProcessRequest, found: _Found, names: dict[int, str], fields: Sequence[tuple[str, Field]], sort: str | None
) -> list[ListedProcess]:
    """Return all rows that fit the request, in order."""
    search = request.search.casefold().strip()
    rows: list[tuple[float, str, ListedProcess]] = []
    at = next((place for place, (quantity, _) in enumerate(fields) if quantity == sort), None)
    for id_, totals in found.by_instance.items():
        name = names.get(id_)
        process = (None, name) if request.is_command or name is None else split_process(name)
        if name is None or process is None:
            continue
        pid, command = process
        assert command is not None
        if (request.command is not None and command != request.command) or search not in name.casefold():
            continue
        row = _to_row(name, command, None if pid is None else int(pid), totals, fields)
        order = 0.0 if at is None or sort is None else _order(totals, at, fields[at][1], is_size=sort in SIZES)
        rows.append((order, name, row))
    rows.sort(key=lambda each: (each[0], natural_key(each[1])))
    return [row for _, _, row in rows]


def _order(totals: InstanceTotals, at: int, field: Field, *, is_size: bool) -> float:
    """Return the place of a row: the least comes first. Rows without a value come last."""
    if not totals.n[at]:
        return float("inf")
    if field.worse is Worse.LOWER:
        return totals.sums[at] / totals.n[at]
    return -(totals.highest[at] if is_size else totals.sums[at])


def _to_row(name: str, command: str, pid: int | None, totals: InstanceTotals, fields: Sequence[tuple[str, Field]]) -> ListedProcess:
    mean = [
        round(total / n, max(field.decimals, 2)) if n else None
        for total, n, (_, field) in zip(totals.sums, totals.n, fields, strict=True)
    ]
    highest = [
        round(top, field.decimals) if n else None for top, n, (_, field) in zip(totals.highest, totals.n, fields, strict=True)
    ]
    for at, (_, field) in enumerate(fields):
        if field.key in MAY_BE_REFUSED and (mean[at] or 0) < 0:
            mean[at] = highest[at] = None
    return ListedProcess(name, command, pid, from_us(totals.first_us), from_us(totals.last_us), totals.n_samples, mean, highest)
