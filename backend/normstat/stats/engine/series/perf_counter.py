"""A line of `perf stat` -> the counter that it names, in all forms that perf prints: text, any separator (-x), JSON (-j).

     0.500609870 CPU0       500.84 msec cpu-clock        #    1.002 CPUs utilized     ( +-  7.44% )  (74.98%)
     0.500544593;1001.46;msec;cpu-clock;1001461468;100.00;2.003;CPUs utilized
     884,cache-misses                                                          (before 3.14: no unit, no times)

Shadow metrics (what stands after #) are kept as (value, text): 2.001 K/sec is the value "2.001K" of "/sec".

>>> parse_text("    2,809,725,593 cycles                    (scaled from 74.98%)")
Counter(time=None, place='', n_places='', event='cycles', column='count', word='2809725593', variance='', running='74.98', run_ns='', metric=None, is_group=False)
>>> parse_fields(["CPU1", "<not supported>", "", "cycles", "0", "100.00", "", ""])
Counter(time=None, place='CPU1', n_places='', event='cycles', column='count', word='<not supported>', variance='', running='100.00', run_ns='0', metric=None, is_group=False)
"""  # noqa: E501 (a doctest)

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.series.recorded_series import read_json
from normstat.stats.engine.series.report_numbers import ungroup

NOT_COUNTED: Final = ("<not counted>", "<not supported>")
NUMBER: Final = r"\d[\d.,'\u00a0\u202f\u2019]{0,40}"
# Nine decimals are a time.
COUNT: Final = rf"(?!\d{{1,9}}[.,]\d{{9}}\s)(?P<count><not (?:counted|supported)>|{NUMBER})"
TIME: Final = r"(?P<time>\d{1,9}[.,]\d{9})"
PLACE: Final = r"CPU-?\d{1,6}|S\d{1,4}(?:-D\d{1,4})?(?:-(?:CLS|C|L)\d{1,6}(?:-ID\d{1,6})?)?|N\d{1,4}"
ROW: Final = re.compile(
    rf"\s*(?:{TIME}\s+)?(?:(?P<place>{PLACE})\s+(?:(?P<n_places>\d{{1,6}})\s+(?=[\d<]))?)?{COUNT}\s+(?P<rest>[^\d\s#(].*)", re.ASCII
)
# --per-thread: command and process.
THREAD_ROW: Final = re.compile(
    rf"\s*(?:{TIME}\s+)?(?P<place>[^\s\d#][^#]{{0,40}}?-\d{{1,9}})\s+{COUNT}\s+(?P<rest>[^\d\s#(].*)", re.ASCII
)
METRIC_ROW: Final = re.compile(rf"\s*(?:{TIME}\s+)?(?:(?P<place>{PLACE})\s+(?:\d{{1,6}}\s+)?)?#(?P<comment>\s.*)", re.ASCII)
# Metrics of a group without a counter: TopdownL1 (cpu_core)   #  36.4 %  tma_backend_bound.
GROUP_ROW: Final = re.compile(rf"\s*(?:{TIME}\s+)?(?P<place>[A-Z]\w{{2,30}}(?: \(\w{{1,30}}\))?)\s+#(?P<comment>\s.*)", re.ASCII)
TAILS: Final = (
    ("variance", re.compile(r"\(\s*\+-\s*(\d{1,9}[.,]\d+)%\s*\)$", re.ASCII)),
    ("running", re.compile(r"(?:\((?:scaled from\s+)?|\[\s*)(\d{1,3}[.,]\d\d)%\s*[\])]$", re.ASCII)),
)
METRIC: Final = re.compile(rf"\s*({NUMBER})\s*%?\s*(\S.*)", re.ASCII)
PER_SECOND: Final = re.compile(r"([KMG])(/sec)")
# Units of counters -> the column that holds numbers of that unit.
UNITS: Final = {
    "msec": "msec",
    "ns": "ns",
    "Joules": "Joules",
    "MiB": "MiB",
    "KiB": "value",
    "GiB": "value",
    "MB": "value",
    "KB": "value",
    "Bytes": "value",
    "bytes": "value",
    "sec": "value",
    "usec": "value",
    "nsec": "value",
    "%": "value",
    "C": "value",
    "W": "value",
    "Watts": "value",
}
# Before 4.17 the unit of a clock is part of its name.
MILLISECONDS: Final = re.compile(r"-msecs$|\(msec\)$")
DOTTED: Final = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", re.ASCII)
INTEGER: Final = re.compile(r"\d{1,20}", re.ASCII)
DECIMAL: Final = re.compile(r"\d{1,20}(?:[.,]\d{1,9})?", re.ASCII)
PERCENT: Final = re.compile(r"(\d{1,9}[.,]\d{1,6})%", re.ASCII)
EVENT: Final = re.compile(r"[A-Za-z_][^\s#]*(?: [^\s#]+)*")
SUMMARY: Final = "summary"
MAX_JSON: Final = 10_000


@dataclass(frozen=True, slots=True)
class Counter:
    """The content of a line. `time` is seconds since perf started; `word` the count in the plain form, or perf's words for none.

    Missing: "" for what is not printed; `event` is "" for a line with only another metric of the previous event, or of a group
    of metrics, which is its `place` then.
    """

    time: str | None
    place: str
    n_places: str = ""
    event: str = ""
    column: str = ""
    word: str = ""
    variance: str = ""
    running: str = ""
    run_ns: str = ""
    metric: tuple[str, str] | None = None
    is_group: bool = False


def parse_text(text: str) -> Counter | None:
    """Return the counter of a line for people. Missing: None when the line is not a counter."""
    found = ROW.fullmatch(text) or THREAD_ROW.fullmatch(text)
    if found is None:
        found = METRIC_ROW.fullmatch(text) or GROUP_ROW.fullmatch(text)
        return None if found is None else _metric_only(found)
    left, _, comment = found["rest"].partition("#")
    tails: dict[str, str] = {}
    left = _strip_tails(left, tails)
    comment = _strip_tails(comment, tails)
    words = left.split()
    unit = words.pop(0) if len(words) > 1 and words[0] in UNITS else ""
    event = " ".join(words)
    if EVENT.fullmatch(event) is None:
        return None
    word = plain(found["count"])
    return Counter(
        time=found["time"],
        place=found["place"] or "",
        n_places=found.groupdict().get("n_places") or "",
        event=event,
        column=_column(unit, event, word),
        word=word,
        variance=tails.get("variance", ""),
        running=tails.get("running", ""),
        run_ns="",
        metric=_metric(comment),
    )


def _metric_only(found: re.Match[str]) -> Counter | None:
    tails: dict[str, str] = {}
    metric = _metric(_strip_tails(found["comment"], tails))
    is_group = found.re is GROUP_ROW
    return None if metric is None else Counter(found["time"], found["place"] or "", metric=metric, is_group=is_group)


def parse_fields(fields: Sequence[str]) -> Counter | None:
    """Return the counter of a line with separators. Missing: None when the fields are no counter."""
    parts = [field.strip() for field in fields]
    summary = parts.pop(0) if parts and parts[0] == SUMMARY else ""
    time = parts.pop(0) if parts and re.fullmatch(TIME, parts[0]) else None
    place = n_places = ""
    if (
        len(parts) > 2
        and not _is_count(parts[0])
        and _is_count(parts[1])
        and re.fullmatch(rf"{PLACE}|.{{1,40}}-\d{{1,9}}", parts[0])
    ):
        place = parts.pop(0)
        if len(parts) > 2 and INTEGER.fullmatch(parts[0]) and _is_count(parts[1]):
            n_places = parts.pop(0)
    place = " ".join(filter(None, (summary, place)))
    if len(parts) < 2:
        return None
    if not parts[0] and not any(parts[:3]):
        *_, value, unit = parts
        metric = _metric(f"{value} {unit}")
        return None if metric is None else Counter(time, place, metric=metric)
    if not _is_count(parts[0]):
        return None
    word, rest = parts[0], parts[1:]
    unit = rest.pop(0) if len(rest) > 1 and (rest[0] in UNITS or not rest[0] or _is_run(rest[2:4])) else ""
    event, rest = rest[0], rest[1:]
    if rest and rest[0] and not DECIMAL.fullmatch(rest[0]) and not PERCENT.fullmatch(rest[0]):
        # -G: the cgroup.
        event = f"{event} {rest.pop(0)}"
    if EVENT.fullmatch(event) is None:
        return None
    variance = PERCENT.fullmatch(rest[0]) if rest else None
    rest = rest[1:] if variance is not None else rest
    if rest and not _is_run(rest[:2]):
        return None
    run_ns, running = (rest[0], rest[1]) if rest else ("", "")
    metric = _metric(" ".join(rest[2:])) if len(rest) > 3 else None
    return Counter(
        time, place, n_places, event, _column(unit, event, word), word, variance[1] if variance else "", running, run_ns, metric
    )


def parse_json(text: str) -> Counter | None:
    """Return the counter of a line of -j. Missing: None when the line is not a counter."""
    if len(text) > MAX_JSON:
        return None
    raw = read_json(text)
    if not isinstance(raw, dict):
        return None
    items: Mapping[str, str] = {key: value for key, value in raw.items() if isinstance(value, str)}
    place = items.get("thread") or next(
        (items[key] for key in ("core", "cache", "cluster", "die", "socket", "node") if key in items), ""
    )
    place = f"CPU{items['cpu']}" if "cpu" in items else place
    metric = _metric(f"{items.get('metric-value', '')} {items.get('metric-unit', '')}")
    word = items.get("counter-value", "")
    if "event" not in items or not word:
        known = metric is not None and word == "" and "metric-unit" in items
        return Counter(items.get("interval"), place, metric=metric) if known else None
    whole, _, fraction = word.partition(".")
    if not items.get("unit") and not fraction.strip("0"):
        word = whole
    event = f"{items['event']} {items['cgroup']}" if items.get("cgroup") else items["event"]
    if not _is_count(word) or EVENT.fullmatch(event) is None:
        return None
    return Counter(
        time=items.get("interval"),
        place=place,
        n_places=items.get("aggregate-number") or items.get("counters", ""),
        event=event,
        column=_column(items.get("unit", ""), event, word),
        word=word,
        variance=items.get("variance", ""),
        running=items.get("pcnt-running", ""),
        run_ns=items.get("event-runtime", ""),
        metric=metric,
    )


def plain(word: str) -> str:
    """Return the number without the thousands separators of any locale; perf prints two decimals, six or none, never three.

    >>> plain("2,809,725,593"), plain("1.001,73"), plain("2.809"), plain("1001.73"), plain("2.350642")
    ('2809725593', '1001.73', '2809', '1001.73', '2.350642')
    """
    if DOTTED.fullmatch(word) is not None:
        return word.replace(".", "").replace(",", ".")
    return ungroup(word)


def _column(unit: str, event: str, word: str) -> str:
    if unit:
        return UNITS.get(unit, "value")
    if MILLISECONDS.search(event[-12:]) is not None:
        return "msec"
    return "count" if word in NOT_COUNTED or INTEGER.fullmatch(word) else "value"


def _is_count(word: str) -> bool:
    return word in NOT_COUNTED or DECIMAL.fullmatch(word) is not None


def _is_run(words: Sequence[str]) -> bool:
    """Return whether the words are the nanoseconds that the event was counted, and their share."""
    return len(words) == 2 and INTEGER.fullmatch(words[0]) is not None and DECIMAL.fullmatch(words[1]) is not None


def _strip_tails(text: str, tails: dict[str, str]) -> str:
    """Return the text without the brackets at its end."""
    text = text.rstrip()
    for _ in range(len(TAILS)):
        for name, pattern in TAILS:
            tail = text[-40:]
            found = pattern.search(tail)
            if found is not None and name not in tails:
                tails[name] = found[1]
                text = text[: len(text) - len(tail) + found.start()].rstrip()
    return text


def _metric(comment: str) -> tuple[str, str] | None:
    found = METRIC.fullmatch(comment.rstrip())
    if found is None:
        return None
    word, unit = found[1], " ".join(found[2].split())
    scaled = PER_SECOND.fullmatch(unit)
    return (word + scaled[1], scaled[2]) if scaled is not None else (word, unit)
