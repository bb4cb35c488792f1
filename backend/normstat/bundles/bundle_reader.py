"""Open a bundle of unknown origin: nothing in it is trusted before its sizes and hashes are checked.

Members are found by the names in the manifest, and never become files: no path of a bundle reaches the disk.
"""

import contextlib
import hashlib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

import zstandard
from pydantic import ValidationError

from normstat.bundles.bundle_format import (
    FORMAT,
    MANIFEST,
    MANIFEST_ADAPTER,
    MARK,
    MAX_MANIFEST_BYTES,
    MAX_MEMBERS,
    VERSION,
    BundleManifest,
    BundleMember,
    BundleSection,
    is_bundle_file,
)
from normstat.errors import BadRequest, TooLarge, shorten
from normstat.runtime.bounded_decoding import NotJson, load_json

READ_BYTES: Final = 1 << 20
# zstd's long windows would let a small file ask for gigabytes of memory.
MAX_ZSTD_WINDOW: Final = 1 << 27
# A member that is read at once, such as the events.
MAX_JSON_BYTES: Final = 128 << 20
MAX_JSON_VALUES: Final = 5_000_000


class BundleFile:
    """A bundle on this machine. `max_bytes`: the limit on its size after decompression. Reading blocks.

    Raises: BadRequest when it is not a complete bundle of a version that this program reads; TooLarge
    """

    def __init__(self, path: Path, *, max_bytes: int) -> None:
        self._path = path
        if not is_bundle_file(path):
            _refuse(f"{path.name} is not a bundle of normstat; to load recorded files of tools, use `normstat import`")
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            _refuse(f"{path.name} is cut off or damaged: the end of the bundle is missing; nothing was loaded; copy it again")
        with contextlib.ExitStack() as opened:
            opened.callback(self._zip.close)
            self._names = self._check_entries()
            self.manifest = self._read_manifest()
            self._check_members(max_bytes)
            # It is valid, and stays open.
            opened.pop_all()

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def section(self, name: str) -> BundleSection | None:
        """Return a section. Missing: None when the bundle has none of that name."""
        return next((section for section in self.manifest.sections if section.name == name), None)

    def verify(self) -> None:
        """Read all members, and compare their sizes and hashes.

        Raises: BadRequest
        """
        for section in self.manifest.sections:
            for member in section.members:
                for _ in self.read(member):
                    pass

    def read(self, member: BundleMember) -> Iterator[bytes]:
        """Yield the bytes of a member in pieces.

        Raises: BadRequest at its end when size or hash differ, before then when it is longer
        """
        found = hashlib.sha256()
        n_bytes = 0
        try:
            with self._zip.open(member.name) as file:
                unpacker = zstandard.ZstdDecompressor(max_window_size=MAX_ZSTD_WINDOW)
                with unpacker.stream_reader(file, read_across_frames=True) as reader:
                    while part := reader.read(READ_BYTES):
                        n_bytes += len(part)
                        if n_bytes > member.n_bytes:
                            self._damaged(member.name, f"it has more than the {member.n_bytes} bytes that the manifest names")
                        found.update(part)
                        yield part
        except (zstandard.ZstdError, zipfile.BadZipFile, EOFError, OSError, ValueError, RuntimeError) as error:
            if isinstance(error, BadRequest):
                raise
            self._damaged(member.name, "it cannot be decompressed")
        if n_bytes != member.n_bytes:
            self._damaged(member.name, f"it has {n_bytes} bytes, not the {member.n_bytes} that the manifest names")
        if found.hexdigest() != member.sha256:
            self._damaged(member.name, "its SHA-256 is not the one that the manifest names")

    def read_json(self, member: BundleMember) -> Any:
        """Return the value of a member that is JSON.

        Raises: BadRequest, TooLarge
        """
        if member.n_bytes > MAX_JSON_BYTES:
            raise TooLarge(
                f"The member {shorten(member.name)} of the bundle has {member.n_bytes} bytes; the limit is {MAX_JSON_BYTES}"
            )
        try:
            return load_json(b"".join(self.read(member)), MAX_JSON_VALUES)
        except NotJson:
            self._damaged(member.name, "it is not JSON")

    def _check_entries(self) -> set[str]:
        """Return the names of the members, none of them twice, all stored as they are and within the file."""
        entries = self._zip.infolist()
        if len(entries) > MAX_MEMBERS:
            _refuse(f"The bundle has {len(entries)} members; the limit is {MAX_MEMBERS}")
        names = {entry.filename for entry in entries}
        if len(names) != len(entries):
            _refuse("The bundle has two members of one name; nothing was loaded")
        size = self._path.stat().st_size
        for entry in entries:
            if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1 or entry.file_size != entry.compress_size:
                _refuse(f"The member {shorten(entry.filename)} is packed in a way that bundles never are; nothing was loaded")
        if sum(entry.compress_size for entry in entries) > size:
            _refuse("The members of the bundle overlap each other; nothing was loaded")
        return names

    def _read_manifest(self) -> BundleManifest:
        if MANIFEST not in self._names:
            _refuse("The bundle has no manifest: it was cut off, or something else made it; nothing was loaded")
        if self._zip.getinfo(MANIFEST).file_size > MAX_MANIFEST_BYTES:
            raise TooLarge(f"The manifest of the bundle has more than {MAX_MANIFEST_BYTES} bytes")
        try:
            body = self._zip.read(MANIFEST)
            head = load_json(body, MAX_JSON_VALUES)
        except (NotJson, zipfile.BadZipFile, OSError):
            _refuse("The manifest of the bundle is damaged; nothing was loaded; copy the bundle again")
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            _refuse("The manifest is not that of a normstat bundle; nothing was loaded")
        version = head.get("version")
        if not isinstance(version, int) or version > VERSION:
            _refuse(f"The bundle has format version {version}, and this normstat reads up to {VERSION}; upgrade normstat here")
        try:
            return MANIFEST_ADAPTER.validate_json(body)
        except (ValidationError, BadRequest) as error:
            first = error.errors()[0]["loc"] if isinstance(error, ValidationError) else ()
            _refuse(f"The manifest of the bundle is invalid at {'.'.join(map(str, first)) or 'its windows'}; nothing was loaded")

    def _check_members(self, max_bytes: int) -> None:
        members = [member.name for section in self.manifest.sections for member in section.members]
        if len(set(members)) != len(members):
            _refuse("The manifest of the bundle names a member twice; nothing was loaded")
        if set(members) | {MARK, MANIFEST} != self._names:
            odd = min((set(members) | {MARK, MANIFEST}) ^ self._names)
            _refuse(f"The manifest and the members of the bundle differ in {shorten(odd)}; nothing was loaded; copy it again")
        if any(member.n_bytes < 0 for section in self.manifest.sections for member in section.members):
            _refuse("The manifest of the bundle names a negative size; nothing was loaded")
        if self.manifest.n_bytes > max_bytes:
            raise TooLarge(
                f"The bundle has {self.manifest.n_bytes} bytes when decompressed, more than the limit of {max_bytes}; raise"
                " NORMSTAT_IMPORT_MAX_BYTES, or create one of a shorter window"
            )

    def _damaged(self, name: str, why: str) -> NoReturn:
        _refuse(f"The member {shorten(name)} of the bundle is damaged: {why}; copy the bundle again")


def _refuse(message: str) -> NoReturn:
    raise BadRequest(message) from None
