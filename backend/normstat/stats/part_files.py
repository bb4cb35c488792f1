"""Tell files about a part of a host from those about the host: cgroups, NUMA nodes and containers have counters of the same names.

/sys/fs/cgroup/kubepods.slice/memory.stat      pgfault 1234567
/sys/devices/system/node/node0/vmstat          nr_free_pages 100000
/proc/4711/net/dev                             eth0: 123 1 0
"""

import re
from collections.abc import Sequence
from typing import Final

# meminfo of a node names the node in its lines.
PATH: Final = re.compile(
    r"(?:^|/)(?:sys/fs/cgroup/|sys/devices/system/node/node\d+/(?!meminfo$)|proc/(?!1/)\d+/(?:net|root)/|lxcfs/)"
    r"|\.(?:slice|scope|service)/[\w.]+\.(?:stat|pressure)$",
    re.ASCII,
)
# Only the end of a long path may be known; it may be a host's name and a tool's. No node has counters of page faults.
NODE_END: Final = re.compile(r"(?:^|/)node\d+[/_.-]vmstat(?:\.(?:txt|log|out))?$", re.ASCII)
NODE_LINE: Final = re.compile(r"nr_free_pages \d+", re.ASCII)
HOST_LINE: Final = re.compile(r"pgfault \d+", re.ASCII)
# These files of cgroups are read, with the cgroup as instance, where a heading names the file.
PRESSURE: Final = ".pressure"
HEADING: Final = re.compile(r"==> (?P<file>\S[^<>]{0,300}) <==")
# Lines that only such files have: cpu.stat and memory.stat of both versions of cgroups, numastat.
LINE: Final = re.compile(
    r"(?:usage_usec|user_usec|system_usec|nr_periods|nr_throttled|throttled_(?:usec|time)|nr_bursts|burst_(?:usec|time)|kernel_stack|"
    r"pagetables|file_mapped|file_dirty|inactive_anon|active_anon|inactive_file|active_file|rss|rss_huge|mapped_file|"
    r"hierarchical_mem\w+|total_(?:cache|rss|pgpgin|pgfault|\w+_(?:anon|file))|interleave_hit|local_node|other_node) \d+",
    re.ASCII,
)
MIN_LINES: Final = 2
# cpuacct.stat is nothing else.
CPUACCT: Final = re.compile(r"user \d+\s+system \d+\s*", re.ASCII)


def is_part_file(path: str) -> bool:
    """Return whether a file is about a part of a host.

    >>> is_part_file("/sys/fs/cgroup/a/cpu.stat"), is_part_file("sys/devices/system/node/node0/vmstat"), is_part_file("/proc/stat")
    (True, True, False)
    """
    return PATH.search(path) is not None


def is_of_part(texts: Sequence[str], path: str) -> bool:
    """Return whether the lines are those of a file about a part of a host; `path` may be only the end of its path."""
    if NODE_END.search(path) is not None and any(map(NODE_LINE.fullmatch, texts)):
        return not any(map(HOST_LINE.fullmatch, texts))
    if CPUACCT.fullmatch("\n".join(texts[:4])) is not None:
        return True
    return len({text.partition(" ")[0] for text in texts if LINE.fullmatch(text.strip()) is not None}) >= MIN_LINES


def without_parts(data: bytes) -> bytes:
    """Return a text without the lines under the headings of such files."""
    if b"==> " not in data:
        return data
    found: list[bytes] = []
    is_part = False
    for line in data.split(b"\n"):
        heading = HEADING.fullmatch(line.strip().decode("utf-8", "replace")) if line.startswith(b"==> ") else None
        if heading is not None:
            is_part = is_part_file(heading["file"]) and not heading["file"].endswith(PRESSURE)
        if not is_part:
            found.append(line)
    return b"\n".join(found)
