"""The normal that a host is compared with, minute by minute, or why there is none."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.covering_rows import CoveringBaseline, read_covering_baselines
from normstat.baselines.rolling_baseline import LENGTH, MIN_PROFILED_S, MIN_RECORDED, SENDING
from normstat.baselines.rolling_rows import read_recorded
from normstat.baselines.window_sets import Windows, intersect, length_s
from normstat.runtime.field_docs import Documented
from normstat.watch.fleet.baseline_normals import choose_profiles
from normstat.watch.fleet.fleet_answer import HOUR, describe_last_days, describe_learning
from normstat.window import Window

ScoreNormalKind = Literal["baseline", "rolling", "building", "learning", "none"]


@dataclass(frozen=True, slots=True)
class ScoreNormal(Documented):
    """The normal that a host is compared with now, or why there is none."""

    kind: ScoreNormalKind
    """baseline: of a person; rolling: its last days; building: the profile of either is being built; learning: too little is
    recorded yet for a rolling baseline; none: the host does not send, and no baseline covers it."""

    baseline: int | None
    name: str
    """Of the baseline; `the last 7 days` for a rolling one; empty without one."""

    recorded_h: float | None
    """Hours recorded in the last days, while learning."""

    needed_h: float
    """Hours that a rolling baseline needs."""

    too_short: str | None
    """The newest baseline of the host, if it is shorter than 8 minutes and therefore not what it is compared with."""

    unbuilt: str | None
    """The newest baseline of the host, if it has no profile with samples yet and the one before serves until it has."""

    sentence: str


async def read_score_normal(session: AsyncSession, host_id: int, now: datetime) -> ScoreNormal:
    """Return what a host is compared with now."""
    newest = (await read_covering_baselines(session)).get(host_id)
    own = (await read_covering_baselines(session, min_s=MIN_PROFILED_S, now=now)).get(host_id)
    other = newest if newest is not None and not newest.is_rolling and (own is None or own.id != newest.id) else None
    is_short = other is not None and length_s(_until(other.windows, now)) < MIN_PROFILED_S
    too_short = other.name if other is not None and is_short else None
    if own is None:
        return await _without_baseline(session, host_id, now, too_short)
    name = _name(own)
    if host_id not in await choose_profiles(session, {host_id: own}, Window(now - HOUR / 60, now)):
        return _make("building", f"the profile of {name} is being built", too_short, own)
    unbuilt = other.name if other is not None and not is_short else None
    return _make("rolling" if own.is_rolling else "baseline", f"compared with {name}", too_short, own, unbuilt=unbuilt)


def _until(windows: Windows, now: datetime) -> Windows:
    return intersect(windows, [Window(windows[0].start, now)]) if windows and windows[0].start < now else ()


async def _without_baseline(session: AsyncSession, host_id: int, now: datetime, too_short: str | None) -> ScoreNormal:
    recorded = (await read_recorded(session, [host_id], Window(now - LENGTH, now))).get(host_id)
    if recorded is None or recorded.last_at < now - SENDING:
        return _make("none", "not compared: no baseline covers this host", too_short)
    return _make("learning", describe_learning(recorded.seconds), too_short, recorded_h=round(recorded.seconds / 3600, 1))


def _make(
    kind: ScoreNormalKind,
    sentence: str,
    too_short: str | None,
    own: CoveringBaseline | None = None,
    recorded_h: float | None = None,
    *,
    unbuilt: str | None = None,
) -> ScoreNormal:  # fmt: skip
    note = (
        "" if too_short is None else f"; the baseline {too_short} is shorter than {MIN_PROFILED_S // 60} minutes, too short for it"
    )
    if unbuilt is not None:
        note = f"; the baseline {unbuilt} has no profile yet"
    return ScoreNormal(
        kind=kind,
        baseline=None if own is None else own.id,
        name="" if own is None else _name(own),
        recorded_h=recorded_h,
        needed_h=MIN_RECORDED / HOUR,
        too_short=too_short,
        unbuilt=unbuilt,
        sentence=sentence + note,
    )


def _name(own: CoveringBaseline) -> str:
    return describe_last_days(own.windows) if own.is_rolling else own.name
