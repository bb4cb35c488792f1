"""A comparison as blocks of a report: the answer, then what changed, each with both values."""

from typing import Final

from normstat.comparison.model import Comparison, FindingGroup, Story
from normstat.report.blocks import Block, BlockColumn, ListBlock, SaidBlock, SidesBlock, StoryBlock, TableBlock
from normstat.report.charts import draw_finding
from normstat.report.event_section import describe_times
from normstat.report.ledger_section import CAPTION, HEAD, rows_by_host, texts_of
from normstat.report.numbers import write_csv
from normstat.report.stories import MAX_PROCESSES, drawn_group, lead_of, story_facts
from normstat.report.tables import ARROWS, WORSE, median_change
from normstat.runtime.readable import count_of, format_duration, format_instant, format_number

MAX_STORIES: Final = 5
MAX_LINES: Final = 3
MAX_ROWS: Final = 40
CSV_NAME: Final = "comparison.csv"


def comparison_blocks(record: Comparison) -> list[Block]:
    """Return all blocks: the answer, the ledger, the stories, the findings."""
    return [*answer_blocks(record), *ledger_blocks(record), *story_blocks(record), finding_table(record)]


def answer_blocks(record: Comparison) -> list[Block]:
    """Return the headline, both sides, and what else is known."""
    blocks: list[Block] = [SaidBlock(lead_of(record), "lead"), sides_block(record)]
    told = [f"{_dated(describe_times(one, record))}{one.sentence}." for one in record.circumstances]
    if told:
        blocks.append(ListBlock(told[:6]))
    notes = [*record.notes, record.seasonal_note, record.divisor_note]
    blocks += [SaidBlock(note, "soft") for note in notes if note]
    return blocks


def _dated(times: str) -> str:
    return f"{times}: " if times else ""


def sides_block(record: Comparison) -> SidesBlock:
    """Return what was compared: windows and samples of both sides."""
    against, sides = record.against, record.sides
    said = f"version {against.version}, " if against.version is not None else ""
    windows = against.windows
    span = f"{format_instant(windows[0].start)} to {format_instant(windows[-1].end)}" if windows else "no window"
    return SidesBlock(
        [
            f"{against.name} ({said}{count_of(len(windows), 'window')})",
            span,
            f"{format_duration(sides.baseline.covered_s)} with samples, {count_of(sides.baseline.n_samples, 'sample')}",
        ],
        [
            f"{', '.join(record.hosts)}, {format_duration((record.end - record.start).total_seconds())}",
            f"{format_instant(record.start)} to {format_instant(record.end)}",
            f"{format_duration(sides.incident.covered_s)} with samples, {count_of(sides.incident.n_samples, 'sample')}",
        ],
    )


def ledger_blocks(record: Comparison) -> list[Block]:
    """Return a table for each host of who took what. Empty for a comparison without a ledger."""
    columns = [BlockColumn(title, share=share) for title, share in zip(HEAD, (0.9, 1.0, 1.2, 3.2, 0.7), strict=True)]
    return [
        TableBlock(columns, [texts_of(row) for row in rows], f"Who took what on {host}. {CAPTION}")
        for host, rows in rows_by_host(record)
    ]


def story_blocks(record: Comparison, limit: int = MAX_STORIES) -> list[Block]:
    """Return the first stories, or the first groups of a comparison without any."""
    groups = {group.rank: group for group in record.groups}
    if record.stories:
        blocks: list[Block] = [_story(story, groups, record) for story in record.stories[:limit]]
        left = len(record.stories) - limit
        if left > 0:
            blocks.append(SaidBlock(f"{count_of(left, 'more story', 'more stories')} in the comparison on the page.", "soft"))
        return blocks
    return [_group(group) for group in record.groups[:limit]]


def _story(story: Story, groups: dict[int, FindingGroup], record: Comparison) -> StoryBlock:
    group = drawn_group(story, groups)
    told = [line.text for line in story.lines if line.role != "detail" and line.text not in story.sentence]
    others = [process.sentence for process in story.processes if process.sentence not in story.sentence]
    svg, caption = _graph(group)
    return StoryBlock(
        f"{story.rank}. {story.title}",
        ", ".join(story_facts(story, record)),
        story.sentence,
        _both_values(story, groups, group),
        [*others[: MAX_PROCESSES - 2], *told[:MAX_LINES]],
        svg,
        caption,
    )


def _group(group: FindingGroup) -> StoryBlock:
    svg, caption = _graph(group)
    return StoryBlock(f"{group.rank}. {_name(group)}", "", group.sentence, _value(group), [], svg, caption)


def _both_values(story: Story, groups: dict[int, FindingGroup], drawn: FindingGroup | None) -> str:
    """Return the medians of baseline and incident of the drawn group, and of the strongest other one."""
    own = [group for rank in story.ranks if (group := groups.get(rank)) is not None]
    chosen = ([drawn] if drawn is not None else []) + [group for group in own if group is not drawn]
    return "; ".join(_value(group) for group in chosen[:2])


def _value(group: FindingGroup) -> str:
    ratio = format_number(group.change_ratio)
    return f"{group.stat} {group.column}{_instance(group)}: {median_change(group)} (medians, change ratio {ratio})"


def _instance(group: FindingGroup) -> str:
    instance = group.members[0].instance if group.members else ""
    return f" @ {instance}" if instance else ""


def _name(group: FindingGroup) -> str:
    return f"{group.host} {group.stat} {group.column}{_instance(group)}"


def _graph(group: FindingGroup | None) -> tuple[str, str]:
    if group is None or not group.members:
        return "", ""
    member = group.members[0]
    graph = draw_finding(member, group.unit, f"{group.stat} {group.field} {member.instance}".strip())
    return (str(graph), _name(group)) if graph is not None else ("", "")


def finding_table(record: Comparison, limit: int = MAX_ROWS) -> TableBlock:
    """Return the ranked findings, one row for each group, with both medians."""
    columns = [
        BlockColumn("#", is_number=True, share=0.28),
        BlockColumn("series", share=3.1),
        BlockColumn("change", share=1.15),
        BlockColumn("baseline", is_number=True, share=0.85),
        BlockColumn("incident", is_number=True, share=0.85),
        BlockColumn("unit", share=0.62),
        BlockColumn("ratio", is_number=True, share=0.62),
        BlockColumn("changed", is_number=True, share=0.72),
    ]
    rows = [finding_row(group) for group in record.groups[:limit]]
    left = record.n_groups - len(rows)
    more = f" {count_of(left, 'more group')} on the page and in {CSV_NAME}." if left > 0 else ""
    caption = (
        f"Ranked by how far each metric moved relative to its usual variation; medians of the strongest series of a group.{more}"
    )
    return TableBlock(columns, rows, caption, csv=write_csv(record).decode("utf-8-sig"), csv_name=CSV_NAME)


def finding_row(group: FindingGroup) -> list[str]:
    """Return the cells of a group."""
    strongest = group.members[0] if group.members else None
    return [
        str(group.rank),
        _name(group),
        f"{ARROWS[group.direction]} {group.kind} {WORSE[group.is_worse]}".rstrip(),
        "" if strongest is None else format_number(strongest.baseline.median) if strongest.baseline.n else "not there",
        "" if strongest is None else format_number(strongest.incident.median) if strongest.incident.n else "gone",
        group.unit,
        format_number(group.change_ratio),
        f"{group.n_members} of {group.n_instances}",
    ]
