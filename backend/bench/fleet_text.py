"""What agents would send: text of the Linux tools at one report a second, with the clock running, cut into request bodies.

All numbers are drawn again for some hundred reports and then come round again; clocks never do. A stream's key is unique on its
host only, so many hosts can send the same bodies, and a load generator has nothing to compute while it measures.
"""

import datetime as dt
import gzip
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from normstat.ingest.protocol import Frame, FrameKind, format_frames
from normstat.stats.catalogue import require_spec
from normstat.stats.readers import read
from normstat.stats.records import State

N_TEMPLATES: Final = 300
# Where the clock of the report stands, and that of the second before; both as long as what replaces them.
CLOCK: Final = b"@@:@@:@@"
BEFORE: Final = b"##:##:##"
DAY: Final = b"@@@@-@@-@@"
EPOCH: Final = b"%%%%%%%%%%"
GZIP_LEVEL: Final = 6
SECOND: Final = dt.timedelta(seconds=1)

PIDSTAT_HEAD: Final = (
    "# Time        UID       PID    %usr %system  %guest   %wait    %CPU   CPU  minflt/s  majflt/s     VSZ     RSS   %MEM"
    "   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n"
)
IOSTAT_COLUMNS: Final = [
    "r/s", "rkB/s", "rrqm/s", "%rrqm", "r_await", "rareq-sz", "w/s", "wkB/s", "wrqm/s", "%wrqm", "w_await", "wareq-sz",
    "d/s", "dkB/s", "drqm/s", "%drqm", "d_await", "dareq-sz", "f/s", "f_await", "aqu-sz", "%util",
]  # fmt: skip


def _vmstat(rng: random.Random, n: int) -> str:
    head = (
        "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n"
        " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC\n"
    )
    us, sy = rng.randrange(60), rng.randrange(30)
    free, cache = rng.randrange(10**6, 10**7), rng.randrange(10**6)
    row = (
        f"{rng.randrange(9):2} {rng.randrange(3):2}      0 {free} {rng.randrange(10**5)} {cache}"
        f"    0    0 {rng.randrange(9999):5} {rng.randrange(9999):5} {rng.randrange(9999):4} {rng.randrange(9999):4}"
        f" {us:2} {sy:2} {100 - us - sy:2}  0  0 {DAY.decode()} {CLOCK.decode()}\n"
    )
    return head + row if n % 20 == 0 else row


def _mpstat(n_cpus: int) -> Callable[[random.Random, int], str]:
    head = f"\n{BEFORE.decode()}     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n"

    def report(rng: random.Random, n: int) -> str:
        del n
        rows = []
        for name in ("all", *map(str, range(n_cpus))):
            usr, kernel, waiting, soft = rng.random() * 50, rng.random() * 20, rng.random() * 3, rng.random()
            values = (usr, 0, kernel, waiting, 0, soft, 0, 0, 0, 100 - usr - kernel - waiting - soft)
            rows.append(f"{CLOCK.decode()}    {name:>4}" + "".join(f"{value:8.2f}" for value in values) + "\n")
        return head + "".join(rows)

    return report


def _iostat(n_devices: int) -> Callable[[random.Random, int], str]:
    head = f"{'Device':12}" + "".join(f"{column:>9}" for column in IOSTAT_COLUMNS) + "\n"

    def report(rng: random.Random, n: int) -> str:
        del n
        usr, kernel = rng.random() * 50, rng.random() * 20
        cpu = "".join(f"{value:8.2f}" for value in (usr, 0, kernel, 0.25, 0, 99.75 - usr - kernel))
        rows = [
            f"{f'nvme{device}n1':12}" + "".join(f"{rng.random() * 10 ** rng.randrange(4):9.2f}" for _ in IOSTAT_COLUMNS) + "\n"
            for device in range(n_devices)
        ]
        clock = f"\n{DAY.decode()}T{CLOCK.decode()}+0000\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n        "
        return clock + cpu + "\n\n" + head + "".join(rows) + "\n"

    return report


def _pidstat(n_processes: int) -> Callable[[random.Random, int], str]:
    def report(rng: random.Random, n: int) -> str:
        del n
        rows = []
        for process in range(n_processes):
            usr, kernel = rng.random() * 20, rng.random() * 5
            rows.append(
                f"{CLOCK.decode()}     1000 {900 + process:9} {usr:7.2f} {kernel:7.2f}    0.00    0.05 {usr + kernel:7.2f}"
                f" {rng.randrange(4):5} {rng.random() * 99:9.2f}      0.00 {rng.randrange(10**6):7} {rng.randrange(10**5):7}   0.40"
                f" {rng.random() * 999:9.2f} {rng.random() * 999:9.2f}      0.00 {rng.randrange(9):7}  worker{process}\n"
            )
        return PIDSTAT_HEAD + "".join(rows) + "\n"

    return report


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of an agent: what it prints for report n, with marks for the clock, and its banner."""

    spec: str
    command: str
    report: Callable[[random.Random, int], str]
    has_banner: bool


def fleet_tools() -> list[Tool]:
    """A host of some 400 values a second."""
    return [
        Tool("vmstat_linux", "vmstat -t 1", _vmstat, has_banner=False),
        Tool("mpstat_linux", "mpstat -P ALL 1", _mpstat(16), has_banner=True),
        Tool("iostat_linux", "iostat -x -t 1", _iostat(5), has_banner=True),
        Tool("pidstat_linux", "pidstat -dru -h 1", _pidstat(6), has_banner=True),
    ]


def mpstat_tools(n_cpus: int) -> list[Tool]:
    """Only mpstat, of a large machine."""
    return [Tool("mpstat_linux", "mpstat -P ALL 1", _mpstat(n_cpus), has_banner=True)]


def solaris_tools(n_cpus: int) -> list[Tool]:
    """The same of Solaris: sixteen columns of whole numbers, a line with the time before each report."""

    def report(rng: random.Random, n: int) -> str:
        del n
        head = "CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl\n"
        rows = []
        for cpu in range(n_cpus):
            usr, kernel = rng.randrange(60), rng.randrange(30)
            counts = [rng.randrange(10 ** rng.randrange(1, 5)) for _ in range(11)]
            rows.append(
                f"{cpu:3}" + "".join(f" {count:4}" for count in counts) + f" {usr:4} {kernel:3}   0 {100 - usr - kernel:3}\n"
            )
        return f"{EPOCH.decode()}\n{head}" + "".join(rows)

    return [Tool("mpstat_solaris", "mpstat -T u 1", report, has_banner=False)]


class _Printer:
    """A tool that runs: `print_reports` gives the text of the next seconds."""

    def __init__(self, tool: Tool, start: dt.datetime, seed: int) -> None:
        rng = random.Random(f"{tool.spec} {seed}")
        self.tool = tool
        self._templates = [tool.report(rng, n).encode() for n in range(N_TEMPLATES)]
        self._at = start
        self._n = 0

    def print_reports(self, n: int) -> bytes:
        parts = []
        if self._n == 0 and self.tool.has_banner:
            parts.append(f"Linux 6.1.0-40-amd64 (host) \t{self._at:%Y-%m-%d} \t_x86_64_\t(16 CPU)\n".encode())
        for _ in range(n):
            text = self._templates[self._n % N_TEMPLATES]
            text = text.replace(CLOCK, f"{self._at:%H:%M:%S}".encode()).replace(BEFORE, f"{self._at - SECOND:%H:%M:%S}".encode())
            text = text.replace(DAY, f"{self._at:%Y-%m-%d}".encode())
            parts.append(text.replace(EPOCH, str(int(self._at.timestamp())).encode()) if EPOCH in text else text)
            self._at += SECOND
            self._n += 1
        return b"".join(parts)


@dataclass(frozen=True, slots=True)
class Body:
    """One request: gzip of frames, as the agent's gzip makes it, and what is in it."""

    packed: bytes
    n_plain: int
    n_samples: dict[str, int]
    n_values: int
    frames: Sequence[Frame]


def build_bodies(tools: list[Tool], *, start: dt.datetime, n_reports: int, n_bodies: int, seed: int) -> Iterator[Body]:
    """The requests of one agent, one after another, of `n_reports` seconds each."""
    printers = [_Printer(tool, start, seed) for tool in tools]
    offsets = [0] * len(printers)
    states: list[State] = [{} for _ in printers]
    n_samples: dict[str, int] = {}
    n_values = 0
    for number in range(n_bodies):
        frames = []
        # The second body is like all that follow it: only the first has reports since boot and banners.
        if number < 2:
            n_samples, n_values = {}, 0
        for i, printer in enumerate(printers):
            data = printer.print_reports(n_reports)
            if number < 2:
                spec = require_spec(printer.tool.spec)
                found = read(spec, data, state=states[i], offset=offsets[i], command=printer.tool.command)
                assert not found.rejected, found.rejected[:3]
                states[i] = found.state
                for block in found.blocks:
                    n_samples[block.stat.name] = n_samples.get(block.stat.name, 0) + len(block)
                    n_values += len(block) * len(block.fields)
            key = f"{printer.tool.spec}.1795262400.4711-1"
            frames.append(Frame(FrameKind.STREAM, printer.tool.spec, key, offsets[i], len(data), printer.tool.command, data))
            offsets[i] += len(data)
        yield _pack(frames, n_samples, n_values)


def _pack(frames: Sequence[Frame], n_samples: dict[str, int], n_values: int) -> Body:
    plain = format_frames(frames)
    return Body(gzip.compress(plain, GZIP_LEVEL), len(plain), n_samples, n_values, frames)


def join_bodies(bodies: Sequence[Body]) -> Body:
    """One request with what these would bring one after another: an agent that waits longer sends the same output at once."""
    frames = [
        replace(parts[0], length=sum(part.length for part in parts), data=b"".join(part.data for part in parts))
        for parts in zip(*(body.frames for body in bodies), strict=True)
    ]
    n_samples = {name: sum(body.n_samples[name] for body in bodies) for name in bodies[0].n_samples}
    return _pack(frames, n_samples, sum(body.n_values for body in bodies))
