"""Snapshots of the counters in /proc, as the agent's Linux sampler prints them: rates of CPUs, memory, disks, network and pressure.

    1795305600
    ==> /proc/uptime <==
    36490.01 13627.12
    ==> /proc/stat <==
    cpu  2361986 2438066 1055063 1362712 18939 0 37622 5579 0 0
    cpu0 1133719 1208007 519980 757478 3245 0 14287 2817 0 0
    ctxt 199047300

A file may be in every snapshot or in some: its rates are over the time since it was last there. Columns and their meaning are those
of mpstat, iostat -x, sar and vmstat; a mean without anything to take it of (the latency of no requests) is missing.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> snapshot = "{}\\n==> /proc/uptime <==\\n{} 0.00\\n==> /proc/stat <==\\ncpu  {} 0 0 {} 0 0 0 0 0 0\\n"
>>> text = snapshot.format(1795305600, "10.00", 100, 900) + snapshot.format(1795305601, "11.00", 125, 975)
>>> block = read(require_spec("proc_linux"), text.encode(), state={}, offset=0).blocks[0]
>>> block.stat.name, block.instances, block.fields[0].key, block.values[0].tolist(), block.values[-1].tolist()
('linux_cpu', ['all'], 'usr_pct', [25.0], [75.0])
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.proc.counter_reader import (
    MALFORMED,
    MAX_DIGITS,
    NO_UPTIME,
    CounterReader,
    TakeLine,
    Value,
    is_counter,
    is_counters,
)
from normstat.stats.engine.proc.counters import TWICE, CounterTable, Growth, per_second
from normstat.stats.records import LineKind, State
from normstat.stats.spec import Layout

CPU, KERNEL, MEMORY, DISK = "linux_cpu", "linux_kernel", "linux_memory", "linux_disk"
NET, TCP, PRESSURE = "linux_net", "linux_tcp", "linux_pressure"

# A line that is well-formed but has nothing that is read: "nr_free_pages 3182", "page 1 2", "Percpu: 640 kB".
PLAIN: Final = re.compile(r"\w[\w()/.-]{0,60}:?(?: +\d{1,20})+(?: kB)?", re.ASCII)
INTERFACE_TITLE: Final = "|"
PROTOCOL: Final = re.compile(r"[A-Z]\w{0,30}", re.ASCII)
NAME: Final = re.compile(r"[A-Za-z]\w{0,60}", re.ASCII)
LOADS: Final = re.compile(r"(?P<loads>\d{1,6}\.\d\d \d{1,6}\.\d\d \d{1,6}\.\d\d) \d{1,9}/(?P<tasks>\d{1,9}) \d{1,10}", re.ASCII)
STALLED: Final = re.compile(
    r"(?P<level>some|full) avg10=(?P<avg10>\d{1,3}\.\d\d) avg60=\S{1,9} avg300=\S{1,9} total=(?P<total>\d{1,19})", re.ASCII
)

# /proc/stat: user nice system idle iowait irq softirq steal guest guest_nice. A kernel may have only the first of them.
CPU_COLUMNS: Final = (
    "usr_pct", "nice_pct", "sys_pct", "iowait_pct", "irq_pct", "soft_pct", "steal_pct", "guest_pct", "gnice_pct", "idle_pct",
)  # fmt: skip
USER, NICE, SYSTEM, IDLE, IOWAIT, STEAL, GUEST, GUEST_NICE = 0, 1, 2, 3, 4, 7, 8, 9
MIN_CPU_COUNTERS: Final = 4
# The kernel corrects idle and iowait downwards when a CPU leaves its idle state (proc_stat(5)): by less than this.
CORRECTION: Final = 0x7FFFF
KERNEL_COUNTERS: Final = {
    "ctxt": "cswch_per_s", "intr": "intr_per_s", "softirq": "softirq_per_s", "processes": "forks_per_s",
}  # fmt: skip
KERNEL_INSTANTS: Final = {"procs_running": "runq", "procs_blocked": "blocked"}
LOAD_KEYS: Final = ("load_1m", "load_5m", "load_15m")

MEMINFO: Final = {
    "MemTotal": "total_kb", "MemFree": "free_kb", "MemAvailable": "available_kb", "Buffers": "buffers_kb", "Cached": "cached_kb",
    "SwapCached": "swap_cached_kb", "Active": "active_kb", "Inactive": "inactive_kb", "AnonPages": "anon_kb",
    "Mapped": "mapped_kb", "Shmem": "shmem_kb", "Slab": "slab_kb", "SUnreclaim": "slab_unreclaimable_kb",
    "KernelStack": "kernel_stack_kb", "PageTables": "page_tables_kb", "Dirty": "dirty_kb", "Writeback": "writeback_kb",
    "Mlocked": "mlocked_kb", "AnonHugePages": "anon_huge_kb", "SwapTotal": "swap_total_kb", "SwapFree": "swap_free_kb",
    "Committed_AS": "committed_kb", "HugePages_Total": "huge_pages", "HugePages_Free": "huge_pages_free",
}  # fmt: skip
VMSTAT: Final = {
    "pgpgin": "pgpgin_per_s", "pgpgout": "pgpgout_per_s", "pswpin": "pswpin_per_s", "pswpout": "pswpout_per_s",
    "pgfault": "fault_per_s", "pgmajfault": "majflt_per_s", "pgfree": "pgfree_per_s", "pgrefill": "pgrefill_per_s",
    "oom_kill": "oom_kills_per_s", "compact_stall": "compact_stall_per_s", "compact_fail": "compact_fail_per_s",
    "compact_success": "compact_success_per_s", "thp_fault_alloc": "thp_fault_per_s",
    "thp_fault_fallback": "thp_fallback_per_s", "thp_collapse_alloc": "thp_collapse_per_s", "thp_split_page": "thp_split_per_s",
    "workingset_refault_anon": "refault_anon_per_s", "workingset_refault_file": "refault_file_per_s",
    "numa_miss": "numa_miss_per_s", "drop_pagecache": "drop_cache_per_s",
}  # fmt: skip
# Counters that are sums of one for each zone, in some kernels or in all.
VMSTAT_SUMS: Final = {
    "pgscan_kswapd": "pgscank_per_s", "pgscan_direct": "pgscand_per_s", "pgsteal_kswapd": "pgstealk_per_s",
    "pgsteal_direct": "pgsteald_per_s", "allocstall": "allocstall_per_s",
}  # fmt: skip
VMSTAT_OTHERS: Final = frozenset({"pgscan_direct_throttle"})

# /proc/diskstats without the requests in flight, which are no counter.
READS, READ_MERGES, READ_SECTORS, READ_MS, WRITES, WRITE_MERGES, WRITE_SECTORS, WRITE_MS, BUSY_MS, QUEUE_MS = range(10)
DISCARDS, DISCARD_MERGES, DISCARD_SECTORS, DISCARD_MS, FLUSHES, FLUSH_MS = range(10, 16)
IN_FLIGHT: Final = 8
N_DISK, N_DISCARD, N_FLUSH = 11, 15, 17
# Partitions had four counters until Linux 2.6.25.
N_OLD_PARTITION: Final = 4
DISK_COLUMNS: Final = (
    "r_per_s", "rkb_per_s", "rrqm_per_s", "rrqm_pct", "r_await_ms", "rareq_sz_kb",
    "w_per_s", "wkb_per_s", "wrqm_per_s", "wrqm_pct", "w_await_ms", "wareq_sz_kb",
    "await_ms", "aqu_sz", "util_pct",
)  # fmt: skip
DISCARD_COLUMNS: Final = ("d_per_s", "dkb_per_s", "drqm_per_s", "drqm_pct", "d_await_ms", "dareq_sz_kb")
FLUSH_COLUMNS: Final = ("f_per_s", "f_await_ms")
# Devices that are there without being used: their rows are left out while nothing moves.
QUIET_DEVICE: Final = re.compile(r"(?:loop|ram|zram|fd|sr|nbd)\d{1,6}", re.ASCII)
# The paths of a multipath NVMe device, which has its own line.
HIDDEN_DEVICE: Final = re.compile(r"nvme\d+c\d+n\d+(?:p\d+)?", re.ASCII)
PARTITION: Final = re.compile(r"(?P<disk>.*?[^\d]|.*\dp)\d{1,4}", re.ASCII)

NET_COLUMNS: Final = (
    "rxpck_per_s", "txpck_per_s", "rxkb_per_s", "txkb_per_s", "rxcmp_per_s", "txcmp_per_s", "rxmcst_per_s",
    "rxerr_per_s", "txerr_per_s", "coll_per_s", "rxdrop_per_s", "txdrop_per_s", "txcarr_per_s", "rxfram_per_s",
    "rxfifo_per_s", "txfifo_per_s",
)  # fmt: skip
N_NET: Final = 16
# Where the columns above stand in a line of /proc/net/dev, after the bytes.
NET_PACKETS: Final = (1, 9, None, None, 6, 15, 7, 2, 10, 13, 3, 11, 14, 5, 4, 12)
RX_BYTES, TX_BYTES = 0, 8

PROTOCOLS: Final[Mapping[str, Mapping[str, str]]] = {
    "Tcp": {
        "ActiveOpens": "active_per_s", "PassiveOpens": "passive_per_s", "InSegs": "iseg_per_s", "OutSegs": "oseg_per_s",
        "AttemptFails": "atmptf_per_s", "EstabResets": "estres_per_s", "RetransSegs": "retrseg_per_s",
        "InErrs": "isegerr_per_s", "OutRsts": "orsts_per_s",
    },
    "TcpExt": {
        "ListenOverflows": "listen_overflows_per_s", "ListenDrops": "listen_drops_per_s", "TCPTimeouts": "timeouts_per_s",
        "TCPSynRetrans": "syn_retrans_per_s", "TCPLostRetransmit": "lost_retrans_per_s", "TCPBacklogDrop": "backlog_drops_per_s",
        "TCPReqQFullDrop": "reqq_full_drops_per_s", "SyncookiesSent": "syncookies_per_s", "PruneCalled": "pruned_per_s",
        "TCPRcvQDrop": "rcvq_drops_per_s", "TCPAbortOnTimeout": "abort_timeout_per_s", "TCPAbortOnMemory": "abort_memory_per_s",
        "TCPAbortOnData": "abort_data_per_s",
    },
    "Udp": {
        "InDatagrams": "idgm_per_s", "OutDatagrams": "odgm_per_s", "NoPorts": "noport_per_s", "InErrors": "idgmerr_per_s",
        "RcvbufErrors": "udp_rcvbuf_per_s", "SndbufErrors": "udp_sndbuf_per_s",
    },
    "Ip": {
        "InDiscards": "idisc_per_s", "OutDiscards": "odisc_per_s", "OutNoRoutes": "onort_per_s", "ReasmFails": "asmf_per_s",
    },
}  # fmt: skip
PROTOCOL_INSTANTS: Final = {"Tcp": {"CurrEstab": "established"}}
MAX_NAMES: Final = 1024
# As many layouts of lines of names are kept while a piece is read; a kernel has one of each protocol.
MAX_LAYOUTS: Final = 64
SOCKETS: Final = {
    ("sockets", "used"): "totsck", ("TCP", "inuse"): "tcpsck", ("TCP", "orphan"): "orphans", ("TCP", "tw"): "tcp_tw",
    ("TCP", "alloc"): "tcp_alloc", ("TCP", "mem"): "tcp_mem_pages", ("UDP", "inuse"): "udpsck", ("RAW", "inuse"): "rawsck",
    ("FRAG", "inuse"): "ip_frag",
}  # fmt: skip
PRESSURE_COLUMNS: Final = ("stall_pct", "avg10")
GATHERED: Final = (KERNEL, MEMORY, TCP)


@dataclass(frozen=True)
class ProcLayout(Layout):
    """No keys: the files of /proc have one layout."""


LAYOUT: Final = ProcLayout


class Reader(CounterReader[ProcLayout]):
    """One call of the reader.

    `_tables` are the counters of each file, `_rows` the values of one-row stats that were gathered in the present snapshot, with
    the place of the first; `_names` is the line of names that a line of numbers must follow.
    """

    # The base asks for these.

    def open_file(self, path: str) -> TakeLine | None:
        """Return what takes the lines of a file."""
        name = FILES.get(path)
        if name is None:
            return None
        self._table = self._tables.setdefault(path, CounterTable())
        return self._takes[name]

    def close_file(self) -> None:
        """Forget the devices that the file has no more."""
        self._names = ""
        table = self._tables.get(self.file)
        if table is not None and self.uptime is not None and table.entries:
            table.forget_unseen(self.uptime)

    def forget_counters(self) -> None:
        """Forget all counters: the host was booted since."""
        for table in self._tables.values():
            table.entries.clear()

    def load_counters(self, own: State) -> None:
        """Restore what `save_counters` returned."""
        tables, rows = own.get("tables"), own.get("rows")
        self._tables = {
            str(path): CounterTable.from_state(table) for path, table in (tables.items() if isinstance(tables, dict) else ())
        }
        self._rows: dict[str, tuple[int, dict[str, Value]]] = {}
        for name, row in rows.items() if isinstance(rows, dict) else ():
            self._rows[str(name)] = (int(row[0]), dict(row[1]))
        self._names = str(own.get("names", ""))
        self._table = CounterTable()
        self._orders: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}
        self._layouts: dict[str, tuple[tuple[int, str], ...]] = {}
        self._takes: Mapping[str, TakeLine] = {
            "stat": self._take_stat, "loadavg": self._take_loads, "meminfo": self._take_meminfo, "vmstat": self._take_vmstat,
            "diskstats": self._take_disk, "net": self._take_interface, "snmp": self._take_protocol,
            "sockstat": self._take_sockets, "pressure": self._take_pressure,
        }  # fmt: skip

    def let_go(self) -> None:
        """Drop the methods that read lines of files."""
        super().let_go()
        self._takes = {}

    def save_counters(self) -> State:
        """Return the counters and the part of the present snapshot that was read."""
        tables = {path: table.to_state() for path, table in sorted(self._tables.items()) if table.entries}
        rows = {name: [offset, values] for name, (offset, values) in sorted(self._rows.items())}
        return {"tables": tables, "rows": rows, "names": self._names}

    def end_snapshot(self) -> None:
        """Add the rows of the stats that have one."""
        for name in GATHERED:
            found = self._rows.pop(name, None)
            if found is None or not found[1]:
                continue
            offset, values = found
            if name == MEMORY:
                values |= _derived_memory(values)
            columns = self._order(name, tuple(values))
            row = [values[key] for key in columns]
            self.put(name, columns, [round(value, 2) if isinstance(value, float) else value for value in row], offset=offset)

    # One method for each file.

    def _take_stat(self, text: str, offset: int) -> Outcome:
        name, _, rest = text.partition(" ")
        if name.startswith("cpu"):
            return self._take_cpu(name, rest.lstrip(), offset)
        key = KERNEL_COUNTERS.get(name)
        word = rest.partition(" ")[0]
        if key is not None and is_counters([word]):
            return self._count(KERNEL, key, name, word, offset)
        key = KERNEL_INSTANTS.get(name)
        if key is not None and is_counters([word]) and len(word) <= MAX_DIGITS:
            return self._note(KERNEL, {key: int(word)}, offset)
        return LineKind.IGNORED if key is None and PLAIN.fullmatch(text) else MALFORMED

    def _take_cpu(self, name: str, text: str, offset: int) -> Outcome:
        words = text.split(" ")
        if len(words) < MIN_CPU_COUNTERS or not is_counters(words) or not (name == "cpu" or name[3:].isdecimal()):
            return MALFORMED
        if self.uptime is None:
            return NO_UPTIME
        table = self._table
        counters = [int(word) for word in words]
        before = table.previous(name)
        if before is not None and len(before) == len(counters) > IOWAIT:
            for at in (IDLE, IOWAIT):
                if 0 < before[at] - counters[at] < CORRECTION:
                    counters[at] = before[at]
                    text = " ".join(map(str, counters))
        growth = table.update(name, self.uptime, text, counters)
        if isinstance(growth, Rejected):
            return growth
        if growth is not None:
            columns, values = cpu_shares(growth.counters)
            if columns:
                self.put(CPU, columns, values, instance=name[3:] or "all", offset=offset)
        return LineKind.SAMPLE

    def _take_loads(self, text: str, offset: int) -> Outcome:
        found = LOADS.fullmatch(text)
        if found is None:
            return MALFORMED
        values: dict[str, Value] = dict(zip(LOAD_KEYS, map(float, found["loads"].split(" ")), strict=True))
        return self._note(KERNEL, {**values, "tasks": int(found["tasks"])}, offset)

    def _take_meminfo(self, text: str, offset: int) -> Outcome:
        name, colon, rest = text.partition(":")
        key = MEMINFO.get(name)
        if key is None:
            return LineKind.IGNORED if colon and PLAIN.fullmatch(text) else MALFORMED
        word = rest.removesuffix(" kB").strip(" ")
        if not is_counter(word) or len(word) > MAX_DIGITS:
            return MALFORMED
        return self._note(MEMORY, {key: int(word)}, offset)

    def _take_vmstat(self, text: str, offset: int) -> Outcome:
        name, _, word = text.partition(" ")
        key = VMSTAT.get(name)
        if key is None:
            key = _summed_key(name)
            if key is None:
                return LineKind.IGNORED if name.isidentifier() and is_counter(word) else MALFORMED
        return self._count(MEMORY, key, name, word, offset) if is_counter(word) else MALFORMED

    def _take_disk(self, text: str, offset: int) -> Outcome:
        words = text.split()
        counters = words[3:]
        if len(words) < 3 + N_OLD_PARTITION or not is_counters(words[:2] + counters):
            return MALFORMED
        name = words[2]
        if len(counters) < N_DISK:
            return LineKind.IGNORED if len(counters) == N_OLD_PARTITION else MALFORMED
        if self.uptime is None:
            return NO_UPTIME
        del counters[IN_FLIGHT]
        table = self._table
        parent = PARTITION.fullmatch(name)
        if HIDDEN_DEVICE.fullmatch(name) is not None or (parent is not None and self._has_disk(parent["disk"])):
            return LineKind.IGNORED
        numbers = [int(word) for word in counters]
        growth = table.update(name, self.uptime, " ".join(counters), numbers)
        if isinstance(growth, Rejected):
            return growth
        if not any(numbers):
            # Never used since the host booted: iostat prints no such device either.
            return LineKind.IGNORED
        if growth is not None and (any(growth.counters) or QUIET_DEVICE.fullmatch(name) is None):
            columns, values = disk_rates(growth)
            self.put(DISK, columns, values, instance=name, offset=offset)
        return LineKind.SAMPLE

    def _has_disk(self, prefix: str) -> bool:
        """Return whether this snapshot has the disk whose partitions begin so: the kernel prints a disk before its partitions."""
        entries, now = self._table.entries, self.uptime
        disk = entries.get(prefix) or (entries.get(prefix[:-1]) if prefix.endswith("p") else None)
        return disk is not None and disk[0] == now

    def _take_interface(self, text: str, offset: int) -> Outcome:
        name, colon, rest = text.rpartition(":")
        words = rest.split()
        if not colon:
            return LineKind.HEADER if INTERFACE_TITLE in text else MALFORMED
        if len(words) != N_NET or not is_counters(words) or not name or " " in name:
            return MALFORMED
        if self.uptime is None:
            return NO_UPTIME
        numbers = [int(word) for word in words]
        growth = self._table.update(name, self.uptime, " ".join(words), numbers)
        if isinstance(growth, Rejected):
            return growth
        if not any(numbers):
            return LineKind.IGNORED
        if growth is not None:
            self.put(NET, NET_COLUMNS, net_rates(growth), instance=name, offset=offset)
        return LineKind.SAMPLE

    def _take_protocol(self, text: str, offset: int) -> Outcome:
        protocol, colon, rest = text.partition(": ")
        if not colon or PROTOCOL.fullmatch(protocol) is None:
            return MALFORMED
        if rest[:1].isalpha():
            self._names = text
            return LineKind.HEADER if self._wanted(text) is not None else MALFORMED
        names, self._names = self._names, ""
        layout = self._wanted(names) if names.startswith(f"{protocol}: ") else None
        words = rest.split(" ")
        if layout is None or len(words) != names.count(" "):
            return Rejected("numbers without a line of as many names before them")
        if not layout:
            return LineKind.IGNORED if is_counters([word.removeprefix("-") for word in words]) else MALFORMED
        known = PROTOCOL_INSTANTS.get(protocol, {})
        chosen = [(key, words[at]) for at, key in layout]
        if not is_counters([word for _, word in chosen]):
            return MALFORMED
        instants: dict[str, Value] = {key: int(word) for key, word in chosen if key in known.values() and len(word) <= MAX_DIGITS}
        counters = [(key, word) for key, word in chosen if key not in known.values()]
        refused = self._note(TCP, instants, offset) if instants else LineKind.SAMPLE
        if isinstance(refused, Rejected):
            return refused
        if self.uptime is None:
            return refused if instants else NO_UPTIME
        growth = self._table.update(protocol, self.uptime, " ".join(word for _, word in counters))
        if isinstance(growth, Rejected) or growth is None:
            return growth or LineKind.SAMPLE
        rates: dict[str, Value] = {
            key: per_second(number, growth.centiseconds) for (key, _), number in zip(counters, growth.counters, strict=True)
        }
        if "oseg_per_s" in rates and "retrseg_per_s" in rates:
            rates["retrans_pct"] = share(rates["retrseg_per_s"] or 0, rates["oseg_per_s"] or 0)
        return self._note(TCP, rates, offset)

    def _wanted(self, text: str) -> tuple[tuple[int, str], ...] | None:
        """Return the places and keys of the names that are read. Missing: None for a line that is no list of different names."""
        found = self._layouts.get(text)
        if found is not None:
            return found
        protocol, _, rest = text.partition(": ")
        names = rest.split(" ")
        if len(names) > MAX_NAMES or len(set(names)) != len(names) or not all(map(NAME.fullmatch, names)):
            return None
        known = {**PROTOCOLS.get(protocol, {}), **PROTOCOL_INSTANTS.get(protocol, {})}
        found = tuple((at, known[name]) for at, name in enumerate(names) if name in known)
        if len(self._layouts) >= MAX_LAYOUTS:
            self._layouts.clear()
        self._layouts[text] = found
        return found

    def _take_sockets(self, text: str, offset: int) -> Outcome:
        name, _, rest = text.partition(": ")
        words = rest.split(" ")
        if len(words) % 2 or not is_counters(words[1::2]) or max(map(len, words)) > MAX_DIGITS:
            return MALFORMED
        pairs = zip(words[::2], words[1::2], strict=True)
        values: dict[str, Value] = {SOCKETS[(name, word)]: int(number) for word, number in pairs if (name, word) in SOCKETS}
        return self._note(TCP, values, offset) if values else LineKind.IGNORED

    def _take_pressure(self, text: str, offset: int) -> Outcome:
        found = STALLED.fullmatch(text)
        if found is None:
            return MALFORMED
        total = found["total"]
        resource = self.file.rpartition("/")[2]
        if resource == "cpu" and found["level"] == "full" and total == "0":
            # Only cgroups can have no CPU for all of their tasks.
            return LineKind.IGNORED
        growth = None if self.uptime is None else self._table.update(found["level"], self.uptime, total)
        if isinstance(growth, Rejected):
            return growth
        avg10 = float(found["avg10"])
        instance = f"{resource}.{found['level']}"
        if growth is None:
            self.put(PRESSURE, PRESSURE_COLUMNS[1:], (avg10,), instance=instance, offset=offset)
        else:
            # Microseconds of stalling, of 10000 in each hundredth of a second.
            stalled = round(growth.counters[0] / (growth.centiseconds * 100), 2)
            self.put(PRESSURE, PRESSURE_COLUMNS, (stalled, avg10), instance=instance, offset=offset)
        return LineKind.SAMPLE

    # Rows that several lines make.

    def _note(self, stat: str, values: Mapping[str, Value], offset: int) -> Outcome:
        """Add values to the row of a stat in this snapshot."""
        row = self._rows.get(stat)
        if row is None:
            self._rows[stat] = (offset, dict(values))
        elif not row[1].keys().isdisjoint(values):
            return TWICE
        else:
            row[1].update(values)
        return LineKind.SAMPLE

    def _count(self, stat: str, key: str, name: str, word: str, offset: int) -> Outcome:
        """Add the rate of a counter to the row of a stat in this snapshot; several counters may be of one key."""
        if self.uptime is None:
            return NO_UPTIME
        found = self._table.count(name, self.uptime, word)
        if isinstance(found, Rejected):
            return found
        if found is not None:
            time_cs, number = found
            row = self._rows.setdefault(stat, (offset, {}))[1]
            total = row.get(key, 0.0)
            # A sum is missing where one of its parts is.
            row[key] = None if number is None or total is None else total + number * 100 / time_cs
        return LineKind.SAMPLE

    def _order(self, name: str, keys: tuple[str, ...]) -> tuple[str, ...]:
        """Return the keys in the order of the stat's fields."""
        found = self._orders.get((name, keys))
        if found is None:
            given = frozenset(keys)
            found = self._orders[(name, keys)] = tuple(field.key for field in self.stat(name).fields if field.key in given)
        return found


FILES: Final[Mapping[str, str]] = {
    "/proc/stat": "stat", "/proc/loadavg": "loadavg", "/proc/meminfo": "meminfo", "/proc/vmstat": "vmstat",
    "/proc/diskstats": "diskstats", "/proc/net/dev": "net", "/proc/net/snmp": "snmp", "/proc/net/netstat": "snmp",
    "/proc/net/sockstat": "sockstat", "/proc/pressure/cpu": "pressure", "/proc/pressure/io": "pressure",
    "/proc/pressure/memory": "pressure", "/proc/pressure/irq": "pressure",
}  # fmt: skip


def share(part: float, whole: float) -> float | None:
    """Return a share in percent. Missing: None where the whole is 0.

    >>> share(1, 3), share(0, 0)
    (33.33, None)
    """
    return round(part * 100 / whole, 2) if whole else None


def mean(total: float, number: int) -> float | None:
    """Return the mean. Missing: None of no values."""
    return round(total / number, 2) if number else None


def cpu_shares(grown_by: Sequence[int]) -> tuple[tuple[str, ...], list[Value]]:
    """Return the columns of mpstat that the kernel has numbers for, and their values.

    Guests are part of user time in the kernel, and not in mpstat. Missing: no columns when no time has passed for the CPU.

    >>> cpu_shares([50, 0, 25, 25])
    (('usr_pct', 'nice_pct', 'sys_pct', 'idle_pct'), [50.0, 0.0, 25.0, 25.0])
    """
    total = sum(grown_by[: STEAL + 1])
    if not total:
        return (), []
    ticks = list(grown_by[: GUEST_NICE + 1])
    if len(ticks) > GUEST:
        ticks[USER] = max(ticks[USER] - ticks[GUEST], 0)
    if len(ticks) > GUEST_NICE:
        ticks[NICE] = max(ticks[NICE] - ticks[GUEST_NICE], 0)
    # Idle time is the last column.
    ordered = [*ticks[:IDLE], *ticks[IOWAIT:], ticks[IDLE]]
    columns = CPU_COLUMNS if len(ordered) == len(CPU_COLUMNS) else (*CPU_COLUMNS[: len(ordered) - 1], CPU_COLUMNS[-1])
    return columns, [round(number * 100 / total, 2) for number in ordered]


def disk_rates(growth: Growth) -> tuple[tuple[str, ...], list[Value]]:
    """Return the columns of iostat -x, and their values. Sectors of /proc/diskstats are 512 bytes on any disk."""
    counters, time_cs = growth.counters, growth.centiseconds
    reads, writes = counters[READS], counters[WRITES]
    columns: tuple[str, ...] = DISK_COLUMNS
    values: list[Value] = [
        *_request_rates(counters[READS : READ_MS + 1], time_cs),
        *_request_rates(counters[WRITES : WRITE_MS + 1], time_cs),
        mean(counters[READ_MS] + counters[WRITE_MS], reads + writes),
        round(counters[QUEUE_MS] / (time_cs * 10), 2),
        round(counters[BUSY_MS] * 10 / time_cs, 2),
    ]
    if len(counters) >= N_DISCARD - 1:
        columns += DISCARD_COLUMNS
        values += _request_rates(counters[DISCARDS : DISCARD_MS + 1], time_cs)
    if len(counters) >= N_FLUSH - 1:
        columns += FLUSH_COLUMNS
        flushes = counters[FLUSHES]
        values += [round(per_second(flushes, time_cs), 2), mean(counters[FLUSH_MS], flushes)]
    return columns, values


def _request_rates(counters: Sequence[int], time_cs: int) -> list[Value]:
    """Return requests, kB and merges a second, the share of merged ones, the mean time and the mean size of a request."""
    requests, merged, sectors, milliseconds = counters
    return [
        round(per_second(requests, time_cs), 2),
        round(per_second(sectors, time_cs) / 2, 2),
        round(per_second(merged, time_cs), 2),
        share(merged, merged + requests),
        mean(milliseconds, requests),
        mean(sectors / 2, requests),
    ]


def net_rates(growth: Growth) -> list[Value]:
    """Return the columns of sar -n DEV and EDEV; kB are of 1024 bytes, as there."""
    counters, time_cs = growth.counters, growth.centiseconds
    values: list[Value] = [0.0 if at is None else round(counters[at] * 100 / time_cs, 2) for at in NET_PACKETS]
    values[2] = round(counters[RX_BYTES] * 100 / 1024 / time_cs, 2)
    values[3] = round(counters[TX_BYTES] * 100 / 1024 / time_cs, 2)
    return values


def _summed_key(name: str) -> str | None:
    """Return the key that a counter of /proc/vmstat is part of: pgscan_kswapd, or pgscan_kswapd_normal of older kernels."""
    if not name.startswith(("pg", "alloc")) or name in VMSTAT_OTHERS:
        return None
    return next((key for prefix, key in VMSTAT_SUMS.items() if name == prefix or name.startswith(f"{prefix}_")), None)


def _derived_memory(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values derived from the instants of a snapshot, where it has them."""
    found: dict[str, Value] = {}
    total, available = values.get("total_kb"), values.get("available_kb")
    if total and available is not None:
        found["used_kb"] = total - available
        found["used_pct"] = share(total - available, total)
    swap, free = values.get("swap_total_kb"), values.get("swap_free_kb")
    if swap is not None and free is not None:
        found["swap_used_kb"] = swap - free
        found["swap_used_pct"] = share(swap - free, swap)
    committed = values.get("committed_kb")
    if total and committed is not None:
        found["commit_pct"] = share(committed, total + (swap or 0))
    scanned = [values.get(key) for key in ("pgscank_per_s", "pgscand_per_s")]
    stolen = [values.get(key) for key in ("pgstealk_per_s", "pgsteald_per_s")]
    if None not in (*scanned, *stolen):
        found["vmeff_pct"] = share(sum(number or 0 for number in stolen), sum(number or 0 for number in scanned))
    return found
