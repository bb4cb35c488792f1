"""Read the text of a trace: find its form by its first lines, and make a log of all."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from normstat.artefacts.parts import LogPart
from normstat.artefacts.trace_log.trace_forms import FORMS, TraceLines
from normstat.runtime.memory import collector_paused

HEAD_LINES: Final = 400
HEAD_BYTES: Final = 1 << 16
# What is no event in a trace: titles, messages of the program that strace watches. More than a third is another tool's output.
MIN_SHARE: Final = 0.6
MIN_EVENTS: Final = 3
MAX_LINE: Final = 16_384
CHUNK_BYTES: Final = 1 << 20
NEWLINE: Final = ord("\n")
MAX_EVENTS: Final = 6_000_000
MAX_KEPT: Final = 200
HEADINGS: Final = ("#", "cpus=", "CPU ", "version =", "strace: ", "time    cpu", "[tid/pid]", "----")


@dataclass(slots=True)
class TraceReading:
    """The log of a text. `rejected`: number, text and reason of the first MAX_KEPT of `n_rejected` lines."""

    stat: str
    tool: str
    part: LogPart | None
    n_lines: int = 0
    n_rejected: int = 0
    rejected: list[tuple[int, str, str]] = field(default_factory=list)


def find_form(data: bytes) -> type[TraceLines] | None:
    """Return the form that most of the first lines have. Missing: None where none fits."""
    head = data[:HEAD_BYTES]
    lines = [line for line in _texts(head if len(data) <= HEAD_BYTES else head[: head.rfind(b"\n") + 1]) if not _is_heading(line)]
    lines = lines[:HEAD_LINES]
    counts = {form: sum(form.pattern.match(line) is not None for line in lines) for form in FORMS}
    best = max(counts, key=lambda form: counts[form])
    return best if counts[best] >= max(min(MIN_EVENTS, len(lines)), 1, MIN_SHARE * len(lines)) else None


def form_of(stat: str) -> type[TraceLines] | None:
    """Return the form of that name. Missing: None for another name."""
    return next((form for form in FORMS if form.stat == stat), None)


def read_trace(data: bytes, form: type[TraceLines]) -> TraceReading:
    """Return the events of a text; other lines are counted, and the first ones kept with their reason."""
    lines = form()
    found = TraceReading(form.stat, form.tool, None)
    # It is needed to the end, so nothing is garbage before.
    # As a line alone, at the beginning of each one.
    every = re.compile(f"^{form.pattern.pattern}", re.MULTILINE)
    with collector_paused():
        for chunk in _chunks(data):
            n_lines = _read_plain(chunk, every, lines, found.n_lines + 1)
            if not n_lines:
                texts = list(_texts(chunk))
                _read_chunk(texts, lines, found)
                n_lines = len(texts)
            found.n_lines += n_lines
    if len(lines.log):
        found.part = lines.log.build(stat=form.stat, title=form.title, clock=lines.clock, decimals=lines.decimals)
    return found


def _read_plain(chunk: bytes, every: re.Pattern[str], lines: TraceLines, first: int) -> int:
    """Take all lines of a chunk, where each one is an event, and return their number. Returns 0, with nothing taken, for others.

    As many matches as lines, each at the beginning of a line, are one for each line: none reaches into the next.
    """
    ends = np.flatnonzero(np.frombuffer(chunk, np.uint8) == NEWLINE)
    if not len(ends) or ends[-1] != len(chunk) - 1 or int(np.diff(ends, prepend=-1).max()) > MAX_LINE or b"\r" in chunk:
        return 0
    rows = every.findall(chunk.decode("utf-8", "replace"))
    is_plain = len(rows) == len(ends) and len(lines.log) + len(rows) <= MAX_EVENTS
    return len(rows) if is_plain and lines.take_rows(rows, range(first, first + len(rows))) else 0


def _read_chunk(texts: list[str], lines: TraceLines, found: TraceReading) -> None:
    """Take the events of some lines, all at once where that gives the same as one by one."""
    match = lines.pattern.match
    matches = [match(text) if len(text) <= MAX_LINE else None for text in texts]
    first = found.n_lines + 1
    rows = [event.groups() for event in matches if event is not None]
    numbers = [number for number, event in enumerate(matches, first) if event is not None]
    are_taken = not rows or (len(lines.log) + len(rows) <= MAX_EVENTS and lines.take_rows(rows, numbers))
    if are_taken and len(rows) == len(texts):
        return
    for number, (text, event) in enumerate(zip(texts, matches, strict=True), first):
        if event is not None:
            reason = "" if are_taken else _take(lines, event, number)
        elif len(text) > MAX_LINE:
            reason = "" if _is_heading(text) else f"longer than {MAX_LINE:,} characters"
        else:
            reason = "" if _is_heading(text) else "no event of this trace"
        if reason:
            found.n_rejected += 1
            if len(found.rejected) < MAX_KEPT:
                found.rejected.append((number, text[:2000], reason))


def _take(lines: TraceLines, event: re.Match[str], number: int) -> str:
    """Take one event; return why it cannot be one, or ""."""
    if len(lines.log) >= MAX_EVENTS:
        return f"the log has more than {MAX_EVENTS:,} events; send less of it"
    try:
        lines.take(event, number)
    except ValueError as error:
        return str(error)[:200]
    return ""


def _chunks(data: bytes) -> Iterator[bytes]:
    """Yield whole lines, some thousands at a time: all at once they would take gigabytes."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + CHUNK_BYTES) + 1 or len(data)
        yield data[start:end]
        start = end


def _texts(data: bytes) -> Iterator[str]:
    """Yield lines without their ends, one at a time: a list of millions would take gigabytes."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield data[start:end].decode("utf-8", "replace").rstrip("\r")
        start = end + 1


def _is_heading(text: str) -> bool:
    stripped = text.lstrip()
    return not stripped or stripped.startswith(HEADINGS)
