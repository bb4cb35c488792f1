"""The parts of a row's key, by stat: the instance of a lockstat row is a section, a lock and a caller."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

# The suffix by which readers distinguish rows of one name.
REPEAT: Final = re.compile(r" #\d+$")
LOCK: Final = re.compile(r"(?:(?P<section>[^:]{1,100}): )?(?P<lock>\S+) (?P<caller>.+)", re.DOTALL)
MODULE: Final = re.compile(r"SOCKET (?P<socket>\S+)(?: CHANNEL (?P<channel>\S+))?(?: DIMM (?P<dimm>\S+))?(?: .*)?", re.DOTALL)
EVENT: Final = re.compile(
    r"CPU (?P<cpu>\d+) BANK (?P<bank>\d+)(?: (?P<unit>[^:]*))?(?:: (?P<cause>.*?))?(?: \((?P<module>[^()]*)\))?", re.DOTALL
)
CHANNEL: Final = re.compile(r"_CHANNEL(\d+)_ERR")
IOZONE: Final = re.compile(r"(?P<size>\d+) kB reclen (?P<record>\d+)")


@dataclass(frozen=True, slots=True)
class KeyRule:
    """The names of a key's parts, and what takes an instance apart into them."""

    names: tuple[str, ...]
    split: Callable[[str], tuple[str, ...]]


def _split_lock(instance: str) -> tuple[str, ...]:
    found = LOCK.fullmatch(instance)
    return ("", instance, "") if found is None else (found["section"] or "", found["lock"], found["caller"])


def _split_iozone(instance: str) -> tuple[str, ...]:
    found = IOZONE.fullmatch(instance)
    return (instance, "") if found is None else (found["size"], found["record"])


def _split_module(instance: str) -> tuple[str, ...]:
    found = MODULE.fullmatch(instance)
    return ("", "", instance) if found is None else (found["socket"], found["channel"] or "", found["dimm"] or "")


def _split_event(instance: str) -> tuple[str, ...]:
    """Return CPU, bank, cause and memory module of an error.

    >>> _split_event("CPU 1 BANK 8: MEMORY CONTROLLER RD_CHANNEL0_ERR (CHANNEL 0 DIMM 1)")
    ('1', '8', 'MEMORY CONTROLLER RD_CHANNEL0_ERR', 'CHANNEL 0 DIMM 1')
    >>> _split_event("CPU 0 BANK 4 northbridge"), _split_event("CPU 0 BANK 11: MEMORY CONTROLLER MS_CHANNEL2_ERR")
    (('0', '4', 'northbridge', ''), ('0', '11', 'MEMORY CONTROLLER MS_CHANNEL2_ERR', 'CHANNEL 2'))
    """
    found = EVENT.fullmatch(instance)
    if found is None:
        return ("", "", instance, "")
    cause = ": ".join(filter(None, (found["unit"], found["cause"])))
    # Of memory controllers the cause names the channel.
    channel = CHANNEL.search(cause)
    return (found["cpu"], found["bank"], cause, found["module"] or ("" if channel is None else f"CHANNEL {channel[1]}"))


def _split_titled(instance: str) -> tuple[str, ...]:
    title, found, key = instance.partition(": ")
    return (title, key) if found else ("", instance)


def is_total(key: str) -> bool:
    """Return whether a row's last key says that it is the sum of the others.

    >>> is_total("TOTAL:"), is_total("total"), is_total("read_total")
    (True, True, False)
    """
    return key.strip(" :").casefold() == "total"


LOCKS: Final = KeyRule(("section", "lock", "caller"), _split_lock)
FILES: Final = KeyRule(("file size (kB)", "record length (kB)"), _split_iozone)
MODULES: Final = KeyRule(("socket", "channel", "DIMM"), _split_module)
ERRORS: Final = KeyRule(("CPU", "bank", "cause", "module"), _split_event)
# One text may have several tables with a title each: elapsed times, CPU times.
TITLED: Final = KeyRule(("table", "key"), _split_titled)
RULES: Final = {
    "dtrace_table": TITLED,
    "lockstat": LOCKS,
    "plockstat": LOCKS,
    "mcelog_events": ERRORS,
    "mcelog_memory": MODULES,
    "iozone": FILES,
    "iozone_ops": FILES,
    "iozone_us": FILES,
}


def key_rule(stat: str, instance_title: str) -> KeyRule:
    """Return the rule of a stat: one key with the stat's own title, unless it is known to have more."""
    return RULES.get(stat) or KeyRule((instance_title or "row",), lambda instance: (instance,))


def without_repeat(instance: str) -> str:
    """Return the instance as the tool printed it.

    >>> without_repeat("libc_malloc_lock main+0x1c #2")
    'libc_malloc_lock main+0x1c'
    """
    return REPEAT.sub("", instance)
