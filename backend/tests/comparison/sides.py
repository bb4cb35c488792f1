"""Sides of stats made of values, as reading makes them of samples."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from normstat.comparison.host_comparison import HostComparison, Task, compare_sides, score_sides
from normstat.comparison.read_side import StatSide
from normstat.comparison.score import StatPair
from normstat.profiles.sketch_reader import is_profiled
from normstat.samples.lookup import StatRef
from normstat.scoring.summary import FloatArray
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field
from normstat.window import Window

START = datetime(2026, 11, 21, 10, tzinfo=UTC)
# (instance, field) -> values, a second apart.
Values = Mapping[tuple[str, str], FloatArray]
Mutes = Sequence[tuple[str, str, str | None]]


def stat_of(name: str, fields: Sequence[Field] | None = None) -> StatRef:
    return StatRef(1, name, name, 1, tuple(load_catalogue().stats[name][1].fields if fields is None else fields))


def field_of(stat: str, key: str) -> Field:
    return next(field for field in load_catalogue().stats[stat][1].fields if field.key == key)


def make_side(stat: StatRef, values: Values, start_s: float) -> StatSide:
    """Fields without any value are not there, nor are rows beyond an instance's last value."""
    names = list(dict.fromkeys(name for name, _ in values))
    keys = list(dict.fromkeys(key for _, key in values))
    report, instance = [], []
    columns: dict[str, list[FloatArray]] = {key: [] for key in keys}
    for number, name in enumerate(names):
        n = max(len(values[name, key]) for key in keys if (name, key) in values)
        report.append(np.arange(n))
        instance.append(np.full(n, number))
        for key in keys:
            column = np.full(n, np.nan)
            own = values.get((name, key), np.empty(0))
            column[: len(own)] = own
            columns[key].append(column)
    n_reports = max(map(len, report), default=0)
    joined = {key: np.concatenate(parts) for key, parts in columns.items()}
    return StatSide(
        stat=stat,
        names=names,
        times_s=start_s + np.arange(n_reports, dtype=np.float64),
        report=np.concatenate(report).astype(np.int64) if report else np.empty(0, np.int64),
        instance=np.concatenate(instance).astype(np.int64) if report else np.empty(0, np.int64),
        values={key: column for key, column in joined.items() if np.isfinite(column).any()},
        n_rows_skipped=0,
    )


def compare_values(
    given: Mapping[str, tuple[Values, Values]], *, mutes: Mutes = (), fields: Sequence[Field] | None = None
) -> HostComparison:
    """Compares stats: name -> baseline and incident, ids and counters left out as reading leaves them out."""
    pairs = []
    n = [max((len(column) for pair in given.values() for column in pair[side].values()), default=0) for side in (0, 1)]
    begin = START.timestamp()
    for name, sides in given.items():
        stat = stat_of(name, fields)
        known = {field.key: field for field in stat.fields if is_profiled(field)}
        baseline, incident = ({pair: column for pair, column in side.items() if pair[1] in known} for side in sides)
        pairs.append(StatPair(known, make_side(stat, baseline, begin), make_side(stat, incident, begin + n[0])))
    middle = START + timedelta(seconds=n[0])
    task = Task(
        host="web1",
        host_id=1,
        incident=Window(middle, middle + timedelta(seconds=max(1, n[1]))),
        baseline_host_ids=(1,),
        baseline=(Window(START, START + timedelta(seconds=max(1, n[0]))),),
        mutes=mutes,
    )
    return compare_sides(task, score_sides(task, pairs), {})
