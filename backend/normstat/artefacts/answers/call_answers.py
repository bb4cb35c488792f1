"""Answers about system calls: how many a second, and how many bytes each write moves."""

import re
from collections.abc import Iterator
from typing import Final

from normstat.artefacts.answers.answer_model import Answer, Evidence, SeriesNeed, hint, lacking, of_artefact
from normstat.artefacts.duration import watched_seconds
from normstat.artefacts.parts import Number, TablePart
from normstat.artefacts.table_view import sum_of
from normstat.runtime.readable import format_digits

# The tables whose rows are system calls, and their totals.
SYSCALLS: Final = ("truss_syscalls", "strace_syscalls", "ltrace_calls")
TOTALS: Final = ("truss_totals", "strace_totals")
TOTAL_ROWS: Final = frozenset({"sys totals", "total"})
COUNTS: Final = ("calls", "count", "n_syscalls")
# The row of the writes: `write`, `sys_write`, `syscall:::entry: write`, `@[vfs_write]`, `@syscall[sys_enter_write]`.
WRITE: Final = re.compile(r"(?:^|[\s:\[@_]|sys_|vfs_|enter_)p?write(?:v|64)?(?:\]|\(\)|$)")
# Fewer bytes a call than this is a program that does not buffer; a file system's block is 4,096.
SMALL_WRITE: Final = 512
KB: Final = 1000
KIB: Final = 1024


def answer_calls(evidence: Evidence) -> Iterator[Answer]:
    """Yield the answers about system calls."""
    yield from _calls_per_second(evidence)
    yield from _bytes_per_write(evidence)
    if evidence.effect == "heavy":
        what = evidence.tool or "The tool"
        sentence = f"{what} slows down what it watches, so rates and durations of this artefact are not normal."
        yield Answer(
            "observer", "Are these numbers normal?", sentence, None, "", "", [of_artefact(f"observer effect: heavy ({what})")],
            hint("observer"), is_warning=True,
        )  # fmt: skip


def _calls_per_second(evidence: Evidence) -> Iterator[Answer]:
    n_calls, at, row = _count_calls(evidence)
    if n_calls is None:
        return
    question = "How many system calls a second?"
    source = of_artefact(f"{format_digits(n_calls, 8)} calls", at, row)
    seconds = evidence.duration_s
    if not seconds:
        sentence = (
            f"{format_digits(n_calls, 8)} system calls; how long {evidence.tool} watched is unknown, so no rate: set the duration."
        )
        yield Answer("calls_per_second", question, sentence, None, "", "", [source], None, is_warning=False)
        return
    rate = n_calls / seconds
    sentence = f"{format_digits(rate)} system calls/s"
    sources = [source, of_artefact(f"{seconds:g} s")]
    if evidence.effect == "heavy":
        sentence += f", under {evidence.tool}"
    host = evidence.series.get(SeriesNeed.SYSCALLS)
    if host is not None:
        sentence += f"; the whole host made {format_digits(host.value)}/s in the same window"
        sources.append(host.source(f"{format_digits(host.value)} system calls/s ({host.n:,} samples)"))
    formula = f"{format_digits(n_calls, 8)} / {seconds:g} s = {format_digits(rate)}/s"
    advice = hint("observer") if evidence.effect == "heavy" else None
    yield Answer("calls_per_second", question, f"{sentence}.", rate, "calls/s", formula, sources, advice, is_warning=False)


def _count_calls(evidence: Evidence) -> tuple[Number | None, int | None, str]:
    for at, part in evidence.tables(*TOTALS):
        for row, name in enumerate(part.keys[0]):
            calls = _value(part, "calls", row)
            if name in TOTAL_ROWS and calls is not None:
                return calls, at, name
    for at, part in evidence.tables(*SYSCALLS):
        if any(column.key == "calls" for column in part.columns):
            return sum_of(part.column("calls")), at, ""
    return None, None, ""


def count_writes(evidence: Evidence) -> tuple[Number, int, str] | None:
    """Return the number of write calls, its part and row. Missing: None where no row is about writes."""
    for at, part in evidence.tables():
        key = next((key for key in COUNTS if any(column.key == key for column in part.columns)), None)
        if key is None or part.stat in TOTALS:
            continue
        rows = [row for row, name in enumerate(part.keys[-1]) if WRITE.search(name)]
        total = sum_of(part.column(key)[row] for row in rows)
        if total:
            return total, at, part.keys[-1][rows[0]]
    return None


def _bytes_per_write(evidence: Evidence) -> Iterator[Answer]:
    found = count_writes(evidence)
    if found is None:
        return
    n_writes, at, row = found
    part = evidence.parts[at]
    assert isinstance(part, TablePart)
    seconds = watched_seconds(evidence.duration_s, evidence.program, len(part.report_us))
    question = "How many bytes does a write call move?"
    source = of_artefact(f"{format_digits(n_writes, 8)} calls of {row}", at, row)
    if not seconds:
        sentence = (
            f"{format_digits(n_writes, 8)} writes; how long {evidence.tool} watched is unknown, so no rate: set the duration."
        )
        yield Answer("bytes_per_write", question, sentence, None, "", "", [source], None, is_warning=False)
        return
    rate = n_writes / seconds
    disk = evidence.series.get(SeriesNeed.DISK_WRITE)
    if disk is None:
        yield lacking("bytes_per_write", question, SeriesNeed.DISK_WRITE, f"{format_digits(rate)} writes/s", [source])
        return
    each = disk.value * KB / rate
    name = f" to {disk.instance}" if disk.instance else ""
    formula = (
        f"{format_digits(disk.value, 5)} kB/s x {KB:,} / {format_digits(rate, 6)} writes/s = {format_digits(each, 3)} bytes "
        f"(a kB as {KIB:,} bytes: {format_digits(each * KIB / KB, 3)})"
    )
    sentence = (
        f"{format_digits(each, 3)} bytes for each write: {format_digits(rate)} writes/s, "
        f"and {format_digits(disk.value)} kB/s{name} in the same window."
    )
    is_small = each < SMALL_WRITE
    sources = [source, disk.source(f"{format_digits(disk.value, 5)} kB/s written{name} ({disk.n:,} samples)")]
    advice = hint("small_writes") if is_small else None
    yield Answer("bytes_per_write", question, sentence, each, "bytes", formula, sources, advice, is_warning=is_small)


def _value(part: TablePart, key: str, row: int) -> Number | None:
    return part.column(key)[row] if any(column.key == key for column in part.columns) else None
