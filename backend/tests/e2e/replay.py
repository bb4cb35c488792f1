"""An hour on a made host `web1`, as the Linux tools would have printed it: steady work, then ten minutes with a runaway backup.

The same seed gives the same hour; only the clock is that of today. Layouts are those of procps 4.0 and sysstat 12.6.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.generated import VMSTAT_HEADER

N_CPUS = 4
KERNEL = "6.1.0-28-amd64"


@dataclass(frozen=True, slots=True)
class Story:
    """When it happens: [start, end) with the incident in [incident_start, incident_end); one report a second."""

    host: str
    start: datetime
    end: datetime
    incident_start: datetime
    incident_end: datetime

    def seconds(self) -> Iterator[tuple[datetime, bool]]:
        at = self.start
        while at < self.end:
            yield at, self.incident_start <= at < self.incident_end
            at += timedelta(seconds=1)


def make_story(now: datetime, *, minutes: int = 60, incident_minutes: int = 10, quiet_after_minutes: int = 5) -> Story:
    end = now.astimezone(UTC).replace(microsecond=0) - timedelta(seconds=30)
    incident_end = end - timedelta(minutes=quiet_after_minutes)
    return Story("web1", end - timedelta(minutes=minutes), end, incident_end - timedelta(minutes=incident_minutes), incident_end)


def banner(story: Story) -> str:
    return f"Linux {KERNEL} ({story.host}) \t{story.start:%Y-%m-%d} \t_x86_64_\t({N_CPUS} CPU)\n\n"


def vmstat(story: Story, rng: random.Random) -> str:
    out = [VMSTAT_HEADER]
    cache = 3_000_000
    for i, (at, is_bad) in enumerate(story.seconds()):
        cache = min(8_750_000, cache + rng.randint(20_000, 30_000)) if is_bad else cache + rng.randint(-200, 220)
        us, sy = rng.randint(8, 14), rng.randint(2, 4)
        wa = rng.randint(18, 27) if is_bad else rng.choice((0, 0, 0, 1))
        blocked = rng.choice((1, 2, 2, 3)) if is_bad else 0
        read = rng.randint(88_000, 131_000) if is_bad else rng.choice((0, 0, 0, 24))
        free = max(180_000, 9_000_000 - cache + rng.randint(-2_000, 2_000))
        numbers = [rng.choice((0, 0, 1, 1, 2)), blocked, 0, free, 211_000 + i // 60, cache, 0, 0, read, rng.randint(90, 240)]
        numbers += [rng.randint(1_800, 2_300) + (1_500 if is_bad else 0), rng.randint(3_900, 4_800)]
        numbers += [us, sy, 100 - us - sy - wa, wa, 0]
        out.append(" ".join(f"{n:>2}" for n in numbers) + f" {at:%Y-%m-%d %H:%M:%S}\n")
    return "".join(out)


def mpstat(story: Story, rng: random.Random) -> str:
    out = [banner(story)]
    for at, is_bad in story.seconds():
        before = at - timedelta(seconds=1)
        out.append(f"{before:%H:%M:%S}     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n")
        rows = []
        for cpu in range(N_CPUS):
            usr, kernel = rng.gauss(10, 1.6), rng.gauss(2.6, 0.5)
            waiting = rng.gauss(82, 5) if is_bad and cpu == 2 else rng.choice((0.0, 0.0, 0.0, 1.0))
            soft = abs(rng.gauss(0.3, 0.2))
            parts = [max(0.0, usr), 0.0, max(0.0, kernel), min(waiting, 85.0), 0.0, soft, 0.0, 0.0, 0.0]
            rows.append([*parts, max(0.0, 100 - sum(parts))])
        mean = [sum(column) / N_CPUS for column in zip(*rows, strict=True)]
        for name, row in zip(("all", *map(str, range(N_CPUS))), (mean, *rows), strict=True):
            out.append(f"{at:%H:%M:%S}     {name:>3}  " + "  ".join(f"{value:6.2f}" for value in row) + "\n")
        out.append("\n")
    return "".join(out)


def iostat(story: Story, rng: random.Random) -> str:
    columns = ["r/s", "rkB/s", "rrqm/s", "%rrqm", "r_await", "rareq-sz", "w/s", "wkB/s", "wrqm/s", "%wrqm", "w_await", "wareq-sz"]
    columns += ["d/s", "dkB/s", "drqm/s", "%drqm", "d_await", "dareq-sz", "f/s", "f_await", "aqu-sz", "%util"]
    out = [banner(story)]
    for at, is_bad in story.seconds():
        out.append(f"{at:%Y-%m-%dT%H:%M:%S}+0000\n")
        out.append("avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n")
        waiting = rng.gauss(21, 2) if is_bad else abs(rng.gauss(0.1, 0.1))
        usr, kernel = rng.gauss(10, 0.8), rng.gauss(2.6, 0.3)
        out.append(f"{'':8}" + "  ".join(f"{v:6.2f}" for v in (usr, 0, kernel, waiting, 0, 100 - usr - kernel - waiting)) + "\n\n")
        out.append(f"{'Device':12}" + " ".join(f"{c:>8}" for c in columns) + "\n")
        for device in ("sda", "sdb"):
            busy = is_bad and device == "sdb"
            reads = rng.gauss(850, 60) if busy else abs(rng.gauss(1.5, 1))
            read_kb = reads * (126 if busy else 18)
            read_ms = rng.gauss(8.4, 0.9) if busy else abs(rng.gauss(0.4, 0.1))
            writes = abs(rng.gauss(22, 5))
            util = min(100.0, rng.gauss(97, 1.5)) if busy else abs(rng.gauss(1.8, 0.6))
            queue = reads * read_ms / 1000 + writes * 0.6 / 1000
            values = [reads, read_kb, 0, 0, read_ms, read_kb / max(reads, 0.01), writes, writes * 9.5, writes / 3, 25, 0.6, 9.5]
            values += [0, 0, 0, 0, 0, 0, 1.0, 0.8, queue, util]
            out.append(f"{device:12}" + " ".join(f"{v:8.2f}" for v in values) + "\n")
        out.append("\n")
    return "".join(out)


def pidstat(story: Story, rng: random.Random) -> str:
    head = (
        "# Time        UID       PID    %usr %system  %guest   %wait    %CPU   CPU  minflt/s  majflt/s     VSZ     RSS   %MEM"
        "   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n"
    )
    steady = [
        (812, "nginx", 6.0, 48_000),
        (813, "nginx", 6.0, 47_500),
        (1402, "postgres", 9.0, 310_000),
        (977, "java", 18.0, 1_900_000),
    ]
    out = [banner(story)]
    for at, is_bad in story.seconds():
        out.append(head)
        for pid, command, cpu, rss in steady + ([(28110, "tar", 11.0, 2_400)] if is_bad else []):
            usr = max(0.0, rng.gauss(cpu * 0.8, 0.9))
            kernel = max(0.0, rng.gauss(cpu * 0.2, 0.4))
            read = rng.gauss(106_000, 7_000) if command == "tar" else 0.0
            delay = rng.randint(60, 85) if command == "tar" else 0
            out.append(
                f"{at:%H:%M:%S}     1000 {pid:>9} {usr:7.2f} {kernel:7.2f}    0.00    0.05 {usr + kernel:7.2f}"
                f" {rng.randrange(N_CPUS):>5}"
                f" {abs(rng.gauss(12, 6)):9.2f}      0.00 {rss * 4:7} {rss + rng.randint(0, 40):7} {rss / 81_000:6.2f}"
                f" {read:9.2f} {abs(rng.gauss(40, 12)):9.2f}      0.00 {delay:7}  {command}\n"
            )
        out.append("\n")
    return "".join(out)


def write_captures(story: Story, folder: Path) -> str:
    """Writes one file for each tool and stand-ins that print them; gives the stats.conf that runs the stand-ins."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for make in (vmstat, mpstat, iostat, pidstat):
        name = make.__name__
        (folder / f"{name}.txt").write_text(make(story, random.Random(name)))
        tool = folder / name
        tool.write_text(f"#!/bin/sh\ncat '{folder / name}.txt'\nexec sleep 3600\n")
        tool.chmod(0o755)
        lines.append(f"{name}_linux\t{tool}\n")
    return "".join(lines)
