"""Control groups of Linux, as the agent's sampler prints them after the processes: systemd units, sessions and containers.

    ==> /sys/fs/cgroup/system.slice/nginx.service <==
    cpu.stat usage_usec 81523011
    cpu.stat user_usec 60311004
    memory.current 20971520

Version 2 has one folder for each group, version 1 one for each controller and group. A heading without lines stands for a group
whose files are as they were. A group is named by what an administrator knows: the unit, the user of sessions, the name of a
container. Groups with one name are added up. Disks are numbers in these files; /proc/partitions, printed now and then, names them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from normstat.stats.engine.outcome import Outcome
from normstat.stats.engine.proc.counter_reader import MALFORMED, Value, is_counter, is_counters
from normstat.stats.engine.proc.counters import MAX_THINGS, TOO_MANY, per_second
from normstat.stats.records import LineKind

UNIT, UNIT_DISK = "linux_unit", "linux_unit_disk"
PARTITIONS: Final = "/proc/partitions"
# A line of it, and its header.
PARTITION: Final = re.compile(r"(?P<major>\d{1,6}) +(?P<minor>\d{1,9}) +\d{1,18} (?P<name>[!-~]{1,64})", re.ASCII)
PARTITIONS_HEADER: Final = "major minor  #blocks  name"
# The folders of version 1 stand for controllers; what is above them is where the host mounts them.
PATH: Final = re.compile(r"/.*?/cgroup(?:/(?:unified|cpu,cpuacct|cpuacct,cpu|cpu|cpuacct|memory|blkio|pids))?(?P<group>/.+)")
CONTAINER: Final = re.compile(r"(?:(?P<engine>[a-z-]+)-)?(?P<id>[0-9a-f]{64})")
ENGINES: Final = {"cri-containerd": "containerd", "crio": "cri-o", "libpod": "podman"}
POD: Final = re.compile(r"pod(?P<uid>[0-9a-f]{8}[-_][0-9a-f_-]{27})")
SESSION: Final = re.compile(r"/user\.slice/user-(?P<uid>\d+)\.slice(?P<rest>/.*)?")
ESCAPED: Final = re.compile(r"\\x([0-9a-f]{2})")
# What makes a name of a user's unit differ from start to start: a process id or a UUID.
ONE_START: Final = re.compile(r"[-@](?:\d+|[0-9a-f]{8}-[0-9a-f-]{27})$")
LONG_ID: Final = re.compile(r"[0-9a-f]{32,}")
MAX_NAME: Final = 120
NONE: Final = "max"
# Version 1 has no word for "no limit" of memory, but a size that no machine has.
UNLIMITED: Final = 1 << 60
KIB: Final = 1024

COUNTERS: Final[tuple[str, ...]] = (
    "cpu_us", "user_us", "system_us", "periods", "throttled", "at_limit", "oom_kills", "cpu_some_us", "memory_some_us",
    "memory_full_us", "io_some_us", "io_full_us",
)  # fmt: skip
# Fields that are a counter's growth by second, and by what it is multiplied.
RATES: Final = {
    "cpu_pct": ("cpu_us", 1e-4), "usr_pct": ("user_us", 1e-4), "system_pct": ("system_us", 1e-4),
    "at_limit_per_s": ("at_limit", 1.0), "oom_kills_per_s": ("oom_kills", 1.0),
    "cpu_some_pct": ("cpu_some_us", 1e-4), "memory_some_pct": ("memory_some_us", 1e-4),
    "memory_full_pct": ("memory_full_us", 1e-4), "io_some_pct": ("io_some_us", 1e-4), "io_full_pct": ("io_full_us", 1e-4),
}  # fmt: skip
# The same of each disk, whose counters are kept as "8:0 kb_rd_per_s".
DISK_RATES: Final = {"kb_rd_per_s": 1 / KIB, "kb_wr_per_s": 1 / KIB, "rd_per_s": 1.0, "wr_per_s": 1.0}
INSTANTS: Final = ("memory_kb", "anon_kb", "file_kb", "shmem_kb", "tasks")
WHOLE_NUMBERS: Final = frozenset({*INSTANTS, "memory_limit_kb", "tasks_limit"})
# Lines of a word and a number: the counters and amounts that they have, by file.
PAIRS: Final[Mapping[str, Mapping[str, str]]] = {
    "cpu.stat": {
        "usage_usec": "cpu_us", "user_usec": "user_us", "system_usec": "system_us", "nr_periods": "periods",
        "nr_throttled": "throttled",
    },
    "cpuacct.stat": {"user": "user_us", "system": "system_us"},
    "memory.events": {"max": "at_limit", "oom_kill": "oom_kills"},
    "memory.oom_control": {"oom_kill": "oom_kills"},
    "memory.stat": {
        "anon": "anon_kb", "file": "file_kb", "shmem": "shmem_kb", "total_rss": "anon_kb", "total_cache": "file_kb",
        "total_shmem": "shmem_kb",
    },
}  # fmt: skip
# Files with one number: what it is.
SINGLES: Final = {
    "cpuacct.usage": "cpu_us", "memory.current": "memory_kb", "memory.usage_in_bytes": "memory_kb", "memory.failcnt": "at_limit",
    "memory.max": "memory_limit_kb", "memory.limit_in_bytes": "memory_limit_kb", "pids.current": "tasks", "pids.max": "tasks_limit",
    "cpu.cfs_quota_us": "quota_us", "cpu.cfs_period_us": "period_us",
}  # fmt: skip
IO_STAT: Final = "io.stat"
DEVICE: Final = re.compile(r"\d+:\d+")
IO_WORDS: Final = {"rbytes": "kb_rd_per_s", "wbytes": "kb_wr_per_s", "rios": "rd_per_s", "wios": "wr_per_s"}
BLKIO: Final = {
    "blkio.throttle.io_service_bytes": {"Read": "kb_rd_per_s", "Write": "kb_wr_per_s"},
    "blkio.throttle.io_serviced": {"Read": "rd_per_s", "Write": "wr_per_s"},
}  # fmt: skip
# Disks made of others: what is written to one is written to those, and counted there again.
STACKED: Final = re.compile(r"dm-|md|loop|drbd|bcache")
PRESSURES: Final = {"cpu.pressure": "cpu", "memory.pressure": "memory", "io.pressure": "io"}
PRESSURE: Final = re.compile(r"(?P<who>some|full)(?: avg\d+=[\d.]+){3} total=(?P<total>\d{1,18})", re.ASCII)
# Version 1 counts the time of user space and of the kernel in ticks.
TICK_US: Final = 10_000


@dataclass(slots=True)
class GroupReport:
    """What a snapshot says of one group, and the line of its first heading. Missing: a name without an entry was not printed."""

    offset: int
    numbers: dict[str, int] = field(default_factory=dict)

    def to_state(self) -> list[object]:
        """Return what `GroupReport(*state)` takes."""
        return [self.offset, self.numbers]


# Adds a row: stat, instance, keys, values, line.
PutRow = Callable[[str, str, tuple[str, ...], list[Value], int], None]


class CgroupTable:
    """The groups of the previous snapshot with their numbers, those of the present one, the names of containers and of disks."""

    def __init__(self, state: object) -> None:
        """Restore what `to_state` returned; anything else is an empty table."""
        own: Mapping[str, object] = state if isinstance(state, dict) else {}
        known, present, names, disks = (own.get(key) for key in ("known", "present", "names", "disks"))
        self._known = {str(group): dict(numbers) for group, numbers in (known.items() if isinstance(known, dict) else ())}
        self._present = {str(group): GroupReport(*told) for group, told in (present.items() if isinstance(present, dict) else ())}
        self._names = {str(group): str(name) for group, name in (names.items() if isinstance(names, dict) else ())}
        self._disks = {str(number): str(name) for number, name in (disks.items() if isinstance(disks, dict) else ())}

    def to_state(self) -> dict[str, object]:
        """Return the table as JSON values."""
        present = {group: told.to_state() for group, told in self._present.items()}
        return {"known": self._known, "present": present, "names": self._names, "disks": self._disks}

    def open_file(self, path: str, offset: int) -> Callable[[str, int], Outcome] | None:
        """Return what takes the lines of a group, or of the list of disks; None for another file. `offset`: of the heading"""
        if path == PARTITIONS:
            return self._take_disk
        found = PATH.fullmatch(path)
        if found is None:
            return None
        group = found["group"]
        told = self._present.get(group)
        if told is None:
            if len(self._present) >= MAX_THINGS:
                return lambda _, __: TOO_MANY
            told = self._present[group] = GroupReport(offset)
        return partial(self._take, group, told)

    def end_snapshot(self, now: int | None, before: int | None, put: PutRow) -> None:
        """Add the row of each unit of the present snapshot, and remember its numbers. Units: centiseconds since boot"""
        by_unit: dict[str, list[tuple[str, GroupReport]]] = {}
        for group, told in self._present.items():
            # What was not printed is as it was: all files, or those of another controller.
            told.numbers = self._known.get(group, {}) | told.numbers
            by_unit.setdefault(unit_of(group, self._names.get(group, "")), []).append((group, told))
        for unit, members in by_unit.items():
            groups = {group for group, _ in members}
            # A group that holds another one counts it, too.
            own = [(group, told) for group, told in members if not any(group.startswith(f"{other}/") for other in groups)]
            self._put(unit, own, now, before, put)
        if self._present or now is not None:
            self._known = {group: told.numbers for group, told in self._present.items()}
            self._names = {group: name for group, name in self._names.items() if group in self._known}
        self._present = {}

    def forget_all(self) -> None:
        """Forget what was known: the host was booted since."""
        self._known, self._names, self._disks = {}, {}, {}

    # Lines.

    def _take_disk(self, text: str, _: int) -> Outcome:
        found = PARTITION.fullmatch(text)
        if found is None:
            return LineKind.HEADER if text == PARTITIONS_HEADER else MALFORMED
        number = f"{found['major']}:{found['minor']}"
        if number not in self._disks and len(self._disks) >= MAX_THINGS:
            return TOO_MANY
        self._disks[number] = found["name"]
        return LineKind.IGNORED

    def _take(self, group: str, told: GroupReport, text: str, _: int) -> Outcome:
        file, __, line = text.partition(" ")
        if file == "name":
            self._names[group] = line
            return LineKind.IGNORED
        found = _read_device(file, line) if file == IO_STAT or file in BLKIO else _read_line(file, line)
        if found is None:
            return MALFORMED
        told.numbers.update(found)
        return LineKind.SAMPLE if found else LineKind.IGNORED

    # Rows.

    def _put(self, unit: str, members: list[tuple[str, GroupReport]], now: int | None, before: int | None, put: PutRow) -> None:
        values: dict[str, float] = {}
        by_disk: dict[str, dict[str, float]] = {}
        for group, told in members:
            growth = {} if now is None or before is None else self._growth(group, told)
            elapsed = 0 if now is None or before is None else now - before
            for disk, rates in self._disk_rates(growth, elapsed).items():
                _add_to(by_disk.setdefault(disk, {}), rates)
            _add_to(values, _rates(growth, elapsed))
            _add_to(values, _amounts(told.numbers))
        for of_disk in _unstacked(by_disk):
            _add_to(values, of_disk)
        if len(members) == 1:
            values |= _limits(members[0][1].numbers)
        _relate_to_limits(values)
        if values:
            _add_row(put, UNIT, unit, values, members[0][1].offset)
        for disk, rates in by_disk.items():
            # Most units do nothing most of the time.
            if any(rates.values()):
                _add_row(put, UNIT_DISK, f"{unit}/{disk}", rates, members[0][1].offset)

    def _growth(self, group: str, told: GroupReport) -> dict[str, int]:
        """Return by how much the counters of a group grew. Empty: not known yet, or another group of this name"""
        known = self._known.get(group)
        if known is None:
            return {}
        growth = {name: told.numbers[name] - known[name] for name in COUNTERS if name in told.numbers and name in known}
        # A disk is not listed before the group uses it.
        growth |= {name: number - known.get(name, 0) for name, number in told.numbers.items() if " " in name}
        return growth if all(number >= 0 for number in growth.values()) else {}

    def _disk_rates(self, growth: Mapping[str, int], elapsed: int) -> dict[str, dict[str, float]]:
        """Return rates by disk and field."""
        found: dict[str, dict[str, float]] = {}
        for name, number in growth.items():
            device, _, key = name.partition(" ")
            if key:
                found.setdefault(self._disks.get(device, device), {})[key] = DISK_RATES[key] * per_second(number, elapsed)
        return found


def _add_row(put: PutRow, stat: str, instance: str, values: Mapping[str, float], offset: int) -> None:
    keys = tuple(sorted(values))
    put(stat, instance, keys, [int(values[key]) if key in WHOLE_NUMBERS else round(values[key], 2) for key in keys], offset)


def _relate_to_limits(values: dict[str, float]) -> None:
    """Add how much of its limits a unit used; periods become the share of them in which it was throttled."""
    throttled, periods = values.pop("throttled", 0.0), values.pop("periods", 0.0)
    if "cpu_limit_pct" in values and periods:
        values["throttled_pct"] = 100 * throttled / periods
    for used, limit in (("cpu_pct", "cpu_limit_pct"), ("memory_kb", "memory_limit_kb"), ("tasks", "tasks_limit")):
        if values.get(limit) and used in values:
            values[f"{limit.partition('_')[0]}_of_limit_pct"] = 100 * values[used] / values[limit]


def _add_to(sums: dict[str, float], values: Mapping[str, float]) -> None:
    for name, number in values.items():
        sums[name] = sums.get(name, 0.0) + number


def _rates(growth: Mapping[str, int], elapsed: int) -> dict[str, float]:
    """Return rates by field, and how many periods there were and how many of them were throttled."""
    rates = {key: factor * per_second(growth[name], elapsed) for key, (name, factor) in RATES.items() if name in growth}
    return rates | {name: float(growth[name]) for name in ("periods", "throttled") if name in growth}


def _unstacked(by_disk: Mapping[str, Mapping[str, float]]) -> list[Mapping[str, float]]:
    """Return the rates of the disks that are not made of others; those of all, where these are not known."""
    return [rates for disk, rates in by_disk.items() if STACKED.match(disk) is None] or list(by_disk.values())


def _read_line(file: str, line: str) -> dict[str, int] | None:
    """Return the numbers of a line; empty for one that is not used. Missing: None if it is malformed."""
    if file in SINGLES:
        return _read_single(SINGLES[file], line)
    if file == "cpu.max":
        quota, _, period = line.partition(" ")
        if not is_counter(period) or not (quota == NONE or is_counter(quota)):
            return None
        return {"quota_us": UNLIMITED if quota == NONE else int(quota), "period_us": int(period)}
    if file in PRESSURES:
        found = PRESSURE.fullmatch(line)
        if found is None:
            return None
        name = f"{PRESSURES[file]}_{found['who']}_us"
        return {name: int(found["total"])} if name in COUNTERS else {}
    word, _, number = line.partition(" ")
    if file not in PAIRS or not is_counter(number):
        return None
    name = PAIRS[file].get(word, "")
    return {name: int(number) * (TICK_US if file == "cpuacct.stat" else 1)} if name else {}


def _read_single(name: str, word: str) -> dict[str, int] | None:
    if word in (NONE, "-1"):
        return {name: UNLIMITED} if name in ("memory_limit_kb", "tasks_limit", "quota_us") else None
    if not is_counter(word):
        return None
    return {name: int(word) // 1000 if name == "cpu_us" else int(word)}


def _read_device(file: str, line: str) -> dict[str, int] | None:
    """Return the numbers of one device, by its number and field: `8:0 kb_rd_per_s`."""
    device, *words = line.split(" ")
    if DEVICE.fullmatch(device) is None:
        return None
    if file == IO_STAT:
        pairs = dict(word.partition("=")[::2] for word in words)
        # A device that did nothing has no words.
        if pairs and not is_counters(list(pairs.values())):
            return None
        return {f"{device} {name}": int(pairs[word]) for word, name in IO_WORDS.items() if word in pairs}
    if len(words) != len(("operation", "number")) or not is_counter(words[1]):
        return None
    name = BLKIO[file].get(words[0], "")
    return {f"{device} {name}": int(words[1])} if name else {}


def _amounts(numbers: Mapping[str, int]) -> dict[str, float]:
    return {name: numbers[name] // (1 if name == "tasks" else KIB) for name in INSTANTS if name in numbers}


def _limits(numbers: Mapping[str, int]) -> dict[str, float]:
    """Return the limits that a group has."""
    known = {name: number for name, number in numbers.items() if number < UNLIMITED}
    found: dict[str, float] = {}
    if known.get("period_us") and "quota_us" in known:
        found["cpu_limit_pct"] = 100 * known["quota_us"] / known["period_us"]
    if "memory_limit_kb" in known:
        found["memory_limit_kb"] = known["memory_limit_kb"] // KIB
    if "tasks_limit" in known:
        found["tasks_limit"] = known["tasks_limit"]
    return found


def unit_of(group: str, container: str = "") -> str:
    r"""Return the name by which an administrator knows a group. `container`: its name, as the agent found it

    >>> unit_of("/system.slice/system-postgresql.slice/postgresql@17-main.service")
    'postgresql@17-main.service'
    >>> unit_of("/user.slice/user-1000.slice/session-4.scope"), unit_of("/user.slice/user-0.slice/user@0.service/init.scope")
    ('user 1000: sessions', 'user 0: init')
    >>> unit_of("/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.gnome.Terminal-2231.scope")
    'user 1000: app-org.gnome.Terminal'
    >>> unit_of("/system.slice/docker-" + "ab" * 32 + ".scope"), unit_of("/docker/" + "ab" * 32, "web")
    ('docker abababababab', 'web')
    >>> unit_of("/kubepods/burstable/pod01234567-89ab-cdef-0123-456789abcdef/" + "cd" * 32, "web-7f4c_shop_nginx")
    'shop/web-7f4c/nginx'
    >>> unit_of("/machine.slice/machine-qemu\\x2d3\\x2dvm1.scope/libvirt/vcpu0")
    'qemu-3-vm1'
    >>> unit_of("/lxc.payload.web1/system.slice/ssh.service")
    'web1/ssh.service'
    """
    words = [_unescape(word) for word in group.split("/") if word]
    pod = next((found["uid"][:8] for word in words if (found := POD.search(word)) is not None), "")
    for word in reversed(words):
        found = CONTAINER.fullmatch(word.removesuffix(".scope"))
        if found is not None:
            return _name_container(found, pod, container, words)
    session = SESSION.match(group)
    if session is not None:
        return f"user {session['uid']}: {_name_session(session['rest'] or '', words[-1])}"[:MAX_NAME]
    if (words[0].startswith("lxc") and len(words) > 1) or words[0].startswith("lxc.payload."):
        # lxc.payload.NAME, or lxc/NAME.
        name, rest = (words[0].removeprefix("lxc.payload."), words[1:]) if words[0] != "lxc" else (words[1], words[2:])
        return "/".join([name, *([_innermost(rest)] if rest else [])])[:MAX_NAME]
    return _innermost(words)[:MAX_NAME]


def _unescape(word: str) -> str:
    return ESCAPED.sub(lambda found: chr(int(found[1], 16)) if 0x20 <= int(found[1], 16) < 0x7F else found[0], word)


def _name_container(found: re.Match[str], pod: str, name: str, words: list[str]) -> str:
    short = found["id"][:12]
    if name.count("_") == len(("pod", "namespace")):
        of_pod, namespace, container = name.split("_")
        return f"{namespace}/{of_pod}/{container}"[:MAX_NAME]
    if name:
        return name[:MAX_NAME]
    if pod:
        return f"pod {pod}/{short}"
    engine = found["engine"] or next((word for word in words if word in ("docker", "podman", "garden")), "container")
    return f"{ENGINES.get(engine, engine)} {short}"


def _name_session(rest: str, last: str) -> str:
    if re.match(r"/session-[^/]*\.scope", rest) or not rest:
        return "sessions"
    plain = last.rpartition(".")[0] if last.endswith((".scope", ".service")) else last
    return ONE_START.sub("", plain)


def _innermost(words: list[str]) -> str:
    """Return the innermost unit of systemd among the words; without one, the last two words without long numbers."""
    for word in reversed(words):
        if word.endswith((".service", ".scope", ".socket", ".mount", ".swap")):
            return word.removesuffix(".scope").removeprefix("machine-") if word.startswith("machine-") else word
    return "/".join(LONG_ID.sub(lambda found: found[0][:12], word) for word in words[-2:])
