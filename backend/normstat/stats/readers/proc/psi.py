"""Pressure stall information, /proc/pressure/* and the *.pressure files of cgroups.

    ==> /proc/pressure/io <==
    some avg10=0.68 avg60=1.05 avg300=1.53 total=27957477
    full avg10=0.62 avg60=0.76 avg300=1.25 total=19754378

The instance is "io.some"; "system.slice/io.some" for a cgroup; "some" if nothing names the file.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"some avg10=7.14 avg60=11.19 avg300=10.79 total=355883044\\n"
>>> block = read(require_spec("psi_linux"), text, state={}, offset=0).blocks[0]
>>> block.instances, [field.key for field in block.fields], block.values[3].tolist()
(['some'], ['avg10', 'avg60', 'avg300', 'total'], [355883044])
"""

import re
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Rejected
from normstat.stats.engine.snapshot import RepeatingReader
from normstat.stats.layout import OneStatLayout
from normstat.stats.records import LineKind

# `grep . /proc/pressure/*` puts the name of the file before the line.
LINE: Final = re.compile(
    r"(?:(?P<file>[\w./@:-]{1,300}?):? *)?\b(?P<level>some|full)(?P<pairs>(?: [a-z]\w{0,40}=[^\s=]{1,40}){1,40})", re.ASCII
)
# A line that holds only the resource or its file.
NAME: Final = re.compile(r"[^\w/]*(?P<file>(?:/[\w./@:-]{1,300}/)?(?:cpu|io|memory|irq)(?:\.pressure)?)[^\w/]*", re.ASCII)
CGROUPS: Final = "/sys/fs/cgroup/"
FILE_END: Final = ".pressure"


LAYOUT: Final = OneStatLayout


class Reader(RepeatingReader[OneStatLayout]):
    """One call of the reader. A report ends where an instance repeats."""

    max_names = 4096
    reads_parts = True

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the outcome of the line, after adding its row."""
        found = LINE.fullmatch(text)
        if found is None:
            named = NAME.fullmatch(text)
            if named is None:
                return NOT_MINE
            self.file = named["file"]
            return LineKind.HEADER
        pairs = [pair.partition("=") for pair in found["pairs"].split()]
        columns, words = [name for name, _, _ in pairs], [word for _, _, word in pairs]
        if len(set(columns)) != len(columns):
            return Rejected("a name appears twice in the line")
        stat = self.spec.stats[0]
        name = resource_of(found["file"] or self.file)
        instance = f"{name}.{found['level']}" if name else found["level"]
        self.see_name(instance)
        return self.put_row(stat, columns, words, instance=instance, offset=line.offset)

    def begin_call(self) -> None:
        """Start a new call of the tool."""
        super().begin_call()
        self.file = ""


def resource_of(path: str) -> str:
    """Return the resource of a pressure file.

    >>> resource_of("/proc/pressure/cpu"), resource_of("/sys/fs/cgroup/system.slice/io.pressure"), resource_of("memory.pressure")
    ('cpu', 'system.slice/io', 'memory')
    """
    if CGROUPS in path:
        return path.partition(CGROUPS)[2].removesuffix(FILE_END)
    return path.rpartition("/")[2].removesuffix(FILE_END)
