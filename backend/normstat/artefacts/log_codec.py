"""A log part as bytes: a header in JSON with its names, then its arrays. A million events load in a fraction of a second."""

import struct
from typing import Any, Final

import numpy as np
import orjson

from normstat.artefacts.parts import CodedTexts, LogClock, LogPart, PartKind

LOG_MARK: Final = b"LOG1"
SIZE: Final = struct.Struct("<Q")
NUMBERS: Final = {"time_ns": "<i8", "duration_ns": "<i8", "cpu": "<i4", "pid": "<i4", "line": "<i4"}
TEXTS: Final = ("command", "event", "function", "object", "arguments")
CODES: Final = "<i4"


def encode_log(part: LogPart) -> bytes:
    """Return the part as bytes."""
    header = {
        "stat": part.stat, "title": part.title, "clock": part.clock, "decimals": part.decimals, "n_backwards": part.n_backwards,
        "n": part.n_rows, "names": {name: getattr(part, name).names for name in TEXTS},
    }  # fmt: skip
    arrays = [_differences(part.time_ns) if name == "time_ns" else getattr(part, name) for name in NUMBERS]
    types = [*NUMBERS.values(), *(CODES for _ in TEXTS)]
    arrays += [getattr(part, name).codes for name in TEXTS]
    text = orjson.dumps(header)
    pieces = [np.asarray(array).astype(kind).tobytes() for array, kind in zip(arrays, types, strict=True)]
    return b"".join([LOG_MARK, SIZE.pack(len(text)), text, *pieces])


def decode_log(data: bytes) -> LogPart:
    """Return the part that `encode_log` made these bytes of.

    Raises: ValueError, KeyError, TypeError for damaged bytes
    """
    start = len(LOG_MARK) + SIZE.size
    if len(data) < start:
        raise ValueError("the header of a log is cut off")
    (size,) = SIZE.unpack_from(data, len(LOG_MARK))
    header: dict[str, Any] = orjson.loads(data[start : start + size])
    n, at = header["n"], start + size
    numbers: dict[str, Any] = {}
    for name, kind in NUMBERS.items():
        numbers[name] = np.frombuffer(data, kind, n, at)
        at += n * np.dtype(kind).itemsize
    texts: dict[str, Any] = {}
    for name in TEXTS:
        codes = np.frombuffer(data, CODES, n, at)
        names = header["names"][name]
        if n and not 0 <= int(codes.min()) <= int(codes.max()) < len(names):
            raise ValueError(f"{name} has codes without a name")
        texts[name] = CodedTexts(names, codes)
        at += n * np.dtype(CODES).itemsize
    numbers["time_ns"] = np.cumsum(numbers["time_ns"])
    return LogPart(
        stat=header["stat"],
        title=header["title"],
        clock=LogClock(header["clock"]),
        decimals=header["decimals"],
        n_backwards=header["n_backwards"],
        kind=PartKind.LOG,
        **numbers,
        **texts,
    )


def _differences(time_ns: np.ndarray) -> np.ndarray:
    return np.diff(time_ns, prepend=0)
