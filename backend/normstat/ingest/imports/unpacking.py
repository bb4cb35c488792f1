"""Compressed bytes -> bytes, a bounded number at a time: gzip, bzip2, xz and zstd, recognised by their first bytes.

A read returns at most the requested number of bytes, however much a compressed byte stands for. A `Budget` bounds the unpacked size
of all files of an import together, a ratio that of each.
"""

import bz2
import lzma
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

import zstandard

from normstat.ingest.protocol import GZIP_WINDOW_BITS
from normstat.runtime.readable import format_bytes
from normstat.runtime.units import MIB

READ_BYTES: Final = 256 * 1024
# A byte of zstd stands for 32 KiB at most (a block of one repeated byte), so this much of it for 32 MiB.
ZSTD_READ_BYTES: Final = 1024
# xz -9 needs 65 MiB, zstd --long=27 needs 128 MiB; a file that asks for more is not one of ours.
MAX_MEMORY: Final = 192 * MIB
# Real tool output packs 5 to 60 times; 27 idle disks for hours 160 times with gzip, which cannot do more than 1030 times, and
# 1000 to 1800 times with the others. What packs better (500 idle disks) can be unpacked by hand.
FREE_BYTES: Final = 64 * MIB
MAX_RATIO_DEFLATE: Final = 600
MAX_RATIO: Final = 2000


class Unreadable(Exception):
    """The bytes of a file end here, or cannot be had from here on; the message says why, for a note."""


class TooMuch(Exception):
    """The limits of the import do not let it read further; the message says which."""


class Stopped(Exception):
    """The import is to end."""


class Source(Protocol):
    """Where bytes come from: at most `size` of them a call, none when there are no more."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes."""
        ...


@dataclass(slots=True)
class Budget:
    """The bytes that an import may still unpack, and the files that it may still look at. Used by the one thread that reads."""

    most_bytes: int
    most_members: int
    n_bytes: int = 0
    n_members: int = 0
    is_stopped: bool = False

    def charge(self, n_bytes: int) -> None:
        """Count unpacked bytes.

        Raises: TooMuch above the limit, Stopped when the import is to end
        """
        if self.is_stopped:
            raise Stopped
        self.n_bytes += n_bytes
        if self.n_bytes > self.most_bytes:
            raise TooMuch(f"what is in it unpacks to more than {format_bytes(self.most_bytes)}, the most that one import reads")

    def count_member(self) -> None:
        """Count a file.

        Raises: TooMuch above the limit, Stopped when the import is to end
        """
        self.charge(0)
        self.n_members += 1
        if self.n_members > self.most_members:
            raise TooMuch(f"there are more than {self.most_members} files, the most that one import looks at")

    @property
    def is_spent(self) -> bool:
        """Whether the limit is reached."""
        return self.n_bytes > self.most_bytes or self.n_members > self.most_members


class Watched:
    """Counts the bytes that one compressed file unpacks to. `n_packed` is its own size, as far as it is known."""

    def __init__(self, n_packed: int, most_ratio: int, budget: Budget) -> None:
        self.n_packed = n_packed
        self._most_ratio = most_ratio
        self.n_plain = 0
        self._budget = budget

    def count(self, n_plain: int) -> None:
        """Count unpacked bytes.

        Raises: TooMuch above the limits
        """
        self.n_plain += n_plain
        self._budget.charge(n_plain)
        if self.n_plain > FREE_BYTES and self.n_plain > self._most_ratio * self.n_packed:
            raise TooMuch(
                f"it unpacks to more than {self._most_ratio} times its size, which hardly any tool's output does; it was read no "
                "further; unpack it first if it is all right"
            )


class Peekable:
    """A source whose first bytes can be looked at before they are read. `n_read` counts the bytes read."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._head = b""
        self._is_over = False
        self.n_read = 0

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer at the end; they stay to be read."""
        while len(self._head) < size and not self._is_over:
            more = self._source.read(size - len(self._head))
            self._is_over = not more
            self._head += more
        return self._head[:size]

    def peek_text(self, size: int, max_size: int) -> bytes:
        """Return the next `size` bytes, more where they hold no whole line: up to its end, at most `max_size`."""
        head = self.peek(size)
        while b"\n" not in head and len(head) == size and size < max_size:
            size = min(4 * size, max_size)
            head = self.peek(size)
            end = head.find(b"\n") + 1
            if end:
                return head[:end]
        return head

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, at most `size`."""
        if self._head:
            data, self._head = self._head[:size], self._head[size:]
        else:
            data = b"" if self._is_over else self._source.read(size)
        self.n_read += len(data)
        return data


def read_full(source: Source, size: int) -> bytes:
    """Exactly `size` bytes, fewer only at the end."""
    parts: list[bytes] = []
    n_missing = size
    while n_missing:
        part = source.read(n_missing)
        if not part:
            break
        parts.append(part)
        n_missing -= len(part)
    return b"".join(parts)


class Unpacker(Protocol):
    """One member of a compressed file: takes its bytes, returns their content."""

    @property
    def eof(self) -> bool:
        """Whether all of it was given."""
        ...

    @property
    def unused_data(self) -> bytes:
        """The bytes after its end."""
        ...

    def wants_input(self) -> bool:
        """Return whether it needs more bytes to continue."""
        ...

    def unpack(self, data: bytes, size: int) -> bytes:
        """At most `size` bytes of what it and these bytes stand for; perhaps none."""
        ...


class _Gzip:
    def __init__(self) -> None:
        self._member = zlib.decompressobj(GZIP_WINDOW_BITS)

    @property
    def eof(self) -> bool:
        return self._member.eof

    @property
    def unused_data(self) -> bytes:
        return self._member.unused_data

    def wants_input(self) -> bool:
        return not self._member.unconsumed_tail

    def unpack(self, data: bytes, size: int) -> bytes:
        return self._member.decompress(self._member.unconsumed_tail + data, size)


class _Limited:
    """bz2 and lzma, whose decompressors have the same methods."""

    def __init__(self, member: bz2.BZ2Decompressor | lzma.LZMADecompressor) -> None:
        self._member = member

    @property
    def eof(self) -> bool:
        return self._member.eof

    @property
    def unused_data(self) -> bytes:
        return self._member.unused_data

    def wants_input(self) -> bool:
        return self._member.needs_input

    def unpack(self, data: bytes, size: int) -> bytes:
        return self._member.decompress(data, size)


class _Zstd:
    """zstd has no limit for its output, so it is fed little input at a time."""

    def __init__(self) -> None:
        self._member = zstandard.ZstdDecompressor(max_window_size=128 * MIB).decompressobj()
        self._packed = b""
        self._plain = b""

    @property
    def eof(self) -> bool:
        return self._member.eof and not self._plain

    @property
    def unused_data(self) -> bytes:
        return self._member.unused_data + self._packed

    def wants_input(self) -> bool:
        return not self._packed and not self._plain

    def unpack(self, data: bytes, size: int) -> bytes:
        self._packed += data
        if not self._plain and self._packed and not self._member.eof:
            feed, self._packed = self._packed[:ZSTD_READ_BYTES], self._packed[ZSTD_READ_BYTES:]
            self._plain = self._member.decompress(feed)
        plain, self._plain = self._plain[:size], self._plain[size:]
        return plain


@dataclass(frozen=True, slots=True)
class Packing:
    """A way to compress: its name, how such a file begins, and what unpacks it."""

    name: str
    magic: bytes
    most_ratio: int
    make: Callable[[], Unpacker]


PACKINGS: Final = (
    Packing("gzip", b"\x1f\x8b\x08", MAX_RATIO_DEFLATE, _Gzip),
    Packing("bzip2", b"BZh", MAX_RATIO, lambda: _Limited(bz2.BZ2Decompressor())),
    Packing("xz", b"\xfd7zXZ\0", MAX_RATIO, lambda: _Limited(lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_MEMORY))),
    Packing("zstd", b"\x28\xb5\x2f\xfd", MAX_RATIO, _Zstd),
)
# After BZh1 to BZh9 follows a block, or the end of an empty file.
BZIP2_BLOCKS: Final = (b"1AY&SY", b"\x17rE8P\x90")


def find_packing(head: bytes) -> Packing | None:
    """Return how the file that begins like this is compressed. Missing: None when it is not."""
    for packing in PACKINGS:
        if head.startswith(packing.magic):
            return packing if packing.name != "bzip2" or head[4:10] in BZIP2_BLOCKS else None
    return None


class Unpacked:
    """The content of a compressed source: all its members, one after the other. What follows them is ignored, as gzip does."""

    def __init__(self, source: Source, packing: Packing, budget: Budget) -> None:
        self._source = source
        self._packing = packing
        self._watch = Watched(0, packing.most_ratio, budget)
        self._member = packing.make()
        self._rest = b""
        self._is_over = False

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, at most `size`.

        Raises: Unreadable where it is damaged or cut off; TooMuch above the limits
        """
        while not self._is_over:
            plain = self._step(size)
            if plain:
                self._watch.count(len(plain))
                return plain
        return b""

    def _step(self, size: int) -> bytes:
        if self._member.eof:
            self._next_member()
            return b""
        if self._member.wants_input() and not self._rest:
            self._rest = self._source.read(READ_BYTES)
            self._watch.n_packed += len(self._rest)
            if not self._rest:
                self._is_over = True
                raise Unreadable(f"the {self._packing.name} data are cut off after {self._watch.n_plain} unpacked bytes")
        data, self._rest = (self._rest, b"") if self._member.wants_input() else (b"", self._rest)
        try:
            return self._member.unpack(data, size)
        except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, zstandard.ZstdError) as error:
            self._is_over = True
            message = f"the {self._packing.name} data are damaged after {self._watch.n_plain} unpacked bytes ({error})"
            raise Unreadable(message) from None

    def _next_member(self) -> None:
        """Begin the next member, when there is one."""
        rest = self._member.unused_data + self._rest
        while len(rest) < len(self._packing.magic):
            more = self._source.read(READ_BYTES)
            self._watch.n_packed += len(more)
            if not more:
                break
            rest += more
        # xz pads files with zeros.
        rest = rest.lstrip(b"\0") if self._packing.name == "xz" else rest
        self._is_over = not rest.startswith(self._packing.magic)
        self._member = self._packing.make()
        self._rest = rest
