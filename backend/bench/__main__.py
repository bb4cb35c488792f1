"""`make bench`: runs all that docs/performance.md tells of, prints one table, and keeps the figures.

    python -m bench [--rounds 5] [--only fleet,draw] [--results DIR]

Each script measures the embedded PostgreSQL and TimescaleDB (and the database that BENCH_DSN names, where it can use one). What a
script repeats within one run is run once; the others as many times as there are rounds. The table has median, least and largest of
each figure; bench/results/<date>-<kind>.json keeps every value, with the machine that it was measured on.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench.record import RECORD_VARIABLE

BACKEND: Final = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Run:
    """A script with its arguments; `is_repeated` where one run gives each figure once."""

    script: str
    arguments: tuple[str, ...] = ()
    is_repeated: bool = False


PLAN: Final = (
    Run("reader"),
    Run("fleet", ("--peak", "--load", "mpstat64"), is_repeated=True),
    Run("fleet", ("--peak", "--load", "mpstat64_solaris"), is_repeated=True),
    Run("fleet", ("--peak", "--load", "mixed"), is_repeated=True),
    Run("fleet", ("--peak", "--load", "mpstat64", "--workers", "2"), is_repeated=True),
    Run("fleet", ("--peak", "--load", "mpstat64", "--database", "timescaledb"), is_repeated=True),
    Run("fleet", ("--agents", "1000", "--seconds", "60")),
    Run("disk"),
    Run("draw"),
    Run("fetch"),
    Run("sealed"),
    Run("heavy"),
    Run("export"),
    Run("live"),
    Run("agent"),
    Run("idle"),
    Run("start"),
    Run("life"),
    Run("year"),
)


def run(chosen: Run, rounds: int, record: Path) -> bool:
    """Runs a script, with its output on the screen; whether it ended well each time."""
    command = [sys.executable, "-m", f"bench.bench_{chosen.script}", *chosen.arguments]
    for number in range(rounds if chosen.is_repeated else 1):
        print(
            f"== {chosen.script} {' '.join(chosen.arguments)}" + (f" (round {number + 1})" if chosen.is_repeated else ""),
            flush=True,
        )
        done = subprocess.run(command, cwd=BACKEND, env=os.environ | {RECORD_VARIABLE: str(record)}, check=False)
        if done.returncode:
            print(f"bench: {' '.join(command[2:])} ended with {done.returncode}", file=sys.stderr)
            return False
    return True


def read_figures(record: Path) -> dict[str, dict[str, tuple[str, list[float]]]]:
    """Kind -> name -> unit and all values."""
    figures: dict[str, dict[str, tuple[str, list[float]]]] = {}
    for line in record.read_text().splitlines() if record.exists() else ():
        found = json.loads(line)
        figures.setdefault(found["kind"], {}).setdefault(found["name"], (found["unit"], []))[1].append(found["value"])
    return figures


def table(figures: dict[str, dict[str, tuple[str, list[float]]]]) -> Iterator[str]:
    """The lines of the table."""
    yield f"{'database':22} {'figure':56} {'median':>12} {'least':>12} {'largest':>12} {'n':>3}  unit"
    for kind, named in figures.items():
        for name, (unit, values) in named.items():
            numbers = "".join(f" {value:12.3f}" for value in (statistics.median(values), min(values), max(values)))
            yield f"{kind or '-':22} {name:56}{numbers} {len(values):3}  {unit}"


def keep(figures: dict[str, dict[str, tuple[str, list[float]]]], folder: Path) -> list[Path]:
    """Writes a file for each kind of database; gives their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    now = datetime.now(UTC)
    machine = {
        "system": platform.platform(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    paths = []
    for kind, named in figures.items():
        path = folder / f"{now:%Y-%m-%d}-{kind or 'none'}.json"
        rows = [
            {"name": name, "unit": unit, "median": statistics.median(values), "values": values}
            for name, (unit, values) in named.items()
        ]
        path.write_text(json.dumps({"measured_at": now.isoformat(), "machine": machine, "figures": rows}, indent=1) + "\n")
        paths.append(path)
    return paths


def main() -> int:
    """Runs what is wished; 1 when a script failed, after all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="names of scripts, parted by commas")
    parser.add_argument("--results", type=Path, default=BACKEND / "bench" / "results")
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "figures.jsonl"
        went_well = [run(chosen, options.rounds, record) for chosen in PLAN if not only or chosen.script in only]
        figures = read_figures(record)
    print("\n".join(table(figures)))
    for path in keep(figures, options.results):
        print(f"kept in {path}")
    return 0 if all(went_well) else 1


if __name__ == "__main__":
    sys.exit(main())
