"""Host facts in words: the label and the order of a fact, its value with a unit, and what a change is called.

The page, the API and the events have them from here.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from normstat.runtime.readable import format_bytes
from normstat.stats.fact_lines import BOOT_TIME, TIME_ZONE, FactName

PROCESSOR_SET: Final = "processor_set"
# Those that the agent looks for: fact `tools` names the ones that a host has.
TOOLS: Final = frozenset({
    "bpftrace", "dtrace", "intrstat", "jstack", "lockstat", "mcelog", "mdb", "operf", "perf", "plockstat", "pstack", "stap",
    "strace", "trace-cmd", "trapstat", "truss",
})  # fmt: skip


def find_system(os: str, spec_systems: Iterable[str]) -> str:
    """Return the system of a host as specs name it: from `uname` as its agent sent it, else that of the specs of its tools.

    Missing: "" for a system of which there are no commands, and where the tools do not show it

    >>> find_system("SunOS 5.10 sun4v", ()), find_system("", ["sunos", "any"]), find_system("", ["any"]), find_system("AIX 7.2", ())
    ('sunos', 'sunos', '', '')
    """
    name = os.strip().lower()
    if name:
        return "sunos" if name.startswith(("sunos", "solaris", "illumos")) else "linux" if name.startswith("linux") else ""
    systems = set(spec_systems) - {"any", ""}
    return systems.pop() if len(systems) == 1 else ""


class EventKind(StrEnum):
    """The subject of an event."""

    REBOOT = "reboot"
    KERNEL = "kernel"
    HARDWARE = "hardware"
    SETTING = "setting"
    LIMIT = "limit"
    STORAGE = "storage"
    NETWORK = "network"
    ZONE = "zone"
    SYSTEM = "system"
    NOTE = "note"
    DEPLOYMENT = "deployment"
    MAINTENANCE = "maintenance"
    INCIDENT = "incident"
    LOG = "log"
    CLOCK = "clock"
    TOOL = "tool"
    LOSS = "loss"
    TRACER = "tracer"
    ARTEFACT = "artefact"
    NORMAL = "normal"


# They follow from artefacts, and from what hosts recorded over months, and cannot be noted.
DERIVED_KINDS: Final = frozenset({EventKind.TRACER, EventKind.ARTEFACT, EventKind.NORMAL})


# By section, in the order in which a newcomer to the host asks.
_SECTIONS: Final[dict[str, dict[str, tuple[str, EventKind]]]] = {
    "System": {
        "system": ("System", EventKind.SYSTEM),
        "hardware": ("Hardware", EventKind.HARDWARE),
        "virtual_machine": ("Virtual machine", EventKind.HARDWARE),
        "container": ("Container", EventKind.SYSTEM),
        BOOT_TIME: ("Booted", EventKind.REBOOT),
        "os": ("Operating system", EventKind.SYSTEM),
        "kernel_release": ("Kernel", EventKind.KERNEL),
        "kernel_version": ("Kernel build", EventKind.KERNEL),
        "kernel_parameters": ("Kernel parameters", EventKind.KERNEL),
        "kernel_isa": ("Instruction set of the kernel", EventKind.KERNEL),
        "machine": ("Architecture", EventKind.HARDWARE),
        "clock_source": ("Clock source", EventKind.SETTING),
        TIME_ZONE: ("Time zone", EventKind.SETTING),
        "zone": ("Zone of the agent", EventKind.ZONE),
        "agent": ("Agent", EventKind.SYSTEM),
    },
    "Programs": {
        "jvm_flags": ("Flags of the JVM", EventKind.SETTING),
        "ld_preload": ("Preloaded libraries", EventKind.SETTING),
        "etc_system": ("/etc/system", EventKind.SETTING),
        "tools": ("Tools for questions", EventKind.SYSTEM),
        "probes": ("Probes of the tracer", EventKind.SYSTEM),
    },
    "CPUs": {
        "cpus": ("CPUs online", EventKind.HARDWARE),
        "cpu_limit": ("CPU limit", EventKind.LIMIT),
        "cpu_model": ("CPU model", EventKind.HARDWARE),
        "cpu_chips": ("CPU chips", EventKind.HARDWARE),
        "cpu_mhz": ("Clock rate", EventKind.HARDWARE),
        "cpu_min_mhz": ("Lowest clock rate allowed", EventKind.SETTING),
        "cpu_max_mhz": ("Highest clock rate allowed", EventKind.SETTING),
        "cpu_governor": ("Frequency governor", EventKind.SETTING),
        "cpu_boost": ("Frequency boost", EventKind.SETTING),
        "smt": ("SMT", EventKind.SETTING),
        "numa_nodes": ("NUMA nodes", EventKind.HARDWARE),
        PROCESSOR_SET: ("Processor set", EventKind.SETTING),
    },
    "Memory": {
        "memory_kb": ("Memory", EventKind.HARDWARE),
        "memory_pages": ("Memory pages", EventKind.HARDWARE),
        "memory_limit_kb": ("Memory limit", EventKind.LIMIT),
        "swap_kb": ("Swap space", EventKind.STORAGE),
        "huge_pages_kb": ("Huge pages", EventKind.SETTING),
        "transparent_huge_pages": ("Transparent huge pages", EventKind.SETTING),
    },
    "Disks and file systems": {
        "disk_kb": ("Disk", EventKind.HARDWARE),
        "io_scheduler": ("I/O scheduler", EventKind.SETTING),
        "mount": ("Mounted", EventKind.STORAGE),
    },
    "Network": {
        "interface": ("Network interface", EventKind.NETWORK),
    },
    "Zones": {
        "zone_state": ("Zone", EventKind.ZONE),
    },
}
_OTHER: Final = "Other"
_WORDS: Final = {key: words for section in _SECTIONS.values() for key, words in section.items()}
_SECTION_OF: Final = {key: title for title, section in _SECTIONS.items() for key in section}
_PLACES: Final = {key: place for place, key in enumerate(_WORDS)}


def find_label(key: str) -> str:
    """Return the label of a kind of fact; an unknown one has its key.

    >>> find_label("memory_kb"), find_label("bios_version")
    ('Memory', 'bios version')
    """
    return _WORDS[key][0] if key in _WORDS else key.replace("_", " ")


def find_section(key: str) -> str:
    """Return the section of the page that a kind of fact belongs to.

    >>> find_section("swap_kb"), find_section("bios_version")
    ('Memory', 'Other')
    """
    return _SECTION_OF.get(key, _OTHER)


def find_kind(key: str) -> EventKind:
    """Return what a change of this kind of fact is about."""
    return _WORDS[key][1] if key in _WORDS else EventKind.SYSTEM


def find_place(key: str) -> int:
    """Return the place of a kind of fact on the page; unknown kinds come last.

    >>> find_place("system") < find_place("mount") < find_place("bios_version")
    True
    """
    return _PLACES.get(key, len(_PLACES))


def format_value(key: str, value: str) -> str:
    """Return a value with its unit; text, and the times of boots, as they are.

    >>> [format_value(*fact) for fact in (("memory_kb", "16393232"), ("swap_kb", "0"), ("cpu_mhz", "2449"), ("cpus", "4"))]
    ['15.6 GiB', 'none', '2,449 MHz', '4']
    """
    # A fact that was printed several times has its values one after another.
    return "; ".join(_format_one(key, part) for part in value.split("; "))


def describe_change(name: FactName, before: str | None, after: str | None) -> str:
    """Return a change in words.

    >>> describe_change(FactName("cpus"), "4", "2")
    'CPUs online: 4 → 2'
    >>> describe_change(FactName("mount", "/home"), "xfs /dev/vdb1", None)
    'Unmounted /home (was xfs /dev/vdb1)'
    """
    if name.key == BOOT_TIME and after is not None:
        return "Rebooted"
    old = None if before is None else format_value(name.key, before)
    new = None if after is None else format_value(name.key, after)
    title = f"{find_label(name.key)} {name.item}".strip()
    if name.key == "mount" and old is None:
        return f"{title} ({new})"
    if name.key == "mount" and new is None:
        return f"Unmounted {name.item} (was {old})"
    if old is None:
        return f"{title}: {new} (new)"
    return f"{title}: gone (was {old})" if new is None else f"{title}: {old} → {new}"


def _format_one(key: str, value: str) -> str:
    if not value.isdecimal():
        return value
    if key.endswith("_kb"):
        return format_bytes(1024 * int(value)) if int(value) else "none"
    return f"{int(value):,} MHz" if key.endswith("_mhz") else value
