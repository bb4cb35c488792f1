"""Answers about the network between two hosts: how many round trips a session can make, and how many replies were lost."""

from collections.abc import Iterator
from statistics import median
from typing import Final

from normstat.artefacts.answers.answer_model import Answer, Evidence, hint, of_artefact
from normstat.artefacts.parts import TablePart
from normstat.runtime.readable import format_digits, format_percent

MILLI: Final = 1000


def answer_network(evidence: Evidence) -> Iterator[Answer]:
    """Yield the answers about round trips, for each target of ping."""
    for at, part in evidence.tables("ping"):
        for target in dict.fromkeys(part.keys[0]):
            yield from _round_trips(at, part, target)
            yield from _lost(at, part, target)


def _round_trips(at: int, part: TablePart, target: str) -> Iterator[Answer]:
    times = [float(rtt) for rtt in _of_target(part, target, "rtt_ms") if rtt]
    if not times:
        return
    rtt_ms = median(times)
    trips = MILLI / rtt_ms
    replies = "1 reply" if len(times) == 1 else f"{len(times)} replies"
    sentence = (
        f"{format_digits(trips, 4)} a second at most: a session with {target} that waits for each answer needs "
        f"{format_digits(rtt_ms, 3)} ms for each round trip (median of {replies}), however fast the other side is."
    )
    formula = f"1,000 ms / {format_digits(rtt_ms, 3)} ms = {format_digits(trips, 4)}/s"
    yield Answer(
        "round_trips", f"How many round trips to {target} can a session make?", sentence, trips, "1/s", formula,
        [of_artefact(part.title, at, target)], hint("round_trips"), is_warning=False,
    )  # fmt: skip


def _lost(at: int, part: TablePart, target: str) -> Iterator[Answer]:
    lost = [int(n) for n in _of_target(part, target, "lost") if n is not None]
    n_lost = sum(lost)
    if not n_lost:
        return
    n = n_lost + len(lost)
    share = 100 * n_lost / n
    sentence = f"{n_lost} of {n} requests to {target} had no reply ({format_percent(share, 2)})."
    formula = f"{n_lost} / {n} = {format_percent(share, 2)}"
    yield Answer(
        "lost_replies", f"Are replies of {target} lost?", sentence, share, "%", formula,
        [of_artefact(part.title, at, target)], None, is_warning=True,
    )  # fmt: skip


def _of_target(part: TablePart, target: str, column: str) -> list[int | float | None]:
    """Return the values of a column in the rows of a target."""
    return [value for key, value in zip(part.keys[0], part.column(column), strict=True) if key == target]
