"""GPUs: how busy each one was, and which processes kept it busy."""

import re
from dataclasses import replace
from typing import Final

from normstat.comparison.ledger import sources
from normstat.comparison.ledger.lines import LedgerSplit, ResourceTotal
from normstat.comparison.ledger.readings import Reading, find_users
from normstat.comparison.ledger.splits import MIN_CHANGES, Entry, farthest, find_times, totals_of_first
from normstat.comparison.ledger_model import LedgerLine

NUMBER: Final = re.compile(r"(?:GPU )?(?P<number>\d+)", re.ASCII)


def gpu_totals(reading: Reading) -> list[ResourceTotal]:
    """Return how busy each GPU was."""
    found = totals_of_first(reading, "gpu", sources.GPU_TOTALS, "%", MIN_CHANGES["gpu"], 100.0)
    return [replace(total, name=name_gpu(total.instance)) for total in found]


def gpu_entries(reading: Reading) -> list[Entry]:
    """Return the GPU that left its normal range most, with its processes."""
    return [(total, _by_process(reading, total)) for total in farthest(gpu_totals(reading))]


def name_gpu(instance: str) -> str:
    """Return the name of a GPU.

    >>> name_gpu("0"), name_gpu("GPU 1"), name_gpu("card0")
    ('GPU 0', 'GPU 1', 'card0')
    """
    found = NUMBER.fullmatch(instance)
    return instance if found is None else f"GPU {found['number']}"


def _by_process(reading: Reading, total: ResourceTotal) -> list[LedgerSplit]:
    """Return the split by process. Empty where no tool shows the processes of this GPU."""
    found, users = NUMBER.fullmatch(total.instance), sources.GPU_USERS
    times = find_times(reading, total.stat)
    if found is None or times is None or users.process not in reading.stats:
        return []
    own = reading.of_device(users.process, found["number"], total.stat)
    if not own.has(users.process, *users.fields, on_a_side=True):
        return []
    least = MIN_CHANGES["gpu"]
    by_command = find_users(own, users, times.windows, times.incident, least)
    named = [replace(user, instance=f"{user.instance}/{found['number']}") if user.pids else user for user in by_command]
    return [LedgerSplit("gpu", "%", least, named, is_whole=True)]


def note_users(line: LedgerLine) -> str:
    """Return why no process of a busy GPU is named. Empty where one is, or there is nothing to say."""
    if line.certainty == "nothing" or line.parts or line.outside <= 0:
        return ""
    return "no recorded tool shows which process it was"
