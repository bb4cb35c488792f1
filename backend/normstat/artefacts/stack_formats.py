"""Texts that are nothing but stacks: folded stacks, `perf script`, thread dumps of jstack, gdb and pstack.

Each format is found by its first lines and read line by line, so that a hundred MB of it take seconds. No reader of `stats` knows
them: they have neither columns nor a report that repeats.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from normstat.artefacts import folded_stacks, perf_script, thread_dumps
from normstat.artefacts.stack_reading import StackReading

HEAD_BYTES: Final = 64 << 10
HEAD_LINES: Final = 400


@dataclass(frozen=True, slots=True)
class StackFormat:
    """A format: the `spec` that names it, the tool that prints it, whether the first lines are its, and what reads it."""

    spec: str
    tool: str
    is_like: Callable[[Sequence[bytes]], bool]
    read: Callable[[bytes, str], StackReading]


FORMATS: Final = {
    each.spec: each
    for each in (
        StackFormat("perf_script", "perf", perf_script.is_perf_script, perf_script.read_perf_script),
        StackFormat("jstack", "jstack", thread_dumps.is_jstack, thread_dumps.read_jstack),
        StackFormat("pstack", "pstack", thread_dumps.is_pstack, thread_dumps.read_pstack),
        StackFormat("folded", "folded", folded_stacks.is_folded, folded_stacks.read_folded),
    )
}


def find_stack_format(data: bytes) -> StackFormat | None:
    """Return the format that the text begins in. Missing: None for any other text.

    >>> find_stack_format(b"java;main;run 12\\njava;main;stop 3\\n").spec
    'folded'
    """
    head = data[:HEAD_BYTES].split(b"\n")[:HEAD_LINES]
    if len(data) > HEAD_BYTES and len(head) < HEAD_LINES:
        # The last line may be cut off.
        head.pop()
    lines = [line.rstrip(b"\r") for line in head]
    return next((each for each in FORMATS.values() if each.is_like(lines)), None)
