"""Sums by command of the processes of a report: a stat with `summary_of` has one row for each command of each report.

    # Time        UID       PID    %usr %system    %CPU  Command
    12:00:01        0      1312    0.20    0.40    0.60  postgres
    12:00:01        0      1313    1.00    0.00    1.00  postgres      -> postgres: processes 2, %usr 1.20, %system 0.40, %CPU 1.60

A field of the summary is the sum of the field with its key; `processes` is the number of processes with a row. A report ends where
the next one has another time. Sums are made of whole digits, so that their order does not change them.
"""

import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import add, itemgetter
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.runtime.arrays import distinct_values
from normstat.stats.engine.block import BlockBuilder, BulkRows, Row
from normstat.stats.records import NO_TIME, Int64Array, RowNames, SampleBlock
from normstat.stats.spec import Field, Stat

PROCESSES: Final = "processes"
# "1312/tmux: server" of a process; its threads, whose time it has too, are "1312/1313/worker" and "1313/|__worker".
PROCESS: Final = re.compile(r"(?P<pid>\d+)/(?P<command>(?!\d+/|\|__).+)", re.ASCII)
# A thread of the kernel is named after its CPU and its work: "kworker/0:1-events".
KERNEL_THREAD: Final = re.compile(
    r"(?P<command>kworker|ksoftirqd|migration|cpuhp|idle_inject|watchdog|rcu[a-z_]{0,20})/.*", re.ASCII
)
# No report has more commands; it bounds the state of a broken stream.
MAX_COMMANDS: Final = 5000
MAX_ROWS: Final = 65_536
# Sums of such numbers are exact, and so is what is read back of a decimal.
MAX_EXACT: Final = 2**52
# Names of processes that are remembered; longer ones are rare.
MAX_CACHED: Final = 20_000
MAX_CACHED_LENGTH: Final = 200
# A quotient of a larger number and a power of ten, both as floats, is not always that of the whole numbers.
MAX_FLOAT_EXACT: Final = 2**53
# Arrays are not worth it for fewer reports, or rows.
MIN_REPORTS: Final = 6
MIN_ROWS: Final = 80
# Summaries of all specs, and sets of keys of one of them, that are remembered.
MAX_SUMMARIES: Final = 100
MAX_KEY_SETS: Final = 200
# The builder of the block of these fields.
FindBuilder = Callable[[Stat, tuple[Field, ...]], BlockBuilder]


def split_process(instance: str) -> tuple[str, str] | None:
    """Return the PID and the command of an instance. Missing: None for a thread, or an instance that is not a process.

    >>> split_process("1312/tmux: server"), split_process("9/kworker/0:1-events"), split_process("1312/1313/worker")
    (('1312', 'tmux: server'), ('9', 'kworker'), None)
    """
    found = PROCESS.fullmatch(instance)
    if found is None:
        return None
    kernel = KERNEL_THREAD.fullmatch(found["command"])
    return found["pid"], found["command"] if kernel is None else kernel["command"]


@lru_cache(maxsize=MAX_CACHED)
def _split_again(instance: str) -> tuple[str, str] | None:
    """Return the same, remembered: an agent sends the same processes every few seconds."""
    return split_process(instance)


@dataclass(slots=True)
class CommandSums:
    """The sums of a command in the open report: the line of its first process, its rows (`seen`), and the sums of each set of keys.

    A row is noted as its PID and its first column.
    """

    offset: int
    seen: set[str]
    sums: dict[tuple[str, ...], list[int]]

    def by_key(self) -> dict[str, int]:
        """Return the sum of each key."""
        if len(self.sums) == 1:
            ((own, numbers),) = self.sums.items()
            return dict(zip(own, numbers, strict=True))
        found: dict[str, int] = {}
        for keys, sums in self.sums.items():
            for key, number in zip(keys, sums, strict=True):
                found[key] = found.get(key, 0) + number
        return found


@dataclass(frozen=True, slots=True)
class _SumColumns:
    """The fields of a summary's row, and for each the place of its sum, and what that is divided by: 0 for a whole number."""

    fields: tuple[Field, ...]
    places: list[tuple[int, int]]


class _Summary:
    """The fields of a summary, by key, and the columns of its rows: for all streams, which then share them.

    `columns_of` gives those of a row with the sums of these keys, and the number of processes after them.
    """

    def __init__(self, stat: Stat) -> None:
        self.stat = stat
        self.fields = {field.key: field for field in stat.fields}
        self._of_keys: dict[tuple[str, ...], _SumColumns] = {}
        # The same object for the same fields, in whatever order their keys come.
        self._tuples: dict[tuple[str, ...], tuple[Field, ...]] = {}

    def columns_of(self, keys: tuple[str, ...]) -> _SumColumns:
        """Return the columns of a row."""
        columns = self._of_keys.get(keys)
        if columns is None:
            at = {key: number for number, key in enumerate((*keys, PROCESSES))}
            found = tuple(key for key in self.fields if key in at)
            fields = self._tuples.setdefault(found, tuple(self.fields[key] for key in found))
            places = [(at[field.key], 0 if field.storage.is_whole else 10**field.decimals) for field in fields]
            columns = self._of_keys[keys] = _SumColumns(fields, places)
        return columns

    @property
    def is_full(self) -> bool:
        """Whether it has the columns of many sets of keys: of values that are missing here and there, which may never recur."""
        return len(self._of_keys) > MAX_KEY_SETS


def _summary_of(stat: Stat) -> _Summary:
    """Return this process's cached data about a summary, by object identity, because comparing stats takes long."""
    known = _known.get(id(stat))
    if known is None or known.stat is not stat or known.is_full:
        if len(_known) >= MAX_SUMMARIES:
            _known.clear()
        known = _known[id(stat)] = _Summary(stat)
    return known


_known: dict[int, _Summary] = {}


@dataclass(slots=True)
class _ClosedRows:
    """Rows of reports that ended, all with the fields of `columns`: for each its sums, which are whole digits, field by field."""

    columns: _SumColumns
    times_us: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    sums: list[list[int]] = field(default_factory=list)

    def add_to(self, builder: BlockBuilder) -> None:
        """Add the rows to the builder: at once, unless the quotient of a large sum would be rounded in an array."""
        powers = [power for _, power in self.columns.places]
        largest = max(map(max, self.sums))
        if largest >= MAX_FLOAT_EXACT:
            for time_us, name, offset, sums in zip(self.times_us, self.names, self.offsets, self.sums, strict=True):
                values = [number / power if power else number for number, power in zip(sums, powers, strict=True)]
                builder.add(Row(values, (), None), time_us, name, offset)
            return
        by_field = np.array(self.sums, np.int64).T
        quotients = by_field / np.array([float(power or 1) for power in powers])[:, None]
        builder.add_bulk(
            BulkRows(
                time_us=np.array(self.times_us, np.int64),
                instances=self.names,
                values=[quotients[at] if power else by_field[at] for at, power in enumerate(powers)],
                line_offset=np.array(self.offsets, np.int64),
                bound=largest,
            )
        )


def _find_ends(block: SampleBlock) -> Int64Array | None:
    """Return the rows at which the reports of a block end, its own end last. Missing: None for few, or where a time is missing."""
    time_us = block.time_us
    if len(time_us) < MIN_ROWS:
        return None
    ends = np.append(np.flatnonzero(time_us[1:] != time_us[:-1]) + 1, len(time_us))
    if len(ends) < MIN_REPORTS or (time_us == NO_TIME).any() or (np.diff(block.line_offset) < 0).any():
        return None
    return ends


def _rows_between(block: SampleBlock, begin: int, end: int) -> SampleBlock:
    """Return some rows of a block, without their words."""
    own = slice(begin, end)
    return replace(
        block,
        time_us=block.time_us[own],
        instances=block.instances[own],
        values=tuple(values[own] for values in block.values),
        line_offset=block.line_offset[own],
        missing=tuple(None if mask is None else mask[own] for mask in block.missing),
        printed={},
    )


class ReportSums:
    """The sums of one summary. `_open` are those of the report at `_time_us`, by command.

    A row that comes again at the same time is of the next report.
    """

    def __init__(self, stat: Stat, state: object, *, is_after_gap: bool) -> None:
        self.stat = stat
        self._summary = _summary_of(stat)
        self._time_us: int | None = None
        self._open: dict[str, CommandSums] = {}
        # The report that lost bytes were part of is not summed.
        self._is_cut = is_after_gap
        # The rows of reports that ended, by the identity of their fields, until they are given to the builders.
        self._closed: dict[int, _ClosedRows] = {}
        # (PID, command) by instance; None for what is no process.
        self._processes: dict[str, tuple[str, str] | None] = {}
        if isinstance(state, list) and len(state) == 3 and not is_after_gap:
            time_us, is_cut, commands = state
            self._time_us = None if time_us is None else int(time_us)
            self._is_cut = is_cut is True
            for name, (offset, seen, sums) in commands.items():
                self._open[str(name)] = CommandSums(int(offset), set(seen), {tuple(sums): list(sums.values())} if sums else {})

    def to_state(self) -> list[object]:
        """Return what the constructor takes."""
        commands = {
            name: [command.offset, sorted(command.seen), dict(sorted(command.by_key().items()))]
            for name, command in self._open.items()
        }
        return [self._time_us, self._is_cut, commands]

    def add(self, blocks: Iterable[SampleBlock], find_builder: FindBuilder) -> None:
        """Take the rows of the processes. Add those of the reports that end with them."""
        parts = list(blocks)
        if len(parts) == 1 and (ends := _find_ends(parts[0])) is not None:
            # The first report may have begun earlier, and the last one may go on.
            (block,) = parts
            first, last = int(ends[0]), int(ends[-2])
            found = self._sum_reports(_rows_between(block, first, last), ends[1:-1] - first)
            if found is not None:
                columns, rows = found
                self._add_rows([_rows_between(block, 0, first)])
                self._close()
                self._time_us = int(block.time_us[last - 1])
                find_builder(self.stat, columns.fields).add_bulk(rows)
                parts = [_rows_between(block, last, len(block))]
        self._add_rows(parts)
        self._hand_over(find_builder)

    def _sum_reports(self, block: SampleBlock, ends: Int64Array) -> tuple[_SumColumns, BulkRows] | None:
        """Return the rows of whole reports, which end at these rows of the block, in the order of their lines.

        Missing: None, and nothing changed, where they must be looked at row by row: a value is missing, a process is there twice,
        or there are too many.
        """
        keys, digits, gaps = self._digits_of(block)
        if gaps.any():
            return None
        names = RowNames.join([block.instances])
        processes = [self._process_of(name) for name in names.names]
        known: dict[tuple[str, str], int] = {}
        commands: dict[str, int] = {}
        process_of = np.array([-1 if one is None else known.setdefault(one, len(known)) for one in processes], np.int64)
        command_of = np.array([-1 if one is None else commands.setdefault(one[1], len(commands)) for one in processes], np.int64)
        report = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        is_process = process_of[names.codes] >= 0
        codes, report, digits = names.codes[is_process], report[is_process], digits[:, is_process]
        if not len(codes) or len(commands) > MAX_COMMANDS or np.bincount(report).max() > MAX_ROWS:
            return None
        if len(distinct_values(report * len(known) + process_of[codes])) < len(codes):
            return None
        groups, first, group_of = np.unique(report * len(commands) + command_of[codes], return_index=True, return_inverse=True)
        order = np.argsort(group_of, kind="stable")
        n_rows = np.bincount(group_of)
        sums = np.add.reduceat(digits[:, order], np.cumsum(n_rows) - n_rows, axis=1)
        if sums.max(initial=0) >= MAX_FLOAT_EXACT:
            return None
        by_line = np.argsort(first)
        numbers = [*sums[:, by_line], n_rows[by_line]]
        columns = self._summary.columns_of(keys)
        rows = first[by_line]
        own = BulkRows(
            time_us=block.time_us[is_process][rows],
            instances=RowNames(list(commands), (groups % len(commands))[by_line]),
            values=[numbers[at] / float(power) if power else numbers[at] for at, power in columns.places],
            line_offset=block.line_offset[is_process][rows],
        )
        return columns, own

    def _add_rows(self, blocks: Iterable[SampleBlock]) -> None:
        """Do the same row by row."""
        found = list(blocks)
        rows = [row for block in found for row in self._rows_of(block)]
        if len(found) > 1:
            # Those of one block are in the order of their lines.
            rows.sort(key=itemgetter(0))
        for offset, time_us, instance, mark, keys, digits in rows:
            if time_us != self._time_us:
                if time_us == NO_TIME:
                    continue
                self._close()
                self._time_us = time_us
            process = self._process_of(instance)
            if process is None:
                continue
            pid, name = process
            row = f"{pid} {mark}"
            command = self._open.get(name)
            if command is not None and row in command.seen:
                self._close()
                command = None
            if command is None:
                if len(self._open) < MAX_COMMANDS:
                    self._open[name] = CommandSums(offset, {row}, {keys: digits})
                continue
            if len(command.seen) >= MAX_ROWS:
                continue
            command.seen.add(row)
            sums = command.sums.get(keys)
            command.sums[keys] = digits if sums is None else list(map(add, sums, digits))

    def _rows_of(self, block: SampleBlock) -> Iterable[tuple[int, int, str, str, tuple[str, ...], list[int]]]:
        """Return each row's place, time and instance, its first column, and the keys and whole digits of its summed values."""
        keys, digits, gaps = self._digits_of(block)
        mark = keys[0] if keys else ""
        each: list[list[int]] = digits.T.tolist() if keys else [[] for _ in range(len(block))]
        keys_of = [keys] * len(block)
        for at in np.flatnonzero(gaps.any(axis=0)).tolist() if gaps.any() else ():
            there = [column for column in range(len(keys)) if not gaps[column][at]]
            keys_of[at] = tuple(keys[column] for column in there)
            each[at] = [each[at][column] for column in there]
        offsets, times = block.line_offset.tolist(), block.time_us.tolist()
        return zip(offsets, times, block.instances, itertools.repeat(mark), keys_of, each, strict=False)

    def _digits_of(self, block: SampleBlock) -> tuple[tuple[str, ...], Int64Array, npt.NDArray[np.bool_]]:
        """Return the keys of the summed values, the whole digits of each row, and where they are missing.

        Shape: (n_keys, n_rows)
        """
        known = self._summary.fields
        own = [
            (known[field.key], values, missing)
            for field, values, missing in zip(block.fields, block.values, block.missing, strict=True)
            if field.key in known
        ]
        if not own:
            return (), np.zeros((0, len(block)), np.int64), np.zeros((0, len(block)), np.bool_)
        powers = np.array([10.0**field.decimals for field, _, _ in own])
        scaled = np.rint(np.stack([values for _, values, _ in own]) * powers[:, None])
        # pidstat prints numbers below 0 without permission; a number this large is not an amount.
        gaps = ~((scaled >= 0) & (scaled < MAX_EXACT))
        for column, (_, _, missing) in enumerate(own):
            if missing is not None:
                gaps[column] |= missing
        return tuple(field.key for field, _, _ in own), np.where(gaps, 0, scaled).astype(np.int64), gaps

    def _process_of(self, instance: str) -> tuple[str, str] | None:
        """Return the PID and the command of an instance. Missing: None for a thread, or an instance that is not a process."""
        if instance not in self._processes:
            split = split_process if len(instance) > MAX_CACHED_LENGTH else _split_again
            self._processes[instance] = split(instance)
        return self._processes[instance]

    def close(self, find_builder: FindBuilder) -> None:
        """Add the rows of the report that has ended."""
        self._close()
        self._hand_over(find_builder)

    def _close(self) -> None:
        """Make rows of the sums of the report that has ended."""
        time_us, commands = self._time_us, self._open
        self._open = {}
        is_cut, self._is_cut = self._is_cut and time_us is not None, self._is_cut and time_us is None
        if is_cut or time_us is None:
            return
        for name, command in sorted(commands.items(), key=lambda item: item[1].offset):
            if len(command.sums) == 1:
                ((keys, sums),) = command.sums.items()
            else:
                by_key = command.by_key()
                keys, sums = tuple(by_key), list(by_key.values())
            n_rows = len(command.seen)
            n_processes = n_rows if n_rows == 1 else len({row.partition(" ")[0] for row in command.seen})
            columns = self._summary.columns_of(keys)
            numbers = [*sums, n_processes]
            closed = self._closed.get(id(columns.fields))
            if closed is None:
                closed = self._closed[id(columns.fields)] = _ClosedRows(columns)
            closed.times_us.append(time_us)
            closed.names.append(name)
            closed.offsets.append(command.offset)
            closed.sums.append([numbers[at] for at, _ in columns.places])

    def _hand_over(self, find_builder: FindBuilder) -> None:
        """Give the rows of the reports that ended to their builders."""
        for closed in self._closed.values():
            closed.add_to(find_builder(self.stat, closed.columns.fields))
        self._closed = {}
