"""Build a log part from events in the order of their lines."""

from array import array
from collections.abc import Iterable
from typing import Final

import numpy as np

from normstat.artefacts.parts import NO_NUMBER, CodedTexts, LogClock, LogPart

DAY_NS: Final = 86_400_000_000_000


class TextCodes(dict[str, int]):
    """The number of each text, in the order in which they came. Asking for a new text numbers it."""

    def __missing__(self, text: str) -> int:
        """Return the number of a new text."""
        code = len(self)
        self[text] = code
        return code


class TextColumn:
    """Texts that become numbers as they come."""

    __slots__ = ("codes", "known")

    def __init__(self) -> None:
        self.known = TextCodes()
        self.codes = array("i")

    def add(self, text: str) -> None:
        """Take the next text."""
        self.codes.append(self.known[text])

    def extend(self, texts: Iterable[str]) -> None:
        """Take the next texts."""
        self.codes.extend(map(self.known.__getitem__, texts))

    def build(self, order: np.ndarray) -> CodedTexts:
        """Return the texts in another order."""
        return CodedTexts(list(self.known), np.array(self.codes, np.int32)[order])


class LogBuilder:
    """Takes events one by one, or columns of them. Missing numbers are NO_NUMBER, missing texts "".

    All columns have one length whenever `build` is called: extend all of them together.
    """

    def __init__(self) -> None:
        self.time = array("q")
        self.cpu = array("i")
        self.pid = array("i")
        self.line = array("i")
        self.duration = array("q")
        self.command = TextColumn()
        self.event = TextColumn()
        self.function = TextColumn()
        self.object = TextColumn()
        self.arguments = TextColumn()

    def __len__(self) -> int:
        return len(self.time)

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
        self.time.append(time_ns)
        self.cpu.append(cpu)
        self.pid.append(pid)
        self.line.append(line)
        self.duration.append(duration_ns)
        self.command.add(command)
        self.event.add(event)
        self.function.add(function)
        self.object.add(about)
        self.arguments.add(arguments)
        return len(self.time) - 1

    def finish(self, number: int, *, duration_ns: int, arguments: str) -> None:
        """Complete an event from a later line: its duration, and all of its arguments with the result."""
        self.duration[number] = duration_ns
        self.arguments.codes[number] = self.arguments.known[arguments]

    def build(self, *, stat: str, title: str, clock: LogClock, decimals: int) -> LogPart:
        """Return the events in the order of their times. Times of a day that jump back by half a day are of the next one."""
        time = np.array(self.time, np.int64)
        if clock is LogClock.DAY and len(time):
            time += DAY_NS * np.concatenate(([0], np.cumsum(np.diff(time) < -DAY_NS // 2)))
        order = np.argsort(time, kind="stable")
        return LogPart(
            stat=stat,
            title=title,
            clock=clock,
            decimals=decimals,
            time_ns=time[order],
            cpu=np.array(self.cpu, np.int32)[order],
            pid=np.array(self.pid, np.int32)[order],
            command=self.command.build(order),
            event=self.event.build(order),
            function=self.function.build(order),
            object=self.object.build(order),
            duration_ns=np.array(self.duration, np.int64)[order],
            arguments=self.arguments.build(order),
            line=np.array(self.line, np.int32)[order],
            n_backwards=int(np.count_nonzero(np.diff(time) < 0)),
        )
