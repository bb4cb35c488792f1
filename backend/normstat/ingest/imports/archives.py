"""Paths -> the files in them, however they are packed: folders, tar, zip, and gzip, bzip2, xz, zstd around any of these.

    for member in walk(paths, budget): member.source.read(...)

Nothing is unpacked to a disk but zip archives and binary sysstat files within another archive, which can only be read in place;
those go to a nameless temporary file of bounded size. Members that would lie outside the archive, links and devices are noted and
left alone.
"""

import contextlib
import datetime as dt
import os
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Final

from normstat.ingest.imports import pcp_files, sadf_files
from normstat.ingest.imports.tar import BLOCK, is_tar, read_tar
from normstat.ingest.imports.unpacking import (
    MAX_RATIO_DEFLATE,
    Budget,
    Peekable,
    Source,
    TooMuch,
    Unpacked,
    Unreadable,
    Watched,
    find_packing,
)
from normstat.runtime.readable import format_bytes
from normstat.runtime.units import MIB

# A sosreport in a tar in a zip; gzip around gzip around gzip.
MAX_ARCHIVES: Final = 3
MAX_PACKINGS: Final = 3
MAX_SPOOLED: Final = 1 << 30
MIN_FREE: Final = 256 * MIB
# The list of 100 000 members with names of 150 characters; Python's zipfile keeps a record of 500 bytes for each.
MAX_DIRECTORY: Final = 20 * MIB
# zipfile raises these for archives that are damaged, or newer than it.
BAD_ZIP: Final = (
    zipfile.BadZipFile,
    struct.error,
    zlib.error,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    OverflowError,
    KeyError,
)
ZIP_END: Final = b"PK\5\6"
ZIP_BEGINS: Final = (b"PK\3\4", ZIP_END)
HEAD_BYTES: Final = 4096
OTHER_PACKINGS: Final = ((b"\x1f\x9d", "compress (.Z)"), (b"7z\xbc\xaf\x27\x1c", "7-Zip"), (b"Rar!\x1a\x07", "RAR"))
PACKED_ENDS: Final = (".gz", ".bz2", ".xz", ".zst", ".tgz", ".tbz2", ".txz", ".tzst")


@dataclass(frozen=True, slots=True)
class Member:
    """A file found. `path` is shown to users: the path given, then the names within archives.

    `source` gives its unpacked bytes until the next member is asked for, None where it is not read; `note` says why not then.
    `modified_at` is seconds since the epoch, None where it is unknown.
    """

    path: str
    source: Peekable | None
    modified_at: float | None = None
    note: str = ""


def list_files(paths: Sequence[Path], budget: Budget) -> Iterator[tuple[Path, str]]:
    """Yield the plain files that the paths are or hold, in the order of their names, each with a note when it is not to be read.

    A symbolic link is followed where it was named itself, not where a folder holds it.
    """
    for path in paths:
        try:
            mode = path.stat().st_mode
        except OSError as error:
            yield path, f"cannot be read: {error.strerror}"
            continue
        if stat.S_ISDIR(mode):
            yield from _list_folder(path, budget)
        else:
            budget.count_member()
            yield path, "" if stat.S_ISREG(mode) else "not a plain file"


def _list_folder(folder: Path, budget: Budget) -> Iterator[tuple[Path, str]]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        yield folder, f"cannot be read: {error.strerror}"
        return
    for entry in entries:
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            yield from _list_folder(path, budget)
        else:
            budget.count_member()
            note = "" if entry.is_file(follow_symlinks=False) else "a link or a device, not followed"
            yield path, note


def walk_file(path: Path, budget: Budget, shown: str | None = None) -> Generator[Member]:
    """Yield all files in one file on this machine, under its path or the name `shown`.

    An unreadable file is a member with a note; the only error raised is Stopped.
    """
    shown = str(path) if shown is None else shown
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                yield Member(shown, None, note="not a plain file")
                return
            archive = pcp_files.find_archive(path)
            if archive is not None:
                yield from _read_archive(archive, shown, status.st_mtime)
                return
            walk = _Walk(budget, pcp_meta=pcp_files.find_meta(path))
            yield from walk.open(shown, Peekable(file), modified_at=status.st_mtime, file=file)
    except OSError as error:
        yield Member(shown, None, note=f"cannot be read: {error.strerror}")


def _read_archive(base: Path, shown: str, modified_at: float) -> Iterator[Member]:
    """Yield the text of an archive of several files."""
    try:
        with pcp_files.open_archive(base) as text:
            # The name identifies the tool: descriptions fill the beginning, which does not show it.
            yield Member(f"{shown} (pmdumplog)", Peekable(text), modified_at)
    except Unreadable as trouble:
        yield Member(shown, None, modified_at, str(trouble))


class _Walk:
    """One way down from a file: `n_archives` and `n_packings` say how deep it is; `pcp_meta` is the file read in its place."""

    def __init__(self, budget: Budget, n_archives: int = 0, pcp_meta: str = "") -> None:
        self._budget = budget
        self._pcp_meta = pcp_meta
        self._n_archives = n_archives

    def open(
        self, path: str, source: Peekable, *, modified_at: float | None, file: BinaryIO | None = None, n_packings: int = 0
    ) -> Iterator[Member]:
        """Yield the files in the source. `file` is the source itself where it can be read in any order."""
        try:
            head = source.peek(HEAD_BYTES)
        except (Unreadable, TooMuch) as trouble:
            yield Member(path, None, modified_at, str(trouble))
            return
        packing = find_packing(head)
        note = next((f"packed with {name}; unpack it first" for magic, name in OTHER_PACKINGS if head.startswith(magic)), "")
        if packing is not None:
            if n_packings == MAX_PACKINGS:
                yield Member(path, None, modified_at, f"compressed more than {MAX_PACKINGS} times over")
                return
            inner = Peekable(Unpacked(source, packing, self._budget))
            yield from self.open(path, inner, modified_at=modified_at, n_packings=n_packings + 1)
        elif note:
            yield Member(path, None, modified_at, note)
        elif is_tar(head[:BLOCK]) or head.startswith(ZIP_BEGINS):
            if self._n_archives == MAX_ARCHIVES:
                yield Member(path, None, modified_at, f"more than {MAX_ARCHIVES} archives within each other")
                return
            inside = _Walk(self._budget, self._n_archives + 1)
            is_zip = head.startswith(ZIP_BEGINS)
            yield from inside.read_zip(path, source, file) if is_zip else inside.read_tar(path, source)
        elif pcp_files.is_part(head):
            note = f"read with {self._pcp_meta}" if self._pcp_meta else pcp_files.PART
            yield Member(path, None, modified_at, note)
        elif sadf_files.is_binary(head):
            yield from self._convert(path, source, modified_at)
        else:
            yield Member(path, source, modified_at)

    def read_tar(self, path: str, source: Source) -> Iterator[Member]:
        """Yield the members of a tar archive; a note at its end when it is damaged."""
        try:
            for entry in read_tar(source):
                self._budget.count_member()
                name = f"{path}/{entry.name}"
                note = entry.kind or _outside(entry.name)
                if note:
                    yield Member(name, None, entry.modified_at, f"left alone: {note}")
                else:
                    yield from self.open(name, Peekable(entry), modified_at=entry.modified_at)
                if self._budget.is_spent:
                    return
        except (Unreadable, TooMuch) as trouble:
            yield Member(path, None, note=f"read no further: {trouble}")

    def read_zip(self, path: str, source: Source, file: BinaryIO | None) -> Iterator[Member]:
        """Yield the members of a zip archive."""
        try:
            with file or _spool(source) as spooled, _open_zip(spooled) as archive:
                for info in archive.infolist():
                    self._budget.count_member()
                    # A name may be empty, or begin with a NUL.
                    if info.filename.endswith("/"):
                        continue
                    yield from self._open_zipped(path, archive, info)
                    if self._budget.is_spent:
                        return
        except (*BAD_ZIP, Unreadable, TooMuch) as trouble:
            yield Member(path, None, note=f"the zip archive is read no further: {trouble}")

    def _open_zipped(self, path: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[Member]:
        name = f"{path}/{info.filename}"
        kind = stat.S_IFMT(info.external_attr >> 16)
        note = _outside(info.filename)
        if kind not in (0, stat.S_IFREG):
            note = "a symbolic link" if kind == stat.S_IFLNK else "not a plain file"
        if note:
            yield Member(name, None, note=f"left alone: {note}")
        elif info.flag_bits & 1:
            yield Member(name, None, note="encrypted")
        elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            # Python's zipfile unpacks the others without a bound.
            yield Member(name, None, note="compressed in another way than zip's usual one (deflate)")
        else:
            with archive.open(info) as member:
                source = Peekable(_Zipped(member, info.compress_size, self._budget))
                yield from self.open(name, source, modified_at=_zip_time(info))

    def _convert(self, path: str, source: Source, modified_at: float | None) -> Iterator[Member]:
        """Yield the text of a binary file of sysstat."""
        try:
            with _spool(source) as spooled, sadf_files.open_text(spooled) as text:
                yield Member(path, Peekable(text), modified_at)
        except (Unreadable, TooMuch, OSError) as trouble:
            yield Member(path, None, modified_at, str(trouble))


class _Zipped:
    """A member of a zip archive, within the limits."""

    def __init__(self, member: IO[bytes], n_packed: int, budget: Budget) -> None:
        self._member = member
        self._watch = Watched(n_packed, MAX_RATIO_DEFLATE, budget)

    def read(self, size: int, /) -> bytes:
        """Return the next bytes.

        Raises: Unreadable where it is damaged; TooMuch above the limits
        """
        try:
            data = self._member.read(size)
        except BAD_ZIP as error:
            raise Unreadable(f"damaged after {self._watch.n_plain} unpacked bytes ({error})") from None
        self._watch.count(len(data))
        return data


def _outside(name: str) -> str:
    """Why a member of that name is not read. Missing: "" for a name that lies within its archive."""
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or parts[0].endswith(":"):
        return "its path is absolute"
    return "its path leads out of the archive" if ".." in parts else ""


def _spool(source: Source) -> BinaryIO:
    """Return the source as a temporary file without a name, at its beginning."""
    with contextlib.ExitStack() as stack:
        spooled = stack.enter_context(tempfile.TemporaryFile())
        n_bytes = 0
        while data := source.read(MIB):
            n_bytes += len(data)
            if n_bytes > MAX_SPOOLED:
                raise TooMuch(f"larger than {format_bytes(MAX_SPOOLED)}, and it can only be read in place; unpack it first")
            if shutil.disk_usage(tempfile.gettempdir()).free < MIN_FREE:
                raise TooMuch("the disk of temporary files is nearly full")
            spooled.write(data)
        spooled.seek(0)
        # The caller closes it.
        stack.pop_all()
    return spooled


def _open_zip(file: BinaryIO) -> zipfile.ZipFile:
    """Return the archive after checking the size of its list of members: zipfile reads it as a whole."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - (1 << 16) - 22))
    tail = file.read()
    at = tail.rfind(ZIP_END)
    if at >= 0 and len(tail) >= at + 22:
        directory_bytes = struct.unpack_from("<I", tail, at + 12)[0]
        locator = tail.rfind(b"PK\6\7", 0, at)
        if directory_bytes == 0xFFFFFFFF and locator >= 0:
            # Zip64: the locator says where the longer record stands, which says how long the list is.
            file.seek(min(size, struct.unpack_from("<Q", tail, locator + 8)[0]))
            record = file.read(56)
            directory_bytes = struct.unpack_from("<Q", record, 40)[0]
        if directory_bytes > MAX_DIRECTORY:
            raise TooMuch(f"its list of members has {directory_bytes} bytes")
    file.seek(0)
    return zipfile.ZipFile(file)


def _zip_time(info: zipfile.ZipInfo) -> float | None:
    """Zip times have no zone; the server's UTC is as good as any other."""
    try:
        return dt.datetime(*info.date_time, tzinfo=dt.UTC).timestamp()
    except ValueError:
        return None


def without_packing(path: str) -> str:
    """Return the path without the endings of compression: what the file was called before."""
    for end in PACKED_ENDS:
        if path.lower().endswith(end):
            return path[: -len(end)]
    return path
