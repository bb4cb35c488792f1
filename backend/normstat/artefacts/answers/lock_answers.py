"""Answers about locks: their time as a share of the interval, malloc's lock, and stalls a second beside what mpstat counted."""

from collections.abc import Iterator
from typing import Final

from normstat.artefacts.answers.answer_model import Answer, Evidence, SeriesNeed, hint, lacking, of_artefact
from normstat.artefacts.parts import TablePart
from normstat.artefacts.table_view import sum_of
from normstat.runtime.readable import format_amount, format_digits, format_percent

LOCKS: Final = ("lockstat", "plockstat")
MALLOC: Final = "libc_malloc_lock"
SPINS: Final = "Adaptive mutex spin"
# How far two counts of the same thing may be apart: they are not of exactly the same seconds.
AGREES: Final = 0.15
# A tenth of the time spent in locks is worth a look.
MUCH: Final = 0.1
NS: Final = 1e9
# The user-level tool adds the waits of all threads up.
OF_THREADS: Final = "plockstat"


def answer_locks(evidence: Evidence) -> Iterator[Answer]:
    """Yield the answers about locks."""
    timed = [(at, part) for at, part in evidence.tables(*LOCKS) if _has(part, "total_ns")]
    if timed:
        yield from _lock_time(evidence, timed)
        yield from _malloc_lock(timed)
    yield from _stalls_per_second(evidence)


def _lock_time(evidence: Evidence, timed: list[tuple[int, TablePart]]) -> Iterator[Answer]:
    total = sum_of(value for _, part in timed for value in part.column("total_ns"))
    if total is None:
        return
    question = "Which share of the time was spent in locks?"
    at, part = timed[0]
    source = of_artefact(f"{format_amount(total, 'ns')} in locks ({total:,.0f} ns)", at)
    seconds = evidence.duration_s
    if not seconds:
        sentence = (
            f"{format_amount(total, 'ns')} in locks; how long {evidence.tool} watched is unknown, so no share: set the duration."
        )
        yield Answer("lock_time", question, sentence, None, "", "", [source], None, is_warning=False)
        return
    share = total / NS / seconds
    words = f"{format_amount(total, 'ns')} in locks in {seconds:g} s: {format_percent(share * 100, 3)} of the interval"
    sources = [source, of_artefact(f"{seconds:g} s")]
    formula = f"{total:,.0f} ns / {seconds:g} s = {format_percent(share * 100)}"
    cpus = evidence.series.get(SeriesNeed.N_CPUS)
    if part.stat == OF_THREADS:
        words += ", summed over the threads"
    elif cpus is not None:
        words += f", {format_percent(share / cpus.value * 100, 3)} of each of {cpus.value:.0f} CPUs"
        formula += f"; / {cpus.value:.0f} CPUs = {format_percent(share / cpus.value * 100)}"
        sources.append(cpus.source(f"{cpus.value:.0f} CPUs"))
    else:
        words += ", over all CPUs together"
    is_much = share >= MUCH
    yield Answer("lock_time", question, f"{words}.", share * 100, "%", formula, sources, None, is_warning=is_much)


def _malloc_lock(timed: list[tuple[int, TablePart]]) -> Iterator[Answer]:
    for at, part in timed:
        total = sum_of(part.column("total_ns"))
        own = sum_of(value for lock, value in zip(part.keys[1], part.column("total_ns"), strict=True) if MALLOC in lock)
        if not total or not own:
            continue
        share = own / total
        part_of_all = format_percent(share * 100, 3)
        sentence = f"{part_of_all} of the lock time is in {MALLOC}, the one lock of libc's malloc ({format_amount(own, 'ns')})."
        formula = f"{own:,.0f} ns / {total:,.0f} ns = {format_percent(share * 100)}"
        question = "Do threads wait for the memory allocator?"
        yield Answer(
            "malloc_lock", question, sentence, share * 100, "%", formula, [of_artefact(f"rows of {MALLOC}", at)],
            hint("malloc_lock"), is_warning=True,
        )  # fmt: skip


def _stalls_per_second(evidence: Evidence) -> Iterator[Answer]:
    for at, part in evidence.tables("lockstat_section"):
        events = sum_of(value for name, value in zip(part.keys[0], part.column("events"), strict=True) if name == SPINS)
        if not events:
            continue
        question = "How many mutex stalls a second, and does mpstat agree?"
        source = of_artefact(f"{SPINS}: {events:,} events", at, SPINS)
        seconds = evidence.duration_s
        if not seconds:
            sentence = f"{events:,} mutex spins; how long lockstat watched is unknown, so no rate: set the duration."
            yield Answer("mutex_stalls", question, sentence, None, "", "", [source], None, is_warning=False)
            continue
        rate = events / seconds
        formula = f"{events:,} / {seconds:g} s = {format_digits(rate)}/s"
        seen = evidence.series.get(SeriesNeed.MUTEX_SPINS)
        if seen is None:
            missing = lacking(
                "mutex_stalls", question, SeriesNeed.MUTEX_SPINS, f"{format_digits(rate)} mutex stalls/s by lockstat", [source]
            )
            yield Answer(
                missing.key, question, missing.sentence, rate, "stalls/s", formula, missing.sources, hint("mutex"), is_warning=False
            )
            continue
        apart = (seen.value - rate) / rate
        verdict = (
            "they agree"
            if abs(apart) <= AGREES
            else f"they differ by {format_percent(abs(apart) * 100, 2)}: not the same seconds, or not all CPUs"
        )
        by_mpstat = f"{format_digits(seen.value)}/s"
        sentence = f"{format_digits(rate)} mutex stalls/s by lockstat, {by_mpstat} by mpstat (smtx over all CPUs): {verdict}."
        sources = [
            source,
            of_artefact(f"{seconds:g} s"),
            seen.source(f"sum of smtx {by_mpstat} ({seen.n:,} samples)"),
        ]
        yield Answer("mutex_stalls", question, sentence, rate, "stalls/s", formula, sources, hint("mutex"), is_warning=False)


def _has(part: TablePart, key: str) -> bool:
    return any(column.key == key for column in part.columns)
