"""Runs made of artefacts: rows of IOzone, of a matrix of IOzone runs, of time(1); and results of a run from its artefacts. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from normstat.artefacts.parts import Number, Part, TablePart
from normstat.errors import BadRequest
from normstat.experiments.measured_values import REAL, SYS, USER
from normstat.stats.measured_value import MeasuredValue

# time(1)'s columns are what we measure of a run ourselves.
TIMES: Final = {"real_s": REAL, "user_s": USER, "sys_s": SYS}
# A run with more results than that is a table, not a run.
MAX_RESULTS: Final = 200
SIZES: Final = ((1 << 40, "T"), (1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k"))


@dataclass(frozen=True, slots=True)
class ArtefactRun:
    """A run from a row of an artefact. `note` is what the tool called it, `seconds` how long it took if that is known."""

    factors: dict[str, str]
    results: list[MeasuredValue]
    note: str = ""
    seconds: float | None = None
    command: str = ""


def runs_of_parts(parts: Sequence[Part]) -> list[ArtefactRun]:
    """Return the runs that an artefact of IOzone or time(1) holds.

    Raises: BadRequest for an artefact of another tool
    """
    found: list[ArtefactRun] = []
    for part in parts:
        if not isinstance(part, TablePart):
            continue
        if part.stat == "iozone_patterns":
            found += _read_matrix(part)
        elif part.stat == "iozone":
            found += _read_iozone(part)
        elif part.stat == "time":
            found += _read_times(part)
    if not found:
        raise BadRequest(
            "Runs can be made of artefacts of IOzone and time(1); this one has neither. Mark its time on the host's page instead"
        )
    return found


def results_of_parts(parts: Iterable[Part]) -> list[MeasuredValue]:
    """Return the results that a run's output holds, where a known tool printed it: IOzone, perf stat, time(1).

    Names are unique: of one that repeats only the first stays.
    """
    found: dict[str, MeasuredValue] = {}
    for part in parts:
        if isinstance(part, TablePart):
            for name, value, unit in _named_values(part):
                found.setdefault(name, MeasuredValue(name, value, unit))
    return list(found.values())[:MAX_RESULTS]


def _named_values(part: TablePart) -> Iterator[tuple[str, float, str]]:
    if part.stat == "iozone":
        rows = _read_iozone(part)
        for row in rows:
            label = "" if len(rows) == 1 else " " + " ".join(row.factors.values())
            yield from ((f"{each.name}{label}", each.value, each.unit) for each in row.results)
    elif part.stat == "time" and part.n_rows == 1:
        yield from ((f"time {each.name}", each.value, each.unit) for each in _read_times(part)[0].results)
    elif part.stat in {"perf_stat", "perf_stat_metrics"}:
        column = next((each for each in part.columns if each.key in {"count", "time_ms", "metric"}), None)
        values = [] if column is None else part.column(column.key)
        for key, value in zip(part.keys[0], values, strict=False):
            if column is not None and value is not None:
                yield key, float(value), column.unit


def _read_matrix(part: TablePart) -> list[ArtefactRun]:
    """Return the runs of a table of parameters: no results, these come from the runs themselves."""
    found = []
    columns = [part.column(key) for key in ("file_size", "disks", "has_threads", "commands")]
    for row, name in enumerate(part.keys[0]):
        size, disks, threads, commands = (values[row] for values in columns)
        factors = {
            "file_size": None if size is None else format_size(size),
            "disks": None if disks is None else f"{disks:g}",
            "threads": None if threads is None else ("yes" if threads else "no"),
            "processes": None if commands is None else f"{commands:g}",
        }
        pattern, _, group = name.partition(" ")
        named = {"pattern": pattern} | {key: value for key, value in factors.items() if value is not None}
        found.append(ArtefactRun(named, [], group))
    return found


def _read_iozone(part: TablePart) -> list[ArtefactRun]:
    found = []
    for row in range(part.n_rows):
        factors = {
            name: format_size(float(keys[row]) * 1024)
            for name, keys in zip(("file_size", "record_length"), part.keys, strict=False)
            if keys[row].isdecimal()
        }
        results = [
            MeasuredValue(column.key, float(value), column.unit)
            for column, values in zip(part.columns, part.values, strict=True)
            if (value := values[row]) is not None
        ]
        found.append(ArtefactRun(factors, results))
    return found


def _read_times(part: TablePart) -> list[ArtefactRun]:
    found = []
    for row, command in enumerate(part.keys[0]):
        values: dict[str, Number | None] = {
            column.key: values[row] for column, values in zip(part.columns, part.values, strict=True)
        }
        results = [MeasuredValue(name, float(value), "s") for key, name in TIMES.items() if (value := values.get(key)) is not None]
        real = values.get("real_s")
        found.append(ArtefactRun({}, results, seconds=None if real is None else float(real), command=command))
    return found


def format_size(n_bytes: float) -> str:
    """Return a size in the largest power of 1024 that divides it.

    >>> format_size(8 << 30), format_size(2731 << 20), format_size(4096), format_size(100)
    ('8G', '2731M', '4k', '100')
    """
    for size, suffix in SIZES:
        if n_bytes >= size and n_bytes % size == 0:
            return f"{n_bytes / size:.0f}{suffix}"
    return f"{n_bytes:.0f}"
