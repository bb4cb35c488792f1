"""The stats with the total of a resource, and those with its users; of each the first that both sides have."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from normstat.comparison.ledger_model import Quantity
from normstat.scoring.summary import FloatArray


@dataclass(frozen=True, slots=True)
class CpuTotal:
    """A stat with idle time in per cent. `all`: the instance of all CPUs; None: the stat has no instances; empty: the mean of all

    `kernel`: parts that no process is charged for: their names and fields
    """

    stat: str
    idle: tuple[str, ...]
    all: str | None = "all"
    kernel: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Users:
    """The commands and processes that use a resource. `fields` are added up; with `threads` they are the mean of that many.

    `process`: the stat with their process ids. Empty: none; `is_held`: memory, which a process without a sample may still hold;
    `factor`: to the unit of the ledger
    """

    command: str
    process: str
    fields: tuple[str, ...]
    threads: str = ""
    is_held: bool = False
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class MemoryTotal:
    """A stat of memory that is `used`, or `free` of the total. `factor`: to KiB

    `total`: empty where another stat has it (`INSTALLED`); `kernel`: parts that no process holds: their names and fields
    """

    stat: str
    total: str
    used: str = ""
    free: str = ""
    factor: float = 1.0
    kernel: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def total_kib(self, values: Mapping[str, FloatArray]) -> float:
        """Return the total from the values of the stat, in KiB; 0 where they do not have it."""
        column = values.get(self.total) if self.total else None
        return 0.0 if column is None or np.isnan(column).all() else self.factor * float(np.nanmax(column))


@dataclass(frozen=True, slots=True)
class DiskTotal:
    """A stat of disks. `busy`: per cent of the time; `requests` and `data`: per second; `factor`: of data to KiB"""

    stat: str
    busy: str
    requests: tuple[str, ...]
    data: tuple[str, ...]
    factor: float = 1.0


INTERRUPTS: Final = "interrupts"
STOLEN: Final = "the hypervisor"

CPU_TOTALS: Final = (
    CpuTotal("linux_cpu", ("idle_pct", "iowait_pct"), "all", ((INTERRUPTS, ("irq_pct", "soft_pct")), (STOLEN, ("steal_pct",)))),
    CpuTotal("mpstat_linux", ("idle_pct", "iowait_pct"), "all", ((INTERRUPTS, ("irq_pct", "soft_pct")), (STOLEN, ("steal_pct",)))),
    CpuTotal("sar_linux_cpu", ("idle_pct", "iowait_pct"), "all", ((STOLEN, ("steal_pct",)),)),
    CpuTotal("mpstat_solaris", ("idl_pct", "wt_pct"), ""),
    CpuTotal("node_cpu", ("idle_pct", "iowait_pct"), "all", ((INTERRUPTS, ("irq_pct", "softirq_pct")), (STOLEN, ("steal_pct",)))),
    CpuTotal("atop_cpu", ("idle_pct", "iowait_pct"), "all", ((INTERRUPTS, ("irq_pct", "soft_pct")), (STOLEN, ("steal_pct",)))),
    CpuTotal("vmstat_linux", ("cpu_id", "cpu_wa"), None, ((STOLEN, ("cpu_st",)),)),
    CpuTotal("vmstat_solaris", ("cpu_id",), None),
)
# CPU time of ended children is with the parent that waited for them: else what lives for a second would be missing.
CPU_USERS: Final = (
    Users("linux_command", "linux_process", ("cpu_pct", "ended_pct")),
    Users("pidstat_linux_command", "pidstat_linux", ("cpu_pct",)),
    Users("atop_process_command", "atop_process", ("cpu_pct",)),
    Users("", "prstat_solaris_micro", ("usr_pct", "sys_pct", "trp_pct"), "nlwp"),
    Users("top_linux_command", "top_linux_process", ("cpu_pct",)),
)
# A page of the file cache is not in use.
MEMORY_TOTALS: Final = (
    MemoryTotal(
        "linux_memory",
        "total_kb",
        used="used_kb",
        kernel=(
            ("shared memory and tmpfs", ("shmem_kb",)),
            ("kernel structures", ("slab_unreclaimable_kb",)),
            ("page tables", ("page_tables_kb",)),
            ("kernel stacks", ("kernel_stack_kb",)),
        ),
    ),
    MemoryTotal("proc_meminfo", "mem_total", free="mem_available"),
    MemoryTotal("node_memory", "memtotal_bytes", free="memavailable_bytes", factor=1 / 1024),
    MemoryTotal("vmstat_solaris", "", free="memory_free"),
)
# The memory of a host as its agent reports it, KiB.
INSTALLED: Final = ("host_facts", "memory_kb")
MEMORY_USERS: Final = (
    Users("linux_command", "linux_process", ("anon_kb",), is_held=True),
    Users("pidstat_linux_command", "pidstat_linux", ("rss_kb",), is_held=True),
    Users("atop_process_command", "atop_process", ("rsize_kib",), is_held=True),
    Users("prstat_solaris_command", "prstat_solaris_size", ("rss",), is_held=True, factor=1 / 1024),
    Users("ps_solaris_command", "ps_solaris", ("rss",), is_held=True),
)
DISK_TOTALS: Final = (
    DiskTotal("linux_disk", "util_pct", ("r_per_s", "w_per_s"), ("rkb_per_s", "wkb_per_s")),
    DiskTotal("iostat_linux", "util_pct", ("r_per_s", "w_per_s"), ("rkb_per_s", "wkb_per_s")),
    DiskTotal("atop_disk", "busy_pct", ("reads_per_s", "writes_per_s"), ("read_kib_per_s", "write_kib_per_s")),
    DiskTotal("iostat_solaris", "b_pct", ("r_per_s", "w_per_s"), ("kr_per_s", "kw_per_s")),
    DiskTotal(
        "node_disk",
        "io_time_pct",
        ("reads_completed_per_s", "writes_completed_per_s"),
        ("read_bytes_per_s", "written_bytes_per_s"),
        factor=1 / 1024,
    ),
)
WRITERS: Final = (
    Users("linux_command", "linux_process", ("kb_wr_per_s",)),
    Users("pidstat_linux_command", "pidstat_linux", ("kb_wr_per_s",)),
    Users("atop_process_command", "atop_process", ("write_kib_per_s",)),
)
READERS: Final = (
    Users("linux_command", "linux_process", ("kb_rd_per_s",)),
    Users("pidstat_linux_command", "pidstat_linux", ("kb_rd_per_s",)),
    Users("atop_process_command", "atop_process", ("read_kib_per_s",)),
)
# In state D, mostly for a disk.
BLOCKED: Final = (Users("linux_command", "linux_process", ("blocked",)),)
PARENTS: Final = (Users("linux_command", "linux_process", ("ended_pct",)),)
# Units of systemd and containers, by quantity. What they used includes the CPU time of processes that have ended.
UNIT_STAT: Final = "linux_unit"
UNITS: Final[Mapping[Quantity, Users]] = {
    "cpu": Users(UNIT_STAT, "", ("cpu_pct",)),
    "memory": Users(UNIT_STAT, "", ("anon_kb",), is_held=True),
    "written": Users(UNIT_STAT, "", ("kb_wr_per_s",)),
    "read": Users(UNIT_STAT, "", ("kb_rd_per_s",)),
}
# What they read and wrote on each disk ("unit/disk").
UNIT_DISK_STAT: Final = "linux_unit_disk"
UNITS_OF_DISK: Final[Mapping[Quantity, Users]] = {
    "written": Users(UNIT_DISK_STAT, "", ("kb_wr_per_s",)),
    "read": Users(UNIT_DISK_STAT, "", ("kb_rd_per_s",)),
}


@dataclass(frozen=True, slots=True)
class Database:
    """A database by its server's stat: the field with the sessions at work, and that with all sessions.

    `statements` and `blockers`: stats of its statements and of sessions that block others. `programs`: commands of its server.
    `forced`: the field with the checkpoints that the size of its log forced, per second. Empty: not known
    """

    name: str
    stat: str
    active: str
    sessions: str
    statements: str
    blockers: str
    programs: frozenset[str]
    forced: str = ""


DATABASES: Final = (
    Database(
        "PostgreSQL",
        "postgresql_server",
        "active",
        "connections",
        "postgresql_statement",
        "postgresql_blocker",
        frozenset({"postgres", "postmaster"}),
        "checkpoints_requested_per_s",
    ),
    Database(
        "MySQL",
        "mysql_server",
        "running",
        "connections",
        "mysql_statement",
        "mysql_blocker",
        frozenset({"mysqld", "mariadbd"}),
    ),
    Database("Oracle", "oracle_server", "active_sessions", "sessions", "", "oracle_blocker", frozenset({"oracle"})),
)
# A stat of rates by instance: its fields, and the factor to the unit of the ledger.
RateTotal = tuple[str, tuple[str, ...], float]
# Share of the periods in which a unit had used up its CPU time, and its limit, per cent of a CPU.
THROTTLED: Final[RateTotal] = (UNIT_STAT, ("throttled_pct",), 1.0)
CPU_LIMIT: Final = "cpu_limit_pct"
# How often a unit was at its limit of memory, how many of its processes the kernel killed for it (each minute), and the limit, KiB.
AT_LIMIT: Final[RateTotal] = (UNIT_STAT, ("at_limit_per_s",), 1.0)
KILLED: Final[RateTotal] = (UNIT_STAT, ("oom_kills_per_s",), 60.0)
MEMORY_LIMIT: Final = "memory_limit_kb"
# How busy each GPU is, per cent of the time. A GPU is a number, "GPU 0" or "card0".
GPU_TOTALS: Final[tuple[RateTotal, ...]] = (
    ("nvidia_smi_query", ("utilization_gpu_pct",), 1.0),
    ("nvidia_smi", ("sm_pct",), 1.0),
    ("dcgmi", ("gputl_pct",), 1.0),
    ("rocm_smi", ("use_pct",), 1.0),
    ("atop_gpu", ("busy_pct",), 1.0),
)
# Per cent of the time in which a process kept a GPU busy ("7900/python/0").
GPU_PROCESS_STAT: Final = "nvidia_smi_process"
GPU_USERS: Final = Users("", GPU_PROCESS_STAT, ("sm_pct",))
# Data in and out of interfaces, KiB per second.
NETWORK_TOTALS: Final[tuple[RateTotal, ...]] = (
    ("linux_net", ("rxkb_per_s", "txkb_per_s"), 1.0),
    ("sar_linux_net_dev", ("rxkb_per_s", "txkb_per_s"), 1.0),
    ("atop_interface", ("in_kib_per_s", "out_kib_per_s"), 1.0),
    ("node_network", ("receive_bytes_per_s", "transmit_bytes_per_s"), 1 / 1024),
)
FORKS: Final[tuple[RateTotal, ...]] = (
    ("linux_kernel", ("forks_per_s",), 1.0),
    ("sar_linux_task", ("proc_per_s",), 1.0),
    ("sar_solaris_call", ("fork_per_s",), 1.0),
    ("node_system", ("forks_per_s",), 1.0),
)

_USERS: Final = (CPU_USERS, MEMORY_USERS, WRITERS, READERS, BLOCKED, PARENTS, (GPU_USERS,))
# The few fields of processes and commands that the ledger needs of a baseline.
FIELDS_OF_USERS: Final[Mapping[str, frozenset[str]]] = {
    stat: frozenset(
        field
        for known in _USERS
        for users in known
        if stat in (users.command, users.process)
        for field in (*users.fields, users.threads)
    )
    for stat in {stat for known in _USERS for users in known for stat in (users.command, users.process) if stat}
}
# All of them: where a profile serves as the baseline, their samples are still read.
STATS: Final = frozenset((
    *(total.stat for totals in (CPU_TOTALS, MEMORY_TOTALS, DISK_TOTALS) for total in totals),
    *(stat for totals in (NETWORK_TOTALS, FORKS, GPU_TOTALS) for stat, _, _ in totals),
    UNIT_STAT,
    *(stat for one in DATABASES for stat in (one.stat, one.statements, one.blockers) if stat),
    UNIT_DISK_STAT,
    *FIELDS_OF_USERS,
))  # fmt: skip
