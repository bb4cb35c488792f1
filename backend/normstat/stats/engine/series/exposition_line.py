"""A line of the Prometheus text format with a time, as receivers write it into a stream and as files of exporters have it.

    node_disk_reads_completed_total{device="sda"} 1234 1795262400123
    {"http.server.duration",route="/a"} 0.25 1795262400123 1795262390123

The words are the series, the value, the time in milliseconds since the epoch, and for an increase ("delta") the time since which it
is counted. OpenMetrics has seconds instead, with decimals or without: a time before 1973 in milliseconds is one. A name that is not
made of [a-zA-Z0-9_:] is quoted and stands among the labels, as Prometheus 3 writes it.

>>> parse_line('a_total{b="x y",c="q\\\\"n"} 1.5 1795262400123')
ExpositionLine(series='a_total{b="x y",c="q\\\\"n"}', value='1.5', time_ms=1795262400123, since_ms=None)
>>> [parse_line(f"a 1 {time}").time_ms for time in ("1795262400123", "1795262400", "1795262400.123")]
[1795262400123, 1795262400000, 1795262400123]
>>> parse_series('{"http.x",b="1"}'), format_series("http.x", {"b": "1"})
(('http.x', (('b', '1'),)), '{"http.x",b="1"}')
"""

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

NAME: Final = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*", re.ASCII)
LABEL: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)
QUOTED: Final = r'"(?:[^"\\]|\\.)*"'
# The braces may hold anything between quotes; parse_series looks at what it is.
LINE: Final = re.compile(
    rf'(?P<series>(?:[a-zA-Z_:][a-zA-Z0-9_:]*)?(?:\{{(?:[^"{{}}]|{QUOTED})*\}})?)[ \t]+(?P<value>[^ \t]{{1,60}})'
    r"(?:[ \t]+(?P<time>-?[0-9]{1,20}(?:\.[0-9]{1,9})?))?(?:[ \t]+(?P<since>-?[0-9]{1,20}))?[ \t]*",
    re.ASCII,
)
PAIR: Final = re.compile(
    rf"[ \t]*(?P<name>[a-zA-Z_][a-zA-Z0-9_]*|{QUOTED})(?:[ \t]*=[ \t]*(?P<value>{QUOTED}))?[ \t]*(?:,|$)", re.ASCII
)
ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
UNESCAPED: Final = {"n": "\n", "\\": "\\", '"': '"'}
# A line has no control characters: readers take them for garbage. Those in a label are shown as \x1b.
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\u2028\u2029\x85\ud800-\udfff]")
# The marker of Prometheus for "this series has ended", as a word; the NaN itself has no other form in text.
STALE: Final = "StaleNaN"
CACHED: Final = 65_536
# 1973 in milliseconds; in seconds it is the year 5138.
FIRST_MS: Final = 100_000_000_000

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ExpositionLine:
    """The words of a line. Missing: `time_ms` is None where the line has none.

    Units: milliseconds since the epoch
    """

    series: str
    value: str
    time_ms: int | None
    since_ms: int | None


def parse_line(text: str) -> ExpositionLine | None:
    """Return the words of a line. Missing: None when it is not one of a sample."""
    found = LINE.fullmatch(text)
    if found is None or not found["series"]:
        return None
    time, since = found["time"], found["since"]
    return ExpositionLine(
        found["series"], found["value"], None if time is None else _to_ms(time), None if since is None else int(since)
    )


def _to_ms(text: str) -> int:
    if "." in text:
        return round(float(text) * 1000)
    time = int(text)
    return time * 1000 if 0 < time < FIRST_MS else time


@functools.lru_cache(CACHED)
def parse_series(text: str) -> tuple[str, Labels] | None:
    """Return name and labels, sorted by name. Missing: None for a malformed series, or one with a label twice."""
    name, brace, rest = text.partition("{")
    pairs: dict[str, str] = {}
    if brace and not rest.endswith("}"):
        return None
    rest = rest.removesuffix("}").strip(" \t") if brace else ""
    at = 0
    while at < len(rest):
        found = PAIR.match(rest, at)
        if found is None or found.end() == at:
            return None
        at = found.end()
        key = _unquote(found["name"]) if found["name"].startswith('"') else found["name"]
        if found["value"] is None:
            if name:
                return None
            name = key
        elif key in pairs:
            return None
        else:
            pairs[key] = _unquote(found["value"])
    return (name, tuple(sorted(pairs.items()))) if name else None


def _unquote(text: str) -> str:
    inner = text[1:-1]
    return ESCAPE.sub(lambda found: UNESCAPED.get(found[1], found[0]), inner) if "\\" in inner else inner


def quote(text: str) -> str:
    """Return the text between quotes, without a control character.

    >>> quote('a"b'), quote("a" + chr(10) + "b"), quote(chr(27))
    ('"a\\\\"b"', '"a\\\\nb"', '"\\\\\\\\x1b"')
    """
    if text.isalnum():
        return f'"{text}"'
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + CONTROL.sub(lambda found: f"\\\\x{ord(found[0]):02x}", escaped) + '"'


def format_series(name: str, labels: Mapping[str, str] | Iterable[tuple[str, str]]) -> str:
    """Return the series as text, which parse_series reads."""
    pairs = labels.items() if isinstance(labels, Mapping) else labels
    parts = [f"{key if LABEL.fullmatch(key) else quote(key)}={quote(value)}" for key, value in pairs]
    if NAME.fullmatch(name) is None:
        return "{" + ",".join([quote(name), *parts]) + "}"
    return f"{name}{{{','.join(parts)}}}" if parts else name


def format_value(value: float) -> str:
    """Return the shortest text that gives the same number: whole numbers without a point.

    >>> format_value(3.0), format_value(0.1), format_value(1e-7), format_value(2.0**60)
    ('3', '0.1', '1e-07', '1.152921504606847e+18')
    """
    if value == value // 1 and abs(value) < 1e18:
        return str(int(value))
    return repr(value)
