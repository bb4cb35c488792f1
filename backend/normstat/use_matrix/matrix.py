"""Answer the USE matrix of a host at a moment, from the means of the minutes before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.comparison.findings.human import format_human
from normstat.field_docs import Documented
from normstat.query.busy_cpus import CPU
from normstat.query.host_os import read_host_os
from normstat.query.minute_means import read_minute_means
from normstat.rules.rule_frame import find_fields
from normstat.stats.spec import Field
from normstat.stats.summaries import is_summary
from normstat.stats.units import to_base
from normstat.storage.lookup import InstanceRef, StatRef, list_host_stats, list_latest_instances, require_host
from normstat.use_matrix.checklist import RESOURCE_TITLES, UseKind, UseQuestion, UseSource, load_checklist
from normstat.window import Window

# The matrix shows the means of so many minutes before the moment.
WINDOW: Final = timedelta(minutes=5)
LOOPBACK: Final = frozenset({"lo", "lo0"})
WHOLE: Final = 100.0
BASE_UNITS: Final = ("ms", "bytes", "bytes/s")

# fine, warning, critical: by the limits; no_limit: there is a value but no number that says whether it is too much;
# not_recorded: run the command.
UseState = Literal["fine", "warning", "critical", "no_limit", "not_recorded"]


@dataclass(frozen=True, slots=True)
class UseCell(Documented):
    """One question about a resource, and its answer."""

    kind: UseKind
    about: str
    state: UseState
    text: str
    """The value with its instance: `vda 83 %`; empty where nothing is recorded."""

    n_instances: int
    """How many instances were looked at; the worst is shown."""

    stat: str | None
    """Where the value is from; null where nothing is recorded."""

    field: str | None
    instance: str
    limits: str
    """From which values on it is a warning or critical, and who says so."""

    command: str
    """What answers it by hand on this system."""


@dataclass(frozen=True, slots=True)
class UseRow(Documented):
    """A resource of the host."""

    resource: str
    title: str
    cells: list[UseCell]


@dataclass(frozen=True, slots=True)
class UseMatrix(Documented):
    """Utilisation, saturation and errors of the resources of a host: means of the window."""

    host: str
    start: datetime
    end: datetime
    rows: list[UseRow]


@dataclass(frozen=True, slots=True)
class _Value:
    """The worst instance of a field. `value`: in the unit of the limits; `n`: instances looked at"""

    value: float
    text: str
    instance: str
    n: int


class _Reader:
    """Reads each stat of a host once."""

    def __init__(self, session: AsyncSession, host_id: int, window: Window, stats: Sequence[StatRef]) -> None:
        self._session = session
        self._host_id = host_id
        self._window = window
        self.stats = {stat.name: stat for stat in stats}
        self._instances: dict[str, list[InstanceRef]] = {}
        self._values: dict[tuple[str, str], dict[str, float]] = {}

    async def read(self, stat: str, field: Field) -> dict[str, float]:
        """Return the mean of a field in the window, by instance; those without a value are left out."""
        key = (stat, field.key)
        ref = self.stats[stat]
        if key not in self._values and any(own.key == field.key for own in ref.fields):
            instances = await self._list(ref)
            means = await read_minute_means(
                self._session,
                ref,
                [own for own in ref.fields if own.key == field.key],
                host_ids=[self._host_id],
                instance_ids=[one.id for one in instances],
                window=self._window,
            )
            names = {one.id: one.name for one in instances}
            self._values[key] = _by_instance(means.instance_id, means.means[:, 0], means.n_rows, names)
        return self._values.get(key, {})

    async def count_cpus(self) -> int | None:
        """Return the number of CPUs that a tool reported one by one. Missing: None where none did"""
        for stat in self.stats.values():
            if stat.name.startswith("mpstat"):
                n_cpus = sum(CPU.fullmatch(one.name) is not None for one in await self._list(stat))
                if n_cpus:
                    return n_cpus
        return None

    async def _list(self, stat: StatRef) -> list[InstanceRef]:
        if stat.name not in self._instances:
            self._instances[stat.name], _ = await list_latest_instances(self._session, self._host_id, stat, self._window)
        return self._instances[stat.name]


def _by_instance(ids: np.ndarray, means: np.ndarray, n_rows: np.ndarray, names: dict[int, str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for instance_id in np.unique(ids).tolist():
        own = (ids == instance_id) & ~np.isnan(means)
        if own.any():
            found[names[instance_id]] = float(np.average(means[own].astype(np.float64), weights=n_rows[own]))
    return found


async def read_matrix(session: AsyncSession, host: str, at: datetime) -> UseMatrix:
    """Return the matrix of a host at a moment.

    Raises: NotFound for an unknown host
    """
    host_id = await require_host(session, host)
    window = Window(at - WINDOW, at)
    reader = _Reader(session, host_id, window, await list_host_stats(session, host_id))
    system = "sunos" if (await read_host_os(session, [host])).get(host, "").startswith("SunOS") else "linux"
    rows: dict[str, list[UseCell]] = {resource: [] for resource in RESOURCE_TITLES}
    for question in load_checklist():
        rows[question.resource].append(await _answer(reader, question, system))
    return UseMatrix(
        host, window.start, window.end, [UseRow(resource, RESOURCE_TITLES[resource], cells) for resource, cells in rows.items()]
    )


async def _answer(reader: _Reader, question: UseQuestion, system: str) -> UseCell:
    command = question.commands[system]
    for source in question.sources:
        for stat, field in find_fields(source.wanted, list(reader.stats)):
            value = await _find_value(reader, source, stat, field)
            if value is None:
                continue
            state, limits = judge_value(source, value.value), describe_limits(source)
            place = (stat, field.key, value.instance)
            return UseCell(question.kind, question.about, state, value.text, value.n, *place, limits, command)
    return UseCell(question.kind, question.about, "not_recorded", "", 0, None, None, "", "", command)


async def _find_value(reader: _Reader, source: UseSource, stat: str, field: Field) -> _Value | None:
    """Return the value of a field that answers a cell. Missing: None without samples, or for each CPU without their number"""
    values = await reader.read(stat, field)
    if source.wanted.is_each:
        own = {name: value for name, value in values.items() if not is_summary(stat, name) and name not in LOOPBACK}
    else:
        own = {name: value for name, value in values.items() if not name or is_summary(stat, name)}
    n_cpus = await reader.count_cpus() if source.is_per_cpu else 1
    if not own or n_cpus is None:
        return None
    return choose_worst(source, field, own, n_cpus)


def choose_worst(source: UseSource, field: Field, values: dict[str, float], n_cpus: int) -> _Value:
    """Return the instance with the highest value of a cell."""
    unit = source.wanted.unit
    factor = (to_base(1.0, field.unit) or 1.0) if unit in BASE_UNITS else 1.0
    cells = {name: (WHOLE - value if source.is_idle else value * factor / n_cpus) for name, value in values.items()}
    name = max(cells, key=lambda each: cells[each])
    text = format_human(cells[name], unit if unit != "1" else "")
    if unit == "1/s":
        text = format_human(values[name], field.unit)
    if source.is_per_cpu:
        text = f"{text} for each CPU"
    return _Value(cells[name], f"{name} {text}" if source.wanted.is_each else text, name, len(cells))


def judge_value(source: UseSource, value: float) -> UseState:
    """Return the state of a value.

    >>> judge_value(load_checklist()[0].sources[0], 71.5)
    'warning'
    """
    if source.amber is None and source.above is None:
        return "no_limit"
    if source.red is not None and value >= source.red:
        return "critical"
    is_high = value >= source.amber if source.amber is not None else value > (source.above or 0.0)
    return "warning" if is_high else "fine"


def describe_limits(source: UseSource) -> str:
    """Return the limits with their source. Empty without one."""
    unit = "" if source.wanted.unit == "1" else source.wanted.unit
    parts = []
    if source.amber is not None:
        parts.append(f"warning from {format_human(source.amber, unit)}")
    if source.above is not None:
        parts.append("warning above 0" if source.above == 0 else f"warning above {format_human(source.above, unit)}")
    if source.red is not None:
        parts.append(f"critical from {format_human(source.red, unit)}")
    return f"{', '.join(parts)} ({source.limits_from})" if parts else ""
