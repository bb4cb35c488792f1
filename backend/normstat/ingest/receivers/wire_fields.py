"""The wire format of protocol buffers, as far as receivers need it: fields of a message, without a schema.

A schema's library makes an object of each message, and a body of 16 MiB may hold eight million empty ones. Here the fields
of a message are counted before objects are made of them.

>>> [(field.number, field.value) for field in fields_of_message(bytes([8, 150, 1, 18, 2, 104, 105]))]
[(1, 150), (2, b'hi')]
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple

from normstat.errors import BadRequest, TooLarge

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
MAX_VARINT_BYTES: Final = 10
# The 8192 points of a collector, with ten attributes each, have half as many.
MAX_FIELDS: Final = 1_000_000
MAX_UINT64: Final = 2**64 - 1
DOUBLE: Final = struct.Struct("<d")
INT64: Final = struct.Struct("<q")
UINT64: Final = struct.Struct("<Q")


class WireField(NamedTuple):
    """A field: its number, and an int (varint), or bytes (a text, a message, packed numbers, 4 or 8 bytes of a fixed number)."""

    number: int
    value: int | bytes

    @property
    def data(self) -> bytes:
        """The bytes. Raises: BadRequest for a varint"""
        if isinstance(self.value, int):
            raise bad_body(f"field {self.number} is a number; expected bytes")
        return self.value

    @property
    def text(self) -> str:
        """The text. Raises: BadRequest when it is not UTF-8"""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError:
            raise bad_body(f"field {self.number} is not UTF-8") from None

    @property
    def whole(self) -> int:
        """The varint without a sign. Raises: BadRequest for bytes"""
        if not isinstance(self.value, int):
            raise bad_body(f"field {self.number} is not a whole number")
        return self.value

    @property
    def int64(self) -> int:
        """The varint as int64. Raises: BadRequest for bytes"""
        whole = self.whole
        return whole - 2**64 if whole >= 2**63 else whole

    @property
    def zigzag(self) -> int:
        """The varint in zigzag form (sint32, sint64). Raises: BadRequest for bytes"""
        return from_zigzag(self.whole)

    @property
    def double(self) -> float:
        """The number of eight bytes. Raises: BadRequest for anything else"""
        return float(DOUBLE.unpack(self._eight())[0])

    @property
    def fixed64(self) -> int:
        """The whole number of eight bytes, without a sign. Raises: BadRequest for anything else"""
        return int(UINT64.unpack(self._eight())[0])

    @property
    def sfixed64(self) -> int:
        """The whole number of eight bytes. Raises: BadRequest for anything else"""
        return int(INT64.unpack(self._eight())[0])

    def _eight(self) -> bytes:
        if isinstance(self.value, int) or len(self.value) != INT64.size:
            raise bad_body(f"field {self.number} does not have eight bytes")
        return self.value


def bad_body(why: str) -> BadRequest:
    """Return the error for a body that cannot be read."""
    return BadRequest(f"The body is not a valid message: {why}; nothing was stored")


class _FieldCount:
    """How many more fields a request may have."""

    def __init__(self) -> None:
        self.left = MAX_FIELDS


_count: ContextVar[_FieldCount | None] = ContextVar("fields of a request", default=None)


@contextmanager
def counting_fields() -> Iterator[None]:
    """Limit how many fields may be read within the block, over all messages. Unknown fields count, because they take time too."""
    token = _count.set(_FieldCount())
    try:
        yield
    finally:
        _count.reset(token)


def fields_of_message(data: bytes) -> Iterator[WireField]:
    """Yield the fields in their order. Unknown ones are the caller's to skip.

    Raises: BadRequest for bytes that are not a message; TooLarge while they are counted
    """
    at, end = 0, len(data)
    count = _count.get() or _FieldCount()
    while at < end:
        count.left -= 1
        if count.left < 0:
            raise TooLarge(f"The request has more than {MAX_FIELDS:,} fields; send less at once; nothing was stored")
        key = data[at]
        at += 1
        if key >= 0x80:
            key, at = _read_varint(data, at - 1)
        number, wire_type = key >> 3, key & 7
        if not number:
            raise bad_body(f"a field with the number 0 before byte {at}")
        if wire_type == LENGTH:
            size = data[at] if at < end else 0
            if size >= 0x80 or at >= end:
                size, at = _read_varint(data, at)
            else:
                at += 1
            begin, at = at, at + size
        elif wire_type == VARINT:
            value, at = _read_varint(data, at)
            yield WireField(number, value)
            continue
        elif wire_type in (FIXED64, FIXED32):
            begin, at = at, at + (8 if wire_type == FIXED64 else 4)
        else:
            raise bad_body(f"unknown wire type {wire_type} before byte {at}")
        if at > end:
            raise bad_body(f"field {number} ends {at - end} bytes after the end")
        yield WireField(number, data[begin:at])


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number and the place after it."""
    value = 0
    for shift in range(MAX_VARINT_BYTES):
        if at >= len(data):
            raise bad_body("it ends within a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:
            return value & MAX_UINT64, at
    raise bad_body(f"a number of more than {MAX_VARINT_BYTES} bytes before byte {at}")


def from_zigzag(number: int) -> int:
    """Return a whole number with a sign.

    >>> [from_zigzag(number) for number in (0, 1, 2, 3)]
    [0, -1, 1, -2]
    """
    return (number >> 1) ^ -(number & 1)


def packed_numbers(item: WireField, most: int) -> list[int]:
    """Return packed whole numbers, or the one that is not packed; of more than `most` one more.

    Raises: BadRequest
    """
    if isinstance(item.value, int):
        return [item.value]
    numbers: list[int] = []
    value = shift = 0
    for byte in item.value:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value = shift = 0
            if len(numbers) > most:
                break
        elif shift > 63:
            raise bad_body("a packed number of more than 10 bytes")
    return numbers


def to_varint(number: int) -> bytes:
    """Return a number of 64 bits as it stands in a message."""
    number %= MAX_UINT64 + 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
