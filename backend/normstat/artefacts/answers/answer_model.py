"""The answers, and what they are derived from."""

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import resources

import numpy as np

from normstat.artefacts.parts import Part, TablePart
from normstat.runtime.field_docs import Documented
from normstat.scoring.summary import FloatArray


@dataclass(frozen=True, slots=True)
class AnswerSource(Documented):
    """Where a number of an answer comes from."""

    kind: str
    """artefact, series, or facts: what was recorded about the host and has no graph."""

    text: str
    """The place and its value, in words."""

    part: int | None
    """The part of the artefact; null for a series."""

    row: str
    """The row of the part; empty for all of it."""

    stat: str
    """Of a series."""

    field: str
    instance: str


@dataclass(frozen=True, slots=True)
class AnswerHint(Documented):
    """What usually helps, with its source."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Answer(Documented):
    """An answer derived from an artefact, and from series of its host in the same window."""

    key: str
    """What kind of answer it is, such as calls_per_second."""

    question: str
    sentence: str
    value: float | None
    """Null where it cannot be computed; the sentence says what is missing."""

    unit: str
    formula: str
    """With the numbers; empty where there is none."""

    sources: list[AnswerSource]
    hint: AnswerHint | None
    is_warning: bool
    """Whether it calls for action."""


class SeriesNeed(StrEnum):
    """A quantity of the host that answers ask for.

    disk_write    bytes written a second to the disk that is written most
    mutex_spins   spins on kernel mutexes a second, over all CPUs
    cpu_busy      busy share of all CPUs together, in percent
    n_cpus        number of CPUs that a tool reports
    syscalls      system calls a second, over all CPUs
    """

    DISK_WRITE = "disk_write"
    MUTEX_SPINS = "mutex_spins"
    CPU_BUSY = "cpu_busy"
    N_CPUS = "n_cpus"
    SYSCALLS = "syscalls"


# What would have recorded it, in words for a sentence.
RECORDERS: Mapping[SeriesNeed, str] = {
    SeriesNeed.DISK_WRITE: "iostat -x 1 (Linux) or iostat -xn 1 (Solaris)",
    SeriesNeed.MUTEX_SPINS: "mpstat 1 (Solaris)",
    SeriesNeed.CPU_BUSY: "mpstat -P ALL 1 (Linux) or mpstat 1 (Solaris)",
    SeriesNeed.N_CPUS: "mpstat -P ALL 1 (Linux) or mpstat 1 (Solaris)",
    SeriesNeed.SYSCALLS: "mpstat 1 (Solaris) or vmstat 1 (Solaris)",
}


@dataclass(frozen=True, slots=True)
class SeriesMean:
    """The mean of a quantity in the artefact's window. `n`: samples; `instance` "" for a sum over all; `stat` "" for a fact."""

    value: float
    unit: str
    stat: str
    field: str
    instance: str
    n: int

    def source(self, text: str) -> AnswerSource:
        """Return it as a source."""
        return AnswerSource("series" if self.stat else "facts", text, None, "", self.stat, self.field, self.instance)


@dataclass(frozen=True, slots=True)
class SeriesRun:
    """Samples of a quantity around the artefact, summed over instances. Shape: times_s, values (n,), ascending times"""

    title: str
    unit: str
    stat: str
    field: str
    times_s: FloatArray
    values: FloatArray


@dataclass(frozen=True, slots=True)
class HostJvms:
    """The JVMs of a host around an artefact. `pids`: those that a tool recorded; `processor_sets`: number of CPUs by name"""

    pids: frozenset[int] = frozenset()
    processor_sets: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """An artefact with its parts, and the means of series that were found. Missing: no entry in `series`"""

    id: int
    host: str
    tool: str
    command: str
    question: str
    effect: str
    duration_s: float | None
    parts: Sequence[Part]
    series: Mapping[SeriesNeed, SeriesMean] = field(default_factory=dict)
    runs: Sequence[SeriesRun] = ()
    jvms: HostJvms = field(default_factory=HostJvms)

    @property
    def program(self) -> str:
        """The command and the question, in which a program may stand."""
        return f"{self.command}\n{self.question}"

    def tables(self, *stats: str) -> list[tuple[int, TablePart]]:
        """Return the table parts of these stats (of all without any), each with its position."""
        return [
            (at, part) for at, part in enumerate(self.parts) if isinstance(part, TablePart) and (not stats or part.stat in stats)
        ]


def of_artefact(text: str, part: int | None = None, row: str = "") -> AnswerSource:
    """Return a place in the artefact as a source."""
    return AnswerSource("artefact", text, part, row, "", "", "")


def lacking(key: str, question: str, need: SeriesNeed, what: str, sources: list[AnswerSource]) -> Answer:
    """Return an answer that lacks a series: it names the tool that would have recorded it."""
    sentence = f"{what}; {RECORDERS[need]} of this host in the same window would show the rest, but was not recorded."
    return Answer(key, question, sentence, None, "", "", sources, None, is_warning=False)


def float_array(values: Sequence[float]) -> FloatArray:
    """Return numbers as an array."""
    return np.array(values, np.float64)


@functools.cache
def load_hints() -> dict[str, AnswerHint]:
    """Return the hints by name."""
    text = (resources.files("normstat.artefacts.answers") / "hints.toml").read_text(encoding="utf-8")
    return {name: AnswerHint(entry["text"], entry["source"]) for name, entry in tomllib.loads(text).items()}


def hint(name: str) -> AnswerHint:
    """Return a hint.

    Raises: KeyError
    """
    return load_hints()[name]
