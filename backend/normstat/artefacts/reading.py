"""Read the text of an artefact: find its tool, and make parts of what was read. Pure: no SQL, no clock.

A text that no reader knows is an artefact without parts: it is kept and shown as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from normstat.artefacts.duration import commanded_duration, printed_duration
from normstat.artefacts.part_making import make_parts
from normstat.artefacts.parts import LogClock, Part
from normstat.artefacts.pasted_command import take_pasted_command
from normstat.artefacts.perf_call_graph import read_call_graphs
from normstat.artefacts.stack_formats import FORMATS, StackFormat, find_stack_format
from normstat.artefacts.tools import Effect, effect_of
from normstat.artefacts.trace_log.trace_forms import TraceLines
from normstat.artefacts.trace_log.trace_reading import find_form, form_of, read_trace
from normstat.stats.catalogue import require_spec
from normstat.stats.guess import guess_spec
from normstat.stats.readers import read
from normstat.stats.records import NO_TIME, NO_TIMING, Timing
from normstat.stats.spec import Spec
from normstat.window import LATEST_US

MAX_REJECTED: Final = 200
LOG_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class RejectedText:
    """A line of an artefact that could not be read."""

    line_no: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class ArtefactReading:
    """What a text holds.

    `spec` and `tool` are "" for an unknown tool; `command` is the one that was copied with the text, "" without. `first_us`,
    `last_us`: the first and last time that it prints, None without any. `duration_s`: how long the tool watched, None where nothing
    says it. `rejected`: the first MAX_REJECTED of `n_rejected` lines.
    """

    spec: str
    spec_version: int
    tool: str
    command: str
    effect: Effect
    parts: Sequence[Part]
    first_us: int | None
    last_us: int | None
    duration_s: float | None
    n_lines: int
    n_rejected: int
    rejected: Sequence[RejectedText]


def read_artefact(
    data: bytes, *, name: str = "", command: str = "", question: str = "", spec: str | None = None, timing: Timing = NO_TIMING
) -> ArtefactReading:
    """Return the parts of a text.

    `name` (of a file), `command` and `question` help to find the tool where the text is ambiguous; without a command, that above
    the text counts.

    Raises: NotFound for an unknown `spec`
    """
    pasted = take_pasted_command(data)
    found = _read_any(pasted.data, name, command or pasted.command or question, spec, timing)
    # Above a text that no reader knows it may equally be the heading of a page about the tool.
    return replace(found, command=pasted.command if found.tool else "")


def _read_any(data: bytes, name: str, command: str, spec: str | None, timing: Timing) -> ArtefactReading:
    # Logs are no samples of a spec; their lines are so distinctive that they are tried first.
    form = form_of(spec) if spec else find_form(data)
    if form is not None:
        return _read_log(form, data, command)
    stacks = FORMATS.get(spec) if spec else find_stack_format(data)
    if stacks is not None:
        return _read_stacks(stacks, data, f"{command} {name}".strip())
    found = require_spec(spec) if spec else guess_spec(data, name or command)
    if found is None:
        return ArtefactReading(
            "", 0, "", "", effect_of("", command), (), None, None, commanded_duration(command), _count_lines(data), 0, ()
        )
    return _read(found, data if data.endswith(b"\n") or not data else data + b"\n", command, timing)


def _read(spec: Spec, data: bytes, command: str, timing: Timing) -> ArtefactReading:
    result = read(spec, data, state={}, offset=0, is_final=True, timing=timing, command=command)
    blocks = [block for block in (*result.blocks, *result.since_boot) if len(block)]
    parts: list[Part] = make_parts(blocks, data)
    if spec.name == "perf_report":
        parts += read_call_graphs(data)
    times = [time for block in blocks for time in block.time_us.tolist() if time != NO_TIME]
    return ArtefactReading(
        spec=spec.name,
        spec_version=spec.version,
        tool=spec.tool,
        command="",
        effect=effect_of(spec.tool, command),
        parts=parts,
        first_us=min(times, default=None),
        last_us=max(times, default=None),
        duration_s=printed_duration(parts) or commanded_duration(command),
        n_lines=sum(result.accounts.n_lines.values()),
        n_rejected=len(result.rejected),
        rejected=[RejectedText(line.line_no, line.text, line.reason) for line in result.rejected[:MAX_REJECTED]],
    )


def _read_log(form: type[TraceLines], data: bytes, command: str) -> ArtefactReading:
    found = read_trace(data, form)
    first_us = last_us = duration_s = None
    if found.part is not None:
        first, last = int(found.part.time_ns[0]), int(found.part.time_ns[-1])
        duration_s = (last - first) / 1e9 or None
        if found.part.clock is LogClock.EPOCH and last // 1000 < LATEST_US:
            first_us, last_us = first // 1000, last // 1000
    return ArtefactReading(
        spec=form.stat,
        spec_version=LOG_VERSION,
        tool=form.tool,
        command="",
        effect=effect_of(form.tool, command),
        parts=() if found.part is None else (found.part,),
        first_us=first_us,
        last_us=last_us,
        duration_s=duration_s or commanded_duration(command),
        n_lines=found.n_lines,
        n_rejected=found.n_rejected,
        rejected=[RejectedText(line, text, reason) for line, text, reason in found.rejected],
    )


def _read_stacks(found: StackFormat, data: bytes, command: str) -> ArtefactReading:
    result = found.read(data, command)
    return ArtefactReading(
        spec=found.spec,
        spec_version=1,
        tool=found.tool,
        command="",
        effect=effect_of(found.tool, command),
        parts=result.parts,
        first_us=result.first_us,
        last_us=result.last_us,
        duration_s=commanded_duration(command) or result.duration_s,
        n_lines=result.n_lines,
        n_rejected=result.n_rejected,
        rejected=[RejectedText(line.line_no, line.text, line.reason) for line in result.rejected[:MAX_REJECTED]],
    )


def _count_lines(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
