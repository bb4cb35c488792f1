"""Answers about how something is spread: over few rows, over repeated reports, over time, towards a limit; and hardware errors."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Final

from normstat.artefacts.answers.answer_model import Answer, AnswerSource, Evidence, float_array, hint, of_artefact
from normstat.artefacts.duration import commanded_duration, counted_seconds
from normstat.artefacts.parts import LogPart, Number, TablePart
from normstat.artefacts.table_view import MergedRow, merge_rows, sum_of
from normstat.artefacts.trace_log.queue_depth import measure_queues
from normstat.comparison.findings.stalls import describe_bouts, find_stalls
from normstat.runtime.readable import format_digits, format_percent, join_words

# Few rows that hold this share of the cost are the answer.
NEARLY_ALL: Final = 0.9
MAX_FEW: Final = 4
COSTS: Final = ("total_ns", "total_s", "seconds")
COUNTS: Final = ("count", "calls", "events")
MAX_REPORTS_LISTED: Final = 6
MAX_KEYS_LISTED: Final = 3
# Reports that differ by less are steady.
STEADY: Final = 0.1
MIN_REPORTS_OF_STALLS: Final = 8
MCE: Final = ("mcelog_events", "mcelog_memory")
NUMBERS: Final = ("no", "one", "two", "three", "four")


def answer_spread(evidence: Evidence) -> Iterator[Answer]:
    """Yield the answers about how something is spread."""
    yield from _few_places(evidence)
    yield from _reports(evidence)
    yield from _stalls(evidence)
    yield from _queue(evidence)
    yield from _hardware(evidence)


def _few_places(evidence: Evidence) -> Iterator[Answer]:
    for at, part in evidence.tables():
        cost = _first(part, COSTS)
        if cost is None or part.n_rows <= MAX_FEW or part.stat.endswith(("totals", "section")):
            continue
        rows = sorted(merge_rows(part, part.key_names), key=lambda row: -(row.values[_at(part, cost)] or 0))
        total = sum_of(row.values[_at(part, cost)] for row in rows)
        if not total:
            continue
        shares = _row_shares(part, [row.values for row in rows], cost, total)
        running = 0.0
        few = 0
        while few < min(MAX_FEW, len(rows) - 1) and running < NEARLY_ALL:
            running += shares[few]
            few += 1
        if running < NEARLY_ALL:
            continue
        names = [_name(row.key) for row in rows[:few]]
        places = "1 place" if few == 1 else f"{few} places"
        what = "busy-wait time" if part.stat.startswith("lkst") else "the time"
        sentence = f"{format_percent(running * 100, 3)} of {what} in {places}: {join_words(names)}."
        count = _first(part, COUNTS)
        if count is not None:
            sentence += _by_count_words(part, rows, names, shares, count)
        formula = " + ".join(format_digits(share * 100, 3) for share in shares[:few]) + f" = {format_percent(running * 100, 3)}"
        yield Answer(
            "few_places", "Where does the time go?", sentence, running * 100, "%", formula, [of_artefact(part.title, at, names[0])],
            hint("by_cost"), is_warning=False,
        )  # fmt: skip


def _row_shares(part: TablePart, rows: Sequence[Sequence[Number | None]], cost: str, total: Number) -> list[float]:
    """Return the shares of rows: as printed, which are of everything, also of what is not listed; else of the listed sum."""
    if _first(part, ("share_pct",)) is not None:
        printed = [row[_at(part, "share_pct")] for row in rows]
        if all(value is not None for value in printed):
            return [float(value or 0) / 100 for value in printed]
    return [float(row[_at(part, cost)] or 0) / total for row in rows]


def _by_count_words(part: TablePart, rows: Sequence[MergedRow], names: Sequence[str], shares: Sequence[float], count: str) -> str:
    column = _at(part, count)
    order = sorted(range(len(rows)), key=lambda row: -(rows[row].values[column] or 0))[: len(names)]
    wrong = [row for row in order if row >= len(names)]
    if not wrong:
        return ""
    listed = join_words([f"{_name(rows[row].key)} ({format_digits(rows[row].values[column] or 0, 8)})" for row in wrong])
    cost = format_percent(sum(shares[row] for row in wrong) * 100, 2)
    return f" Ranking by count would have pointed at the wrong rows: {listed}, which are {cost} of it."


def _reports(evidence: Evidence) -> Iterator[Answer]:
    """Yield the counts of the largest keys of a few repeated reports."""
    for at, part in evidence.tables():
        n = len(part.report_us)
        if not 2 <= n <= MAX_REPORTS_LISTED or not part.weight or not _is_additive(part):
            continue
        listed = []
        for key, values in _by_report(part)[:MAX_KEYS_LISTED]:
            known = [value for value in values if value is not None]
            if len(known) < n:
                continue
            spread = (max(known) - min(known)) / max(known) if max(known) else 0.0
            verdict = "steady" if spread <= STEADY else f"between {format_digits(min(known), 8)} and {format_digits(max(known), 8)}"
            listed.append(f"{key} {', '.join(format_digits(value, 8) for value in known)} ({verdict})")
        if not listed:
            continue
        seconds = counted_seconds(evidence.program)
        every = "" if seconds is None else " per second" if seconds == 1 else f" per {seconds:g} s"
        sentence = f"In {n} reports{every}: {'; '.join(listed)}."
        yield Answer(
            "reports",
            "Is it the same in every report?",
            sentence,
            None,
            "",
            "",
            [of_artefact(part.title, at)],
            None,
            is_warning=False,
        )


def _stalls(evidence: Evidence) -> Iterator[Answer]:
    question = "Does it stop now and then?"
    for at, part in evidence.tables():
        n = len(part.report_us)
        if n < MIN_REPORTS_OF_STALLS or not part.weight or not _is_additive(part):
            continue
        times = _report_times(evidence, part)
        if times is None:
            continue
        sums = [0.0] * n
        for report, value in zip(part.report, part.column(part.weight), strict=True):
            sums[report] += float(value or 0)
        stalls = find_stalls(float_array(times), float_array(sums))
        if stalls is None:
            continue
        sentence = f"The counts of this artefact fall to nearly nothing {describe_bouts(stalls)} ({stalls.n:,} times)."
        yield Answer(
            "stalls", question, sentence, stalls.period_s, "s", f"{stalls.n:,} stalls, median length {stalls.length_s:g} s",
            [of_artefact(f"{n:,} reports", at)], hint("stall"), is_warning=True,
        )  # fmt: skip
    for run in evidence.runs:
        stalls = find_stalls(run.times_s, run.values)
        if stalls is None or stalls.period_s is None:
            continue
        what = f"{run.title} of {evidence.host} fell to nearly nothing"
        sentence = f"{what} {describe_bouts(stalls)} ({stalls.n:,} times in this window)."
        source = AnswerSource("series", f"{len(run.values):,} samples of {run.title}", None, "", run.stat, run.field, "")
        formula = f"{stalls.n:,} stalls, median length {stalls.length_s:g} s"
        yield Answer("stalls", question, sentence, stalls.period_s, "s", formula, [source], hint("stall"), is_warning=True)


def _report_times(evidence: Evidence, part: TablePart) -> list[float] | None:
    """Return the seconds of the reports: as printed, else one interval of the program after the other. Missing: None if unknown."""
    printed = [time for time in part.report_us if time is not None]
    if len(printed) == len(part.report_us) and all(a < b for a, b in itertools.pairwise(printed)):
        return [time / 1e6 for time in printed]
    interval = commanded_duration(evidence.program)
    return None if not interval else [interval * at for at in range(len(part.report_us))]


def _queue(evidence: Evidence) -> Iterator[Answer]:
    # A distribution of powers of two has no bucket for a limit and does not show one.
    for at, part in enumerate(evidence.parts):
        if isinstance(part, LogPart):
            yield from _queues_of_log(part, at)


def _queues_of_log(part: LogPart, at: int) -> Iterator[Answer]:
    for queue in measure_queues(part):
        if queue.is_saturated and queue.share_at_limit is not None:
            yield Answer(
                "queue_limit", "Is a queue full?", queue.sentence, queue.share_at_limit * 100, "%", "",
                [of_artefact(part.title, at, queue.object)], hint("queue_limit"), is_warning=True,
            )  # fmt: skip


def _hardware(evidence: Evidence) -> Iterator[Answer]:
    for at, part in evidence.tables(*MCE):
        corrected = _sum(part, ("corrected", "corrected_total"))
        uncorrected = _sum(part, ("uncorrected", "uncorrected_total"))
        n = (corrected or 0) + (uncorrected or 0)
        if not n and part.stat == MCE[0]:
            n = _sum(part, ("events",)) or 0
        if not n:
            continue
        worst = part.keys[0][max(range(part.n_rows), key=lambda row: part.column(part.weight)[row] or 0)]
        verdict = "a part is broken" if uncorrected else "all corrected so far"
        errors = f"{n:,} hardware error{'s' if n != 1 else ''}"
        kinds = f"{format_digits(corrected or 0, 8)} corrected, {format_digits(uncorrected or 0, 8)} uncorrected"
        sentence = f"{errors} ({kinds}), most at {worst}: {verdict}."
        question, sources = "Did the hardware report errors?", [of_artefact(part.title, at, worst)]
        yield Answer("hardware_errors", question, sentence, float(n), "errors", "", sources, hint("hardware"), is_warning=True)


def _by_report(part: TablePart) -> list[tuple[str, list[Number | None]]]:
    """Return the weight of each key by report, the largest keys first."""
    found: dict[str, list[Number | None]] = {}
    values = part.column(part.weight)
    for row in range(part.n_rows):
        name = _name(tuple(keys[row] for keys in part.keys))
        found.setdefault(name, [None] * len(part.report_us))[part.report[row]] = values[row]
    return sorted(found.items(), key=lambda item: -float(sum_of(item[1]) or 0))


def _is_additive(part: TablePart) -> bool:
    return any(column.key == part.weight and column.is_additive for column in part.columns)


def _first(part: TablePart, keys: Sequence[str]) -> str | None:
    own = {column.key for column in part.columns}
    return next((key for key in keys if key in own), None)


def _at(part: TablePart, key: str) -> int:
    return [column.key for column in part.columns].index(key)


def _sum(part: TablePart, keys: Sequence[str]) -> Number | None:
    key = _first(part, keys)
    return None if key is None else sum_of(part.column(key))


def _name(key: Sequence[str]) -> str:
    return " ".join(word for word in key if word) or "(no name)"
