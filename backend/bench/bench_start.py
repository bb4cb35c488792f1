"""What a start costs: CPU and wall seconds of Python alone, of importing the application, of a command, and of a server.

    python -m bench.bench_start [--rounds 9] [--database embedded|timescaledb|URL]

A server counts from its start until /health answers, on a migrated database, by the CPU seconds of its process; the first answer of
each route comes on top. The lowest of the rounds depends least on what else runs on the machine.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from bench.record import record
from bench.rig import Rig, cpu_seconds, database, postmaster_of
from tests.e2e.product import health_status

COMMANDS: Final = {
    "python -c pass": ["-c", "pass"],
    "import normstat.app": ["-c", "import normstat.app"],
    "normstat parse --help": ["-m", "normstat", "parse", "--help"],
    "normstat serve --help": ["-m", "normstat", "serve", "--help"],
}
POLL_S: Final = 0.01
START_TIMEOUT_S: Final = 120.0
Cost = tuple[float, float]


def run_command(arguments: list[str]) -> Cost:
    """CPU and wall seconds of a process of Python."""
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    # Popen need not wait for it any more.
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime, time.monotonic() - began


def start_server(url: str, log_path: Path) -> Cost:
    """CPU and wall seconds of a server until /health answers."""
    began = time.monotonic()
    rig = Rig(url, postmaster_of(url), 1, log_path)
    try:
        while health_status(rig.port) != 200:
            if rig.process.poll() is not None or time.monotonic() - began > START_TIMEOUT_S:
                raise RuntimeError(f"the server does not start:\n{log_path.read_text()[-2000:]}")
            time.sleep(POLL_S)
        return cpu_seconds(rig.process.pid), time.monotonic() - began
    finally:
        rig.stop()


def measure(name: str, run: Callable[[], Cost], rounds: int) -> None:
    """Print and record the lowest and the median cost."""
    # The first one may write bytecode.
    run()
    costs = [run() for _ in range(rounds)]
    cpu, wall = ([cost[kind] for cost in costs] for kind in (0, 1))
    print(
        f"{name:36} CPU {min(cpu):6.2f} s, median {statistics.median(cpu):6.2f}; "
        f"wall {min(wall):6.2f} s, median {statistics.median(wall):6.2f}",
        flush=True,
    )
    for value in cpu:
        record("", f"start: {name}: CPU", value, "s")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--database", default="embedded", help="embedded, timescaledb, or the URL of an empty database")
    options = parser.parse_args()
    for name, arguments in COMMANDS.items():
        measure(name, partial(run_command, arguments), options.rounds)
    with database(options.database) as url, tempfile.TemporaryDirectory() as folder:
        measure("normstat serve, until /health answers", partial(start_server, url, Path(folder) / "log"), options.rounds)


if __name__ == "__main__":
    main()
