"""Next questions for a message: what to ask about the quantities that a rule found too high. Pure."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from normstat.comparison.next_questions.question_rules import load_rules
from normstat.comparison.next_questions.questions import FindingContext, FindingValue, find_rules
from normstat.watch.rules.rule_file import WatchInput, WatchRule
from normstat.watch.rules.rule_frame import name_sources
from normstat.watch.watch_lists import EpisodeInfo

MAX_ASKED: Final = 3


def ask_questions(rule: WatchRule | None, info: EpisodeInfo) -> list[str]:
    """Return the questions that fit an episode's worst report, the most specific first.

    A quantity counts as one that went up where it is the first that the rule looks at, or above the limit of its own name. Missing:
    an empty list without a rule, or where no question fits
    """
    contexts = [] if rule is None else _to_contexts(rule, info)
    if not contexts:
        return []
    names = {name for own in find_rules(contexts, load_rules()) for name in own}
    met = [each for each in load_rules().rules if each.name in names]
    hidden = {name for each in met for name in each.instead_of}
    return [each.ask for each in sorted(met, key=lambda each: -each.n_seen) if each.name not in hidden][:MAX_ASKED]


def _to_contexts(rule: WatchRule, info: EpisodeInfo) -> list[FindingContext]:
    limits = rule.limit_values()
    saw = {seen.name: seen.value for seen in info.saw}
    contexts = []
    for place, wanted in enumerate(rule.inputs):
        value = saw.get(wanted.name)
        source = _find_source(wanted)
        if value is None or source is None:
            continue
        if place > 0 and value <= limits.get(wanted.name, float("inf")):
            continue
        stat, _, field = source.partition(".")
        member = FindingValue(info.instance, "level", None, value)
        contexts.append(_to_context(info, stat, field, wanted.unit, (member,)))
    return contexts


@lru_cache(256)
def _find_source(wanted: WatchInput) -> str | None:
    """Return a field that gives an input, whichever: questions go by what fields mean. Looking it up takes milliseconds."""
    return next(iter(name_sources(wanted)), None)


def _to_context(
    info: EpisodeInfo, stat: str, field: str, unit: str, members: Sequence[FindingValue]
) -> FindingContext:  # fmt: skip
    return FindingContext(info.host or "", stat, field, unit, "level", "up", len(members), 1, tuple(members))
