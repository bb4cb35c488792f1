"""All answers of an artefact, those that call for action first; and the series that they need."""

from normstat.artefacts.answers.answer_model import Answer, Evidence, SeriesNeed
from normstat.artefacts.answers.call_answers import answer_calls, count_writes
from normstat.artefacts.answers.cpu_answers import answer_cpu, answer_gc
from normstat.artefacts.answers.lock_answers import answer_locks
from normstat.artefacts.answers.network_answers import answer_network
from normstat.artefacts.answers.spread_answers import answer_spread


def answer_all(evidence: Evidence) -> list[Answer]:
    """Return the answers, those that call for action first; answers that lack a series last."""
    found = [
        *answer_locks(evidence),
        *answer_calls(evidence),
        *answer_cpu(evidence),
        *answer_spread(evidence),
        *answer_gc(evidence),
        *answer_network(evidence),
    ]
    # An answer that puts all numbers in doubt comes after the numbers.
    return sorted(found, key=lambda each: (not each.is_warning, each.key == "observer", each.value is None))


def series_needed(evidence: Evidence) -> set[SeriesNeed]:
    """Return which quantities of the host the answers to this artefact ask for."""
    needs = {SeriesNeed.N_CPUS, SeriesNeed.CPU_BUSY}
    stats = {part.stat for part in evidence.parts}
    if "lockstat_section" in stats:
        needs.add(SeriesNeed.MUTEX_SPINS)
    if count_writes(evidence) is not None:
        needs.add(SeriesNeed.DISK_WRITE)
    if stats & {"truss_totals", "strace_totals", "truss_syscalls", "strace_syscalls"}:
        needs.add(SeriesNeed.SYSCALLS)
    return needs
