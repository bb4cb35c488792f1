"""Find the readers, and read a piece of a stream with the one that its spec names.

A reader is a module in a package of this folder. It exports `LAYOUT`, the model of its `[layout]` (stats/layout.py), and `Reader`,
the class of one call; specs name it by the module's name. Adding one needs no other edit: see docs/add-ons.md.
A reader never imports another reader; what they share is in `stats.engine`.
"""

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final, Protocol

from normstat.stats.engine.line_engine import LINE_LIMIT
from normstat.stats.engine.shared_text import TextWindow, share_text
from normstat.stats.lazy_mapping import LazyMapping
from normstat.stats.records import NO_TIMING, ReadResult, State, Timing, shift_times
from normstat.stats.spec import Layout, Spec

LAYOUT_NAME: Final = "LAYOUT"
READER_NAME: Final = "Reader"
# The clock that a header may begin with.
CLOCK: Final = re.compile(r"^[0-9:. ]+(?:[AP]M )?")


class ReadCall(Protocol):
    """One call of a reader. With `shares_text`, `window` may say where the lines of the piece stand in a text of many."""

    shares_text: bool
    window: TextWindow | None

    def __init__(self, spec: Spec, *, state: State, offset: int, timing: Timing, command: str) -> None:
        """See read() below for the arguments."""

    def read(self, data: bytes, *, is_final: bool) -> ReadResult:
        """Read all whole lines of the data, and the last one if it is final."""


@dataclass(frozen=True, slots=True)
class ReaderModule:
    """The exports of a reader's module."""

    layout: type[Layout]
    reader: type[ReadCall]


def find_readers(package: ModuleType) -> Mapping[str, ReaderModule]:
    """Return the readers in the packages of a package, by the names of their modules; each is imported when it is first needed.

    Raises: TypeError for two modules of one name, and where a module that does not export LAYOUT and Reader is asked for
    """
    modules: dict[str, str] = {}
    for folder in Path(next(iter(package.__path__))).iterdir():
        # Not __pycache__, which another account may have made for itself alone.
        if folder.name.startswith("_") or not (folder / "__init__.py").is_file():
            continue
        for file in folder.glob("*.py"):
            if file.stem in modules:
                raise TypeError(f"{folder.name}.{file.stem}: a reader has a unique name")
            if file.stem != "__init__":
                modules[file.stem] = f"{package.__name__}.{folder.name}.{file.stem}"
    return LazyMapping(sorted(modules), lambda name: _import_reader(modules[name]))


def _import_reader(name: str) -> ReaderModule:
    module = importlib.import_module(name)
    layout, reader = getattr(module, LAYOUT_NAME, None), getattr(module, READER_NAME, None)
    if not isinstance(layout, type) or not isinstance(reader, type):
        raise TypeError(f"{name}: a reader exports LAYOUT and Reader")
    return ReaderModule(layout, reader)


READERS: Final[Mapping[str, ReaderModule]] = find_readers(importlib.import_module(__name__))


def read(
    spec: Spec,
    data: bytes,
    *,
    state: State,
    offset: int,
    is_final: bool = False,
    timing: Timing = NO_TIMING,
    command: str = "",
    window: TextWindow | None = None,
) -> ReadResult:
    """Return samples, rejected lines and accounts of a piece of a stream.

    `state` is {} at the beginning, else what the call before returned; `offset` is the place of data[0] in the stream. A last line
    without newline is left for the next call, unless `is_final`. `timing` is what is known of the times from elsewhere, `command`
    the command line: its options decide whether the first report covers the time since boot. `window` is one that share_texts
    returned for these bytes: it makes reading faster, and changes nothing of the result.
    Raises: BadRequest for an unknown zone; no bytes raise anything else.
    """
    call = READERS[spec.reader].reader(spec, state=state, offset=offset, timing=timing, command=command)
    call.window = window
    result = call.read(data, is_final=is_final)
    return shift_times(result, timing.shift_us) if timing.shift_us else result


def share_texts(pieces: Sequence[tuple[Spec, State, bytes]]) -> list[TextWindow | None]:
    """Return windows on shared texts, for pieces of different streams, each with its spec and state as for read().

    Missing: None for a piece that is read alone: its reader has no use for a window, or no other piece is like it.
    """
    alike: dict[tuple[int, str], list[int]] = {}
    for number, (spec, state, _) in enumerate(pieces):
        if READERS[spec.reader].reader.shares_text:
            # Rows under different headers would be searched in each other's lines.
            header = CLOCK.sub("", str(state.get("header", "")), count=1)
            alike.setdefault((id(spec), header), []).append(number)
    windows: list[TextWindow | None] = [None] * len(pieces)
    for numbers in alike.values():
        if len(numbers) > 1:
            found = share_text([pieces[number][2] for number in numbers], LINE_LIMIT)
            for number, window in zip(numbers, found, strict=True):
                windows[number] = window
    return windows
