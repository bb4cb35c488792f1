"""`perf script`: one sample a paragraph, its frames from the leaf.

python3 16533/16540 [001]  1697.313353:   10101010 cpu-clock:ppp:
                  1aef43 _PyObject_Free+0x163 (/usr/lib/libpython3.11.so.1.0)
            7f1ea1e56240 [unknown] ([unknown])

The first frame of a stack is its thread, as comm/tid: a flame graph can tell threads apart, or merge those of one name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from normstat.artefacts.parts import PartColumn
from normstat.artefacts.stack_reading import MAX_FRAMES, StackReading, clean_frame, weight_column
from normstat.artefacts.stack_tree import StackTreeBuilder

# comm pid[/tid] [cpu] time: period event: ..., each but the comm only where -F asked for it.
HEADER: Final = re.compile(
    rb"(?P<comm>\S.{0,60}?)\s+(?P<pid>-?\d+)(?:/(?P<tid>-?\d+))?(?:\s+\[(?P<cpu>\d+)\])?(?:\s+[a-zA-Z.]{2,8})?"
    rb"(?:\s+(?P<time>\d+\.\d+):)?(?:\s+(?P<period>\d+))?(?:\s+(?P<event>[^\s:]+(?::[^\s:]*)*):)?(?:\s+(?P<rest>.*))?\s*"
)
# The same without a process: -F comm,event,ip,sym or -F event,ip,sym.
BARE: Final = re.compile(rb"(?P<comm>\S.{0,60}?)??\s*(?:(?P<period>\d+)\s+)?(?P<event>[a-zA-Z_][^\s:]*(?::[^\s:]*)*):\s*")
FRAME: Final = re.compile(rb"(?P<ip>[0-9a-f]{1,16}) (?P<symbol>.*?)(?: \((?P<dso>[^()]*(?:\([^()]*\)[^()]*)*)\))?")
OFFSET: Final = re.compile(r"\+0x[0-9a-f]+$")
KERNEL: Final = re.compile(r"\[(?:kernel|guest\.kernel)|^\[[^\]]+\](?:\.ko)?$|/vmlinux|\.ko(?:\.[xg]z|\.zst)?$")
SPECIAL: Final = frozenset({"[unknown]", "[vdso]", "[vsyscall]", "[heap]", "[stack]", "[anon]"})
MAX_EVENTS: Final = 30
MAX_KNOWN: Final = 500_000
MIN_SAMPLES: Final = 1
NO_EVENT: Final = "samples"
SAMPLES: Final = weight_column("count", "samples", "", "Samples of the stack.")
EVENTS: Final = {
    "cpu-clock": ("ns", "time on the CPU"), "task-clock": ("ns", "time on the CPU"),
    "cycles": ("cycles", "cycles"), "cpu-cycles": ("cycles", "cycles"), "instructions": ("instructions", "instructions"),
}  # fmt: skip


@dataclass(slots=True)
class _Sample:
    """A sample whose frames are being read: they come from the leaf."""

    event: str
    thread: str
    period: int | None
    frames: list[str]
    line_no: int


def is_perf_script(lines: Sequence[bytes]) -> bool:
    """Return whether the lines are samples of `perf script`: a header with an event, then frames with their addresses."""
    n_samples = 0
    for line, following in zip(lines, [*lines[1:], b""], strict=True):
        if line[:1].strip() and not line.startswith(b"#"):
            found = HEADER.fullmatch(line) or BARE.fullmatch(line)
            is_stack = following[:1] in {b"\t", b" "} and FRAME.fullmatch(following.strip()) is not None
            has_symbol = found is not None and _is_timed(found) and _inline_frame(found) is not None
            n_samples += found is not None and (is_stack or has_symbol)
            if found is None:
                # The first line that is no header: frames of another tool have none.
                return False
    return n_samples >= MIN_SAMPLES


def read_perf_script(data: bytes, command: str) -> StackReading:  # noqa: ARG001 (as all formats)
    """Return a part for each event of the samples."""
    return _PerfScriptReader().read(data)


class _PerfScriptReader:
    def __init__(self) -> None:
        self._found = StackReading()
        self._builders: dict[str, StackTreeBuilder] = {}
        self._sample: _Sample | None = None
        self._first: float | None = None
        self._last: float | None = None
        # The lines of frames, and the threads, come again and again.
        self._frames: dict[bytes, str | None] = {}
        self._threads: dict[tuple[bytes, bytes], str] = {}

    def read(self, data: bytes) -> StackReading:
        found, frames = self._found, self._frames
        for line_no, raw in enumerate(BytesIO(data), 1):
            if raw[0] in b"\t ":
                line = raw.strip()
                if not line:
                    self._end()
                    continue
                frame = frames.get(line)
                if frame is None and line not in frames:
                    frame = self._learn(line)
                if frame is None:
                    found.reject(line_no, line, "no frame of a stack")
                elif self._sample is None:
                    found.reject(line_no, line, "a frame without a sample before it")
                else:
                    self._sample.frames.append(frame)
                continue
            line = raw.rstrip()
            if not line:
                self._end()
            elif not raw.startswith(b"#"):
                self._end()
                self._begin(line, line_no)
        self._end()
        found.n_lines = data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
        if self._first is not None and self._last is not None and self._last > self._first:
            found.duration_s = self._last - self._first
        found.parts = [
            builder.build(stat="perf_script", title=f"Stacks of {event}" if event != NO_EVENT else "Stacks", weight="count")
            for event, builder in self._builders.items()
            if builder.n_stacks
        ]
        return found

    def _learn(self, line: bytes) -> str | None:
        if len(self._frames) >= MAX_KNOWN:
            self._frames.clear()
        frame = self._frames[line] = name_frame(line)
        return frame

    def _begin(self, line: bytes, line_no: int) -> None:
        found = HEADER.fullmatch(line) or BARE.fullmatch(line)
        if found is None:
            self._found.reject(line_no, line, "neither a sample nor a frame")
            return
        given = found.groupdict()
        event = (given["event"] or b"").decode("utf-8", "replace").rstrip(":") or NO_EVENT
        comm, tid = given["comm"] or b"", given.get("tid") or given.get("pid") or b""
        thread = self._threads.get((comm, tid))
        if thread is None:
            if len(self._threads) >= MAX_KNOWN:
                self._threads.clear()
            text = comm + b"/" + tid if comm and tid else comm or tid
            thread = self._threads[comm, tid] = clean_frame(text.decode("utf-8", "replace"))
        if (time := given.get("time")) is not None:
            self._last = float(time)
            self._first = self._last if self._first is None else self._first
        period = int(given["period"]) if given["period"] is not None and len(given["period"]) <= 18 else None
        self._sample = _Sample(clean_frame(event), thread, period, [], line_no)
        if _is_timed(found) and (frame := _inline_frame(found)) is not None:
            self._sample.frames.append(frame)

    def _end(self) -> None:
        sample, self._sample = self._sample, None
        if sample is None:
            return
        if len(sample.frames) > MAX_FRAMES:
            self._found.reject(sample.line_no, sample.thread.encode(), f"a stack of more than {MAX_FRAMES:,} frames")
            return
        builder = self._builders.get(sample.event)
        if builder is None:
            if len(self._builders) >= MAX_EVENTS:
                self._found.reject(sample.line_no, sample.event.encode(), f"more than {MAX_EVENTS} events")
                return
            builder = self._builders[sample.event] = StackTreeBuilder([SAMPLES, _period_column(sample.event)])
        if sample.thread:
            sample.frames.append(sample.thread)
        sample.frames.reverse()
        builder.add(sample.frames, [1, sample.period])


def name_frame(line: bytes) -> str | None:
    """Return the name of a frame, `_[k]` after those of the kernel as FlameGraph writes it. Missing: None for no frame.

    >>> name_frame(b"ffffffff8104f45a native_read_msr+0xa ([kernel.kallsyms])"), name_frame(b"7f1e [unknown] (/lib/libc.so.6)")
    ('native_read_msr_[k]', '[libc.so.6]')
    """
    found = FRAME.fullmatch(line)
    if found is None:
        # -F sym: names alone.
        return clean_frame(OFFSET.sub("", line.decode("utf-8", "replace"))) if b" " not in line else None
    symbol = OFFSET.sub("", found["symbol"].decode("utf-8", "replace").strip())
    dso = (found["dso"] or b"").decode("utf-8", "replace")
    is_kernel = dso not in SPECIAL and KERNEL.search(dso) is not None
    if symbol in {"", "[unknown]"}:
        name = dso.rpartition("/")[2]
        symbol = f"[{name.strip('[]')}]" if name else f"0x{found['ip'].decode()}"
    return clean_frame(f"{symbol}_[k]" if is_kernel else symbol)


def _is_timed(found: re.Match[bytes]) -> bool:
    given = found.groupdict()
    return given["event"] is not None and given.get("rest") is not None


def _inline_frame(found: re.Match[bytes]) -> str | None:
    """Return the one frame that a sample without call graph has in its own line."""
    rest = found.groupdict().get("rest") or b""
    return name_frame(rest.strip()) if FRAME.fullmatch(rest.strip()) is not None and b"=" not in rest else None


def _period_column(event: str) -> PartColumn:
    unit, title = EVENTS.get(event.partition(":")[0], ("", event))
    return weight_column("period", title, unit, "Sum of the periods: how much of the event the samples stand for.")
