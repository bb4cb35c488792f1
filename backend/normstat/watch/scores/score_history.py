"""The history of a host's scores: what the continuous comparison found, minute by minute or in longer steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.errors import BadRequest
from normstat.records.score_rows import ScoreRow, read_scores
from normstat.runtime.field_docs import Documented
from normstat.samples.lookup import require_host
from normstat.watch.scores.host_bands import SUBSYSTEMS
from normstat.watch.scores.minute_scores import LENGTHS, UnusualSeries
from normstat.watch.scores.score_normal import ScoreNormal, read_score_normal
from normstat.watch.scores.score_words import describe_series
from normstat.window import Window, to_us

MINUTE_MS: Final = 60_000
MAX_STEPS: Final = 1500
MAX_LENGTH: Final = timedelta(days=92)
# Steps with a lower score than this name no series.
MIN_NAMED: Final = 0.2


@dataclass(frozen=True, slots=True)
class ScoreFinding(Documented):
    """The highest series of a subsystem in five minutes."""

    subsystem: str
    stat: str
    field: str
    instance: str
    anomaly_score: float
    sentence: str
    """What it was, and what is normal."""


@dataclass(frozen=True, slots=True)
class ScoreStep(Documented):
    """The highest scores of the minutes of one step."""

    start_ms: int
    scores: list[list[float | None]]
    """Anomaly scores from 0 to 1, by window and subsystem, in the order of `window_minutes` and `subsystems`. Null: not judged."""

    n_judged: int
    """Series with a value and a normal: in the minute with the most."""

    baseline: int
    """The id of the baseline that the last minute was compared with."""

    findings: list[ScoreFinding]
    """The highest series of each subsystem in five minutes, of the minute with the highest score; none in calm steps."""


@dataclass(frozen=True, slots=True)
class ScoreHistory(Documented):
    """The scores of a host in a window; a step without samples or without a normal is left out."""

    step_ms: int
    subsystems: list[str]
    window_minutes: list[int]
    steps: list[ScoreStep]
    normal: ScoreNormal
    """Now, whatever the window."""


async def read_history(session: AsyncSession, host: str, window: Window, now: datetime) -> ScoreHistory:
    """Return the scores of a host, at most MAX_STEPS.

    Raises: NotFound for an unknown host, BadRequest for a window that is too long
    """
    if window.end - window.start > MAX_LENGTH:
        raise BadRequest(f"The window is longer than {MAX_LENGTH.days} days; ask for a shorter one")
    host_id = await require_host(session, host)
    n_minutes = -(-(to_us(window.end) - to_us(window.start)) // (1000 * MINUTE_MS))
    step_ms = -(-n_minutes // MAX_STEPS) * MINUTE_MS
    steps: list[ScoreStep] = []
    own: list[ScoreRow] = []
    for row in await read_scores(session, host_id, window):
        if own and _step_of(own[0], step_ms) != _step_of(row, step_ms):
            steps.append(_to_step(own, step_ms))
            own = []
        own.append(row)
    if own:
        steps.append(_to_step(own, step_ms))
    return ScoreHistory(step_ms, list(SUBSYSTEMS), list(LENGTHS), steps, await read_score_normal(session, host_id, now))


def _step_of(row: ScoreRow, step_ms: int) -> int:
    return to_us(row.minute_at) // 1000 // step_ms


def _to_step(rows: Sequence[ScoreRow], step_ms: int) -> ScoreStep:
    """Return the highest score of each window and subsystem, and what was highest."""
    highest = [
        [max((score for score in column if score is not None), default=None) for column in zip(*scores, strict=True)]
        for scores in (
            [row.scores_1 for row in rows],
            [row.scores_5 for row in rows],
            [row.scores_15 for row in rows],
        )
    ]
    top = max(rows, key=_score_of)
    is_calm = _score_of(top) < MIN_NAMED
    return ScoreStep(
        start_ms=_step_of(rows[0], step_ms) * step_ms,
        scores=highest,
        n_judged=max(row.n_judged for row in rows),
        baseline=rows[-1].baseline_id,
        findings=[] if is_calm else [_to_finding(finding) for finding in top.findings if finding["anomaly_score"] >= MIN_NAMED],
    )


def _score_of(row: ScoreRow) -> float:
    """Return the highest score of a minute in five minutes."""
    return max((score for score in row.scores_5 if score is not None), default=0.0)


def _to_finding(stored: dict[str, Any]) -> ScoreFinding:
    series = UnusualSeries.from_stored(stored)
    return ScoreFinding(series.subsystem, series.stat, series.field, series.instance, series.anomaly_score, describe_series(series))
