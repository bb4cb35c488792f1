"""Folded stacks: one stack a line, its frames from the root, and its weight, as FlameGraph's stackcollapse programs print them.

java;start_thread;run;read 12
java;start_thread;GC 55.25
"""

import re
from collections.abc import Sequence
from io import BytesIO
from typing import Final

from normstat.artefacts.parts import PartColumn
from normstat.artefacts.stack_reading import MAX_FRAMES, StackReading, clean_frame, weight_column
from normstat.artefacts.stack_tree import StackTreeBuilder
from normstat.stats.spec import Kind

SEPARATOR: Final = b";"
STACK: Final = re.compile(rb"\S.*[ \t](\d{1,30}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,3})?)")
WEIGHT: Final = re.compile(rb"\d{1,30}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,3})?")
MAX_INT: Final = (1 << 63) - 1
# Of the first lines, this share must be stacks.
MIN_SHARE: Final = 0.9
MIN_STACKED: Final = 0.3
# Output of other tools with their own separator: a number first.
NO_FRAME: Final = re.compile(rb"[\d.,\s-]*;")
# The tools whose folded stacks are times off the CPU, in microseconds.
OFF_CPU: Final = re.compile(r"off-?_?(?:cpu|wake)|wakeuptime|blocked", re.IGNORECASE)
BYTES: Final = re.compile(r"memleak|malloc.*bytes|alloc.*bytes|brk.*bytes", re.IGNORECASE)


def is_folded(lines: Sequence[bytes]) -> bool:
    """Return whether most of the lines are folded stacks.

    >>> is_folded([b"java;main;run 12"]), is_folded([b"a line of 12"]), is_folded([b"12;;cycles:u;100.00;; 5"])
    (True, False, False)
    """
    given = [line for line in lines if line.strip() and not line.startswith(b"#")]
    stacks = [line for line in given if STACK.fullmatch(line) and NO_FRAME.match(line) is None]
    with_separator = sum(SEPARATOR in line for line in stacks)
    return bool(stacks) and len(stacks) >= MIN_SHARE * len(given) and with_separator >= max(1, MIN_STACKED * len(given))


def read_folded(data: bytes, command: str) -> StackReading:
    """Return the stacks of a text. `command` (or the name of the file) distinguishes times off the CPU from samples."""
    found = StackReading()
    builder = StackTreeBuilder([_column(command)])
    add = builder.add
    known: dict[bytes, str] = {}
    for line_no, raw in enumerate(BytesIO(data), 1):
        line = raw.rstrip()
        found.n_lines += 1
        if not line or line.startswith(b"#"):
            continue
        # At the last blank, or tab.
        stack, _, text = line.rpartition(b" ")
        if not stack:
            stack, _, text = line.rpartition(b"\t")
        weight = _weight(text)
        if weight is None or not stack:
            found.reject(line_no, line, "no weight at the end of the line")
            continue
        names = stack.strip().split(SEPARATOR)
        if len(names) > MAX_FRAMES:
            found.reject(line_no, line, f"a stack of more than {MAX_FRAMES:,} frames")
            continue
        frames = []
        for name in names:
            frame = known.get(name)
            if frame is None:
                if len(known) > 1_000_000:
                    known.clear()
                frame = known[name] = clean_frame(name.decode("utf-8", "replace"))
            if frame:
                frames.append(frame)
        add(frames, [weight])
    found.parts = [builder.build(stat="folded", title="Stacks", weight=builder.columns[0].key)] if builder.n_stacks else []
    return found


def _weight(text: bytes) -> int | float | None:
    if text.isdigit() and len(text) <= 18:
        return int(text)
    if WEIGHT.fullmatch(text) is None:
        return None
    value = float(text)
    if value == float("inf"):
        return None
    return int(text) if text.isdigit() and int(text) <= MAX_INT else value


def _column(command: str) -> PartColumn:
    if OFF_CPU.search(command):
        return weight_column("us", "time off the CPU", "us", "Time that the stack was not on a CPU.", Kind.TIME)
    if BYTES.search(command):
        return weight_column("bytes", "bytes", "bytes", "Bytes of the stack.")
    return weight_column("count", "samples", "", "The number at the end of each line: usually samples.")
