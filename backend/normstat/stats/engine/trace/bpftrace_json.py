"""Turn a line of `bpftrace -f json` into the lines that bpftrace prints for people, which have a reader.

{"type": "map", "data": {"@reads": {"java": 5}}}                              @reads[java]: 5
{"type": "hist", "data": {"@us": [{"min": 2, "max": 3, "count": 7}]}}         @us:
                                                                              [2, 4)   7 |
"""

import json
from collections.abc import Iterator, Mapping
from typing import Final

# The types that have samples; others are messages of bpftrace, or output of a script.
MAPS: Final = frozenset({"map", "hist", "stats"})
TEXTS: Final = frozenset({"time", "printf", "cat", "join", "syscall", "strftime"})
SELF_TALK: Final = frozenset({"attached_probes", "lost_events", "helper_error", "errorf"})
MAX_LINE: Final = 1 << 20
POWERS: Final = ((40, "T"), (30, "G"), (20, "M"), (10, "K"))


def parse_json_line(text: str) -> tuple[str, list[str]] | None:
    """Return the type of the line, and the same as lines of text. Missing: None for a line that is not of bpftrace -f json.

    >>> parse_json_line('{"type": "map", "data": {"@": {"java": 5, "a,b": 2}}}')
    ('map', ['@[java]: 5', '@[a, b]: 2'])
    >>> parse_json_line('{"type": "hist", "data": {"@": [{"max": -1, "count": 1}, {"min": 0, "max": 0, "count": 2}, {"min": 1024, "max": 2047, "count": 3}]}}')
    ('hist', ['@:', '(..., 0) 1 |', '[0] 2 |', '[1K, 2K) 3 |'])
    >>> parse_json_line('{"type": "stats", "data": {"@s": {"count": 2, "average": 3, "total": 6}}}')
    ('stats', ['@s: count 2, average 3, total 6'])
    >>> parse_json_line('{"type": "time", "data": "06:33:40\\\\n"}'), parse_json_line('{"a": 1}')
    (('time', ['06:33:40']), None)
    """  # noqa: E501 (a doctest)
    if not text.startswith('{"type"') or len(text) > MAX_LINE:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    kind, data = found.get("type"), found.get("data")
    if kind in SELF_TALK:
        return str(kind), []
    if kind in TEXTS and isinstance(data, str):
        return str(kind), [line for line in data.split("\n") if line.strip()]
    if kind not in MAPS or not isinstance(data, dict):
        return None
    return str(kind), [line for name, value in data.items() for line in _lines(str(name), value)]


def _lines(name: str, value: object) -> Iterator[str]:
    """Yield the lines of one map, whose value may be one for each key."""
    if isinstance(value, Mapping) and not _is_statistics(value):
        for key, own in value.items():
            yield from _key_lines(name, str(key), own)
        return
    yield from _value_lines(name, value)


def _key_lines(name: str, key: str, value: object) -> Iterator[str]:
    if "\n" not in key:
        parts = key if ", " in key else key.replace(",", ", ")
        yield from _value_lines(f"{name}[{parts}]", value)
        return
    # A stack, perhaps with other parts of the key before and after it.
    frames = [frame.strip() for frame in key.split("\n")]
    yield f"{name}["
    yield from (frame for frame in frames if frame and frame != ",")
    yield from (f"]{line}" for line in _value_lines("", value))


def _value_lines(label: str, value: object) -> Iterator[str]:
    if isinstance(value, list) and value and not any(isinstance(item, Mapping) for item in value):
        yield f"{label}: {_tuple(value)}"
    elif isinstance(value, list):
        yield f"{label}:"
        for bucket in value:
            if isinstance(bucket, Mapping):
                yield f"{_bucket(bucket)} {bucket.get('count', '')} |"
    elif _is_statistics(value):
        assert isinstance(value, Mapping)
        yield f"{label}: count {value['count']}, average {value['average']}, total {value['total']}"
    else:
        yield f"{label}: {value}"


def _tuple(values: list[object]) -> str:
    """Return the text of a tuple.

    >>> _tuple([5, [7, "a"]])
    '(5, (7, a))'
    """
    return f"({', '.join(_tuple(value) if isinstance(value, list) else str(value) for value in values)})"


def _is_statistics(value: object) -> bool:
    return isinstance(value, Mapping) and value.keys() == {"count", "average", "total"}


def _bucket(bucket: Mapping[str, object]) -> str:
    """Return the label of a bucket for people, whose upper end is not part of it."""
    low, high = bucket.get("min"), bucket.get("max")
    if isinstance(low, int) and low == high:
        return f"[{low}]"
    ends = (_short(low) if isinstance(low, int) else None, _short(high + 1) if isinstance(high, int) else None)
    return f"{'(...' if ends[0] is None else '[' + ends[0]}, {'...' if ends[1] is None else ends[1]})"


def _short(number: int) -> str:
    """Return the number as a power of 1024 where it is a multiple of one."""
    return next((f"{number >> power}{letter}" for power, letter in POWERS if number and not number % (1 << power)), str(number))
