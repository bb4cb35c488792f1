"""The text of each host: the samples of a request, as lines that the reader `exposition` reads.

    # BATCH 8f1c5d0e4ab27731
    # TYPE node_load1 gauge
    node_load1{instance="web1:9100",job="node"} 0.52 1795262400000

A batch is named by what is in it, so that one that is sent again is known. What cannot be stored is a `# REFUSED` line: it is kept,
counted and shown with the host's rejected lines.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from normstat.errors import TooLarge, shorten
from normstat.ingest.receivers.metric_samples import HostSeries, MetricSamples, is_stale
from normstat.runtime.input_limits import HOST_NAME
from normstat.stats.engine.series.exposition_line import STALE, format_series, format_value

SPEC: Final = "prometheus"
# A clock that is ahead would make every later sample a late one.
MAX_AHEAD_MS: Final = 3_600_000
AHEAD: Final = "more than an hour ahead of the server's clock"
MAX_REFUSED_TEXT: Final = 300
SUFFIXES: Final = ("_bucket", "_sum", "_count", "_total")
PORT: Final = re.compile(r"(?P<host>.+?)(?::[0-9]{1,5})", re.ASCII)


@dataclass(slots=True)
class HostTexts:
    """The texts by host, and how many samples belong to no host, with the reason for the first of them."""

    texts: dict[str, bytes] = field(default_factory=dict)
    n_samples: int = 0
    n_refused: int = 0
    n_without_host: int = 0
    reason: str = ""


def host_of(labels: Mapping[str, str], names: Sequence[str]) -> str:
    """Return the host that a series is of: the first of these labels that it has, without a port. Missing: "" for none.

    >>> host_of({"instance": "web1:9100"}, ["instance"]), host_of({"instance": "[fe80::1]:9100"}, ["instance"]), host_of({}, ["x"])
    ('web1', 'fe80::1', '')
    """
    value = next((labels[name] for name in names if labels.get(name)), "")
    with_port = PORT.fullmatch(value)
    if with_port is not None and (":" not in with_port["host"] or value.startswith("[")):
        value = with_port["host"]
    return value.removeprefix("[").removesuffix("]")


def host_trouble(host: str, names: Sequence[str]) -> str:
    """Return why a series has no host, "" if it has one."""
    if not host:
        return f"no label {' or '.join(names)} that names its host; add one by relabelling, or use an agent token bound to the host"
    if HOST_NAME.fullmatch(host) is None:
        return f"{shorten(host, 60)} cannot be a host's name (A-Z a-z 0-9 . _ : -); relabel it or name another label: ?host_label="
    return ""


def write_texts(
    found: MetricSamples,
    *,
    host_labels: Sequence[str],
    bound_host: str | None,
    known_types: Mapping[str, str],
    now_ms: int,
    max_bytes: int,
) -> HostTexts:
    """Return the texts of a request. With `bound_host` everything is of that host, whatever its labels say.

    Raises: TooLarge for more than `max_bytes` of text
    """
    result = HostTexts()
    lines: dict[str, list[tuple[int, str]]] = {}
    names: dict[str, set[str]] = {}
    n_bytes = 0
    for series in found.series:
        host = bound_host or host_of(dict(series.labels), host_labels)
        trouble = "" if bound_host else host_trouble(host, host_labels)
        if trouble:
            result.n_without_host += series.n_samples
            result.reason = result.reason or trouble
            continue
        own = lines.setdefault(host, [])
        names.setdefault(host, set()).add(series.name)
        for time_ms, line, is_refused in _lines_of(series, now_ms):
            n_bytes += len(line)
            if n_bytes > max_bytes:
                raise TooLarge(f"The samples are more than {max_bytes} bytes of text; send less at once; nothing was stored")
            own.append((time_ms, line))
            result.n_refused += is_refused
        result.n_samples += series.n_samples
    types = {**known_types, **found.types}
    for host, timed in lines.items():
        # Some senders bring several samples of a series, then those of the next one. Rows are made of samples of a time.
        timed.sort(key=lambda item: item[0])
        texts_in_order = [line for _, line in timed]
        digest = hashlib.blake2b("\n".join(texts_in_order).encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()
        # Types are not part of the name: more of them may be known when the batch is sent again.
        text = "\n".join([f"# BATCH {digest}", *_type_lines(names[host], types), *texts_in_order, ""])
        result.texts[host] = text.encode("utf-8", "backslashreplace")
    return result


def _lines_of(series: HostSeries, now_ms: int) -> Iterator[tuple[int, str, bool]]:
    """Yield time, line, and whether it is refused."""
    text = format_series(series.name, series.labels) if not series.reason else ""
    for value, time_ms, since_ms in series.samples:
        reason = series.reason or (AHEAD if time_ms > now_ms + MAX_AHEAD_MS else "")
        if reason:
            shown = format_series(series.name[:100] or "?", [(name[:50], word[:50]) for name, word in series.labels[:10]])
            yield time_ms, f"# REFUSED {reason}: {shown[:MAX_REFUSED_TEXT]} {value!r} {time_ms}", True
        else:
            word = STALE if is_stale(value) else format_value(value)
            since = "" if since_ms is None else f" {since_ms}"
            yield time_ms, f"{text} {word} {time_ms}{since}", False


def _type_lines(names: set[str], types: Mapping[str, str]) -> list[str]:
    """Return a line for each metric whose type is known. Samples of a family have suffixes."""
    known: dict[str, str] = {}
    for name in names:
        bases = (name, *(name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)))
        for base in bases:
            if base in types:
                known[base] = types[base]
                break
    return [f"# TYPE {name} {kind}" for name, kind in sorted(known.items()) if " " not in name and name.isprintable()]
