"""Read one data line under a header word by word. This defines what a row is; the bulk path must agree with it.

12:53:22     1000      7900  359.42   53.55    0.00    8.47  412.96     2  gnome-shell
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from normstat.errors import shorten
from normstat.stats.engine.block import Row
from normstat.stats.engine.column_layout import TimeStyle
from normstat.stats.engine.header import Header
from normstat.stats.engine.number_formats import NOT_A_NUMBER, read_number
from normstat.stats.engine.outcome import NOT_MINE, NotMine, Rejected
from normstat.stats.engine.times.timestamps import ClockWords, parse_clock, parse_date, split_words, take_clock
from normstat.stats.spec import Field

# Joins the words of several instance columns: "7900/gnome-shell".
INSTANCE_JOINT = "/"
ABSENT = "-"
WORD = re.compile(r"\S+")
NUMBER = re.compile(r"[-+]?[\d.,]+[%\w]?")
# Numbers without a blank between them, and the beginning of one up to its decimals.
TOUCHING = re.compile(r"-?\d+\.\d[\d.-]*\.\d+", re.ASCII)
CELL = re.compile(r"-?(?:0|[1-9]\d*)\.", re.ASCII)


@dataclass(frozen=True, slots=True)
class Words:
    """A line that has as many words as its header has columns, its time set apart.

    `clock` is a leading time; `moment` the date and clock after a row, as seconds since the epoch by the wall in the zone
    `zone_name`.
    """

    words: Sequence[str]
    clock: ClockWords | None
    moment: float | None
    zone_name: str = ""


def split_row(header: Header, text: str, header_line: str = "") -> Words | Rejected | NotMine:
    """Return the words of a line under a header; `header_line` is its text.

    A line that does not begin like a row is NOT_MINE; one that begins like a row but does not fit is rejected.
    """
    table = header.table
    words = split_words(text)
    clock = None
    if table.time is TimeStyle.LEADING and header.has_clock:
        clock = take_clock(words)
        if clock is None:
            return NOT_MINE
        words = words[clock.n_words :]
    n_columns = len(header.words)
    if header.has_clock_after and len(words) == n_columns + 1:
        seconds = parse_clock(words[-1])
        if seconds is None:
            return Rejected(f"{shorten(words[-1], 40)} is not a clock")
        words, clock = words[:-1], ClockWords(1, seconds, is_epoch=False)
    moment = None
    zone_name = header.zone_name
    if header.has_trailing_time:
        tail = words[n_columns:]
        if len(tail) == (2 if zone_name else 3):
            moment = _moment(tail[0], tail[1])
            zone_name = zone_name or tail[2]
        if moment is None:
            return Rejected(f"{len(words)} words, {n_columns} values with date and clock expected")
        words = words[:n_columns]
    cells = words if len(words) == n_columns else _to_cells(header, words, text, 0 if clock is None else clock.n_words, header_line)
    return cells if isinstance(cells, Rejected) else Words(cells, clock, moment, zone_name)


def _to_cells(header: Header, words: list[str], text: str, n_before: int, header_line: str) -> list[str] | Rejected:
    """Return the cells of a row with other words than its header: fitted as the layout allows, or parted where they touch."""
    n_columns = len(header.words)
    fitted = _fit(header, words, text, n_before, header_line)
    cells = part_touching(header, fitted) if len(fitted) < n_columns else fitted
    if isinstance(cells, Rejected) or len(cells) == n_columns:
        return cells
    return Rejected(f"{len(cells)} values for {n_columns} columns")


def _fit(header: Header, words: list[str], text: str, n_before: int, header_line: str) -> list[str]:
    """Return the words of a row with more or fewer words than its header, fitted as the layout allows; otherwise unchanged.

    `n_before` words of the text are its clock.
    """
    n_columns = len(header.words)
    if len(words) > n_columns and header.has_last_text:
        return split_words(text, n_before + n_columns - 1)[n_before:]
    if len(words) > n_columns and header.table.has_first_text:
        names = words[: len(words) - n_columns + 1]
        return words if any(NUMBER.fullmatch(name) for name in names) else [" ".join(names), *words[len(names) :]]
    if len(words) == n_columns - header.n_optional:
        return [*words[: header.optional_at], *[""] * header.n_optional, *words[header.optional_at :]]
    return (_short_row(header, header_line, text) or words) if header.table.has_short_rows else words


def part_touching(header: Header, words: list[str]) -> list[str] | Rejected:
    """Return the words of a row in which numbers were wider than their columns and touch: 120000.41000000.5 with one decimal each.

    The decimals that the tool always prints part them, in one way only. The words are unchanged where none touch.
    """
    if header.stat is None:
        return words
    decimals = {at: field.decimals for at, field in zip(header.value_at, header.fields, strict=True) if field.is_documented}
    found: list[str] = []
    for word in words:
        cells = [word]
        if TOUCHING.fullmatch(word) is not None and decimals.get(len(found)):
            cells = _cells(word, [decimals.get(at, 0) for at in range(len(found), len(header.words))])
            if not cells:
                return Rejected(f"two columns touch: {shorten(word, 40)}; {len(words)} values for {len(header.words)} columns")
        found += cells
    return found if len(found) == len(header.words) else words


def _cells(word: str, decimals: Sequence[int]) -> list[str]:
    """Return the numbers that a word is, the first with as many decimals as the first column has. Missing: none if it is not."""
    cells = []
    at = 0
    for n_decimals in decimals:
        found = CELL.match(word, at)
        end = found.end() + n_decimals if found is not None else 0
        if not n_decimals or not end or not word[end - n_decimals : end].isdigit() or end > len(word):
            return []
        cells.append(word[at:end])
        at = end
        if at == len(word):
            return cells
    return []


def _short_row(header: Header, header_line: str, text: str) -> list[str]:
    """Return the words of a row that may lack some: by its tabs, else by the ends of the header's words.

    Missing: none unless every word of the row ends where one of the header does.
    """
    n_columns = len(header.words)
    if "\t" in text:
        cells = [cell.strip() for cell in text.split("\t")]
        return [*cells, *[""] * (n_columns - len(cells))]
    ends = {found.end(): at for at, found in enumerate(WORD.finditer(header_line))}
    placed = [""] * len(ends)
    for found in WORD.finditer(text):
        at = ends.get(found.end())
        if at is None:
            return []
        placed[at] = found[0]
    return placed if len(placed) == n_columns else []


def _moment(day_text: str, clock_text: str) -> float | None:
    day = parse_date(day_text)
    clock = parse_clock(clock_text)
    if day is None or clock is None or len(day_text) != 10:
        return None
    return (day.toordinal() - 719_163) * 86_400 + clock


def instance_of(header: Header, words: Sequence[str]) -> str:
    """Return the instance of the row."""
    return header.title or join_instance([words[at] for at in header.instance_at])


def join_instance(names: Sequence[str]) -> str:
    """Return the words of the instance columns as one name; those that hold "-" (the thread column of a process row) do not
    count.
    """
    return INSTANCE_JOINT.join(name for name in names if name and name != ABSENT)


def read_row(header: Header, fields: Sequence[Field], words: Sequence[str]) -> Row | Rejected:
    """Return the values of a row, or the reason why they cannot be read."""
    values: list[int | float] = []
    missing: list[int] = []
    is_canonical = True
    for at, field in zip(header.value_at, fields, strict=True):
        word = words[at]
        is_missing = not word or word in header.table.missing or word in NOT_A_NUMBER
        number = None if is_missing else read_number(word, field)
        if number is not None:
            values.append(number[0])
            is_canonical = is_canonical and number[1]
        elif is_missing:
            missing.append(len(values))
            values.append(0)
        elif not field.is_documented:
            missing.append(len(values))
            values.append(0)
            is_canonical = False
        else:
            return Rejected(f"column {field.column}: {shorten(word, 40)} is not a number that it can hold")
    if not is_canonical and len(missing) == len(values):
        return Rejected("none of its columns holds a number")
    printed = None if is_canonical else " ".join(words[at] or ABSENT for at in header.value_at)
    return Row(values, tuple(missing), printed)
