"""The stories of a report: the answer first, each with its graph, its processes and its evidence."""

from collections.abc import Mapping
from typing import Final

from normstat.comparison.model import Comparison, FindingGroup, Story, StoryProcess
from normstat.report.charts import draw_finding
from normstat.report.markup import Markup, tag
from normstat.report.tables import series_name
from normstat.runtime.readable import count_of, format_clock, format_duration, name_some

# About two pages of paper.
MAX_STORIES: Final = 7
MAX_LINES: Final = 4
MAX_PROCESSES: Final = 4
MAX_ALSO: Final = 6


def lead_of(record: Comparison) -> str:
    """Return the answer in one sentence: that of the first story, else the verdict."""
    return record.stories[0].sentence if record.stories else record.verdict


def story_section(record: Comparison) -> Markup | None:
    """Return the stories, strongest first. Missing: None for a comparison without any."""
    if not record.stories:
        return None
    groups = {group.rank: group for group in record.groups}
    left = len(record.stories) - MAX_STORIES
    return tag(
        "section",
        tag("h2", "What happened"),
        tag("ol", *(_story(story, groups, record) for story in record.stories[:MAX_STORIES]), class_="stories"),
        tag("p", f"{count_of(left, 'more story', 'more stories')} in the comparison on the page.", class_="soft")
        if left > 0
        else None,
    )


def _story(story: Story, groups: Mapping[int, FindingGroup], record: Comparison) -> Markup:
    group = drawn_group(story, groups)
    # Details are on the page and in the CSV.
    told = [line.text for line in story.lines if line.role != "detail" and line.text not in story.sentence]
    lines = [tag("li", text) for text in told[:MAX_LINES]]
    others = [process for process in story.processes if process.sentence not in story.sentence][:MAX_PROCESSES]
    return tag(
        "li",
        tag(
            "div",
            tag("h3", tag("span", f"{story.rank}. ", class_="rank"), story.title),
            tag("p", ", ".join(story_facts(story, record)), class_="soft"),
            tag("p", tag("b", story.sentence)),
            tag("ul", *(tag("li", process.sentence) for process in others), *lines) if others or lines else None,
            tag("p", f"Also seen by: {name_some(story.also_seen_by, MAX_ALSO)}", class_="soft") if story.also_seen_by else None,
        ),
        _graph(group),
        class_="story",
    )


def story_facts(story: Story, record: Comparison) -> list[str]:
    """Return when the story began, on which hosts, and when its new processes started."""
    facts = []
    if story.onset_ms is not None:
        after = int(story.onset_ms / 1000 - record.start.timestamp())
        into = f"{format_duration(after)} into the incident" if after > 0 else "at the start of the incident"
        facts.append(f"began {format_clock(story.onset_ms // 1000 * 1000)} UTC, {into}")
    if len(record.hosts) > 1:
        facts.append(f"on {', '.join(story.hosts)}")
    return facts + [_started(process) for process in story.processes[:MAX_PROCESSES] if process.start_ms is not None]


def _started(process: StoryProcess) -> str:
    assert process.start_ms is not None
    return f"{process.name} started {format_clock(process.start_ms // 1000 * 1000)} UTC"


def drawn_group(story: Story, groups: Mapping[int, FindingGroup]) -> FindingGroup | None:
    """Return the group whose graph a story shows: the strongest drawn one that is not a detail, a resource before a process.

    Missing: None where the result holds no group of it. The page chooses the same (frontend logic/story.ts).
    """
    roles = {line.rank: line.role for line in story.lines}
    own = [groups[rank] for rank in story.ranks if rank in groups]
    drawn = [group for group in own if group.members and group.members[0].sparkline is not None]
    told = [group for group in drawn if roles.get(group.rank, "detail") != "detail"]
    others = [group for group in drawn if group.rank not in roles]
    return next(iter([*told, *others, *drawn, *own]), None)


def _graph(group: FindingGroup | None) -> Markup | None:
    if group is None or not group.members:
        return None
    member = group.members[0]
    graph = draw_finding(member, group.unit, f"{group.stat} {group.field} {member.instance}".strip())
    if graph is None:
        return None
    return tag("figure", tag("figcaption", series_name(group.host, group.stat, group.column, member.instance)), graph)
