"""Sums by command of the processes of a report: a stat with `summary_of` has one row for each command of each report.

    # Time        UID       PID    %usr %system    %CPU  Command
    12:00:01        0      1312    0.20    0.40    0.60  postgres
    12:00:01        0      1313    1.00    0.00    1.00  postgres      -> postgres: processes 2, %usr 1.20, %system 0.40, %CPU 1.60

A field of the summary is the sum of the field with its key; `processes` is the number of processes with a row. A report ends where
the next one has another time. Sums are made of whole digits, so that their order does not change them.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from normstat.stats.engine.block import BlockBuilder, Row
from normstat.stats.records import NO_TIME, SampleBlock
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
# The builder of the block of these fields.
FindBuilder = Callable[[Stat, tuple[Field, ...]], BlockBuilder]


class ReportSums:
    """The sums of one summary. `_open` are those of the report at `_time_us`: for each command its first line, rows and sums.

    A row is noted as its PID and its first column. One that comes again at the same time is of the next report.
    """

    def __init__(self, stat: Stat, state: object, *, is_after_gap: bool) -> None:
        self.stat = stat
        self._keys = {field.key: field for field in stat.fields}
        self._time_us: int | None = None
        self._open: dict[str, tuple[int, set[str], dict[str, int]]] = {}
        # The report that lost bytes were part of is not summed.
        self._is_cut = is_after_gap
        self._fields: dict[tuple[str, ...], tuple[Field, ...]] = {}
        if isinstance(state, list) and len(state) == 3 and not is_after_gap:
            time_us, is_cut, commands = state
            self._time_us = None if time_us is None else int(time_us)
            self._is_cut = is_cut is True
            for name, (offset, seen, sums) in commands.items():
                self._open[str(name)] = (int(offset), set(map(str, seen)), {str(key): int(value) for key, value in sums.items()})

    def to_state(self) -> list[object]:
        """Return what the constructor takes."""
        commands = {name: [offset, sorted(seen), sums] for name, (offset, seen, sums) in self._open.items()}
        return [self._time_us, self._is_cut, commands]

    def add(self, blocks: Iterable[SampleBlock], builder: FindBuilder) -> None:
        """Add the rows of the processes, and those of the reports that end with them to the builder."""
        rows = sorted(
            (
                (int(offset), block, at)
                for block in blocks
                if block.stat.name == self.stat.summary_of
                for at, offset in enumerate(block.line_offset)
            ),
            key=lambda row: row[0],
        )
        columns = {id(block): self._columns_of(block) for block in {id(row[1]): row[1] for row in rows}.values()}
        for offset, block, at in rows:
            time_us = int(block.time_us[at])
            if time_us == NO_TIME:
                continue
            if time_us != self._time_us:
                self.close(builder)
                self._time_us = time_us
            self._add_row(offset, block.instances[at], columns[id(block)], at, builder)

    def _columns_of(self, block: SampleBlock) -> list[tuple[str, list[int], list[bool] | None]]:
        """Return the key, the digits and the gaps of the columns that are summed."""
        found = []
        for field, values, missing in zip(block.fields, block.values, block.missing, strict=True):
            own = self._keys.get(field.key)
            if own is not None:
                power = 10**own.decimals
                gaps = None if missing is None else missing.tolist()
                found.append((own.key, [round(value * power) for value in values.tolist()], gaps))
        return found

    def _add_row(
        self, offset: int, instance: str, columns: list[tuple[str, list[int], list[bool] | None]], at: int, builder: FindBuilder
    ) -> None:
        process = PROCESS.fullmatch(instance)
        if process is None:
            return
        name = process["command"]
        kernel = KERNEL_THREAD.fullmatch(name)
        name = name if kernel is None else kernel["command"]
        row = f"{process['pid']} {columns[0][0] if columns else ''}"
        found = self._open.get(name)
        if found is not None and row in found[1]:
            self.close(builder)
            found = None
        if found is None:
            if len(self._open) >= MAX_COMMANDS:
                return
            found = self._open[name] = (offset, set(), {})
        _, seen, sums = found
        if len(seen) >= MAX_ROWS:
            return
        seen.add(row)
        for key, digits, gaps in columns:
            # Below 0 is what pidstat prints without permission.
            if digits[at] >= 0 and (gaps is None or not gaps[at]):
                sums[key] = sums.get(key, 0) + digits[at]

    def close(self, builder: FindBuilder) -> None:
        """Add the rows of the report that has ended."""
        time_us, commands = self._time_us, self._open
        self._open = {}
        is_cut, self._is_cut = self._is_cut and time_us is not None, self._is_cut and time_us is None
        if is_cut or time_us is None:
            return
        for name, (offset, seen, sums) in sorted(commands.items(), key=lambda item: item[1][0]):
            sums[PROCESSES] = len({row.partition(" ")[0] for row in seen})
            keys = tuple(key for key in self._keys if key in sums)
            fields = self._fields.get(keys)
            if fields is None:
                fields = self._fields[keys] = tuple(self._keys[key] for key in keys)
            values = [sums[field.key] if field.storage.is_whole else sums[field.key] / 10**field.decimals for field in fields]
            builder(self.stat, fields).add(Row(values, (), None), time_us, name, offset)
