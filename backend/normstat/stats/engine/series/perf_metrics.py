"""The table of `perf stat --metric-only`: names of metrics in one line, their values below.

    #           time       insn per cycle branch-misses of all branches
         1.000275401                 0.72                          1.50%

A name is as wide as a column, or wider, with one blank before it; then the values of its column and of all behind it stand one
place farther right. So where the values end tells where the names do.
"""

import re
from dataclasses import dataclass
from typing import Final

VALUE: Final = re.compile(r"(?:-?[0-9]{1,18}(?:[.,][0-9]{1,9})?%?|nan|-nan|inf|<not (?:counted|supported)>)(?= |$)")
ROW: Final = re.compile(
    r"\s*(?:(?P<time>\d{1,9}[.,]\d{9})\s+)?"
    r"(?:(?P<place>CPU-?\d{1,6}|S\d{1,4}(?:-D\d{1,4})?(?:-(?:CLS|C|L)\d{1,6})?|N\d{1,4})\s+(?:\d{1,6}\s+(?=\S+\s))?)?"
)
HEADER: Final = re.compile(r"(?:#\s*time)?\s*[A-Za-z%][^#]{0,4000}")
NO_VALUES: Final = frozenset({"nan", "-nan", "inf", "<not counted>", "<not supported>"})


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A row: seconds since perf began, the CPU, socket or node, and the values by the names of their metrics."""

    time: str | None
    place: str
    values: dict[str, str]


def is_metric_header(text: str, *, is_titled: bool) -> bool:
    """Return whether the line names metrics; without a time it must be below the title of perf.

    >>> is_metric_header("#           time       insn per cycle", is_titled=False), is_metric_header("12 files", is_titled=True)
    (True, False)
    """
    found = HEADER.fullmatch(text)
    has_time = text.startswith("#") and text[1:].split()[:1] == ["time"]
    if found is None or any(VALUE.fullmatch(word) for word in text.split()):
        return False
    return has_time or (is_titled and not text.startswith("#"))


def parse_metric_row(header: str, text: str) -> MetricRow | None:
    """Return the values of a row under a header. Missing: None when they do not stand under its names.

    >>> header = "#           time       insn per cycle branch-misses of all branches "
    >>> parse_metric_row(header, "     1.000275401                 0.72                          1.50% ").values
    {'insn per cycle': '0.72', 'branch-misses of all branches': '1.50'}
    """
    lead = ROW.match(text)
    assert lead is not None
    found = list(VALUE.finditer(text, lead.end()))
    if not found or VALUE.sub("", text[lead.end() :]).strip():
        return None
    title = re.match(r"#\s*time", header)
    begin, shift = (0 if title is None else title.end()), 0
    values: dict[str, str] = {}
    for value in found:
        end = next((value.end() - more for more in (shift, shift + 1) if _ends_name(header, value.end() - more)), None)
        if end is None or end <= begin:
            return None
        name = " ".join(header[begin:end].split())
        if not name or name in values:
            return None
        values[name] = value[0].rstrip("%")
        begin, shift = end, value.end() - end
    if header[begin:].strip():
        return None
    return MetricRow(lead["time"], lead["place"] or "", values)


def _ends_name(header: str, at: int) -> bool:
    """Return whether a name ends at that place of the header."""
    return 0 < at <= len(header) and header[at - 1] != " " and header[at : at + 1] in ("", " ")
