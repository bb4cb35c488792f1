"""Ask about series: those that match words and a verdict, sorted, a page of them with the reason of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from normstat.comparison.findings.wording import name_column, name_series
from normstat.comparison.series_reasons import explain
from normstat.comparison.series_rows import (
    BASELINE,
    INCIDENT,
    MEDIAN,
    VERDICTS,
    BoolArray,
    ComparedField,
    SeriesRows,
    SeriesVerdict,
)
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import natural_key
from normstat.scoring.summary import FloatArray, IntArray
from normstat.stats.catalogue import load_catalogue

SeriesSort = Literal[
    "significance", "change_ratio", "difference", "explained_by_load", "baseline", "incident", "n_baseline", "n_incident", "series"
]  # fmt: skip
# Significant digits of scores.
DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class SeriesQuestion:
    """Which series are wanted. `verdicts`: empty for all of them; `is_descending`: largest first"""

    search: str = ""
    verdicts: Sequence[SeriesVerdict] = ()
    sort: SeriesSort = "significance"
    is_descending: bool = True
    offset: int = 0
    limit: int = 100


@dataclass(frozen=True, slots=True)
class SeriesSide(Documented):
    """The values of a series on one side, in the unit of its field. Missing: null where the side has no sample."""

    n: int
    """Samples."""
    median: float | None
    lowest: float | None
    highest: float | None


@dataclass(frozen=True, slots=True)
class AskedSeries(Documented):
    """A series of a comparison, ranked or not."""

    host: str
    stat: str
    field: str
    column: str
    """As the tool prints it."""
    unit: str
    decimals: int
    """Digits after the point that the tool prints."""
    instance: str
    """Name of the instance; empty for stats without instances."""
    title: str
    """In words."""
    verdict: SeriesVerdict
    reason: str
    """Why it has this verdict: both values, how far it moved, and what would have been unusual."""
    baseline: SeriesSide
    incident: SeriesSide
    difference: float | None
    """Median of the incident minus median of the baseline. Null: a side has no sample."""
    ratio: float | None
    """Median of the incident divided by that of the baseline. Null: a side has no sample, or a median is not above zero."""
    change_ratio: float | None
    """How many times its normal variation the series moved, by its most significant kind of change. Null: not scored."""
    significance: float | None
    """Minus the decimal logarithm of the chance of such a change in a normal window. Null: not scored."""
    explained_by_load: float | None
    """Share of the shift that the load of the host explains, 0..1. Null: not scored."""
    is_disjoint: bool
    """Whether all values of the incident lie outside of the baseline's range."""


@dataclass(frozen=True, slots=True)
class SeriesCounts(Documented):
    """Series that match the search, by verdict."""

    unusual: int
    likely: int
    unchanged: int
    appeared: int
    disappeared: int
    insufficient_data: int
    muted: int


@dataclass(frozen=True, slots=True)
class AskedSeriesPage(Documented):
    """A page of the series that match."""

    n_series: int
    """All series of the comparison."""
    n_matched: int
    """Series that match the search and the verdict."""
    counts: SeriesCounts
    offset: int
    series: list[AskedSeries]


def ask_series(hosts: Sequence[SeriesRows], question: SeriesQuestion) -> AskedSeriesPage:
    """Return the page of series that the question asks for."""
    words = question.search.lower().split()
    matched = [np.flatnonzero(_matches(rows, words)) for rows in hosts]
    verdicts = [rows.verdict[some] for rows, some in zip(hosts, matched, strict=True)]
    counts = np.bincount(np.concatenate([*verdicts, np.empty(0, np.int8)]), minlength=len(VERDICTS)).tolist()
    if question.verdicts:
        codes = [VERDICTS.index(verdict) for verdict in question.verdicts]
        matched = [some[np.isin(own, codes)] for some, own in zip(matched, verdicts, strict=True)]
    of_host = np.repeat(np.arange(len(hosts)), [len(some) for some in matched])
    places = np.concatenate([*matched, np.empty(0, np.intp)])
    order = _order(hosts, matched, question)[question.offset : question.offset + question.limit]
    page = zip(of_host[order].tolist(), places[order].tolist(), strict=True)
    return AskedSeriesPage(
        n_series=sum(map(len, hosts)),
        n_matched=len(places),
        counts=SeriesCounts(*counts),
        offset=question.offset,
        series=[_to_series(hosts[host], row) for host, row in page],
    )


def _matches(rows: SeriesRows, words: Sequence[str]) -> BoolArray:
    """Return whether each row has every word in its stat, field, column, instance or host, and no `-word`. Shape: -> (n_rows,)

    A process is also found by its id where its command is compared.
    """
    fields = [_text_of(item) for item in rows.fields]
    names = [name.lower() for name in rows.instances]
    found = np.ones(len(rows), np.bool_)
    for word in words:
        # As in the filters of the page.
        is_excluded = word.startswith("-") and len(word) > 1
        wanted = word[1:] if is_excluded else word
        in_field = np.array([wanted in text for text in fields], np.bool_)
        command = rows.commands.get(wanted, "").lower()
        in_name = np.array([wanted in name or (command != "" and name == command) for name in names], np.bool_)
        has_word = in_field[rows.field] | in_name[rows.instance] | (wanted in rows.host.lower())
        found &= has_word != is_excluded
    return found


def _text_of(item: ComparedField) -> str:
    known = load_catalogue().stats.get(item.stat)
    about = () if known is None else (known[0].tool, known[1].title, known[1].instance_title)
    field = item.field
    return " ".join((item.stat, *about, field.key, field.group, field.column, name_column(field), field.unit)).lower()


def _order(hosts: Sequence[SeriesRows], matched: Sequence[IntArray], question: SeriesQuestion) -> IntArray:
    """Return the order of the rows that match: by the wanted number, then by difference."""
    if question.sort == "series":
        names = [ranks[some] for ranks, some in zip(_name_ranks(hosts), matched, strict=True)]
        order = np.argsort(np.concatenate([*names, np.empty(0, np.int64)]), kind="stable")
        return np.asarray(order[::-1] if question.is_descending else order, np.int64)
    keys = [_sort_key(rows, question.sort)[some] for rows, some in zip(hosts, matched, strict=True)]
    apart = [rows.decades[some] for rows, some in zip(hosts, matched, strict=True)]
    key, difference = (np.concatenate([*parts, np.empty(0)]) for parts in (keys, apart))
    # What is missing comes last in either direction.
    key = np.where(np.isnan(key), np.inf, -key if question.is_descending else key)
    difference = np.where(np.isnan(difference), np.inf, -difference)
    # Otherwise equal ones stay in the order of hosts and stats.
    return np.asarray(np.lexsort((difference, key)), np.int64)


def _name_ranks(hosts: Sequence[SeriesRows]) -> list[IntArray]:
    """Return the place of each row in the order of names: host, stat, instance, field. Shape: each (n_rows,)"""
    ranks = []
    begin = 0
    for rows in hosts:
        fields = [(item.stat, number) for number, item in enumerate(rows.fields)]
        stats = {name: rank for rank, name in enumerate(sorted({name for name, _ in fields}))}
        stat = np.array([stats[name] for name, _ in fields], np.int64)
        order = sorted(range(len(rows.instances)), key=lambda number: natural_key(rows.instances[number]))
        instance = np.empty(len(order), np.int64)
        instance[order] = np.arange(len(order))
        places = np.lexsort((rows.field, instance[rows.instance], stat[rows.field])) if len(rows) else np.empty(0, np.int64)
        own = np.empty(len(rows), np.int64)
        own[places] = begin + np.arange(len(rows))
        begin += len(rows)
        ranks.append(own)
    return ranks


def _sort_key(rows: SeriesRows, sort: SeriesSort) -> FloatArray:
    is_scored = rows.kind >= 0
    match sort:
        case "difference":
            return rows.decades
        case "baseline" | "incident":
            return np.asarray(rows.values[BASELINE if sort == "baseline" else INCIDENT, MEDIAN], np.float64)
        case "n_baseline" | "n_incident":
            return np.asarray(rows.n[BASELINE if sort == "n_baseline" else INCIDENT], np.float64)
        case "change_ratio":
            return np.asarray(np.where(is_scored, rows.change_ratio, np.nan), np.float64)
        case "explained_by_load":
            return np.asarray(np.where(is_scored, rows.explained_by_load, np.nan), np.float64)
        case _:
            return np.asarray(np.where(is_scored, rows.significance, np.nan), np.float64)


def _to_series(rows: SeriesRows, row: int) -> AskedSeries:
    item, instance = rows.fields[int(rows.field[row])], rows.instances[int(rows.instance[row])]
    verdict = VERDICTS[int(rows.verdict[row])]
    baseline, incident = (_to_side(rows, row, side) for side in (BASELINE, INCIDENT))
    one, other = baseline.median, incident.median
    is_scored = verdict in ("unusual", "likely", "unchanged", "muted")
    return AskedSeries(
        host=rows.host,
        stat=item.stat,
        field=item.field.key,
        column=name_column(item.field),
        unit=item.field.unit,
        decimals=item.field.decimals,
        instance=instance,
        title=name_series(item.stat, instance, item.field),
        verdict=verdict,
        reason=explain(rows, row, verdict),
        baseline=baseline,
        incident=incident,
        difference=None if one is None or other is None else _round(other - one),
        ratio=None if one is None or other is None or one <= 0 or other <= 0 else _round(other / one),
        change_ratio=_round(float(rows.change_ratio[row])) if is_scored else None,
        significance=_round(float(rows.significance[row])) if is_scored else None,
        explained_by_load=_round(float(rows.explained_by_load[row])) if is_scored else None,
        is_disjoint=rows.is_disjoint(row),
    )


def _to_side(rows: SeriesRows, row: int, side: int) -> SeriesSide:
    median, lowest, highest = (None if np.isnan(value) else value for value in rows.values[side, :, row].tolist())
    return SeriesSide(int(rows.n[side, row]), median, lowest, highest)


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
