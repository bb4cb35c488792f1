"""Build the stories of a host from its groups: one for each resource, with the processes that use it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from normstat.comparison.findings.classify import round_value
from normstat.comparison.findings.coming_and_going import is_process_stat
from normstat.comparison.findings.onset import find_onset
from normstat.comparison.io_gap import describe_io_gap
from normstat.comparison.model import Finding, FindingGroup, Story, StoryLine, StoryProcess
from normstat.comparison.read_side import StatSide
from normstat.comparison.steady_processes import STEADY_STATS
from normstat.comparison.stories.actors import Actor, Incident, command_of, describe_actor, find_actors
from normstat.comparison.stories.bouts import describe_bouts_of
from normstat.comparison.stories.story_table import StoryPlace, title_of
from normstat.comparison.stories.story_words import (
    column_with_tool,
    describe_clause,
    is_amount_that_matters,
    is_usual,
    join_clauses,
    lower_starter,
    place_of,
    representative,
)
from normstat.runtime import work_budget
from normstat.runtime.readable import join_words
from normstat.runtime.units import BYTES
from normstat.window import Window

# A detail is evidence for something else: alone it counts half.
DETAIL_FACTOR: Final = 0.5
# Evidence in the order of cause and effect.
ORDER: Final = ("errors", "work", "busy", "latency", "wait", "detail")
# Clauses of the resource in a story's sentence, with this share of the story's anomaly score at least.
MAX_IN_SENTENCE: Final = 3
MIN_SHARE: Final = 0.4
MAX_PROCESSES_IN_SENTENCE: Final = 2
MAX_PROCESSES: Final = 10
# Minimum share of the story's impact, and of the change in bytes of the devices, for a process to be named: one that
# reads 8 KiB/s did not keep a disk busy that writes 13 MiB/s.
MIN_ACTOR_SHARE: Final = 0.1
MIN_SHARE_OF_BYTES: Final = 0.01
# A story below both is not noticeable, unless it is about errors. Its groups stay among the changes.
MIN_IMPACT: Final = 0.02
MIN_SCORE: Final = 0.1
# A service that stalls matters to those who wait for it, however little of the host it uses: 2 % of one of two CPUs.
MIN_STEADY_IMPACT: Final = 0.01
MAX_LINES: Final = 8
EXPLAINED_BY_PROCESSES: Final = frozenset({"cpu", "disk", "memory", "network", "filesystem"})
MAX_ALSO: Final = 12

Placed = tuple[int, FindingGroup, StoryPlace]


@dataclass(frozen=True, slots=True)
class HostStory:
    """A story of one host. `lines` and `groups` name groups by their place in the host's list; `lead`: the meaning that leads

    `bouts`: what it does again and again; empty where nothing repeats
    """

    story: Story
    lead: str
    lines: list[tuple[int, StoryLine]]
    groups: list[int]
    bouts: str = ""


def rank_groups(groups: Sequence[FindingGroup]) -> list[FindingGroup]:
    """Return the groups by anomaly score, that of details halved: the size of a request is no answer."""
    return sorted(map(_weigh, groups), key=lambda group: -group.anomaly_score)


def _weigh(group: FindingGroup) -> FindingGroup:
    if place_of(group, group.members[0]).role != "detail":
        return group
    members = [replace(member, anomaly_score=_half(member.anomaly_score)) for member in group.members]
    return replace(group, anomaly_score=_half(group.anomaly_score), members=members)


def least_impact(stats: Iterable[str]) -> float:
    """Return the smallest impact worth reporting. `stats`: those that show it; less is enough for a process that is always there"""
    return MIN_STEADY_IMPACT if STEADY_STATS.intersection(stats) else MIN_IMPACT


def is_noticeable(group: FindingGroup) -> bool:
    """Return whether to report a group that is only likely: a resource or a service changed by an amount that matters.

    Processes are reported only if they are always there: among those that come and go, many changes are likely.
    """
    if place_of(group, group.members[0]).role == "detail":
        return False
    is_reported = group.stat in STEADY_STATS or not is_process_stat(group.stat)
    return is_reported and group.impact >= least_impact([group.stat])


def build_stories(
    host: str,
    groups: Sequence[FindingGroup],
    sides: Mapping[str, StatSide],
    incident: Window,
    pids: Mapping[str, Mapping[int, float]],
) -> list[HostStory]:
    """Return the stories of a host, highest anomaly score first.

    `groups`: as `rank_groups` orders them; `sides`: the incident; `pids`: `find_pids` of the sides
    """
    actors = find_actors(groups)
    topic_of = {actor.command: actor.topic for actor in actors}
    by_topic: dict[str, list[Placed]] = {}
    for at, group in enumerate(groups):
        work_budget.check()
        place = place_of(group, group.members[0])
        topic = place.topic
        if is_process_stat(group.stat):
            topics = {topic_of[command_of(group.stat, member.instance)[1]] for member in group.members}
            # A process that writes belongs to the disk with all that it does.
            topic = topics.pop() if len(topics) == 1 else topic
        by_topic.setdefault(topic, []).append((at, group, place))
    samples = Incident(sides, incident.start.timestamp(), incident.length_s, pids)
    stories: list[HostStory] = []
    for topic, placed in by_topic.items():
        # The first that repeats, which is the strongest, says what the others do meanwhile.
        is_first = not any(item.bouts for item in stories)
        elsewhere = [item for other, own in by_topic.items() if is_first and other != topic for item in own]
        own_actors = [actor for actor in actors if topic_of[actor.command] == topic]
        stories.append(_build(host, topic, (placed, elsewhere), own_actors, samples))
    stories.sort(key=lambda item: -item.story.anomaly_score)
    # A weak story names no process.
    least = MIN_SHARE * max((item.story.anomaly_score for item in stories), default=0.0)
    stories = [item for item in stories if _is_noticeable(item, least)]
    new_processes = [process for item in stories for process in item.story.processes if process.change == "new"]
    if len(new_processes) == 1:
        owner = next(item for item in stories if new_processes[0] in item.story.processes)
        return _join(stories, owner, lambda item: _lacks_process(item) and item.story.anomaly_score >= least)
    slowed = [
        item
        for item in stories
        if any(process.stat in STEADY_STATS and process.change == "less" for process in item.story.processes)
    ]
    if not new_processes and len(slowed) == 1 and len(slowed[0].story.processes) == 1:
        # A service that stalls explains a disk that stops with it.
        stories = _join(stories, slowed[0], lambda item: _lacks_process(item) and bool(item.bouts))
    return [_name_new_processes(item, new_processes) if item.story.anomaly_score >= least else item for item in stories]


def _join(stories: Sequence[HostStory], owner: HostStory, is_explained: Callable[[HostStory], bool]) -> list[HostStory]:
    """Return the stories, merging those that the only process of one explains: a dd shows as CPU time and as a busy disk."""
    same = [item for item in stories if item is owner or is_explained(item)]
    if len(same) == 1:
        return list(stories)
    strongest = same[0]
    lines = [line for item in same for line in item.lines[: max(1, MAX_LINES // len(same))]]
    onsets = [item.story.onset_ms for item in same if item.story.onset_ms is not None]
    others = [lower_starter(item.story.sentence) for item in same if item is not owner]
    titles = [item.story.title for item in same]
    story = replace(
        strongest.story,
        title=join_words([titles[0], *(title if title.isupper() else title[0].lower() + title[1:] for title in titles[1:])]),
        sentence=join_clauses([sentence.removesuffix(".") for sentence in (owner.story.sentence, *others)]),
        impact=max(item.story.impact for item in same),
        onset_ms=min(onsets, default=None),
        processes=owner.story.processes,
        also_seen_by=list(dict.fromkeys(column for item in same for column in item.story.also_seen_by))[:MAX_ALSO],
    )
    bouts = next((item.bouts for item in same if item.bouts), "")
    joined = HostStory(story, strongest.lead, lines, sorted(at for item in same for at in item.groups), bouts)
    dropped = {id(item) for item in same[1:]}
    return [joined if item is strongest else item for item in stories if id(item) not in dropped]


def _is_noticeable(item: HostStory, least: float) -> bool:
    """Return whether a story is worth a row. `least`: the score below which details alone are evidence of another story"""
    story, roles = item.story, {line.role for _, line in item.lines}
    if "errors" in roles or item.bouts:
        return True
    if roles == {"detail"} and not story.processes and story.anomaly_score < least:
        return False
    return story.impact >= least_impact(process.stat for process in story.processes) or story.anomaly_score >= MIN_SCORE


def _lacks_process(item: HostStory) -> bool:
    """Return whether the story lacks a process that would explain it."""
    return not item.story.processes and item.story.topic in EXPLAINED_BY_PROCESSES


def _name_new_processes(item: HostStory, new_processes: Sequence[StoryProcess]) -> HostStory:
    """Return a story without processes with those that are new: on many hosts the agent may not see who did the I/O."""
    story = item.story
    if not _lacks_process(item) or not new_processes:
        return item
    named = new_processes[:MAX_PROCESSES_IN_SENTENCE]
    verb = "is" if len(named) == 1 and len(named[0].pids) <= 1 else "are"
    sentence = f"{join_words([process.name for process in named])} {verb} new; {story.sentence}"
    return replace(item, story=replace(story, sentence=sentence, processes=list(new_processes[:MAX_PROCESSES])))


def _build(
    host: str, topic: str, groups: tuple[Sequence[Placed], Sequence[Placed]], actors: Sequence[Actor], incident: Incident
) -> HostStory:
    """Return the story of a topic. `groups`: its own, and those of other topics that it may name"""
    placed, elsewhere = groups
    # The size of a story is that of what its sentence tells, not of amounts that are too small to matter.
    chief = [item for item in placed if item[2].role != "detail"] or placed
    chief = [item for item in chief if not is_process_stat(item[1].stat) or is_amount_that_matters(item[1])] or chief
    impact = max((group.impact for _, group, _ in chief), default=0.0)
    # Processes only take the lead with a finding that is no detail.
    moved = max((_bytes_moved(group, member) for _, group, _ in placed for member in group.members[:1]), default=0.0)
    told_of = [
        actor
        for actor in actors
        if actor.impact >= MIN_ACTOR_SHARE * impact
        and any(
            place.role != "detail" and not 0 < _bytes_moved(group, finding) < MIN_SHARE_OF_BYTES * moved
            for group, finding, place in actor.findings
        )
    ]
    processes = [describe_actor(host, actor, incident) for actor in told_of[:MAX_PROCESSES]]
    resources = [item for item in placed if not is_process_stat(item[1].stat)]
    lines = _to_lines(resources, incident.length_s)
    best = max((group.anomaly_score for _, group, _ in placed), default=0.0)
    told: list[str] = [process.sentence for process in processes[:MAX_PROCESSES_IN_SENTENCE]]
    others = [item for item in elsewhere if not is_process_stat(item[1].stat)]
    bouts = describe_bouts_of(resources, others, incident.sides)
    told += _choose(lines, placed, MIN_SHARE * best) if bouts is None else [bouts]
    if not told:
        told = [line.text for _, line in lines[:1]] or [placed[0][1].sentence.removesuffix(".")]
    _, strongest, lead = chief[0]
    # Without a named process the story says why.
    gap = describe_io_gap(incident.sides) if topic == "disk" and not processes and strongest.direction != "down" else None
    told += [gap] if gap else []
    shown = {at for at, _ in lines}
    story = Story(
        rank=0,
        hosts=[host],
        topic=topic,
        title=title_of(topic),
        sentence=join_clauses(told),
        anomaly_score=strongest.anomaly_score,
        significance=strongest.significance,
        impact=impact,
        is_worse=strongest.is_worse,
        onset_ms=_find_onset(placed, incident.sides),
        processes=processes,
        lines=[],
        also_seen_by=list(dict.fromkeys(column_with_tool(group) for at, group, _ in resources if at not in shown))[:MAX_ALSO],
        ranks=[],
    )
    return HostStory(story, lead.meaning or f"{strongest.stat}.{strongest.field}", lines, [at for at, _, _ in placed], bouts or "")


def _bytes_moved(group: FindingGroup, finding: Finding) -> float:
    """Return by how many bytes per second the mean differs; 0 for a series of anything else."""
    unit = group.unit.removesuffix("/s")
    if unit == group.unit or unit not in BYTES:
        return 0.0
    return BYTES[unit] * abs((finding.incident.mean or 0.0) - (finding.baseline.mean or 0.0))


def _to_lines(resources: Sequence[Placed], length_s: float) -> list[tuple[int, StoryLine]]:
    """Return a clause for each meaning, that of the strongest group that names an instance; in the order of cause and effect."""
    by_meaning: dict[str, list[Placed]] = {}
    for item in resources:
        _, group, place = item
        by_meaning.setdefault(place.meaning or f"{group.stat}.{group.field}", []).append(item)
    chosen = [max(items, key=_preference) for items in by_meaning.values()]
    chosen.sort(key=lambda item: (ORDER.index(item[2].role), -item[1].anomaly_score))
    return [(at, StoryLine(place.role, describe_clause(group, place, length_s), 0)) for at, group, place in chosen[:MAX_LINES]]


def _choose(lines: Sequence[tuple[int, StoryLine]], placed: Sequence[Placed], least: float) -> list[str]:
    """Return the clauses of a story's sentence: one of each role, as far as they are strong and say what is not normal."""
    groups = {at: group for at, group, _ in placed}
    chosen: dict[str, str] = {}
    for at, line in lines:
        if line.role not in chosen and line.role != "detail" and groups[at].anomaly_score >= least and _is_outside(groups[at]):
            chosen[line.role] = line.text
    return list(chosen.values())[:MAX_IN_SENTENCE]


def _is_outside(group: FindingGroup) -> bool:
    """Return whether the incident's middle is outside the baseline's band, or the change is not one of the middle."""
    finding = representative(group)
    return finding.kind not in ("level", "trend", "saturated") or not is_usual(finding)


def _preference(item: Placed) -> tuple[float, bool, float]:
    _, group, _ = item
    # Of about equal ones, the one that says which disk.
    return round(group.anomaly_score, 1), bool(representative(group).instance), group.anomaly_score


def _find_onset(placed: Sequence[Placed], sides: Mapping[str, StatSide]) -> int | None:
    """Return when the first series of the story left the baseline's range. Missing: None where none did."""
    onsets = []
    for _, group, place in placed:
        side = sides.get(group.stat)
        if side is None or place.role == "detail" or not group.members:
            continue
        onset = _onset_of(group.members[0], group.field, side)
        if onset is not None:
            onsets.append(onset)
    return round(1000 * min(onsets)) if onsets else None


def _onset_of(finding: Finding, field: str, side: StatSide) -> float | None:
    span = side.span(finding.instance)
    if span is None or field not in side.values:
        return None
    values, times = side.part(field, span), side.times_s[side.report[span]]
    low, median, high = finding.baseline.lowest, finding.baseline.median, finding.baseline.highest
    onset = find_onset(values, None if low is None or median is None or high is None else (low, median, high))
    return None if onset is None else float(times[onset])


def _half(score: float) -> float:
    return round_value(DETAIL_FACTOR * score)


def merge_hosts(hosts: Sequence[Sequence[HostStory]], ranks: Sequence[Mapping[int, int]]) -> list[Story]:
    """Return the stories of all hosts, strongest first; the same one on several hosts is one, told by the strongest.

    `ranks`: for each host, the rank of its groups by their place in its list
    """
    merged: dict[tuple[str, str], list[Story]] = {}
    for host, ranked in zip(hosts, ranks, strict=True):
        for item in host:
            lines = [replace(line, rank=ranked[at]) for at, line in item.lines]
            story = replace(item.story, lines=lines, ranks=[ranked[at] for at in item.groups])
            merged.setdefault((item.story.topic, item.lead), []).append(story)
    stories = [_merge(same, len(hosts)) for same in merged.values()]
    stories.sort(key=lambda story: -story.anomaly_score)
    return [replace(story, rank=rank) for rank, story in enumerate(stories, start=1)]


def _merge(same: Sequence[Story], n_hosts: int) -> Story:
    if len(same) == 1:
        only = same[0]
        return only if n_hosts == 1 else replace(only, sentence=f"{only.hosts[0]}: {only.sentence}")
    strongest = max(same, key=lambda story: story.anomaly_score)
    # Those without an onset come last.
    in_order = sorted(same, key=lambda story: (story.onset_ms is None, story.onset_ms or 0))
    first = in_order[0]
    began = f", first on {first.hosts[0]}" if first.onset_ms is not None else ""
    processes: list[StoryProcess] = [process for story in in_order for process in story.processes]
    return replace(
        strongest,
        hosts=[story.hosts[0] for story in in_order],
        sentence=f"On {len(same)} of {n_hosts} hosts{began}; on {strongest.hosts[0]}: {strongest.sentence}",
        onset_ms=first.onset_ms,
        processes=processes[:MAX_PROCESSES],
        ranks=sorted(rank for story in same for rank in story.ranks),
    )
