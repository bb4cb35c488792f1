"""Judge by what normstat knows without samples: one report each time, of each host or of this server."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from normstat.rules.episode_tracker import EpisodeTracker
from normstat.rules.expression import Samples
from normstat.rules.rule_file import WatchRule
from normstat.rules.rule_frame import WHOLE_HOST, RuleFrame
from normstat.rules.rule_run import run_rule
from normstat.storage.episode_rows import FoundEpisode
from normstat.storage.schema.watch_models import EpisodeRow
from normstat.watch.live_judge import to_found, to_tracked
from normstat.window import to_us


def judge_own(rule: WatchRule, figures: Mapping[str, float], known: Sequence[EpisodeRow], now: datetime) -> list[FoundEpisode]:
    """Return the episodes of a rule that last or have just ended. `figures`: by the names of `own` inputs; `known`: those that
    lasted until now.
    """
    now_s = to_us(now) / 1e6
    values = {each.name: np.array([[figures.get(each.own, np.nan)]]) for each in rule.inputs}
    run = run_rule(rule, RuleFrame(Samples(np.array([now_s]), values), (WHOLE_HOST,)))
    # Nothing was looked at while the server was down, and nothing that lasts has ended by that.
    tracker = EpisodeTracker(rule, [to_tracked(row, now) for row in known if row.ended_at is None], now_s)
    episodes = [*tracker.feed(run), *tracker.open_ones]
    return [to_found(rule, episode) for episode in episodes]
