"""Build a log part from events in the order of their lines."""

from typing import Final

import numpy as np

from normstat.artefacts.parts import NO_NUMBER, CodedTexts, LogClock, LogPart

DAY_NS: Final = 86_400_000_000_000


class _TextColumn:
    """Texts that become numbers as they come."""

    __slots__ = ("codes", "known")

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.codes: list[int] = []

    def add(self, text: str) -> None:
        self.codes.append(self.known.setdefault(text, len(self.known)))

    def build(self, order: np.ndarray) -> CodedTexts:
        return CodedTexts(list(self.known), np.array(self.codes, np.int32)[order])


class LogBuilder:
    """Takes events one by one. Missing numbers are NO_NUMBER, missing texts ""."""

    def __init__(self) -> None:
        self._time: list[int] = []
        self._cpu: list[int] = []
        self._pid: list[int] = []
        self._line: list[int] = []
        self._duration: list[int] = []
        self._command = _TextColumn()
        self._event = _TextColumn()
        self._function = _TextColumn()
        self._object = _TextColumn()
        self._arguments = _TextColumn()

    def __len__(self) -> int:
        return len(self._time)

    def add(
        self,
        time_ns: int,
        *,
        event: str,
        cpu: int = NO_NUMBER,
        pid: int = NO_NUMBER,
        command: str = "",
        function: str = "",
        about: str = "",
        duration_ns: int = NO_NUMBER,
        arguments: str = "",
        line: int = NO_NUMBER,
    ) -> int:
        """Add an event, and return its number for `finish`. `about` becomes its object."""
        self._time.append(time_ns)
        self._cpu.append(cpu)
        self._pid.append(pid)
        self._line.append(line)
        self._duration.append(duration_ns)
        self._command.add(command)
        self._event.add(event)
        self._function.add(function)
        self._object.add(about)
        self._arguments.add(arguments)
        return len(self._time) - 1

    def finish(self, number: int, *, duration_ns: int, arguments: str) -> None:
        """Say what a later line tells of an event: how long it took, and all of its arguments with the result."""
        self._duration[number] = duration_ns
        self._arguments.codes[number] = self._arguments.known.setdefault(arguments, len(self._arguments.known))

    def build(self, *, stat: str, title: str, clock: LogClock, decimals: int) -> LogPart:
        """Return the events in the order of their times. Times of a day that jump back by half a day are of the next one."""
        time = np.array(self._time, np.int64)
        if clock is LogClock.DAY and len(time):
            time += DAY_NS * np.concatenate(([0], np.cumsum(np.diff(time) < -DAY_NS // 2)))
        order = np.argsort(time, kind="stable")
        return LogPart(
            stat=stat,
            title=title,
            clock=clock,
            decimals=decimals,
            time_ns=time[order],
            cpu=np.array(self._cpu, np.int32)[order],
            pid=np.array(self._pid, np.int32)[order],
            command=self._command.build(order),
            event=self._event.build(order),
            function=self._function.build(order),
            object=self._object.build(order),
            duration_ns=np.array(self._duration, np.int64)[order],
            arguments=self._arguments.build(order),
            line=np.array(self._line, np.int32)[order],
            n_backwards=int(np.count_nonzero(np.diff(time) < 0)),
        )
