"""Bodies of remote-write requests, as Prometheus makes them."""

import struct
from collections.abc import Mapping, Sequence

from normstat.ingest.receivers.remote_write import CODEC, TYPES

Series = tuple[Mapping[str, str], Sequence[tuple[float, int]]]


def varint(number: int) -> bytes:
    number %= 2**64
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def sub(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def double(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)


def pack(plain: bytes) -> bytes:
    return bytes(CODEC.compress(plain, asbytes=True))


def plain_request(series: Sequence[Series], types: Mapping[str, str] | None = None) -> bytes:
    """The message of version 1.0."""
    parts = []
    for labels, samples in series:
        own = [sub(1, sub(1, name.encode()) + sub(2, value.encode())) for name, value in labels.items()]
        own += [sub(2, double(1, value) + b"\x10" + varint(time_ms)) for value, time_ms in samples]
        parts.append(sub(1, b"".join(own)))
    numbers = {word: number for number, word in TYPES.items() if number != 4}
    parts += [sub(3, b"\x08" + varint(numbers[kind]) + sub(2, name.encode())) for name, kind in (types or {}).items()]
    return b"".join(parts)


def write_request(series: Sequence[Series], types: Mapping[str, str] | None = None) -> bytes:
    """The body of version 1.0."""
    return pack(plain_request(series, types))


def write_request_2(series: Sequence[Series], kind: int = 0) -> bytes:
    """The body of version 2.0, with one type for all series."""
    texts = [""]
    parts = []
    for labels, samples in series:
        places = []
        for text in (text for pair in labels.items() for text in pair):
            if text not in texts:
                texts.append(text)
            places.append(texts.index(text))
        own = [sub(1, b"".join(map(varint, places)))]
        own += [sub(2, double(1, value) + b"\x10" + varint(time_ms)) for value, time_ms in samples]
        parts.append(sub(5, b"".join([*own, sub(5, b"\x08" + varint(kind))])))
    return pack(b"".join([*(sub(4, text.encode()) for text in texts), *parts]))
