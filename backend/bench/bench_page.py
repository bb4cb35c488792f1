"""How fast a host's page opens with an empty cache, what it loads, and how fast it moves: the built page in a real browser.

    python -m bench.bench_page [--rounds 5] [--before CHECKOUT]

A server with a replayed hour and this host live, as the page tests have it. Each round opens the page with an empty cache: the
time is from the start of the navigation to the first graph drawn, the bytes are those on the wire until all graphs in sight are
drawn. The keys are those that move and zoom; the time is from the key to the next frame (Event Timing API). Then the incident is
selected on a graph, and its answer opened: from the end of the drag to the first sentence, and from the click to the answer,
whose comparison is in the cache. `n_long_tasks` counts the tasks of all that which blocked the page for more than 200 ms.
`--before` measures the page and the server of another checkout with a built page in the same run, on the same database, in turns
with this one.
"""

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from bench.record import record
from tests.e2e.page import BROWSERS, environment_of, filled_server, find_browser
from tests.e2e.product import CHECKOUT, Server

FIGURES: Final = (
    ("heading_ms", "ms"),
    ("first_graph_ms", "ms"),
    ("all_graphs_ms", "ms"),
    ("wire_kb", "kB"),
    ("script_kb", "kB"),
    ("style_kb", "kB"),
    ("api_kb", "kB"),
    ("n_requests", ""),
    ("key_to_frame_p50_ms", "ms"),
    ("key_to_frame_max_ms", "ms"),
    ("selection_to_sentence_ms", "ms"),
    ("incident_from_cache_ms", "ms"),
    ("long_task_max_ms", "ms"),
    ("n_long_tasks", ""),
)


class ServerOfCheckout(Server):
    """The server and the built page of another checkout, on a database that is there."""

    def __init__(self, checkout: Path, database_url: str, log_path: Path) -> None:
        super().__init__(
            database_url,
            log_path,
            settings={
                "PYTHONPATH": str(checkout / "backend"),
                # The folder that this one runs in must not come before it.
                "PYTHONSAFEPATH": "1",
                "NORMSTAT_PAGE_DIR": str(checkout / "frontend/dist"),
                "NORMSTAT_AGENTS_DIR": str(checkout / "agents"),
                "NORMSTAT_MIGRATIONS_DIR": str(checkout / "migrations"),
            },
        )


def main() -> int:
    """Measure, print and record the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--before", type=Path, help="another checkout, with frontend/dist")
    options = parser.parse_args()
    browser = find_browser()
    if browser is None:
        print(f"bench_page: neither of {' and '.join(BROWSERS)} is installed", file=sys.stderr)
        return 1
    folder = Path(tempfile.mkdtemp(prefix="normstat-bench-page-"))
    folder.chmod(0o755)  # the database's account must get through
    try:
        with contextlib.ExitStack() as stack:
            server, story = stack.enter_context(filled_server(folder))
            targets = {"now": (server.url, server.normstat("login-link"))}
            if options.before is not None:
                database_url = server.environment["NORMSTAT_DATABASE_URL"]
                before = stack.enter_context(ServerOfCheckout(options.before.resolve(), database_url, folder / "before.log"))
                targets = {"before": (before.url, before.normstat("login-link")), **targets}
            out = folder / "figures.json"
            environment = os.environ | environment_of(story, server) | {"CHROMIUM": browser}
            environment |= {
                "BENCH_OUT": str(out),
                "BENCH_ROUNDS": str(options.rounds),
                "BENCH_TARGETS": json.dumps({name: {"url": url, "link": link} for name, (url, link) in targets.items()}),
            }
            command = ["npx", "--no-install", "playwright", "test", "--config", "e2e/bench.config.ts"]
            done = subprocess.run(command, cwd=CHECKOUT / "frontend", env=environment, check=False)
            if done.returncode:
                return done.returncode
            tell(json.loads(out.read_text()))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def tell(rounds: dict[str, list[dict[str, Any]]]) -> None:
    """Print and record median, lowest and highest of each figure."""
    print(f"{'figure':24}" + "".join(f"{name:>30}" for name in rounds))
    for figure, unit in FIGURES:
        cells = []
        for name, measured in rounds.items():
            values = [float(each[figure]) for each in measured]
            for value in values:
                record(name, figure, value, unit)
            cells.append(f"{statistics.median(values):12.0f} ({min(values):.0f} - {max(values):.0f})".rjust(30))
        print(f"{figure:24}" + "".join(cells))


if __name__ == "__main__":
    sys.exit(main())
