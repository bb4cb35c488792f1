"""Instances that sum up the others: `all` of mpstat's CPUs is no CPU, so it is not counted or ranked with them."""

from collections.abc import Mapping
from typing import Final

from normstat.stats.catalogue import load_catalogue

# By the title of the stat's instances, in small letters: a process, a disk or a device may well be called "all" or "sum".
SUMMARIES: Final[Mapping[str, frozenset[str]]] = {
    "CPU": frozenset({"all", "cpu", "cpu(s)", "%cpu(s)", "total", "sum"}),
    "logical processor": frozenset({"all"}),
    "node": frozenset({"all"}),
    "interrupt": frozenset({"sum", "total"}),
    "source": frozenset({"total"}),
    "file system": frozenset({"total"}),
    # dstat; its devices cannot have that name.
    "disk or total": frozenset({"total"}),
    "interface or total": frozenset({"total"}),
    "row": frozenset({"total"}),
    "transport": frozenset({"*", "total"}),
}

# Of one stat.
MAX_SUMMARIES: Final = max(map(len, SUMMARIES.values()))


def is_summary(stat: str, instance: str) -> bool:
    """Return whether the instance sums up the others of its stat.

    >>> is_summary("mpstat_linux", "all"), is_summary("mpstat_linux", "0"), is_summary("pidstat_linux", "4711/all")
    (True, False, False)
    """
    known = load_catalogue().stats.get(stat)
    return known is not None and instance.lower() in SUMMARIES.get(known[1].instance_title, ())
