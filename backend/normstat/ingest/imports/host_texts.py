"""Split a file with the output of several hosts into a text for each of them.

Which lines are another host's is what their reader says (stats/engine/hosts.py): it takes the lines of the first host and rejects
those of all others. So the file is read once for each host, every time without the lines of those before.
"""

import re
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from normstat.ingest.imports.unpacking import Source
from normstat.runtime.input_limits import HOST_NAME
from normstat.stats.engine.hosts import ANOTHER_HOST, names_in, start_of_others
from normstat.stats.readers import read
from normstat.stats.records import State, Timing
from normstat.stats.spec import Spec

READ_BYTES: Final = 1 << 20
MAX_HOSTS: Final = 100
POD: Final = re.compile(r"pod/(?P<pod>[^/]+)/.+")
# tail puts the file's name above its lines.
FILE_ENDING: Final = re.compile(r"\.(?:log|txt|out|dat|raw|csv|json)$")


class HostText:
    """Lines of a host, in a temporary file without a name."""

    def __init__(self) -> None:
        self._file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the text)
        weakref.finalize(self, self._file.close)
        self.n_bytes = 0

    def add(self, data: bytes) -> None:
        """Add bytes at the end."""
        self._file.write(data)
        self.n_bytes += len(data)

    def open(self) -> Source:
        """Return the text from its beginning."""
        self._file.seek(0)
        return self._file

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class HostLines:
    """The lines of a host; its name is "" where no line has a valid one."""

    host: str
    text: HostText


@dataclass(frozen=True, slots=True)
class HostParting:
    """How a file with several hosts is read. `see` gets the number of bytes after each read, and may raise."""

    spec: Spec
    timing: Timing
    command: str
    see: Callable[[int], None]

    def run(self, source: Source) -> list[HostLines]:
        """Return the texts of the hosts in the order in which the file has them.

        Only the last of MAX_HOSTS may hold lines of several, which are rejected then.
        """
        found: list[HostLines] = []
        rest: HostText | None = None
        state: State = {}
        while True:
            before, own, rest = rest, HostText(), HostText()
            state = self._part(source if before is None else before.open(), own, rest, start_of_others(state))
            found.append(HostLines(_name_of(state), own))
            if before is not None:
                before.close()
            if not rest.n_bytes:
                rest.close()
                return _unique(found)
            if len(found) + 1 == MAX_HOSTS:
                return _unique([*found, HostLines("", rest)])

    def _part(self, source: Source, own: HostText, rest: HostText, state: State) -> State:
        """Write the lines of the first host to `own` and those of all others to `rest`. Return the state at the end."""
        held, offset = b"", 0
        is_final = False
        while not is_final:
            data = source.read(READ_BYTES)
            self.see(len(data))
            is_final = not data
            held += data
            result = read(self.spec, held, state=state, offset=offset, is_final=is_final, timing=self.timing, command=self.command)
            others = ((line.offset - offset, line.n_bytes) for line in result.rejected if line.reason == ANOTHER_HOST.reason)
            for begin, end, is_other in _stretches(others, result.n_taken):
                (rest if is_other else own).add(held[begin:end])
            held, offset, state = held[result.n_taken :], offset + result.n_taken, result.state
        return state


def _stretches(others: Iterator[tuple[int, int]], n_bytes: int) -> Iterator[tuple[int, int, bool]]:
    """Yield the stretches of a piece, [begin, end), and whether each is of other hosts.

    >>> list(_stretches(iter([(2, 3), (5, 1)]), 9))
    [(0, 2, False), (2, 5, True), (5, 6, True), (6, 9, False)]
    """
    at = 0
    for begin, length in sorted(others):
        if begin > at:
            yield at, begin, False
        yield begin, begin + length, True
        at = begin + length
    if at < n_bytes:
        yield at, n_bytes, False


def _unique(parts: list[HostLines]) -> list[HostLines]:
    """Return the parts; a name that two of them have identifies neither."""
    n_named = Counter(part.host for part in parts)
    return [part if n_named[part.host] == 1 else HostLines("", part.text) for part in parts]


def _name_of(state: State) -> str:
    """Return the name that the lines gave their host, the widest first (HostSource). Missing: "" for none that can be a host's."""
    own = state.get("own")
    names = names_in(state.get("hosts"))
    names += [str(own["host"])] if isinstance(own, dict) and own.get("host") else []
    names = [name if (pod := POD.fullmatch(name)) is None else pod["pod"] for name in names]
    return next((name for name in names if HOST_NAME.fullmatch(name) and FILE_ENDING.search(name) is None), "")
