"""Read the text of a trace: find its form by its first lines, and make a log of all."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from normstat.artefacts.parts import LogPart
from normstat.artefacts.trace_log.trace_forms import FORMS, TraceLines

HEAD_LINES: Final = 400
HEAD_BYTES: Final = 1 << 16
# What is no event in a trace: titles, messages of the program that strace watches. More than a third is another tool's output.
MIN_SHARE: Final = 0.6
MIN_EVENTS: Final = 3
MAX_LINE: Final = 16_384
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
    """Return the events of a text; what is none is counted, and the first lines are kept with their reason."""
    lines = form()
    match = form.pattern.match
    found = TraceReading(form.stat, form.tool, None)
    for number, text in enumerate(_texts(data), 1):
        found.n_lines += 1
        reason = ""
        if len(text) <= MAX_LINE and (event := match(text)) is not None:
            if len(lines.log) >= MAX_EVENTS:
                reason = f"the log has more than {MAX_EVENTS:,} events; send less of it"
            else:
                try:
                    lines.take(event, number)
                except ValueError as error:
                    reason = str(error)[:200]
        elif not _is_heading(text):
            reason = "no event of this trace" if len(text) <= MAX_LINE else f"longer than {MAX_LINE:,} characters"
        if reason:
            found.n_rejected += 1
            if len(found.rejected) < MAX_KEPT:
                found.rejected.append((number, text[:2000], reason))
    if len(lines.log):
        found.part = lines.log.build(stat=form.stat, title=form.title, clock=lines.clock, decimals=lines.decimals)
    return found


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
