"""The stories of a host led by its ledger: who took what, before what else changed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from normstat.comparison.findings.classify import round_value
from normstat.comparison.ledger.candidates import Candidate
from normstat.comparison.ledger.ledger_words import culprits_of, describe_certainty
from normstat.comparison.ledger_model import Certainty, LedgerLine, LedgerPart, Resource
from normstat.comparison.model import FindingGroup, ProcessChange, Story, StoryProcess
from normstat.comparison.steady_processes import STEADY_STATS
from normstat.comparison.stories.build import MAX_PROCESSES, MAX_PROCESSES_IN_SENTENCE, HostStory, least_impact
from normstat.comparison.stories.story_table import find_place, title_of
from normstat.comparison.stories.story_words import (
    CONSEQUENCES,
    is_amount_that_matters,
    is_in_band,
    is_usual,
    join_clauses,
    lower_starter,
    representative,
)
from normstat.runtime.readable import join_words, name_processes

TOPICS: Final[Mapping[Resource, str]] = {
    "cpu": "cpu",
    "memory": "memory",
    "disk": "disk",
    "network": "network",
    "processes": "cpu",
    "gpu": "gpu",
    "throttling": "throttling",
    "database": "database",
    "memory_limit": "memory_limit",
}
MAX_CONSEQUENCES: Final = 2
# Minimum score of a story told by the ledger, by its certainty.
MIN_SCORES: Final[Mapping[Certainty, float]] = {"sure": 0.3, "likely": 0.15, "nothing": 0.0}
# No recorded tool shows whose traffic it was.
NOBODYS: Final = "network"
# Changes of a resource whose use is normal count for less.
UNTOLD_FACTOR: Final = 0.5


def lead_with_ledger(
    stories: Sequence[HostStory],
    groups: Sequence[FindingGroup],
    lines: Sequence[LedgerLine],
    candidates: Sequence[Candidate] = (),
) -> list[HostStory]:
    """Return the stories, those that a line of the ledger tells first: each by its sentence, with who did it.

    `groups`: those that the stories name by place; `lines`: of the host, heaviest first; one not worth reporting leads no story;
    `candidates`: processes that may have caused what no recorded tool attributes
    """
    left = list(stories)
    told: list[HostStory] = []
    for line in lines:
        topic = TOPICS[line.resource]
        if line.certainty == "nothing" or any(item.story.topic == topic for item in told):
            continue
        same = next((item for item in left if item.story.topic == topic), None)
        left = [item for item in left if item is not same]
        told.append(_lead(line, topic, same, groups))
    as_normal = {TOPICS[line.resource] for line in lines} - {item.story.topic for item in told}
    left = [item for item in left if item.story.topic not in as_normal or _is_news(item, groups)]
    stories = [*told, *(_weaken(item) if item.story.topic in as_normal else item for item in left)]
    found = [
        _name_candidates(item, candidates) if item.story.topic == NOBODYS and not item.story.processes else item
        for item in sorted(stories, key=lambda item: -item.story.anomaly_score)
    ]
    topics = {item.story.topic for item in told}
    return [item if item.story.topic in topics or _is_sure(item, groups) else _doubt(item) for item in found]


def _name_candidates(item: HostStory, candidates: Sequence[Candidate]) -> HostStory:
    """Return a story without recorded processes, with the processes that are new."""
    story = item.story
    if not candidates or story.is_worse is False:
        return item
    hosts = [(story.hosts[0], one, name_processes(one.command, [one.pid])) for one in candidates]
    processes = [
        StoryProcess(
            host=host,
            stat=one.stat,
            instance=one.instance,
            name=name,
            pids=[one.pid],
            change="new",
            start_ms=None if one.start_s is None else round(1000 * one.start_s),
            sentence=f"{name} is new",
        )
        for host, one, name in hosts
    ]
    sentence = join_clauses([*_name_new(processes), lower_starter(story.sentence).removesuffix(".")])
    return replace(item, story=replace(story, sentence=sentence, processes=processes))


def _is_sure(item: HostStory, groups: Sequence[FindingGroup]) -> bool:
    """Return whether a story has more than changes that are only likely."""
    return any(groups[at].certainty == "sure" for at in item.groups)


def _doubt(item: HostStory) -> HostStory:
    sentence = item.story.sentence
    return replace(item, story=replace(item.story, sentence=f"Likely: {lower_starter(sentence)}"))


def _weaken(item: HostStory) -> HostStory:
    """Return a story of a resource whose use is as normal, unless something failed, or it stops now and then."""
    if item.bouts or any(line.role == "errors" for _, line in item.lines):
        return item
    return replace(item, story=replace(item.story, anomaly_score=round_value(UNTOLD_FACTOR * item.story.anomaly_score)))


def _is_news(item: HostStory, groups: Sequence[FindingGroup]) -> bool:
    """Return whether to report a story about a resource whose use is normal.

    It must be certain, or about a process that is always there; it must be outside the normal range, by an amount that matters; and
    it must say more than that fewer wait than usual.
    """
    is_relief = item.story.is_worse is False and not item.story.processes and not item.bouts
    is_failure = any(line.role == "errors" for _, line in item.lines)
    # What one of many processes does hardly moves the sum.
    is_of_process = any(groups[at].stat in STEADY_STATS for at in item.groups)
    # A resource may change strongly and shortly; a process that nothing else shows must use an amount that matters.
    matters = bool(item.lines) or item.story.impact >= least_impact(groups[at].stat for at in item.groups)
    matters = matters and any(is_amount_that_matters(groups[at]) for at in item.groups)
    return (_is_sure(item, groups) or is_of_process) and not _is_within(item, groups) and matters and (is_failure or not is_relief)


def _is_within(item: HostStory, groups: Sequence[FindingGroup]) -> bool:
    """Return whether all evidence of a story is within the middle 90 % of the baseline. Errors never are."""
    found = [representative(groups[at]) for at, _ in item.lines]
    return (
        not item.story.processes
        and not item.bouts
        and bool(found)
        and all(line.role != "errors" for _, line in item.lines)
        and all(is_usual(finding) and is_in_band(finding.incident.mean, finding.baseline) for finding in found)
    )


def _score_of(line: LedgerLine) -> float:
    return round_value(max(line.weight, MIN_SCORES[line.certainty]))


def _lead(line: LedgerLine, topic: str, item: HostStory | None, groups: Sequence[FindingGroup]) -> HostStory:
    culprits = [_to_process(line, part) for part in culprits_of(line) if part.command]
    sentence = describe_certainty(line)
    onset_ms = None if line.drawn is None else line.drawn.onset_ms
    if item is None:
        story = Story(
            rank=0,
            hosts=[line.host],
            topic=topic,
            title=title_of(topic),
            sentence=sentence,
            anomaly_score=_score_of(line),
            significance=0.0,
            impact=line.weight,
            is_worse=None if line.outside == 0 else line.outside > 0,
            onset_ms=onset_ms,
            processes=culprits,
            lines=[],
            also_seen_by=[],
            ranks=[],
            resource=line.resource,
        )
        return HostStory(story, f"ledger.{line.resource}", [], [])
    story = item.story
    named = {process.instance.rpartition("/")[2] for process in culprits}
    others = [process for process in story.processes if process.instance.rpartition("/")[2] not in named]
    leads_with_bouts = bool(item.bouts) and not culprits
    clauses = [item.bouts, *filter(None, [line.note])] if leads_with_bouts else [line.sentence.removesuffix(".")]
    # Processes that appeared with it may have caused it.
    new = [] if culprits else _name_new(others)
    if new and not leads_with_bouts:
        clauses = [lower_starter(clauses[0])]
    clauses = [*new, *clauses]
    roles = CONSEQUENCES if culprits else CONSEQUENCES | {"work"}
    # Less waiting than usual is not a consequence of more work.
    relief = {at for at, _ in item.lines if line.outside > 0 and groups[at].is_worse is False}
    # How long units were throttled is what the line itself says.
    own = "container.throttled" if line.resource == "throttling" else None
    same = {at for at, _ in item.lines if find_place(groups[at].stat, groups[at].field, "").meaning == own}
    consequences = [told.text for at, told in item.lines if told.role in roles and at not in relief | same]
    if not item.bouts:
        clauses += consequences[:MAX_CONSEQUENCES]
    elif culprits:
        clauses.append(item.bouts)
    has_errors = any(told.role == "errors" for _, told in item.lines)
    doubt = "" if leads_with_bouts or line.certainty == "sure" else "Likely: "
    return replace(
        item,
        story=replace(
            story,
            sentence=doubt + join_clauses(clauses),
            anomaly_score=max(story.anomaly_score, _score_of(line)) if has_errors else _score_of(line),
            impact=max(story.impact, line.weight),
            processes=[*culprits, *others][:MAX_PROCESSES],
            resource=None if leads_with_bouts else line.resource,
            onset_ms=story.onset_ms if leads_with_bouts or onset_ms is None else onset_ms,
        ),
    )


def _name_new(processes: Sequence[StoryProcess]) -> list[str]:
    """Return a clause about new processes. Empty without one"""
    new = [process for process in processes if process.change == "new"][:MAX_PROCESSES_IN_SENTENCE]
    if len(new) < 2:
        return [process.sentence for process in new]
    return [f"{join_words([process.name for process in new])} are new"]


def _to_process(line: LedgerLine, part: LedgerPart) -> StoryProcess:
    change: ProcessChange = "new" if part.is_new else "more" if part.change > 0 else "gone" if part.is_gone else "less"
    return StoryProcess(
        host=line.host,
        stat=part.stat,
        instance=part.instance,
        name=part.name,
        pids=part.pids,
        change=change,
        start_ms=part.start_ms,
        sentence=line.sentence.partition(";")[0],
    )
