"""Write a bundle piece by piece: what was written so far can be sent while the rest is made."""

import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import IO, Final

import zstandard

from normstat.bundles.bundle_format import LEVEL, MANIFEST, MANIFEST_ADAPTER, MARK, MARK_TEXT, BundleManifest, BundleMember

# The time of members means nothing; the manifest has the time.
MEMBER_TIME: Final = (1980, 1, 1, 0, 0, 0)


class _Outbox(io.RawIOBase):
    """A file that can only be appended to; what was written is taken from it."""

    def __init__(self) -> None:
        super().__init__()
        self._parts = bytearray()
        self._n_written = 0

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def tell(self) -> int:
        return self._n_written

    def write(self, data: object) -> int:
        part = bytes(memoryview(data))  # type: ignore[arg-type]  # zipfile gives bytes
        self._parts += part
        self._n_written += len(part)
        return len(part)

    def take(self) -> bytes:
        parts = bytes(self._parts)
        self._parts.clear()
        return parts


class OpenMember:
    """A member that is being written."""

    def __init__(self, name: str, file: IO[bytes]) -> None:
        self._name = name
        self._file = file
        self._packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compressobj()
        self._hash = hashlib.sha256()
        self._n_bytes = 0

    def write(self, data: bytes) -> None:
        """Add bytes to the member."""
        self._hash.update(data)
        self._n_bytes += len(data)
        self._file.write(self._packer.compress(data))

    def finish(self) -> BundleMember:
        """Write what is left; return the member's entry for the manifest."""
        self._file.write(self._packer.flush())
        return BundleMember(self._name, self._n_bytes, self._hash.hexdigest())


class BundleWriter:
    """Writes members, then the manifest. Blocks for compression only; `take` gives what can be sent."""

    def __init__(self) -> None:
        self._outbox = _Outbox()
        self._zip = zipfile.ZipFile(self._outbox, "w", zipfile.ZIP_STORED)
        self._zip.writestr(zipfile.ZipInfo(MARK, MEMBER_TIME), MARK_TEXT)

    @contextmanager
    def open_member(self, name: str) -> Iterator[OpenMember]:
        """Provide a member to write to; call its `finish` within the block."""
        with self._zip.open(zipfile.ZipInfo(name, MEMBER_TIME), "w", force_zip64=True) as file:
            yield OpenMember(name, file)

    def add_member(self, name: str, parts: Iterable[bytes]) -> BundleMember:
        """Write a member at once; return its entry."""
        with self.open_member(name) as member:
            for part in parts:
                member.write(part)
            return member.finish()

    def finish(self, manifest: BundleManifest) -> None:
        """Write the manifest and the end of the file."""
        self._zip.writestr(zipfile.ZipInfo(MANIFEST, MEMBER_TIME), MANIFEST_ADAPTER.dump_json(manifest, indent=1))
        self._zip.close()

    def take(self) -> bytes:
        """Return what was written since the last call."""
        return self._outbox.take()


def to_text(instant: datetime | None) -> str | None:
    """Return an instant as written in a bundle, to the microsecond."""
    return None if instant is None else instant.isoformat()


def to_instant_or_none(text: object) -> datetime | None:
    """Return the instant that a bundle names."""
    return None if text is None else datetime.fromisoformat(str(text))
