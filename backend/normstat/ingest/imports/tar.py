"""tar archives, read from front to back out of any source, in bounded memory.

Python's tarfile reads names and extended headers as long as they say they are; a hostile archive says a terabyte. Understood are
the formats of V7, ustar, GNU (long names, big numbers) and pax (path, size, mtime); anything but a plain file is left to a note.
Source: POSIX.1-2017 pax, GNU tar manual "Basic Tar Format", tar.h(3HEAD) of Solaris (type X).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from normstat.ingest.imports.unpacking import Source, Unreadable, read_full
from normstat.runtime.units import MIB

BLOCK: Final = 512
READ_BYTES: Final = MIB
# Names are at most 4096 bytes on any system; extended headers hold them and a few numbers.
MAX_EXTENSION_LENGTH: Final = MIB
PLAIN: Final = (b"0", b"\0", b"7")
SPARSE_KEYS: Final = ("GNU.sparse.major", "GNU.sparse.map", "GNU.sparse.size")
KINDS: Final = {b"1": "a hard link", b"2": "a symbolic link", b"3": "a device", b"4": "a device", b"6": "a named pipe", b"5": ""}


class Entry:
    """One member: a plain file where `kind` is "", else what it is instead ("a symbolic link"). A source of its own bytes."""

    def __init__(self, name: str, size: int, modified_at: float, kind: str, source: Source) -> None:
        self.name = name
        self.size = size
        self.modified_at = modified_at
        self.kind = kind
        self._source = source
        self._n_left = size

    def read(self, size: int, /) -> bytes:
        """Return the next bytes of the member.

        Raises: Unreadable where the archive ends before it
        """
        if not self._n_left:
            return b""
        data = self._source.read(min(size, self._n_left))
        if not data:
            raise Unreadable(f"the tar archive is cut off within {self.name}")
        self._n_left -= len(data)
        return data

    def skip(self) -> None:
        """Read the rest of it, and the padding of its last block."""
        n_left = self._n_left + -self.size % BLOCK
        self._n_left = 0
        while n_left:
            data = self._source.read(min(READ_BYTES, n_left))
            if not data:
                raise Unreadable(f"the tar archive is cut off within {self.name}")
            n_left -= len(data)


@dataclass(slots=True)
class _Extension:
    """The values from headers before a member's own."""

    name: str | None = None
    size: int | None = None
    modified_at: float | None = None
    is_sparse: bool = False


def is_tar(head: bytes) -> bool:
    """Return whether a file that begins like this is a tar archive: its first header's sum must be right."""
    return len(head) >= BLOCK and head[:1] != b"\0" and _is_header(head[:BLOCK])


def read_tar(source: Source) -> Iterator[Entry]:
    """Yield the members in their order; each must be read before the next one is asked for.

    Raises: Unreadable where the archive is damaged or cut off
    """
    extension = _Extension()
    while True:
        block = read_full(source, BLOCK)
        if not block or block == bytes(BLOCK):
            return
        if len(block) < BLOCK or not _is_header(block):
            raise Unreadable("the tar archive is cut off or damaged: a header was expected")
        kind, size = block[156:157], _number(block[124:136])
        if kind in (b"L", b"K", b"x", b"X", b"g"):
            data = _read_extension(source, size)
            if kind == b"L":
                extension.name = _text(data.rstrip(b"\0"))
            elif kind in (b"x", b"X"):
                _take_pax(data, extension)
            continue
        entry = Entry(
            name=extension.name if extension.name is not None else _name(block),
            # Only plain files have bytes after their header; some writers give links a size all the same.
            size=(size if extension.size is None else extension.size) if kind not in KINDS else 0,
            modified_at=extension.modified_at if extension.modified_at is not None else float(_number(block[136:148])),
            kind=_kind(kind, is_sparse=extension.is_sparse),
            source=source,
        )
        extension = _Extension()
        if kind != b"5":
            yield entry
        entry.skip()


def _kind(kind: bytes, *, is_sparse: bool) -> str:
    if kind in KINDS:
        return KINDS[kind]
    if kind == b"S" or is_sparse:
        return "a sparse file"
    return "" if kind in PLAIN else "of a type that is not read"


def _is_header(block: bytes) -> bool:
    try:
        said = int(block[148:156].strip(b" \0") or b"-", 8)
    except ValueError:
        return False
    plain = block[:148] + b" " * 8 + block[156:]
    # Old tars added signed bytes up.
    return said in (sum(plain), sum(byte - 256 if byte > 127 else byte for byte in plain))


def _number(field: bytes) -> int:
    if field[0] in (0x80, 0xFF):
        number = int.from_bytes(field[1:], "big")
        return number if field[0] == 0x80 else 0
    try:
        return int(field.strip(b" \0") or b"0", 8)
    except ValueError:
        raise Unreadable("the tar archive is damaged: a number in a header is invalid") from None


def _name(block: bytes) -> str:
    name = block[:100].split(b"\0")[0]
    prefix = block[345:500].split(b"\0")[0] if block[257:263] == b"ustar\0" else b""
    return _text(prefix + b"/" + name if prefix else name)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _read_extension(source: Source, size: int) -> bytes:
    if size > MAX_EXTENSION_LENGTH:
        raise Unreadable(f"the tar archive has a header of {size} bytes; such archives are not read")
    data = read_full(source, size + -size % BLOCK)
    if len(data) < size:
        raise Unreadable("the tar archive is cut off within a header")
    return data[:size]


def _take_pax(data: bytes, extension: _Extension) -> None:
    """Take the records `LENGTH KEY=VALUE` of an extended header."""
    at = 0
    while at < len(data):
        blank = data.find(b" ", at, at + 12)
        length = data[at:blank] if blank > at else b""
        if not length.isdigit() or int(length) <= blank - at:
            raise Unreadable("the tar archive is damaged: an extended header cannot be read")
        record = data[blank + 1 : at + int(length) - 1]
        at += int(length)
        key, _, value = _text(record).partition("=")
        try:
            if key == "path":
                extension.name = value
            elif key == "size":
                extension.size = max(0, int(value))
            elif key == "mtime":
                extension.modified_at = float(value)
            elif key in SPARSE_KEYS:
                extension.is_sparse = True
        except ValueError:
            raise Unreadable(f"the tar archive is damaged: {key} in an extended header is not a number") from None
