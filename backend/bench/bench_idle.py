"""What the product costs a machine while nobody looks: `normstat up` with the agent of this host, as `make run` starts it.

    python -m bench.bench_idle [--seconds 120] [--settle 60] [--data FOLDER] [--old CHECKOUT] [--processes]

Starts in a fresh data folder, lets it settle, and reads CPU time and memory of every process after it: 200 s in all. `--data`
starts in a copy of the data folder of a `normstat up` that has stopped, such as one that recorded incidents for an hour. `--old`
runs `normstat up` of another checkout at the same time, so that both meet the same load of the machine: compare the rows of one
run. CPU seconds are those of a process and of its children that ended. RSS counts the pages that processes share in each of them,
PSS once.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.record import record
from bench.rig import TICKS, _family, _stat
from tests.e2e.product import free_port, health_status

CHECKOUT: Final = Path(__file__).resolve().parents[2]
START_TIMEOUT_S: Final = 180.0
SERVER: Final = "server"
DATABASE: Final = "PostgreSQL"
UP: Final = "up"
AGENT: Final = "agent and its tools"
GROUPS: Final = (SERVER, DATABASE, UP, AGENT)
# Words in the command lines of what `up` starts.
CHILDREN: Final = {" serve ": SERVER, "bin/postgres": DATABASE, "log_writer": UP}
# The agent is what a host pays; the others are what a machine pays for the server.
PRODUCT: Final = (SERVER, DATABASE, UP)


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds so far, and memory now."""

    cpu_s: float = 0.0
    rss_mb: float = 0.0
    pss_mb: float = 0.0
    n: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.cpu_s + other.cpu_s, self.rss_mb + other.rss_mb, self.pss_mb + other.pss_mb, self.n + other.n)


class Product:
    """`normstat up` of a checkout, in a data folder of its own."""

    def __init__(self, checkout: Path, data: Path | None = None) -> None:
        self.name = str(checkout)
        # Not below /tmp/pytest or a home: root's `up` gives the database to another account, which must reach it.
        self.folder = Path(tempfile.mkdtemp(prefix="normstat-idle-"))
        self.folder.chmod(0o711)
        if data is not None:
            shutil.copytree(data, self.folder / "data", symlinks=True)
        self.port = free_port()
        self.log = self.folder / "bench.log"
        command = [str(checkout / ".venv/bin/normstat"), "up", "--port", str(self.port), "--data", str(self.folder / "data")]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, cwd=checkout, stdout=log, stderr=log, start_new_session=True)

    def wait_until_up(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            if "Ctrl-C" in self.log.read_text() and health_status(self.port) == 200:
                return
            time.sleep(0.2)
        raise RuntimeError(f"{self.name} does not start:\n{self.log.read_text()[-2000:]}")

    def costs(self) -> dict[str, Cost]:
        """The cost of each process by its group and name, such as `PostgreSQL: checkpointer`."""
        found: dict[str, Cost] = {}
        groups = {self.process.pid: UP}
        for pid in _family(self.process.pid):
            words = _stat(pid)
            title = _title(pid)
            if not words:
                continue
            parent = int(words[1])
            if pid not in groups:
                groups[pid] = groups.get(parent, AGENT)
                if parent == self.process.pid:
                    groups[pid] = next((group for word, group in CHILDREN.items() if word in title), AGENT)
            name = f"{groups[pid]}: {_short(title)}" if groups[pid] == DATABASE else groups[pid]
            cpu_s = sum(int(word) for word in words[11:13]) / TICKS
            # Those of `up` are done: `migrate` is none of what it costs to run.
            if pid != self.process.pid:
                cpu_s += sum(int(word) for word in words[13:15]) / TICKS
            found[name] = found.get(name, Cost()) + Cost(cpu_s, *_memory_mb(pid), 1)
        return found

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _title(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip() or "-"
    return "-"


def _short(title: str) -> str:
    """What a process of PostgreSQL does."""
    if not title.startswith("postgres: "):
        return "postmaster"
    words = title.removeprefix("postgres: ").strip()
    return "connections" if words.startswith("normstat normstat") else words


def _memory_mb(pid: int) -> tuple[float, float]:
    """RSS and PSS. Missing: 0 of a process that has ended."""
    text = ""
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    rss, pss = (re.search(rf"^{word}: +(\d+)", text, re.MULTILINE) for word in ("Rss", "Pss"))
    return (int(rss[1]) if rss else 0) / 1024, (int(pss[1]) if pss else 0) / 1024


def sums(costs: dict[str, Cost]) -> dict[str, Cost]:
    """The same by group."""
    found = dict.fromkeys(GROUPS, Cost())
    for name, cost in costs.items():
        found[name.partition(":")[0]] += cost
    return found


def measure(products: dict[str, Product], *, settle_s: float, seconds: float, shows_processes: bool) -> None:
    """Print and record what each costs."""
    for product in products.values():
        product.wait_until_up()
    time.sleep(settle_s)
    before = {name: (time.monotonic(), product.costs()) for name, product in products.items()}
    time.sleep(seconds)
    load = Path("/proc/loadavg").read_text().split()[0]
    print(f"{seconds:.0f} s after {settle_s:.0f} s, load {load}")
    for name, product in products.items():
        began, first = before[name]
        last, elapsed = product.costs(), time.monotonic() - began
        print(f"{name:36} {'% of a core':>11} {'RSS MB':>8} {'PSS MB':>8} {'processes':>9}")
        rows = list(_rows(sums(first), sums(last), elapsed))
        total = Cost()
        for group, cost in rows:
            _print(group, cost)
            record("", f"idle: {name}{group}: CPU", cost.cpu_s, "% of a core")
            record("", f"idle: {name}{group}: PSS", cost.pss_mb, "MB")
            total += cost if group in PRODUCT else Cost()
        _print("together, without the agent", total)
        record("", f"idle: {name}together: CPU", total.cpu_s, "% of a core")
        record("", f"idle: {name}together: RSS", total.rss_mb, "MB")
        record("", f"idle: {name}together: PSS", total.pss_mb, "MB")
        if shows_processes:
            for part, cost in _rows(first, last, elapsed):
                if part.startswith(DATABASE):
                    _print("  " + part, cost)


def _rows(first: dict[str, Cost], last: dict[str, Cost], elapsed_s: float) -> Iterator[tuple[str, Cost]]:
    """Each name with its share of a core in percent as `cpu_s`, and its memory at the end."""
    for name, cost in last.items():
        used = cost.cpu_s - first.get(name, Cost()).cpu_s
        yield name, Cost(used / elapsed_s * 100, cost.rss_mb, cost.pss_mb, cost.n)


def _print(name: str, cost: Cost) -> None:
    print(f"{name:36} {cost.cpu_s:11.3f} {cost.rss_mb:8.1f} {cost.pss_mb:8.1f} {cost.n:9}", flush=True)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--settle", type=float, default=60)
    parser.add_argument("--data", type=Path, help="a data folder to start in a copy of")
    parser.add_argument("--old", type=Path, help="another checkout, with its virtual environment, to run beside this one")
    parser.add_argument("--processes", action="store_true", help="name each process of PostgreSQL")
    options = parser.parse_args()
    checkouts = {"": CHECKOUT} | ({"old: ": options.old.resolve()} if options.old else {})
    products: dict[str, Product] = {}
    try:
        for name, checkout in checkouts.items():
            products[name] = Product(checkout, options.data)
        measure(products, settle_s=options.settle, seconds=options.seconds, shows_processes=options.processes)
    finally:
        for product in products.values():
            product.stop()


if __name__ == "__main__":
    os.umask(0o022)
    main()
