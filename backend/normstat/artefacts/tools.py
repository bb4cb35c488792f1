"""The tools whose output is an artefact, and how much each of them disturbs what it watches."""

import re
from typing import Final

from normstat.stats.observer_effect import Effect
from normstat.stats.spec import Spec

__all__ = ["EFFECTS", "TOOLS", "Effect", "effect_of", "is_artefact"]

# Specs whose output is one answer, not a series: reports of a run, and traces.
TOOLS: Final = frozenset({
    "bcc", "bpftrace", "dtrace", "gc-log", "iozone", "lkst", "lockstat", "ltrace", "mcelog", "opreport",
    "oracle-report", "perf", "perf-tools", "ping", "plockstat", "strace", "systemtap", "time", "truss",
})  # fmt: skip


EFFECTS: Final = {
    "truss": Effect.HEAVY, "strace": Effect.HEAVY, "ltrace": Effect.HEAVY, "systemtap": Effect.HEAVY,
    "bcc": Effect.LIGHT, "bpftrace": Effect.LIGHT, "dtrace": Effect.LIGHT, "folded": Effect.LIGHT, "jstack": Effect.LIGHT,
    "lkst": Effect.LIGHT, "lockstat": Effect.LIGHT, "opreport": Effect.LIGHT, "perf": Effect.LIGHT, "perf-tools": Effect.LIGHT,
    "plockstat": Effect.LIGHT, "pstack": Effect.LIGHT,
    "ftrace": Effect.LIGHT,
}  # fmt: skip
# Probes that fire at every function of the kernel or of a process.
HEAVY_PROBES: Final = re.compile(
    r"\bfbt:[^:]*:[^:]*:|\bpid(?:\d+|\$target):[^:\s]*:[^:\s]*:(?:entry|return)?|\bkprobe:\*|\buprobe:[^:]+:\*"
)


def is_artefact(spec: Spec) -> bool:
    """Return whether what the spec's tool prints is an artefact."""
    return spec.tool in TOOLS


def effect_of(tool: str, command: str) -> Effect:
    """Return how much a tool disturbs, by its name and its command or program.

    >>> effect_of("truss", "truss -c -p 4711"), effect_of("dtrace", "dtrace -n 'pid$target:libc::entry { @ = count(); }'")
    (<Effect.HEAVY: 'heavy'>, <Effect.HEAVY: 'heavy'>)
    >>> effect_of("dtrace", "dtrace -n 'syscall:::entry { @ = count(); }'"), effect_of("iozone", "iozone -a")
    (<Effect.LIGHT: 'light'>, <Effect.NONE: 'none'>)
    """
    if HEAVY_PROBES.search(command) is not None:
        return Effect.HEAVY
    return EFFECTS.get(tool, Effect.NONE)
