"""Judge by what normstat knows without samples: one report each time, of each host or of this server."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from normstat.db.schema.watch_models import EpisodeRow
from normstat.records.episode_rows import FoundEpisode
from normstat.watch.live_judge import to_found, to_tracked
from normstat.watch.own_figures import OwnFigures
from normstat.watch.rules.episode_tracker import EpisodeTracker
from normstat.watch.rules.expression import Samples
from normstat.watch.rules.rule_file import STREAM, WatchRule
from normstat.watch.rules.rule_frame import WHOLE_HOST, RuleFrame
from normstat.watch.rules.rule_run import FIRST_BAD, RuleRun, run_rule
from normstat.window import to_us


def judge_own(
    rule: WatchRule, figures: Mapping[str, OwnFigures], known: Sequence[EpisodeRow], now: datetime
) -> list[FoundEpisode]:  # fmt: skip
    """Return the episodes of a rule that last or have just ended. `figures`: by instance, of a rule for the whole host or server
    under WHOLE_HOST; `known`: those that lasted until now.
    """
    now_s = to_us(now) / 1e6
    run = _run(rule, figures, now_s)
    # Nothing was judged while the server was down, which does not end an open episode.
    tracker = EpisodeTracker(rule, [to_tracked(row, now) for row in known if row.ended_at is None], now_s)
    episodes = [*tracker.feed(run), *tracker.open_ones]
    return [to_found(rule, episode) for episode in episodes]


def find_bad(rule: WatchRule, figures: Sequence[OwnFigures]) -> list[bool]:
    """Return which of these figures, of many hosts and instances, a rule calls amber or worse: nearly all are fine."""
    if not figures:
        return []
    # As if they were instances of one host.
    together = rule if rule.of else replace(rule, of=STREAM)
    run = _run(together, {str(place): own for place, own in enumerate(figures)}, 0.0)
    found: list[bool] = (run.colours()[0] >= FIRST_BAD).tolist()
    return found


def _run(rule: WatchRule, figures: Mapping[str, OwnFigures], now_s: float) -> RuleRun:
    instances = tuple(figures) if rule.of else (WHOLE_HOST,)
    values = {each.name: np.array([[figures.get(own, {}).get(each.own, np.nan) for own in instances]]) for each in rule.inputs}
    return run_rule(rule, RuleFrame(Samples(np.array([now_s]), values), instances))
