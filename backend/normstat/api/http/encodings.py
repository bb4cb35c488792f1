"""Answers as a client can take them: compressed in an encoding that it accepts, or 304 where it has the current one."""

import re
import zlib
from collections.abc import Sequence
from typing import Annotated, Final

import zstandard
from fastapi import Header, Response

IfNoneMatch = Annotated[str | None, Header(max_length=1000, include_in_schema=False)]


def has_answer(if_none_match: str | None, etag: str) -> bool:
    """Return whether the client already has the answer with this ETag."""
    return if_none_match is not None and etag in {each.strip().removeprefix("W/") for each in if_none_match.split(",")}


# A value such as: zstd, gzip with a weight (;q=0.5).
ACCEPTED: Final = re.compile(r"([a-z0-9-]+)\s*(?:;\s*q\s*=\s*([0-9]*\.?[0-9]+))?")
# A value such as: text/plain;version=0.0.4;q=0.3, and the weight among what follows the type.
MEDIA_RANGE: Final = re.compile(r"([a-z*]+/[a-z0-9.+*-]+)([^,]*)")
WEIGHT: Final = re.compile(r";\s*q\s*=\s*([0-9]+(?:\.[0-9]+)?)")
# A window of 15 bits, in the gzip format.
GZIP_WINDOW_BITS: Final = 31
PACKED_FROM_BYTES: Final = 1024
# Columns of numbers: a tenth smaller than gzip's level 1 in less than half of the time. Higher levels take longer for 1 %.
ZSTD_LEVEL: Final = 1
ZSTD_STREAM_LEVEL: Final = 3
# Level 5, which the middleware uses, is three times as slow for a tenth less.
GZIP_LEVEL: Final = 1


def choose_encoding(accepted: str) -> str | None:
    """Return zstd, which costs least, or gzip, if the client accepts it at least as readily as plain text. Missing: None if it does
    not.
    """
    weights = {name: float(weight or 1) for name, weight in ACCEPTED.findall(accepted.lower())}
    known = [(weights.get(name, 0.0), name) for name in ("zstd", "gzip")]
    best = max(weight for weight, _ in known)
    if best == 0 or best < weights.get("identity", 0.0):
        return None
    return next(name for weight, name in known if weight == best)


def choose_media_type(accepted: str, offered: Sequence[str]) -> str:
    """Return the media type that a client likes best, by its header Accept; the first one where it likes several alike.

    >>> choose_media_type("application/a;version=1;q=0.5, text/plain;q=0.3, */*;q=0.1", ["text/plain; charset=x", "application/a"])
    'application/a'
    >>> choose_media_type("*/*", ["text/plain", "application/a"]), choose_media_type("", ["text/plain", "application/a"])
    ('text/plain', 'text/plain')
    """
    weights: dict[str, float] = {}
    for kind, rest in MEDIA_RANGE.findall(accepted.lower()):
        weight = WEIGHT.search(rest)
        weights[kind] = max(weights.get(kind, 0.0), float(weight[1]) if weight else 1.0)

    def weigh(media_type: str) -> float:
        kind = media_type.partition(";")[0]
        return weights.get(kind, weights.get(kind.partition("/")[0] + "/*", weights.get("*/*", 0.0)))

    return max(offered, key=weigh)


def compress(body: bytes, encoding: str) -> bytes:
    """Return the body in that encoding, zstd or gzip: fast rather than small."""
    if encoding == "zstd":
        return zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress(body)
    packer = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, GZIP_WINDOW_BITS)
    return packer.compress(body) + packer.flush()


class StreamPacker:
    """Compresses an answer that is sent piece by piece: each piece can be read when it arrives."""

    def __init__(self, encoding: str) -> None:
        self._zstd = zstandard.ZstdCompressor(level=ZSTD_STREAM_LEVEL).compressobj() if encoding == "zstd" else None
        self._gzip = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, GZIP_WINDOW_BITS)

    def pack(self, piece: bytes) -> bytes:
        """Return the next piece, compressed."""
        if self._zstd is not None:
            return self._zstd.compress(piece) + self._zstd.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        return self._gzip.compress(piece) + self._gzip.flush(zlib.Z_SYNC_FLUSH)

    def finish(self) -> bytes:
        """Return the end of the answer."""
        return self._gzip.flush() if self._zstd is None else self._zstd.flush(zstandard.COMPRESSOBJ_FLUSH_FINISH)


def make_json_response(body: bytes, accepted: str) -> Response:
    """Return a response of this body, compressed if the client accepts it and it is worth it. `accepted`: its Accept-Encoding"""
    headers = {"Vary": "Accept-Encoding"}
    encoding = choose_encoding(accepted) if len(body) >= PACKED_FROM_BYTES else None
    if encoding is not None:
        body = compress(body, encoding)
        headers["Content-Encoding"] = encoding
    return Response(body, media_type="application/json", headers=headers)
