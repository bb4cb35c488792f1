"""Archives of Performance Co-Pilot, turned into text by its own pmdumplog, where it is installed.

An archive is several files side by side: X.meta, X.index and X.0, X.1, ..., each perhaps compressed. pmdumplog needs them
all, so an archive is read in its folder, by the name of its X.meta; its other files have a note.

Source: LOGARCHIVE(5), pmdumplog(1).
"""

import glob
import re
import shutil
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from normstat.ingest.imports.tool_text import ToolText, open_tool
from normstat.ingest.imports.unpacking import Unreadable

# The label's magic, with the version of the format in its last byte.
MAGIC: Final = 0x50052600
PACKING: Final = r"(?:\.(?:xz|lzma|bz2|bz|gz|Z|z|zst))?"
META: Final = re.compile(r"(?P<base>.+)\.meta" + PACKING)
OTHER: Final = re.compile(r"(?P<base>.+)\.(?P<kind>index|\d+)" + PACKING)
COMMAND: Final = "pmdumplog -xxx -d -m"
PART: Final = (
    f"a part of an archive of Performance Co-Pilot: import the folder with all of its files, or the text of `{COMMAND} ARCHIVE`"
)


def is_part(head: bytes) -> bool:
    """Return whether a file that begins like this is one of an archive's."""
    return len(head) >= 8 and struct.unpack_from(">I", head, 4)[0] & ~0xFF == MAGIC


def find_meta(path: Path) -> str:
    """Return the name of the X.meta of a file of an archive. Missing: "" where there is none beside it"""
    found = OTHER.fullmatch(path.name)
    if found is None:
        return ""
    return next((other.name for other in sorted(path.parent.glob(f"{glob.escape(found['base'])}.meta*"))), "")


def find_archive(path: Path) -> Path | None:
    """Return the archive whose X.meta this is, as pmdumplog wants it. Missing: None for any other file, and where parts lack."""
    found = META.fullmatch(path.name)
    if found is None:
        return None
    base = path.with_name(found["base"])
    try:
        names = {other.name for other in path.parent.iterdir()}
    except OSError:
        return None
    kinds = {match["kind"] for match in map(OTHER.fullmatch, names) if match is not None and match["base"] == base.name}
    return base if "index" in kinds and len(kinds) > 1 else None


@contextmanager
def open_archive(base: Path) -> Iterator[ToolText]:
    """Provide the text of an archive.

    Raises: Unreadable where there is no pmdumplog
    """
    pmdumplog = shutil.which("pmdumplog")
    if pmdumplog is None:
        raise Unreadable(f"an archive of Performance Co-Pilot; install pcp here, or give the text of `{COMMAND} ARCHIVE`")
    command = [pmdumplog, *COMMAND.split()[1:], str(base.absolute())]
    with open_tool(command, what="an archive of Performance Co-Pilot that pmdumplog cannot read") as text:
        yield text
