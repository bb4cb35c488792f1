"""Make parts from the output of a reader: blocks of samples become tables, trees of stacks, distributions and logs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from normstat.artefacts.keys import key_rule, without_repeat
from normstat.artefacts.log_builder import LogBuilder
from normstat.artefacts.parts import NO_NUMBER, Bucket, HistogramPart, LogClock, LogPart, Number, Part, PartColumn, TablePart
from normstat.artefacts.stack_tree import StackTreeBuilder
from normstat.stats.engine.histogram import split_bucket
from normstat.stats.engine.trace.stacks import SEPARATOR
from normstat.stats.records import NO_TIME, SampleBlock
from normstat.stats.spec import Field, Kind, Semantics, Shape, Worse

# What ranks the rows of a table: the cost where the tool or we know it, then how often, then the first number that can be bad.
WEIGHTS: Final = (
    "total_ns", "total_wait_ns", "total_spins", "total_s", "seconds", "total_usecs", "samples", "calls", "count",
)  # fmt: skip
# Stats about the other stats of a text.
TOTALS: Final = ("_section", "_summary", "_totals")
LOGS: Final = frozenset({"lkst_log"})
# Tables whose rows print more or fewer of the same columns.
RAGGED: Final = frozenset({"mcelog_events", "mcelog_memory"})
EVENTS: Final = frozenset({"lock", "unlock"})
MEANS: Final = frozenset({
    "nsec", "spin", "avg_s", "avg_us", "avg_ns", "avg_wait_ns", "avgtime", "usecs_per_call", "rcnt", "min_s", "min_ns",
    "min_wait_ns", "max_s", "max_ns", "max_wait_ns", "rank", "elapsed_s",
})  # fmt: skip


def make_parts(blocks: Sequence[SampleBlock], text: bytes = b"") -> list[Part]:
    """Return the parts of blocks: what the tool lists in the order of the first lines, then its totals. Of `text`, which was read,
    the events of logs know their lines.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[SampleBlock]] = {}
    for block in blocks:
        keys = tuple(field.key for field in block.fields)
        # Distributions and logs are one part, whatever columns each block has.
        is_one = block.stat.shape is not Shape.TABLE or block.stat.name in LOGS or block.stat.name in RAGGED
        same = () if is_one else keys
        groups.setdefault((block.stat.name, same), []).append(block)
    parts = [_make_part(group, text) for group in groups.values()]
    firsts = [min(int(block.line_offset[0]) for block in group if len(block)) for group in groups.values()]
    order = sorted(range(len(parts)), key=lambda at: (parts[at].stat.endswith(TOTALS), firsts[at]))
    return [parts[at] for at in order]


def column_of(field: Field) -> PartColumn:
    """Return a field as a column of a part."""
    is_sum = field.kind in {Kind.COUNT, Kind.COUNTER} or (field.kind is Kind.TIME and field.semantics is not Semantics.INSTANT)
    # A count or a time that the tool derived, such as a mean, is no sum.
    is_additive = (is_sum or field.key in WEIGHTS) and field.key not in MEANS
    title = field.column or field.key
    return PartColumn(field.key, title, field.unit, field.kind, field.worse, field.decimals, field.help, is_additive)


def choose_weight(columns: Sequence[PartColumn]) -> str:
    """Return the key of the column that ranks rows. Missing: "" without columns."""
    keys = {column.key for column in columns}
    for key in WEIGHTS:
        if key in keys:
            return key
    for column in columns:
        if column.worse is Worse.HIGHER:
            return column.key
    return columns[0].key if columns else ""


def _make_part(blocks: Sequence[SampleBlock], text: bytes) -> Part:
    stat = blocks[0].stat
    if stat.name in LOGS:
        return _make_log(blocks, text)
    if stat.shape is Shape.STACKS:
        return _make_stacks(blocks)
    if stat.shape is Shape.HISTOGRAM:
        return _make_histogram(blocks)
    return _make_table(blocks)


def _numbers(block: SampleBlock, at: int) -> list[Number | None]:
    values: list[Number | None] = block.values[at].tolist()
    missing = block.missing[at] if at < len(block.missing) else None
    if missing is not None:
        for row in np.flatnonzero(missing).tolist():
            values[row] = None
    return values


def _columns_of(blocks: Sequence[SampleBlock]) -> dict[str, Field]:
    return {field.key: field for block in blocks for field in block.fields}


def _gather(blocks: Sequence[SampleBlock], keys: Iterable[str]) -> list[list[Number | None]]:
    """Return the values of each field over all blocks; a block without the field gives None."""
    found: list[list[Number | None]] = []
    for key in keys:
        column: list[Number | None] = []
        for block in blocks:
            at = next((at for at, field in enumerate(block.fields) if field.key == key), None)
            column += [None] * len(block) if at is None else _numbers(block, at)
        found.append(column)
    return found


class _Reports:
    """The reports of rows: a new one where the time changes, or where a key comes again."""

    def __init__(self) -> None:
        self.times: list[int | None] = []
        self._seen: set[str] = set()

    def number(self, time_us: int, instance: str) -> int:
        """Return the number of the report that a row is in. Rows come in the order of their lines."""
        time = None if time_us == NO_TIME else time_us
        if not self.times or time != self.times[-1] or instance in self._seen:
            self.times.append(time)
            self._seen = set()
        self._seen.add(instance)
        return len(self.times) - 1


def _ordered(blocks: Sequence[SampleBlock]) -> tuple[list[int], list[str], list[int]]:
    """Return the order of all rows by their lines, and the instance and time of each row before ordering."""
    instances = [name for block in blocks for name in block.instances]
    times = np.concatenate([block.time_us for block in blocks]).tolist()
    order = np.argsort(np.concatenate([block.line_offset for block in blocks]), kind="stable").tolist()
    return order, instances, times


def _make_table(blocks: Sequence[SampleBlock]) -> TablePart:
    stat = blocks[0].stat
    rule = key_rule(stat.name, stat.instance_title)
    order, instances, times = _ordered(blocks)
    reports = _Reports()
    report = [reports.number(times[row], instances[row]) for row in order]
    keys = [rule.split(without_repeat(instances[row])) for row in order]
    fields = _columns_of(blocks)
    columns = tuple(map(column_of, fields.values()))
    values = _gather(blocks, fields)
    return TablePart(
        stat=stat.name,
        title=stat.title,
        key_names=rule.names,
        keys=tuple([key[at] for key in keys] for at in range(len(rule.names))),
        columns=columns,
        values=tuple([column[row] for row in order] for column in values),
        weight=choose_weight(columns),
        report=report,
        report_us=tuple(reports.times),
    )


def _make_stacks(blocks: Sequence[SampleBlock]) -> Part:
    stat = blocks[0].stat
    fields = _columns_of(blocks)
    kept = {key: column for key, field in fields.items() if (column := column_of(field)).is_additive}
    builder = StackTreeBuilder(tuple(kept.values()))
    values = _gather(blocks, kept)
    row = 0
    for block in blocks:
        for instance in block.instances:
            builder.add(without_repeat(instance).split(SEPARATOR), [column[row] for column in values])
            row += 1
    return builder.build(stat=stat.name, title=stat.title, weight=choose_weight(tuple(kept.values())))


def _make_histogram(blocks: Sequence[SampleBlock]) -> HistogramPart:
    stat = blocks[0].stat
    order, instances, times = _ordered(blocks)
    counts, lows, highs = _gather(blocks, ("count", "low", "high"))
    unit = _columns_of(blocks)["low"].unit if "low" in _columns_of(blocks) else ""
    buckets: dict[tuple[Number | None, Number | None, str], int] = {}
    rows: dict[tuple[str, int], dict[int, Number]] = {}
    reports = _Reports()
    for row in order:
        key, label = split_bucket(without_repeat(instances[row]))
        low, high = lows[row], highs[row]
        # Labels differ from tool to tool; buckets of the same ends are the same.
        name = "" if low is not None or high is not None else label
        bucket = buckets.setdefault((low, high, name), len(buckets))
        count = counts[row]
        rows.setdefault((key, reports.number(times[row], instances[row])), {})[bucket] = 0 if count is None else count
    found = sorted(buckets.items(), key=lambda item: (_end(item[0][0], -np.inf), _end(item[0][1], np.inf), item[0][2]))
    place = {number: at for at, (_, number) in enumerate(found)}
    labels: dict[tuple[Number | None, Number | None, str], str] = {}
    for row in order:
        label = split_bucket(without_repeat(instances[row]))[1]
        low, high = lows[row], highs[row]
        labels.setdefault((low, high, "" if low is not None or high is not None else label), label)
    filled = []
    for cells in rows.values():
        line: list[Number] = [0] * len(found)
        for number, count in cells.items():
            line[place[number]] = count
        filled.append(line)
    return HistogramPart(
        stat=stat.name,
        title=stat.title,
        unit=unit,
        buckets=tuple(Bucket(labels[key], _float(key[0]), _float(key[1])) for key, _ in found),
        keys=[key for key, _ in rows],
        report=[report for _, report in rows],
        report_us=tuple(reports.times),
        counts=filled,
    )


def _float(value: Number | None) -> float | None:
    return None if value is None else float(value)


def _end(value: Number | None, missing: float) -> float:
    return missing if value is None else float(value)


def _make_log(blocks: Sequence[SampleBlock], text: bytes) -> LogPart:
    """Return a log: the instance is a command, an event and, for some, a function."""
    stat = blocks[0].stat
    order, instances, _ = _ordered(blocks)
    offsets = np.concatenate([block.line_offset for block in blocks])
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    lines = (np.searchsorted(ends, offsets) + 1).tolist() if text else [NO_NUMBER] * len(offsets)
    times, cpus = _gather(blocks, ("ns_of_day", "cpu"))
    split = [_split_event(without_repeat(instances[row])) for row in order]
    log = LogBuilder()
    for row, (command, event, function) in zip(order, split, strict=True):
        if (time := times[row]) is None:
            continue
        cpu = cpus[row]
        log.add(
            int(time), cpu=NO_NUMBER if cpu is None else int(cpu), command=command, event=event, function=function, line=lines[row]
        )
    return log.build(stat=stat.name, title=stat.title, clock=LogClock.DAY, decimals=9)


def _split_event(instance: str) -> tuple[str, str, str]:
    """Return command, event and function.

    >>> _split_event("iozone unlock schedule()"), _split_event("kdm_greet lock")
    (('iozone', 'unlock', 'schedule()'), ('kdm_greet', 'lock', ''))
    """
    words = instance.split(" ")
    at = next((at for at, word in enumerate(words) if word in EVENTS), min(1, len(words) - 1))
    return " ".join(words[:at]), words[at], " ".join(words[at + 1 :])


# Some 20 MiB of JSON. No tool's profile or lock report comes near.
MAX_ROWS: Final = 100_000


def split_tables(parts: Iterable[Part], most: int = MAX_ROWS) -> Iterator[Part]:
    """Yield the parts, tables of more rows in pieces of `most`; a piece says which rows it has."""
    for part in parts:
        if not isinstance(part, TablePart) or part.n_rows <= most:
            yield part
            continue
        for begin in range(0, part.n_rows, most):
            rows = slice(begin, begin + most)
            end = min(begin + most, part.n_rows)
            yield replace(
                part,
                title=f"{part.title}, rows {begin + 1:,} to {end:,} of {part.n_rows:,}",
                keys=tuple(key[rows] for key in part.keys),
                values=tuple(values[rows] for values in part.values),
                report=part.report[rows],
            )
