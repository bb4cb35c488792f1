"""The metrics of `/metrics`: Prometheus counters and gauges of this process. docs/run.md lists them.

With several worker processes each writes its figures to files in PROMETHEUS_MULTIPROC_DIR, which the parent makes; whichever worker
answers sums them. Never: labels whose values come from outside, such as names of hosts or paths.
"""

import os
import resource
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

MULTIPROCESS_DIR: Final = "PROMETHEUS_MULTIPROC_DIR"
FAST_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
SLOW_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS: Final = openmetrics.CONTENT_TYPE_LATEST
# The units that end the names of metrics.
UNITS: Final = frozenset({"bytes", "seconds", "ratio"})

# Our own registry: that of the library would also contain its own figures.
REGISTRY: Final = CollectorRegistry()


def _gauge(name: str, text: str, labels: tuple[str, ...] = ()) -> Gauge:
    """Return a gauge that is summed over the processes that are alive."""
    return Gauge(name, text, labels, registry=REGISTRY, multiprocess_mode="livesum")


INGEST_REQUESTS: Final = Counter("normstat_ingest_requests", "Requests of agents by outcome", ["outcome"], registry=REGISTRY)
INGEST_BYTES: Final = Counter("normstat_ingest_bytes", "Bytes of tool output committed, unpacked", registry=REGISTRY)
INGEST_LINES: Final = Counter("normstat_ingest_lines", "Lines committed by kind", ["kind"], registry=REGISTRY)
INGEST_ROWS: Final = Counter("normstat_ingest_rows", "Rows of samples committed", registry=REGISTRY)
INGEST_LOST_BYTES: Final = Counter(
    "normstat_ingest_lost_bytes", "Bytes of tool output that hosts lost before they could be sent", registry=REGISTRY
)
DAMAGED_BLOCKS: Final = Counter(
    "normstat_damaged_blocks", "Readings of blocks of sealed samples that are damaged", registry=REGISTRY
)
INGEST_REJECTED: Final = Counter(
    "normstat_ingest_rejected_lines", "Rejected lines whose text was stored, by class of the reason", ["reason"], registry=REGISTRY
)
INGEST_BATCH_SECONDS: Final = Histogram(
    "normstat_ingest_batch_seconds", "Seconds that a batch of requests took", buckets=SLOW_S, registry=REGISTRY
)
INGEST_WAITING: Final = _gauge("normstat_ingest_waiting", "Requests of agents that wait for a batch")
INGEST_POST_INTERVAL: Final = Gauge(
    "normstat_ingest_post_interval_seconds",
    "How long agents of hosts without an open page are asked to wait between two posts",
    registry=REGISTRY,
    multiprocess_mode="livemax",
)
INGEST_INSIDE: Final = _gauge("normstat_ingest_inside", "Requests of agents that are being received or worked on")
ALERT_MESSAGES: Final = Counter(
    "normstat_alert_messages", "Tries to deliver messages of alerts, by kind and result", ["kind", "result"], registry=REGISTRY
)
COMMIT_SECONDS: Final = Histogram(
    "normstat_database_commit_seconds", "Seconds that flush and commit of a transaction took", buckets=FAST_S, registry=REGISTRY
)
LARGE_READS: Final = Counter(
    "normstat_large_reads", "Graphs, comparisons and exports by the database they were read from", ["database"], registry=REGISTRY
)
POOL: Final = _gauge("normstat_database_pool_connections", "Database connections by pool and state", ("pool", "state"))
HTTP_REQUESTS: Final = Counter(
    "normstat_http_requests", "Requests by route, method and status", ["route", "method", "status"], registry=REGISTRY
)
HTTP_SECONDS: Final = Histogram(
    "normstat_http_request_seconds", "Seconds to the end of the answer by route", ["route"], buckets=SLOW_S, registry=REGISTRY
)
RULES_JUDGED: Final = Gauge(
    "normstat_rules_judged_timestamp_seconds",
    "When rules were last held against hosts, in seconds since 1970; 0: this server has not led yet",
    registry=REGISTRY,
    multiprocess_mode="max",
)
RUNNING: Final = _gauge("normstat_running", "Expensive answers that are being made, by kind", ("kind",))
PROCESSES: Final = _gauge("normstat_processes", "Server processes that answer")
RESIDENT_BYTES: Final = _gauge("normstat_process_resident_bytes", "Resident memory of the server processes")
CPU_SECONDS: Final = Gauge(
    "normstat_process_cpu_seconds", "CPU seconds of the server processes", registry=REGISTRY, multiprocess_mode="sum"
)

INGEST_ROUTE: Final = "/api/v1/ingest"
# The outcome of an agent's request, by the smallest status of each.
OUTCOMES: Final = ((503, "overloaded"), (500, "failed"), (400, "rejected"), (200, "committed"))
# How a try to deliver a message ends.
MESSAGE_RESULTS: Final = ("sent", "retried", "failed")
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# Words of the reasons of rejected lines; the first class whose word is in the reason counts.
REASON_CLASSES: Final[Mapping[str, tuple[str, ...]]] = {
    "extra_columns": ("stored without",),
    "too_long": ("longer than", "too long"),
    "control_characters": ("control char",),
    "cut_off": ("cut off", "breaks off", "incomplete"),
    "instances": ("instance",),
    "time": ("time", "clock", "date", "day", "zone"),
    "columns": ("column", "field", "words", "values", "header", "heading"),
    "number": ("number", "digit", "decimal", "range", "negative"),
}
OTHER: Final = "other"


def declare(line_kinds: Iterable[str], message_kinds: Iterable[str] = ()) -> None:
    """Begin the series of bounded labels at 0, so that they are there before anything is counted."""
    for kind in line_kinds:
        INGEST_LINES.labels(kind)
    for _, outcome in OUTCOMES:
        INGEST_REQUESTS.labels(outcome)
    for database in ("primary", "standby"):
        LARGE_READS.labels(database)
    for kind in message_kinds:
        for result in MESSAGE_RESULTS:
            ALERT_MESSAGES.labels(kind, result)
    for reason in (*REASON_CLASSES, OTHER):
        INGEST_REJECTED.labels(reason)


def classify_reason(reason: str) -> str:
    """Return the class of the reason of a rejected line: a bounded label."""
    text = reason.lower()
    return next((name for name, words in REASON_CLASSES.items() if any(word in text for word in words)), OTHER)


@cache
def _certificate_end() -> Gauge:
    # Made with its first value: without TLS there is no such time, and 0 would be one.
    name, text = "normstat_certificate_not_after_seconds", "When the server's certificate ends, in seconds since 1970"
    return Gauge(name, text, registry=REGISTRY, multiprocess_mode="livemin")


def set_certificate_end(end: datetime) -> None:
    """Keep when the certificate that the server shows ends."""
    _certificate_end().set(end.timestamp())


def count_request(route: str | None, method: str, status: int, seconds: float) -> None:
    """Count an answered request; `route` is the template of its path, None for files of the page and for unknown paths."""
    label = OTHER if route is None else route
    HTTP_REQUESTS.labels(label, method if method in METHODS else OTHER, str(status)).inc()
    HTTP_SECONDS.labels(label).observe(seconds)
    if label == INGEST_ROUTE:
        INGEST_REQUESTS.labels(next((word for least, word in OUTCOMES if status >= least), "aborted")).inc()


@contextmanager
def timed(histogram: Histogram) -> Iterator[None]:
    """Observe how long the block takes, also when it fails."""
    began = time.perf_counter()
    try:
        yield
    finally:
        histogram.observe(time.perf_counter() - began)


def is_multiprocess() -> bool:
    """Return whether several processes share their figures."""
    return MULTIPROCESS_DIR in os.environ


def measure_process() -> None:
    """Set the gauges of this process's memory and CPU."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    CPU_SECONDS.set(usage.ru_utime + usage.ru_stime)
    PROCESSES.set(1)
    pages = Path("/proc/self/statm")
    if pages.exists():
        RESIDENT_BYTES.set(int(pages.read_text(encoding="ascii").split()[1]) * resource.getpagesize())
    else:
        # Without /proc only the largest size so far is known, in KiB.
        RESIDENT_BYTES.set(usage.ru_maxrss * 1024)


def render(media_type: str, *extra: Collector) -> bytes:
    """Return all figures as OPENMETRICS or TEXT; `extra` are those that the answering process read from the database."""
    own: list[Collector] = [MultiProcessCollector(None)] if is_multiprocess() else [REGISTRY, ProcessCollector(registry=None)]  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    registry.register(_WithUnits([*own, *extra]))
    if media_type == OPENMETRICS:
        return bytes(openmetrics.generate_latest(registry))  # type: ignore[no-untyped-call]
    return generate_latest(registry)


class _WithUnits(Collector):
    """The metrics of some collectors, with the units that end their names: files of several processes do not keep them."""

    def __init__(self, collectors: Iterable[Collector]) -> None:
        self._collectors = list(collectors)

    def collect(self) -> Iterator[Metric]:
        for collector in self._collectors:
            for metric in collector.collect():
                ending = metric.name.rpartition("_")[2]
                metric.unit = ending if ending in UNITS else ""
                yield metric
