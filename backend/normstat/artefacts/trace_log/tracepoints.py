"""The object of a kernel tracepoint, from its arguments: the task that is woken, the lock, the interrupt, the blocks of a disk.

bash-21121 [001] d..2. 1859.293372: sched_switch: prev_comm=bash prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=x next_pid=8
"""

import re
from collections.abc import Callable
from typing import Final

NEXT: Final = re.compile(r"==> next_comm=(.{0,64}?) next_pid=(\d{1,10})")
NEXT_SHORT: Final = re.compile(r"==> (.{1,64}?):(\d{1,10})(?= |$)")
STATE: Final = re.compile(r"prev_state=(\S{1,8})|\] (\S{1,4}) ==>")
WOKEN: Final = re.compile(r"comm=(.{0,64}?) pid=(\d{1,10})")
WOKEN_SHORT: Final = re.compile(r"(.{1,64}?):(\d{1,10})(?= |$)")
IRQ: Final = re.compile(r"irq=(\d{1,6})(?: name=(\S{1,100}))?")
SOFTIRQ: Final = re.compile(r"vec=(\d{1,4})(?: \[action=(\S{1,40})\])?")
SYSCALL: Final = re.compile(r"NR (-?\d{1,6})")
SECTOR: Final = re.compile(r"(\d{1,5},\d{1,7}) .{0,80}?\b(\d{1,15}) \+ \d")
LOCK: Final = re.compile(r"(?:lock_addr=)?((?:0x)?[0-9a-f]{4,16})(?: (?:(?:try|read) )*(\S{1,100}))?")
FUNCTION: Final = re.compile(r"function=(\S{1,100})")
# State of a task that does not run because another one does: it waits for nothing.
RUNNABLE: Final = "R"


def _task(arguments: str, *patterns: re.Pattern[str]) -> tuple[str, str]:
    for pattern in patterns:
        if (found := pattern.search(arguments)) is not None:
            return f"{found[1]}:{found[2]}", ""
    return "", ""


def _switch(arguments: str) -> tuple[str, str]:
    found = STATE.search(arguments)
    return _task(arguments, NEXT, NEXT_SHORT)[0], "" if found is None else (found[1] or found[2])


def _first(pattern: re.Pattern[str], label: str) -> Callable[[str], tuple[str, str]]:
    def find(arguments: str) -> tuple[str, str]:
        found = pattern.search(arguments)
        if found is None:
            return "", ""
        return f"{label}{found[1]}", (found[2] or "") if pattern.groups > 1 else ""

    return find


def _sector(arguments: str) -> tuple[str, str]:
    found = SECTOR.match(arguments)
    return ("", "") if found is None else (f"{found[1]} sector {found[2]}", "")


def _lock(arguments: str) -> tuple[str, str]:
    found = LOCK.match(arguments)
    if found is None:
        return "", ""
    # Of a contention the second word is no name: (flags=SPIN).
    name = found[2] or ""
    return found[1], "" if name.startswith("(") or "=" in name else name


def _function(arguments: str) -> tuple[str, str]:
    found = FUNCTION.search(arguments)
    return "", "" if found is None else found[1]


RULES: Final[dict[str, Callable[[str], tuple[str, str]]]] = {
    "sched_switch": _switch,
    "sched_waking": lambda arguments: _task(arguments, WOKEN, WOKEN_SHORT),
    "sched_wakeup": lambda arguments: _task(arguments, WOKEN, WOKEN_SHORT),
    "sched_wakeup_new": lambda arguments: _task(arguments, WOKEN, WOKEN_SHORT),
    "irq_handler_entry": _first(IRQ, "irq "),
    "irq_handler_exit": _first(IRQ, "irq "),
    "softirq_entry": _first(SOFTIRQ, "softirq "),
    "softirq_exit": _first(SOFTIRQ, "softirq "),
    "softirq_raise": _first(SOFTIRQ, "softirq "),
    "sys_enter": _first(SYSCALL, "syscall "),
    "sys_exit": _first(SYSCALL, "syscall "),
    "block_rq_insert": _sector,
    "block_rq_issue": _sector,
    "block_rq_complete": _sector,
    "contention_begin": _lock,
    "contention_end": _lock,
    "lock_acquire": _lock,
    "lock_acquired": _lock,
    "lock_contended": _lock,
    "lock_release": _lock,
}


def read_arguments(event: str, arguments: str) -> tuple[str, str]:
    """Return what an event is about, and its function or a word that says more. Missing: "".

    >>> read_arguments("sched_waking", "comm=bash pid=21173 prio=120 target_cpu=000")
    ('bash:21173', '')
    >>> read_arguments("contention_begin", "000000001996c276 (flags=SPIN)")
    ('000000001996c276', '')
    >>> read_arguments("irq_handler_exit", "irq=36 ret=handled")
    ('irq 36', '')
    """
    rule = RULES.get(event)
    return ("", "") if not arguments else (rule or _function)(arguments)
