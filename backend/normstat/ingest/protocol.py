"""Frames, the parts of an ingest request's body. docs/wire-format.md is the reference.

    stream vmstat_linux vmstat_linux.1795262400.4711-1 0 34 vmstat -n -t 1
    ...34 bytes of the tool's output...
    gap iostat_linux iostat_linux.1795262400.4711-2 8192 4096 spool limit of 65536 KiB reached

Parsing is strict: a body that is not frames from its first byte to its last is refused as a whole.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, cast

from isal import isal_zlib

from normstat.errors import BadFrame, TooLarge, shorten

# Far above what agents send; they limit the cost of a body of tiny frames.
MAX_FRAMES: Final = 10_000
MAX_GZIP_MEMBERS: Final = 10_000
MAX_HEADER_LENGTH: Final = 8192
# A gap is bytes that fell out of a file in a host's spool: 16 TiB is the largest file of ext4, and 32,768 times the default limit
# of the spool. A stream of 1 PiB is a tool that prints 30 MB a second for a year. Larger numbers are made up.
MAX_GAP_BYTES: Final = 1 << 44
MAX_STREAM_BYTES: Final = 1 << 50
GZIP_WINDOW_BITS: Final = 31
# Its type stub has an object of it.
UnpackError: Final = cast("type[Exception]", isal_zlib.error)
GZIP_MAGIC: Final = b"\x1f\x8b"
PIECE_BYTES: Final = 1 << 20

HEADER: Final = re.compile(
    rb"(?P<kind>stream|gap) (?P<spec>[a-z][a-z0-9_]{0,62}) (?P<key>[A-Za-z0-9._:-]{1,100})"
    rb" (?P<offset>[0-9]{1,19}) (?P<length>[0-9]{1,19})(?: (?P<text>[^\n]*))?"
)


class FrameKind(StrEnum):
    """The kind of a frame."""

    STREAM = "stream"
    GAP = "gap"
    # Not on the wire: bytes for the end of the stream, wherever that is (ingest/receivers).
    APPEND = "append"


@dataclass(frozen=True, slots=True)
class Frame:
    """Bytes of a stream, or the report that bytes were lost.

    `length` bytes from `offset` on, in `data`, which is empty for a gap. `text` is the command of a stream, the reason of a gap.
    """

    kind: FrameKind
    spec: str
    key: str
    offset: int
    length: int
    text: str
    data: bytes = b""

    @property
    def end(self) -> int:
        """The first offset after the frame."""
        return self.offset + self.length


@dataclass(frozen=True, slots=True)
class Ack:
    """Bytes of a stream below `offset` are committed."""

    key: str
    offset: int


def read_body(body: bytes, *, is_gzip: bool, max_plain: int) -> list[Frame]:
    """Return the frames of a request's body.

    Raises: BadFrame with the position of the first invalid byte; TooLarge above `max_plain` bytes
    """
    return parse_frames(unpack(body, max_plain) if is_gzip else _require_size(body, max_plain))


def format_acks(acks: Iterable[Ack]) -> bytes:
    """Return the answer: one line for each stream."""
    return "".join(f"{ack.key} {ack.offset}\n" for ack in acks).encode()


def _require_size(body: bytes, max_plain: int) -> bytes:
    if len(body) > max_plain:
        raise TooLarge(f"The body has {len(body)} bytes, more than the limit of {max_plain}; send less at once")
    return body


def unpack(body: bytes, max_plain: int) -> bytes:
    """Return the decompressed body: one gzip member or several, nothing else. Never holds more than `max_plain` bytes and one
    piece.

    Raises: BadFrame when it is not gzip, damaged, truncated, or followed by something else; TooLarge
    """
    plain = bytearray()
    rest = body
    for n_member in range(MAX_GZIP_MEMBERS):
        if not rest and n_member:
            return bytes(plain)
        rest = _unpack_member(rest, plain, max_plain, position=len(body) - len(rest))
    raise BadFrame(f"The body has more than {MAX_GZIP_MEMBERS} gzip members; nothing was stored", {"position": 0})


def _unpack_member(packed: bytes, plain: bytearray, max_plain: int, *, position: int) -> bytes:
    """Append the content of one member; return the bytes after it. `position` is where it begins, for messages."""
    member = isal_zlib.decompressobj(GZIP_WINDOW_BITS)
    rest = packed
    # The library takes the first bytes of other things for the beginning of a member, and waits for more.
    if not packed.startswith(GZIP_MAGIC[: len(packed)]):
        raise _not_gzip(position, "no gzip header")
    while not member.eof:
        try:
            piece = member.decompress(rest, PIECE_BYTES)
        except UnpackError as error:
            raise _not_gzip(position, str(error)) from None
        rest = member.unconsumed_tail
        plain += piece
        if len(plain) > max_plain:
            raise TooLarge(f"The body has more than {max_plain} bytes when decompressed; send less at once")
        if not piece and not rest and not member.eof:
            end = position + len(packed)
            raise BadFrame(f"The gzip body is truncated after {end} bytes; nothing was stored; send it again", {"position": end})
    return member.unused_data


def _not_gzip(position: int, why: str) -> BadFrame:
    message = f"The body is not valid gzip (in the member that begins at byte {position}: {why}); nothing was stored"
    return BadFrame(message, {"position": position})


def parse_frames(plain: bytes) -> list[Frame]:
    """Return the frames in these bytes.

    Raises: BadFrame with the position of the invalid frame
    """
    frames: list[Frame] = []
    specs: dict[str, str] = {}
    position = 0
    if not plain:
        raise _bad(0, 0, "the body is empty; expected at least one frame")
    while position < len(plain):
        if len(frames) == MAX_FRAMES:
            raise _bad(len(frames), position, f"there are more than {MAX_FRAMES} frames")
        frame, position = _parse_frame(plain, len(frames), position)
        if specs.setdefault(frame.key, frame.spec) != frame.spec:
            # The answer identifies streams by key alone.
            raise _bad(len(frames), position, f"the key {frame.key} is used for {specs[frame.key]} and for {frame.spec}")
        frames.append(frame)
    return frames


def _parse_frame(plain: bytes, number: int, position: int) -> tuple[Frame, int]:
    end = plain.find(b"\n", position, position + MAX_HEADER_LENGTH)
    if end < 0:
        raise _bad(number, position, f"no newline within {MAX_HEADER_LENGTH} bytes ends its header: {_quote(plain, position)}")
    found = HEADER.fullmatch(plain, position, end)
    if found is None:
        raise _bad(
            number,
            position,
            f"its header is not `stream|gap <spec> <key> <offset> <length> <text>`: {_quote(plain, position)}",
        )
    kind = FrameKind(found["kind"].decode())
    offset, length = int(found["offset"]), int(found["length"])
    if kind is FrameKind.GAP and length > MAX_GAP_BYTES:
        raise _bad(number, position, f"its gap is {length} bytes long; the maximum is {MAX_GAP_BYTES}")
    if offset + length > MAX_STREAM_BYTES:
        raise _bad(number, position, f"it ends at offset {offset + length}; a stream has at most {MAX_STREAM_BYTES} bytes")
    begin = end + 1
    n_bytes = length if kind is FrameKind.STREAM else 0
    if begin + n_bytes > len(plain):
        raise _bad(number, position, f"it announces {length} bytes, but only {len(plain) - begin} follow")
    frame = Frame(
        kind=kind,
        spec=found["spec"].decode(),
        key=found["key"].decode(),
        offset=offset,
        length=length,
        text=(found["text"] or b"").decode("utf-8", "backslashreplace"),
        data=plain[begin : begin + n_bytes],
    )
    return frame, begin + n_bytes


def _quote(plain: bytes, position: int) -> str:
    return shorten(plain[position : position + 200].split(b"\n")[0].decode("ascii", "backslashreplace"))


def _bad(number: int, position: int, why: str) -> BadFrame:
    return BadFrame(
        f"Frame {number + 1} at byte {position}: {why}; nothing was stored", {"frame": number + 1, "position": position}
    )


def format_frames(frames: Sequence[Frame]) -> bytes:
    """Return the body with these frames; what an agent sends, for tests, benchmarks and imports."""
    parts: list[bytes] = []
    for frame in frames:
        header = f"{frame.kind} {frame.spec} {frame.key} {frame.offset} {frame.length} {frame.text}\n"
        parts += [header.encode("utf-8", "backslashreplace"), frame.data]
    return b"".join(parts)
