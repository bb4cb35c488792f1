"""Arrays in PostgreSQL's binary form, as parameters and results: psycopg's own lists take ten times as long on either side.

An array on the wire is its number of dimensions, whether it has NULLs, the type of its elements, its length and its first index,
then the length and the bytes of each element, all big-endian. The statement has to name the type: %(ids)s::int8[].
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Final

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.adapt import Buffer, Dumper
from psycopg.pq import Format

from normstat.window import to_us

# PostgreSQL counts microseconds and days from 2000-01-01.
POSTGRES_EPOCH_US: Final = 946_684_800_000_000
POSTGRES_EPOCH_DAY: Final = date(2000, 1, 1).toordinal()
JSONB_VERSION: Final = b"\x01"

_HEAD: Final = struct.Struct(">iiIii")
_LENGTH: Final = struct.Struct(">i")
_NULL: Final = _LENGTH.pack(-1)
_INT4: Final = struct.Struct(">ii")
_INT8: Final = struct.Struct(">iq")
_FLOAT8: Final = struct.Struct(">id")
_BOOL: Final = struct.Struct(">i?")


class BinaryArray(bytes):
    """An array as it goes to the server."""


class _ArrayDumper(Dumper):
    """Sends an array as it is; its type is the one that the statement names."""

    format = Format.BINARY

    def dump(self, obj: BinaryArray) -> Buffer:
        """Return the bytes to send."""
        return obj


def _encode_bytes(value: bytes) -> bytes:
    return _LENGTH.pack(len(value)) + value


# The type of the elements, and an element with its length.
_ENCODERS: Final[Mapping[str, tuple[int, Callable[..., bytes]]]] = {
    "bool": (16, lambda value: _BOOL.pack(1, value)),
    "int8": (20, lambda value: _INT8.pack(8, value)),
    "text": (25, lambda value: _encode_bytes(value.encode())),
    "float8": (701, lambda value: _FLOAT8.pack(8, value)),
    "date": (1082, lambda value: _INT4.pack(4, value.toordinal() - POSTGRES_EPOCH_DAY)),
    "timestamptz": (1184, lambda value: _INT8.pack(8, to_us(value) - POSTGRES_EPOCH_US)),
    # As JSON.
    "jsonb": (3802, lambda value: _encode_bytes(JSONB_VERSION + value)),
}


def to_array(type_: str, values: Sequence[bool | int | float | str | bytes | date | datetime | None]) -> BinaryArray:
    """Return the values as an array of that type, None as NULL."""
    oid, encode = _ENCODERS[type_]
    elements = [_NULL if value is None else encode(value) for value in values]
    return BinaryArray(_HEAD.pack(1, _NULL in elements, oid, len(elements), 1) + b"".join(elements))


def from_array(cells: bytes, kind: str) -> NDArray[np.int64] | NDArray[np.float64]:
    """Return the elements of an array of numbers of eight bytes without NULL. `kind`: i for whole numbers, f for floats

    Shape: (n,)
    """
    elements = np.frombuffer(cells[_HEAD.size :], [("length", ">i4"), ("value", f">{kind}8")])
    found: NDArray[np.int64] | NDArray[np.float64] = elements["value"].astype(f"{kind}8")
    return found


def accept_arrays(connection: psycopg.AsyncConnection) -> None:
    """Let statements on the connection have such parameters."""
    connection.adapters.register_dumper(BinaryArray, _ArrayDumper)
