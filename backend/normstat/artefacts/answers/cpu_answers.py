"""Answers about CPU time: what time(1) says, whether one thread does it all, idle and lock code in profiles, time off the CPU."""

import re
from collections.abc import Iterator
from typing import Final

from normstat.artefacts.answers.answer_model import Answer, AnswerSource, Evidence, SeriesNeed, hint, lacking, of_artefact
from normstat.artefacts.parts import Number, StackPart, TablePart
from normstat.runtime.readable import format_amount, format_digits, format_percent

# From this share of the elapsed time on, look at the kernel.
MUCH_KERNEL: Final = 0.5
# Busy CPUs that are one thread's work: 0.9 to 1.1.
ONE: Final = (0.9, 1.1)
ALL_OF_IT: Final = 0.99
THREAD_PROGRAM: Final = re.compile(r"\btid\b")
PROBE: Final = re.compile(r"\bsyscall::(\w+):entry")
LOCK_CODE: Final = re.compile(r"\.text\.lock|spin_lock|_spin_|mutex|rwsem|queued_spin|osq_lock|lock_slowpath")
IDLE_CODE: Final = re.compile(r"default_idle|cpu_idle|poll_idle|mwait_idle|acpi_idle|intel_idle|native_safe_halt")
HALT: Final = re.compile(r"\b(?:hlt|mwait|wfi)\b")
OFF_CPU: Final = re.compile(r"off-?cpu", re.IGNORECASE)
MAX_NAMED: Final = 5
MAX_KEYS: Final = 200
JVM_FRAME: Final = re.compile(r"libjvm\.so\b|java_start\b|JavaThread::")
PID_PROGRAM: Final = re.compile(r"\[\s*pid\b")
US: Final = 1e6
PER_UNIT: Final = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}


def answer_cpu(evidence: Evidence) -> Iterator[Answer]:
    """Yield the answers about CPU time."""
    yield from _times(evidence)
    yield from _one_thread(evidence)
    yield from _one_cpu(evidence)
    yield from _profile(evidence)
    yield from _off_cpu(evidence)


def _times(evidence: Evidence) -> Iterator[Answer]:
    runs: list[tuple[int, str, float]] = []
    for at, part in evidence.tables("time"):
        if not all(any(column.key == key for column in part.columns) for key in ("real_s", "user_s", "sys_s")):
            continue
        columns = [part.column(key) for key in ("real_s", "user_s", "sys_s")]
        for row, name in enumerate(part.keys[0]):
            real, user, system = (column[row] for column in columns)
            if not real or user is None or system is None:
                continue
            runs.append((at, name, float(real)))
            yield from _one_run(at, name, float(real), float(user), float(system))
    yield from _factor(runs)


def _one_run(at: int, name: str, real: float, user: float, system: float) -> Iterator[Answer]:
    share, cpus = system / real, (user + system) / real
    run = f"{name}: " if name else ""
    question = "Where did the time of the run go?"
    in_kernel = format_percent(share * 100, 3)
    sentence = f"{run}{in_kernel} of the elapsed time was spent in the kernel; the run used {format_digits(cpus)} CPUs"
    if ONE[0] <= cpus <= ONE[1]:
        sentence += ": one thread that never waited"
    formula = (
        f"sys / real = {system:g} s / {real:g} s = {format_percent(share * 100, 3)}; "
        f"(user + sys) / real = ({user:g} + {system:g}) / {real:g} = {format_digits(cpus)}"
    )
    advice = hint("kernel_time") if share >= MUCH_KERNEL else hint("one_thread") if ONE[0] <= cpus <= ONE[1] else None
    sources = [of_artefact(f"real {real:g} s, user {user:g} s, sys {system:g} s", at, name)]
    yield Answer(
        "kernel_share", question, f"{sentence}.", share * 100, "%", formula, sources, advice, is_warning=share >= MUCH_KERNEL
    )


def _factor(runs: list[tuple[int, str, float]]) -> Iterator[Answer]:
    if not 2 <= len(runs) <= MAX_NAMED:
        return
    at, name, first = runs[0]
    factors = [f"{format_digits(real / first, 2)} times" for _, _, real in runs[1:]]
    shown = f" ({name})" if name else ""
    sentence = f"Against the first run{shown}, the others took {', '.join(factors)} its {format_amount(first, 's')}."
    formula = "; ".join(f"{real:g} s / {first:g} s = {format_digits(real / first, 3)}" for _, _, real in runs[1:])
    value = runs[-1][2] / first
    question, sources = "How much longer did the runs take?", [of_artefact(f"{len(runs)} runs", at)]
    yield Answer("run_factor", question, sentence, value, "times", formula, sources, None, is_warning=False)


def _one_thread(evidence: Evidence) -> Iterator[Answer]:
    if THREAD_PROGRAM.search(evidence.program) is None:
        return
    for at, part in evidence.tables():
        key = part.weight
        column = next((each for each in part.columns if each.key == key), None)
        if column is None or not column.is_additive:
            continue
        sums: dict[str, Number] = {}
        for name, value in zip(part.keys[-1], part.column(key), strict=True):
            sums[name] = sums.get(name, 0) + (value or 0)
        total = sum(sums.values())
        if not total:
            continue
        thread, most = max(sums.items(), key=lambda item: item[1])
        share = most / total
        probe = PROBE.search(evidence.program)
        what = f"{probe[1]} calls" if probe else "the counted events"
        if share < ALL_OF_IT:
            continue
        sentence = f"{format_percent(share * 100, 3)} of {what} come from 1 thread (tid {thread.split()[-1] if thread else '?'})."
        formula = f"{format_digits(most, 8)} / {format_digits(total, 8)} = {format_percent(share * 100, 3)}"
        source = of_artefact(f"{format_digits(most, 8)} of {format_digits(total, 8)}", at, thread)
        yield Answer(
            "one_thread", "How many threads do the work?", sentence, share * 100, "%", formula,
            [source], hint("one_thread"), is_warning=True,
        )  # fmt: skip


def _one_cpu(evidence: Evidence) -> Iterator[Answer]:
    busy, cpus = evidence.series.get(SeriesNeed.CPU_BUSY), evidence.series.get(SeriesNeed.N_CPUS)
    if busy is None or cpus is None or cpus.value < 2:
        return
    used = busy.value / 100 * cpus.value
    if not ONE[0] <= used <= ONE[1]:
        return
    share = 100 / cpus.value
    sentence = (
        f"All {cpus.value:.0f} CPUs together were {format_percent(busy.value)} busy: {format_digits(used, 3)} CPUs, "
        f"which is one thread's work ({format_percent(share, 3)} is one CPU), whichever CPUs it ran on."
    )
    formula = f"{format_percent(busy.value)} x {cpus.value:.0f} = {format_digits(used, 3)} CPUs"
    sources = [busy.source(f"busy {format_percent(busy.value)} ({busy.n:,} samples)"), cpus.source(f"{cpus.value:.0f} CPUs")]
    yield Answer(
        "one_cpu", "Is it one thread that is busy?", sentence, used, "CPUs", formula, sources, hint("one_thread"), is_warning=True
    )


def _profile(evidence: Evidence) -> Iterator[Answer]:
    for at, part in evidence.tables("opreport_functions", "opreport", "perf_report"):
        shares = _shares(part)
        if shares is None:
            continue
        names = part.keys[-1]
        locks = [(names[row], shares[row]) for row in range(part.n_rows) if LOCK_CODE.search(names[row])]
        total = sum(share for _, share in locks)
        if total >= 1:
            listed = ", ".join(f"{name} {format_percent(share)}" for name, share in locks[:MAX_NAMED])
            terms = [format_digits(share) for _, share in locks[:MAX_NAMED]] + ["..."] * (len(locks) > MAX_NAMED)
            formula = f"{' + '.join(terms)} = {format_percent(total)}"
            sentence = f"{format_percent(total)} of the samples are in lock code: {listed}."
            yield Answer(
                "lock_code", "Which share of the CPU time waits for locks?", sentence, total, "%", formula,
                [of_artefact(f"{len(locks)} rows of lock code", at)], hint("lock_code"), is_warning=total >= 10,
            )  # fmt: skip
        idle = [(names[row], shares[row]) for row in range(part.n_rows) if IDLE_CODE.search(names[row])]
        if idle and idle[0][1] >= max(shares):
            sentence = f"{idle[0][0]} is at the top with {format_percent(idle[0][1])}: the CPUs waited, they did not work."
            yield Answer(
                "idle_code", "Did the CPUs work or wait?", sentence, idle[0][1], "%", "", [of_artefact(idle[0][0], at, idle[0][0])],
                hint("idle"), is_warning=False,
            )  # fmt: skip
    for at, part in evidence.tables("opreport_instructions"):
        shares = _shares(part) or []
        for row, share in enumerate(shares):
            if share >= MUCH_KERNEL * 100 and HALT.search(part.keys[-1][row]):
                sentence = f"{format_percent(share)} of the samples are at the halt instruction: the CPU was waiting, not working."
                yield Answer(
                    "idle_code", "Did the CPUs work or wait?", sentence, share, "%", "",
                    [of_artefact(part.keys[-1][row], at, part.keys[-1][row])], hint("idle"), is_warning=False,
                )  # fmt: skip


def _shares(part: TablePart) -> list[float] | None:
    """Return the share of each row as the profiler prints it, of all samples. Missing: None where it does not."""
    key = next((column.key for column in part.columns if column.key in {"share_pct", "pct", "overhead_pct", "self_pct"}), None)
    return None if key is None else [float(value or 0) for value in part.column(key)]


def _off_cpu(evidence: Evidence) -> Iterator[Answer]:
    if OFF_CPU.search(evidence.program) is None:
        return
    for at, part in enumerate(evidence.parts):
        if not isinstance(part, StackPart) or not part.weight:
            continue
        by_thread = _sum_by_root(part, evidence.command)
        if not by_thread:
            continue
        column = next(column for column in part.columns if column.key == part.weight)
        # offcputime prints microseconds without saying so.
        scale = PER_UNIT.get(column.unit, US)
        total = sum(by_thread.values()) / scale
        listed = sorted(by_thread.items(), key=lambda item: (-item[1], item[0]))
        named = ", ".join(f"{name or '(no name)'} {format_amount(value / scale, 's')}" for name, value in listed[:MAX_NAMED])
        sentence = f"Off the CPU for {format_amount(total, 's')} in all, by what stands at the root of the stacks: {named}"
        sentence += f" and {len(listed) - MAX_NAMED:,} more" if len(listed) > MAX_NAMED else ""
        seconds = evidence.duration_s
        if seconds:
            sentence += (
                f". {listed[0][0]} waited for {format_digits(listed[0][1] / scale / seconds, 3)} s of each second of its threads"
            )
        question, formula = "Who waited, and for how long?", "sums of the stacks' weights"
        yield Answer(
            "off_cpu", question, f"{sentence}.", total, "s", formula, [of_artefact(part.title, at)], None, is_warning=False
        )


def _sum_by_root(part: StackPart, command: str) -> dict[str, float]:
    """Return the weight below each root; readers put the command above all stacks, where it is known."""
    values = next(values for column, values in zip(part.columns, part.values, strict=True) if column.key == part.weight)
    root = [0] * len(part.parent)
    sums: dict[str, float] = {}
    for node in range(1, len(part.parent)):
        parent = int(part.parent[node])
        is_command = parent != 0 and root[parent] == parent and part.names[int(part.name[parent])] == command
        root[node] = node if parent == 0 or is_command else root[parent]
        if values[node]:
            name = part.names[int(part.name[root[node]])]
            sums[name] = sums.get(name, 0.0) + float(values[node])
    return sums


def answer_gc(evidence: Evidence) -> Iterator[Answer]:
    """Yield how many garbage collection threads JVMs start on this host, where the artefact is about Java."""
    about = _java_source(evidence)
    if about is None:
        return
    question = "How many garbage collection threads do JVMs start here?"
    cpus = evidence.series.get(SeriesNeed.N_CPUS)
    if cpus is None:
        yield lacking("gc_threads", question, SeriesNeed.N_CPUS, "The number of CPUs is unknown", [about])
        return
    n, n_jvms = round(cpus.value), max(1, len(evidence.jvms.pids))
    sources = [about, cpus.source(f"{n} CPUs")]
    threads = gc_threads(n)
    formula = f"{n}" if n <= 8 else f"8 + 5/8 x ({n} - 8) = {threads}"
    sentence = f"{threads} by default on {n} CPUs, and each further JVM as many again, whatever the others do"
    if n_jvms > 1:
        sentence = f"{threads} by default on {n} CPUs: {n_jvms * threads} of the {n_jvms} JVMs here together"
        formula += f"; {n_jvms} x {threads} = {n_jvms * threads}"
        sources.append(AnswerSource("facts", f"{n_jvms} processes java", None, "", "", "", ""))
    for name, size in evidence.jvms.processor_sets.items():
        own = gc_threads(size)
        together = f", {n_jvms} x {own} = {n_jvms * own} of {n_jvms} JVMs" if n_jvms > 1 else ""
        sentence += f"; in processor set {name} of {size} CPUs {own}{together}"
        sources.append(AnswerSource("facts", f"processor set {name}: {size} CPUs", None, "", "", "", ""))
    yield Answer(
        "gc_threads", question, f"{sentence}.", float(n_jvms * threads), "threads", formula, sources, hint("gc_threads"),
        is_warning=n_jvms * threads > n,
    )  # fmt: skip


def _java_source(evidence: Evidence) -> AnswerSource | None:
    """Return what shows that the artefact is about Java: a name, a library of the JVM in its stacks, or a process that is one."""
    if "java" in evidence.program.casefold():
        return of_artefact("command name java")
    for at, part in enumerate(evidence.parts):
        if isinstance(part, StackPart) and any(JVM_FRAME.match(name) for name in part.names):
            return of_artefact("stacks of libjvm", at)
        if not isinstance(part, TablePart):
            continue
        if any("java" in key.casefold() for key in part.keys[-1][:MAX_KEYS]):
            return of_artefact("rows of java", at)
        # The first word of a key is the process where the program counts by it.
        pids = {key.split()[0] for key in part.keys[-1] if key} if PID_PROGRAM.search(evidence.program) else set()
        found = next((pid for pid in sorted(pids) if pid.isdecimal() and int(pid) in evidence.jvms.pids), None)
        if found is not None:
            return of_artefact(f"process {found} is java", at, found)
    return None


def gc_threads(n_cpus: int) -> int:
    """Return how many threads a JVM collects garbage with: as many as CPUs up to 8, and 5 for each 8 beyond.

    >>> [gc_threads(n) for n in (1, 7, 8, 16, 64)], 6 * gc_threads(7)
    ([1, 7, 8, 13, 43], 42)
    """
    return n_cpus if n_cpus <= 8 else 8 + 5 * (n_cpus - 8) // 8
