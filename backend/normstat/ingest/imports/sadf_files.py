"""Binary files of sysstat (sa21), turned into text by sysstat's own sadf, where it is installed.

The format changes with every release and is read by nothing but sadf. Its text (`sadf -d -U`, instants in seconds since the
epoch) is what is kept and read. Source: sadf(1); SYSSTAT_MAGIC in sa.h.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

from normstat.ingest.imports.tool_text import ToolText, open_tool
from normstat.ingest.imports.unpacking import Unreadable

MAGICS: Final = (b"\x96\xd5", b"\xd5\x96")


def is_binary(head: bytes) -> bool:
    """Return whether a file that begins like this is one of sysstat's: the magic, and a text would hold no NUL so early."""
    return head[:2] in MAGICS and b"\0" in head[:64]


@contextmanager
def open_text(file: BinaryIO) -> Iterator[ToolText]:
    """Provide the text of a binary file, which is at its beginning.

    Raises: Unreadable where there is no sadf
    """
    sadf = shutil.which("sadf")
    if sadf is None:
        raise Unreadable("a binary file of sysstat; install sysstat here (for sadf), or give the text that sar prints of it")
    number = file.fileno()
    command = [sadf, "-d", "-U", f"/dev/fd/{number}", "--", "-A"]
    with open_tool(command, what="a binary file of sysstat that sadf cannot read", pass_fds=[number]) as text:
        yield text
