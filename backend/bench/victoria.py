"""The samples of a fleet's bodies as a VictoriaMetrics takes them, for bench_fleet --victoria: the same values, on the same times.

`influx`: a line for each row with all of its fields, which names host, stat and instance once. `json`: a line for each series with
all of its values in the body. Each value is written as the tool printed it; nothing of the text is sent or kept.
"""

import gzip
import http.client
import time
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bench.fleet_text import GZIP_LEVEL, Body
from normstat.ingest.protocol import parse_frames, unpack
from normstat.stats.catalogue import require_spec
from normstat.stats.engine.number_formats import format_values
from normstat.stats.readers import read
from normstat.stats.records import SampleBlock, State

MAX_PLAIN: Final = 1 << 28
PATHS: Final = {"influx": "/write", "json": "/api/v1/import"}


@dataclass(frozen=True, slots=True)
class VictoriaBody:
    """A request: gzip of lines, and the number of values in them."""

    packed: bytes
    n_plain: int
    n_values: int


def to_victoria(bodies: list[Body], host: str, form: str) -> Iterator[VictoriaBody]:
    """Return the same samples as requests, one for each body."""
    states: dict[str, State] = {}
    for body in bodies:
        lines: list[str] = []
        n_values = 0
        for frame in parse_frames(unpack(body.packed, MAX_PLAIN)):
            state = states.get(frame.spec, {})
            found = read(require_spec(frame.spec), frame.data, state=state, offset=frame.offset, command=frame.text)
            states[frame.spec] = found.state
            for block in found.blocks:
                lines += _influx_lines(block, host) if form == "influx" else _json_lines(block, host)
                n_values += len(block) * len(block.fields)
        plain = "".join(lines).encode()
        yield VictoriaBody(gzip.compress(plain, GZIP_LEVEL), len(plain), n_values)


def _words_of(block: SampleBlock) -> list[list[str]]:
    """Return the words of each field, as short as they can be."""
    words = (format_values(field, values) for field, values in zip(block.fields, block.values, strict=True))
    return [[word.rstrip("0").rstrip(".") if "." in word else word for word in column] for column in words]


def _influx_lines(block: SampleBlock, host: str) -> Iterator[str]:
    keys = [field.key for field in block.fields]
    rows = zip(block.instances, block.time_us.tolist(), zip(*_words_of(block), strict=True), strict=True)
    for instance, time_us, words in rows:
        values = ",".join(f"{key}={word}" for key, word in zip(keys, words, strict=True))
        yield f"{block.stat.name},host={host},instance={instance or '-'} {values} {time_us * 1000}\n"


def _json_lines(block: SampleBlock, host: str) -> Iterator[str]:
    rows: dict[str, list[int]] = {}
    for row, instance in enumerate(block.instances):
        rows.setdefault(instance, []).append(row)
    times_ms = (block.time_us // 1000).tolist()
    for key, words in zip((field.key for field in block.fields), _words_of(block), strict=True):
        for instance, own in rows.items():
            labels = f'{{"__name__":"{block.stat.name}_{key}","host":"{host}","instance":"{instance}"}}'
            values, times = ",".join(words[row] for row in own), ",".join(str(times_ms[row]) for row in own)
            yield f'{{"metric":{labels},"values":[{values}],"timestamps":[{times}]}}\n'


class VictoriaServer:
    """One that runs, by its URL; what it has used so far it says itself."""

    def __init__(self, url: str) -> None:
        parts = urllib.parse.urlsplit(url)
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port or 8428

    def ask(self, path: str) -> str:
        """Return what it answers. Raises: RuntimeError for any answer but 200."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {text[:300]}")
        return text

    def sum_of(self, name: str) -> float:
        """Return the sum of a metric over all of its labels."""
        found = 0.0
        for line in self.ask("/metrics").splitlines():
            metric, _, value = line.rpartition(" ")
            if metric.partition("{")[0] == name:
                found += float(value)
        return found

    def cpu_s(self) -> float:
        """Return its CPU seconds so far."""
        return self.sum_of("process_cpu_seconds_total")

    def settle(self) -> int:
        """Write everything to disk and merge it; return the bytes of all of its data."""
        self.ask("/internal/force_flush")
        self.ask("/internal/force_merge")
        time.sleep(5)
        return int(self.sum_of("vm_data_size_bytes"))
