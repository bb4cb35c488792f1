"""The body of a Prometheus remote-write request, version 1.0 (prometheus.WriteRequest) and 2.0 (io.prometheus.write.v2.Request).

Both are a protocol buffer in one block of Snappy. Version 2.0 has one table of texts, and labels are pairs of places in it.
Source: https://prometheus.io/docs/specs/prw/remote_write_spec/ and remote_write_spec_2_0/

>>> parse_size(bytes([200, 1]) + b"x", 1000)
200
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import pyarrow as pa

from normstat.errors import BadRequest, TooLarge, shorten
from normstat.ingest.receivers.metric_samples import HostSeries, MetricSamples, Sample, SampleCounter, label_trouble
from normstat.ingest.receivers.native_histograms import histogram_series
from normstat.ingest.receivers.wire_fields import bad_body, counting_fields, fields_of_message, packed_numbers

CODEC: Final = pa.Codec("snappy")
NAME_LABEL: Final = "__name__"
MAX_SIZE_BYTES: Final = 5
MAX_TEXTS: Final = 200_000
MAX_TYPES: Final = 10_000
# Labels of one series that are read; a series may have fewer, and says then how many it has.
MAX_PAIRS: Final = 1000
NO_NAME: Final = "no metric name (label __name__)"
# The types of both versions have the same numbers.
TYPES: Final = {1: "counter", 2: "gauge", 3: "histogram", 4: "gauge", 5: "summary", 6: "info", 7: "stateset"}


def parse_size(body: bytes, max_plain: int) -> int:
    """Return the size that a block of Snappy says it has unpacked.

    Raises: BadRequest, TooLarge
    """
    size = 0
    for at, byte in enumerate(body[:MAX_SIZE_BYTES]):
        size |= (byte & 0x7F) << (7 * at)
        if byte < 0x80:
            if size > max_plain:
                raise TooLarge(
                    f"The body has {size} bytes when decompressed, more than the limit of {max_plain}; send less at once"
                )
            return size
    raise BadRequest("The body is not a block of Snappy; remote-write always packs; nothing was stored")


def unpack_snappy(body: bytes, max_plain: int) -> bytes:
    """Return the unpacked body.

    Raises: BadRequest, TooLarge before anything is unpacked
    """
    size = parse_size(body, max_plain)
    try:
        return bytes(CODEC.decompress(body, size, asbytes=True)) if size else b""
    except (pa.ArrowException, OSError) as error:
        raise BadRequest(f"The body is not a block of Snappy ({shorten(str(error), 80)}); nothing was stored") from None


def read_write_request(plain: bytes) -> MetricSamples:
    """Return the series of a request of version 1.0.

    Raises: BadRequest, TooLarge
    """
    found, counter = MetricSamples(n_bytes=len(plain)), SampleCounter()
    with counting_fields():
        for item in fields_of_message(plain):
            if item.number == 1:
                found.series += _read_series(item.data, counter, found.types)
            elif item.number == 3:
                _read_metadata(item.data, found.types)
    return found


def _read_series(data: bytes, counter: SampleCounter, types: dict[str, str]) -> Iterator[HostSeries]:
    pairs: list[tuple[str, str]] = []
    samples: list[Sample] = []
    natives: list[bytes] = []
    n_labels = 0
    counter.add(1)
    for item in fields_of_message(data):
        if item.number == 1:
            n_labels += 1
            counter.add_label()
            # Beyond the limit they are only counted.
            if n_labels <= MAX_PAIRS:
                pairs.append(_read_label(item.data))
        elif item.number == 2:
            counter.add(1)
            samples.append(_read_sample(item.data))
        elif item.number == 4:
            natives.append(item.data)
    yield from _make_series(pairs, samples, n_labels)
    yield from _make_native(pairs, natives, n_labels, counter, types)


def _make_native(
    pairs: list[tuple[str, str]], natives: Sequence[bytes], n_labels: int, counter: SampleCounter, types: dict[str, str]
) -> Iterator[HostSeries]:
    """Yield the series of native histograms; they are histograms, whatever the metadata says."""
    if not natives:
        # Nearly always.
        return
    labels = dict(pairs)
    name = labels.get(NAME_LABEL, "")
    reason = label_trouble(labels, n_labels) or ("" if name else NO_NAME)
    if name and (name in types or len(types) < MAX_TYPES):
        types[name] = "histogram"
    kept = tuple(pair for pair in pairs if pair[0] != NAME_LABEL)
    for data in natives:
        for series in histogram_series(name, kept, data):
            counter.add(1)
            yield series if not reason or series.reason else replace(series, reason=reason)


def _make_series(pairs: list[tuple[str, str]], samples: list[Sample], n_labels: int) -> Iterator[HostSeries]:
    labels = dict(pairs)
    reason = label_trouble(labels, n_labels)
    name = labels.pop(NAME_LABEL, "")
    if not name:
        reason = reason or NO_NAME
    kept = tuple(pair for pair in pairs if pair[0] != NAME_LABEL)
    if samples:
        yield HostSeries(name, kept, samples, reason)


def _read_label(data: bytes) -> tuple[str, str]:
    name = value = ""
    for item in fields_of_message(data):
        if item.number == 1:
            name = item.text
        elif item.number == 2:
            value = item.text
    return name, value


def _read_sample(data: bytes) -> Sample:
    value, time_ms = 0.0, 0
    for item in fields_of_message(data):
        if item.number == 1:
            value = item.double
        elif item.number == 2:
            time_ms = item.int64
    return value, time_ms, None


def _read_metadata(data: bytes, types: dict[str, str]) -> None:
    kind, name = 0, ""
    for item in fields_of_message(data):
        if item.number == 1:
            kind = item.whole
        elif item.number == 2:
            name = item.text
    if name and kind in TYPES and len(types) < MAX_TYPES:
        types[name] = TYPES[kind]


def read_request_2(plain: bytes) -> MetricSamples:
    """Return the series of a request of version 2.0.

    Raises: BadRequest, TooLarge
    """
    found, counter = MetricSamples(n_bytes=len(plain)), SampleCounter()
    texts: list[str] = []
    with counting_fields():
        # The table may stand anywhere; senders write it first.
        for item in fields_of_message(plain):
            if item.number == 4:
                texts.append(item.text)
                if len(texts) > MAX_TEXTS:
                    raise TooLarge(f"The request has more than {MAX_TEXTS} texts; send less at once; nothing was stored")
        for item in fields_of_message(plain):
            if item.number == 5:
                found.series += _read_series_2(item.data, texts, counter, found.types)
    return found


def _read_series_2(data: bytes, texts: list[str], counter: SampleCounter, types: dict[str, str]) -> Iterator[HostSeries]:
    places: list[int] = []
    samples: list[Sample] = []
    natives: list[bytes] = []
    kind = 0
    counter.add(1)
    for item in fields_of_message(data):
        if item.number == 1:
            found = packed_numbers(item, MAX_PAIRS * 2)
            places += found
            for _ in found:
                counter.add_label()
            if len(places) > 2 * MAX_PAIRS:
                raise bad_body(f"a series with more than {MAX_PAIRS} labels")
        elif item.number == 2:
            counter.add(1)
            samples.append(_read_sample(item.data))
        elif item.number == 3:
            natives.append(item.data)
        elif item.number == 5:
            kind = next((part.whole for part in fields_of_message(item.data) if part.number == 1), 0)
    if len(places) % 2 or any(place >= len(texts) for place in places):
        raise bad_body("labels that are not in its table of texts")
    pairs = [(texts[places[at]], texts[places[at + 1]]) for at in range(0, min(len(places), 2 * MAX_PAIRS), 2)]
    name = dict(pairs).get(NAME_LABEL, "")
    if kind in TYPES and name and len(types) < MAX_TYPES:
        family = name if kind not in (3, 5) else name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count")
        types[family] = TYPES[kind]
    yield from _make_series(pairs, samples, len(places) // 2)
    yield from _make_native(pairs, natives, len(places) // 2, counter, types)
