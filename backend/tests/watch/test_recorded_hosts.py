"""Output of Solaris hosts on its whole way: sent by an agent, read, stored, watched. What rules find is known from its authors."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy.ext.asyncio import AsyncEngine

from normstat.db.schema.watch_models import EpisodeRow
from normstat.watch.watcher import Watcher
from tests.databases import Sessions, on_either_database
from tests.ingest.sending import Agent, stream
from tests.watch.live import read_found

pytestmark = on_either_database

# A machine in a saturation test of its network: CPUs 1 and 13 contend, CPU 16 does nothing but interrupts.
SATURATED = """\
CPU minf mjf xcal intr ithr csw icsw migr smtx srw syscl usr sys wt idl
0 0 0 0 1 0 922 1 1 312 0 691 1 11 0 89
1 0 0 121 3 0 1638 2 0 531 0 1294 1 21 0 78
8 56 0 8 5 3 1018 1 1 364 0 940 1 15 0 84
9 32 0 316 213 13 1082 2 2 373 0 906 1 16 0 83
12 37 0 19 1 0 723 1 1 253 0 598 0 11 0 89
13 18 0 25 3 0 1734 3 1 552 0 1318 0 22 0 77
16 0 0 4 2969 2901 36 0 1 2470 0 30 0 0 0 100
20 0 0 0 2 0 1547 2 0 531 0 1138 0 20 0 80
21 0 0 0 2 2 25 0 0 1 0 11 0 0 0 100
"""
VMSTAT = """\
 kthr      memory            page            disk          faults      cpu
 r b w   swap  free  re  mf pi po fr de sr cd cd cd cd   in   sy   cs us sy id
"""
SINCE_BOOT = " 0 0 51 882244 233300 35 62 0 1 1 0 36 5 3 5 3 2260 5736 1933 2 3 95\n"
QUIET = " 0 0 58 1063404 417204 9 22 0 0 0 0 0 0 0 0 0 2171 4822 1702 1 2 97\n"
SCANNING = " 0 0 58 1063404 17204 9 22 0 0 0 0 36 0 0 0 0 2171 4822 1702 1 2 97\n"


def times_of(n: int) -> list[int]:
    """Return the epochs of reports, each ten seconds, the last one a minute ago."""
    last = int(time.time()) - 60
    return [last - 10 * (n - 1 - number) for number in range(n)]


def said(rows: Sequence[EpisodeRow]) -> set[tuple[str, str, str, bool]]:
    """Return what was found: rule, instance, state, and whether it goes on."""
    return {(row.source, row.instance, row.colour, row.ended_at is None) for row in rows}


async def deliver(engine: AsyncEngine, host: str, tool: str, reports: list[str], header: str = "") -> None:
    spec, command = f"{tool}_solaris", f"{tool} -T u 10"
    epochs = times_of(len(reports))
    text = header + "".join(f"{epoch}\n{report}" for epoch, report in zip(epochs, reports, strict=True))
    await Agent(engine, host).send(stream(text.encode(), spec, f"{spec}.1", command=command))


async def watch(sessions: Sessions) -> None:
    await Watcher(sessions).run(datetime.now(UTC))


async def test_saturated_cpus_are_named_and_those_with_interrupts_too(sessions: Sessions, engine: AsyncEngine) -> None:
    await deliver(engine, "sun1", "mpstat", [SATURATED] * 20)
    await watch(sessions)
    found = await read_found(sessions)
    assert said(found) == {
        ("mutex", "1", "red", True),
        ("mutex", "13", "red", True),
        ("hidden-interrupts", "16", "amber", True),
        # Nearly all of what these CPUs do is in the kernel.
        ("kernel-time", "", "amber", True),
    }
    [mutex] = [row for row in found if row.source == "mutex" and row.instance == "13"]
    assert [(item["name"], item["value"]) for item in mutex.saw] == [("smtx", 552), ("usr", 0), ("sys", 22)]


async def test_the_first_report_of_vmstat_wakes_nobody(sessions: Sessions, engine: AsyncEngine) -> None:
    # Its scan rate of 36 is the average since boot; and one scan later is no lack of memory yet.
    reports = [SINCE_BOOT, *[QUIET] * 20, SCANNING, *[QUIET] * 20]
    await deliver(engine, "sun1", "vmstat", reports, VMSTAT)
    await watch(sessions)
    assert await read_found(sessions) == []
    await deliver(engine, "sun2", "vmstat", [SINCE_BOOT, *[QUIET] * 20, *[SCANNING] * 20], VMSTAT)
    await watch(sessions)
    assert said(await read_found(sessions)) == {("memory-scan", "", "amber", True)}
