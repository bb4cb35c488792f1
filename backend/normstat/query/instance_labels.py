"""Labels of instances from host facts: the processor sets of CPUs."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final

from normstat.query.fact_history import to_instant
from normstat.stats.catalogue import load_catalogue
from normstat.stats.fact_lines import FactSnapshot
from normstat.stats.fact_words import PROCESSOR_SET
from normstat.window import Window

CPUS: Final = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
# No machine has more.
MAX_RANGE: Final = 65_536


def is_of_cpus(stat: str) -> bool:
    """Return whether the instances of a stat begin with the number of a CPU.

    >>> is_of_cpus("mpstat_solaris"), is_of_cpus("iostat_solaris"), is_of_cpus("unknown")
    (True, False, False)
    """
    known = load_catalogue().stats.get(stat)
    return known is not None and re.match(r"CPU\b", known[1].instance_title) is not None


def label_cpu(instance: str, labels: Mapping[str, str]) -> str:
    """Return the label of an instance of a CPU; "" if none is known.

    >>> label_cpu("2 user", {"2": "set 1"}), label_cpu("all", {"2": "set 1"})
    ('set 1', '')
    """
    number = re.match(r"\d+", instance)
    return "" if number is None else labels.get(number[0], "")


def find_processor_sets(snapshots: Sequence[FactSnapshot], window: Window) -> dict[str, str]:
    """Return the processor set of each CPU in the window; of one that was moved, all of them in their order.

    `snapshots` are in the order of time. What they do not cover is not said.

    >>> from datetime import UTC, datetime
    >>> from normstat.stats.fact_lines import FactName
    >>> moved = [FactSnapshot(0, {FactName("processor_set", "1"): "2 3"}), FactSnapshot(60, {FactName("processor_set", "1"): "2"})]
    >>> find_processor_sets(moved, Window(datetime(1970, 1, 1, tzinfo=UTC), datetime(1970, 1, 2, tzinfo=UTC)))
    {'2': 'set 1', '3': 'set 1, then none'}
    """
    times = [to_instant(snapshot.time_s) for snapshot in snapshots]
    # The last one before the window gives its beginning.
    first = max((place for place, at in enumerate(times) if at <= window.start), default=0)
    seen = [sets_by_cpu(snapshot) for snapshot, at in zip(snapshots[first:], times[first:], strict=True) if at < window.end]
    cpus = dict.fromkeys(cpu for sets in seen for cpu in sets)
    return {cpu: _describe([sets.get(cpu, "") for sets in seen]) for cpu in cpus}


def _describe(sets: Sequence[str]) -> str:
    names = [f"set {name}" if name else "none" for name, _ in groupby(sets)]
    return ", then ".join(["no set" if names[0] == "none" else names[0], *names[1:]])


def sets_by_cpu(snapshot: FactSnapshot) -> dict[str, str]:
    """Return the set of each CPU that is in one."""
    found: dict[str, str] = {}
    for name, value in snapshot.facts.items():
        if name.key != PROCESSOR_SET:
            continue
        for word in value.split():
            cpus = CPUS.fullmatch(word)
            if cpus is not None:
                first, last = int(cpus[1]), int(cpus[2] or cpus[1])
                found.update((str(cpu), name.item) for cpu in range(first, min(last + 1, first + MAX_RANGE)))
    return found
