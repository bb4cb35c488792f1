"""Weeks, or a year, of one host with 64 CPUs, through the product, day by day: posted, rolled up, sealed, packed, drawn, compared.

    python -m bench.bench_year [--days 28] [--interval 30] [--cpus 64] [--looks 7,14] [--data FOLDER]

The host prints mpstat of all CPUs, vmstat, iostat and pidstat (year_text.py). A real `normstat serve` on a real PostgreSQL, as
`make run` has them, live through the year: their clock is set forward after each day (faked_clock.c; nothing else is faked), so all
that the product does at a certain age happens at that age. A day has some seconds only, so this process runs the functions of the
server's jobs at the end of each: rollups, sealing, packing, the note of sizes, and VACUUM for autovacuum.

A look: what the database takes, by part; what the storage page forecasts; how long graphs, comparisons and exports take, with the
server's peak of memory. The last day but one of each look has an incident from 14:00 to 15:00: system time on every CPU,
by one process (worker7). Nothing is compared with a limit.

A busy day of the first week is the host's baseline, with a stored profile. (Without one the host has a rolling baseline, whose
profile is made anew each day: a day of some seconds is too short for that.)
"""

import argparse
import asyncio
import datetime as dt
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final

import httpx
import psycopg

from bench.http_load import Poster
from bench.record import record
from bench.rig import Rig, Usage, cpu_seconds, embedded_database, serving
from bench.year_text import YearHost
from normstat.compaction.packing_run import limit_at, pack_chunks
from normstat.compaction.seal_job import Sealing
from normstat.db.session import make_engine, make_sessions, open_read_session
from normstat.db.turns import Turns
from normstat.ingest.protocol import Frame, FrameKind, format_frames
from normstat.query.disk_usage import StorageInfo, read_storage_info
from normstat.query.storage_sizes import note_sizes
from normstat.samples.rollups.rollup_job import roll_up
from tests.e2e.product import log_in

CLOCK_VARIABLE: Final = "NORMSTAT_FAKED_CLOCK"
HOST: Final = "year"
CULPRIT: Final = "worker7"
# A little after midnight, and before anything that is done each night.
AFTER_MIDNIGHT: Final = dt.timedelta(minutes=7, seconds=5)
DAY: Final = dt.timedelta(days=1)
HOUR: Final = dt.timedelta(hours=1)
# Before a second day, after which the host would have a rolling baseline.
BASELINE_DAY: Final = 0
GZIP_LEVEL: Final = 1
# As an agent's requests after a pause: about a MiB.
PIECE_BYTES: Final = 1 << 20
ROUNDS: Final = 7
LOOKS: Final = "7,30,91,182,365"
MB: Final = 1e6


class FakedClock:
    """The clock of this process and of all that it starts: real seconds pass, and it can be set."""

    def __init__(self, folder: Path) -> None:
        self._library = folder / "faked_clock.so"
        self._offset = folder / "offset"

    def build(self) -> None:
        """Makes the library and its file: `environment` is for the processes to come."""
        self._offset.write_bytes(bytes(8))
        self._offset.chmod(0o644)
        source = Path(__file__).with_name("faked_clock.c")
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o", str(self._library), str(source)], check=True)

    def set(self, at: dt.datetime) -> None:
        """Sets it for all processes at once."""
        with self._offset.open("r+b") as file:
            offset_ns = int.from_bytes(file.read(8), sys.byteorder, signed=True)
            real_ns = time.time_ns() - offset_ns
            file.seek(0)
            file.write((int(at.timestamp() * 1e9) - real_ns).to_bytes(8, sys.byteorder, signed=True))

    def environment(self) -> dict[str, str]:
        """What a process needs to live by it."""
        return {"LD_PRELOAD": str(self._library), CLOCK_VARIABLE: str(self._offset)}


@dataclass(slots=True)
class Sender:
    """The host's agent: offsets of its streams, and what it sent."""

    host: YearHost
    poster: Poster
    offsets: dict[str, int] = field(default_factory=dict)
    n_text: int = 0
    generated_s: float = 0.0

    async def send_day(self, day: int) -> None:
        """Posts a day in pieces, each until it is taken."""
        began = time.process_time()
        # A CPU's row has some 90 bytes, and mpstat prints most.
        n_bytes = 120 * (self.host.n_cpus + 1) * DAY // dt.timedelta(seconds=self.host.interval_s)
        for pieces in self.host.print_day(day, max(1, n_bytes // PIECE_BYTES)):
            frames = []
            for piece in pieces:
                offset = self.offsets.get(piece.spec, 0)
                key = f"{piece.spec}.1795262400.4711-1"
                frames.append(Frame(FrameKind.STREAM, piece.spec, key, offset, len(piece.text), piece.command, piece.text))
                self.offsets[piece.spec] = offset + len(piece.text)
                self.n_text += len(piece.text)
            packed = gzip.compress(format_frames(frames), GZIP_LEVEL)
            self.generated_s += time.process_time() - began
            while (answer := await self.poster.post(packed)).status != 200:
                if answer.status not in {0, 429, 503}:
                    raise RuntimeError(f"{answer.status} {answer.body[:300]!r}")
                await asyncio.sleep(max(0.5, answer.retry_after_s))
            began = time.process_time()
        self.generated_s += time.process_time() - began


@dataclass(frozen=True, slots=True)
class Look:
    """Tells what is found after so many days."""

    days: int

    def note(self, name: str, value: float, unit: str) -> None:
        print(f"  {name:58} {value:12,.2f} {unit}", flush=True)
        record("embedded", f"year, {self.days} days, {name}", value, unit)


class Year:
    """The host's year on a running server."""

    def __init__(self, rig: Rig, clock: FakedClock, sender: Sender) -> None:
        self.rig = rig
        self.clock = clock
        self.sender = sender
        self.jobs_s = 0.0
        self._engine = make_engine(rig.database_url, pool_size=1)
        self._sessions = make_sessions(self._engine)
        self._sealing = Sealing(self._sessions, 1)

    def run(self, days: int, looks: tuple[int, ...]) -> None:
        """Lives `days`, and looks after some of them."""
        for day in range(days):
            end = self.sender.host.start + (day + 1) * DAY
            self.clock.set(end + AFTER_MIDNIGHT)
            times = [time.perf_counter()]
            asyncio.run(self.sender.send_day(day))
            times.append(time.perf_counter())
            if day == BASELINE_DAY:
                self._mark_baseline()
            self._vacuum()
            times.append(time.perf_counter())
            asyncio.run(self._end_day())
            times.append(time.perf_counter())
            if (day + 1) % 7 == 0 or day + 1 in looks:
                steps = ", ".join(f"{end - begin:.1f}" for begin, end in pairwise(times))
                print(f"day {day + 1}: {self._sizes()}; sent, vacuumed and worked on in {steps} s", flush=True)
            if (day + 1) in looks or day + 1 == days:
                self._look(day + 1)

    def _mark_baseline(self) -> None:
        begin = self.sender.host.start + BASELINE_DAY * DAY
        window = f"{begin + 7 * HOUR:%Y-%m-%dT%H:%M:%SZ}/{begin + 19 * HOUR:%Y-%m-%dT%H:%M:%SZ}"
        self._normstat("baseline", "add", "busy", "--host", HOST, "--window", window)
        self._normstat("profile", "work")

    async def _end_day(self) -> None:
        """What the server's jobs do by and by, and autovacuum within an hour: there are only seconds."""
        now, began = dt.datetime.now(dt.UTC), time.process_time()
        done = await roll_up(self._sessions, now=now, budget_s=1e9)
        sealed = await self._sealing.seal(now=now, budget_s=1e9, is_throttled=False)
        packed = await pack_chunks(self._sessions, before=limit_at(now, 1), budget_s=1e9, turns=Turns("packing_failed"))
        if not (done.is_all and sealed.is_all and packed.is_all):
            raise RuntimeError(f"not all was done: {done}, {sealed}, {packed}")
        self.jobs_s += time.process_time() - began
        # The server's own note comes at a minute that the jumping clock may leave out.
        await note_sizes(self._sessions)
        await self._engine.dispose()

    def _vacuum(self) -> None:
        with psycopg.connect(self.rig.database_url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")

    def _normstat(self, *arguments: str) -> str:
        environment = os.environ | {
            "NORMSTAT_DATABASE_URL": self.rig.database_url,
            "NORMSTAT_PUBLIC_URL": f"http://127.0.0.1:{self.rig.port}",
        }
        done = subprocess.run(
            [sys.executable, "-m", "normstat", *arguments], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"normstat {' '.join(arguments)}: {done.stderr[-800:]}")
        return done.stdout.strip()

    def _sizes(self) -> str:
        with psycopg.connect(self.rig.database_url) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        assert row is not None
        return f"{row[0] / MB:,.0f} MB, {self.sender.n_text / MB:,.0f} MB of text"

    def _look(self, days: int) -> None:
        look = Look(days)
        print(f"\nafter {days} days", flush=True)
        with log_in(self._normstat("login-link").splitlines()[-1]) as client:
            n_values = self._look_at_disk(look)
            for what, measure in (("drawn", self._draw), ("compared", self._compare), ("exported", self._export)):
                reset_peak(self.rig.process.pid)
                measure(look, client)
                look.note(f"peak memory of the server while {what}", peak_bytes(self.rig.process.pid) / MB, "MB")
            look.note("million values so far", n_values / 1e6, "")

    def _look_at_disk(self, look: Look) -> int:
        with psycopg.connect(self.rig.database_url, autocommit=True) as connection:
            row = connection.execute("SELECT sum(n_values), sum(n_rows) FROM sealed_blocks").fetchone()
            assert row is not None
            n_sealed = int(row[0] or 0)
        info = asyncio.run(self._read_storage())
        n_values = sum(stat.n_values for stat in info.stats)
        parts = {part.part: part.bytes for part in info.parts}
        for part, n_bytes in parts.items():
            look.note(f"disk, {part}", n_bytes / MB, "MB")
        look.note("disk, all", info.database_bytes / MB, "MB")
        if n_sealed:
            look.note("sealed samples", parts["sealed"] / n_sealed, "bytes a value")
            # What only the last days take is no cost of the year.
            lasting = parts["sealed"] + parts["rollups"] + info.raw.packed_table_bytes
            look.note("sealed samples, packed text and rollups, a sealed value", lasting / n_sealed, "bytes a value")
        look.note("all, a value", info.database_bytes / n_values, "bytes a value")
        look.note("forecast, growth a day", (info.growth_bytes_per_day or 0) / MB, "MB")
        return int(n_values)

    async def _read_storage(self) -> StorageInfo:
        # Not the page's, which is kept for a minute.
        async with open_read_session(self._sessions) as session:
            info = await read_storage_info(session, self.rig.database_url, None, None)
        await self._engine.dispose()
        return info

    def _timed(self, look: Look, name: str, get: Callable[[], httpx.Response], rounds: int) -> httpx.Response:
        times, postmaster = [], self.rig.postmaster
        ours, theirs = cpu_seconds(self.rig.process.pid), cpu_seconds(postmaster)
        for _ in range(rounds):
            began = time.perf_counter()
            answer = get()
            times.append(1000 * (time.perf_counter() - began))
            answer.raise_for_status()
        used = cpu_seconds(self.rig.process.pid) - ours + cpu_seconds(postmaster) - theirs
        look.note(name, statistics.median(times), "ms")
        look.note(f"{name}: CPU", 1000 * used / rounds, "ms")
        return answer

    def _draw(self, look: Look, client: httpx.Client) -> None:
        end = self.sender.host.start + look.days * DAY
        middle = self.sender.host.start + look.days // 2 * DAY + 11 * HOUR
        eight = [("instance", str(cpu)) for cpu in range(8)]
        for name, start, until, chosen in (
            ("draw an hour of 8 CPUs, the last", end - HOUR, end, eight),
            ("draw an hour of 8 CPUs, in the middle", middle, middle + HOUR, eight),
            ("draw a day of 8 CPUs, in the middle", middle, middle + DAY, eight),
            ("draw 30 days of 8 CPUs", end - 30 * DAY, end, eight),
            ("draw all days of 8 CPUs", self.sender.host.start, end, eight),
            ("draw all days, the top 8 of all CPUs", self.sender.host.start, end, [("instances", "top:8")]),
            ("heatmap of all CPUs, all days", self.sender.host.start, end, []),
        ):
            asked = {"host": HOST, "stat": "mpstat_linux", "field": "usr_pct", "width": "1200"}
            params = httpx.QueryParams([*asked.items(), ("start", start.isoformat()), ("end", until.isoformat()), *chosen])
            self._timed(look, name, partial(client.get, "/series", params=params), ROUNDS)

    def _compare(self, look: Look, client: httpx.Client) -> None:
        begin = self.sender.host.start + (look.days - 2) * DAY + 14 * HOUR
        for name, against in (
            ("compare an hour with the day before", [("ago", "day")]),
            ("compare an hour with a stored profile", [("baseline", "1")]),
            (
                "compare an hour with five days",
                [("baseline_start", (begin - 5.5 * DAY).isoformat()), ("baseline_end", (begin - 12 * HOUR).isoformat())],
            ),
        ):
            if look.days < 8 and "five" in name:
                continue
            asked = httpx.QueryParams([("host", HOST), ("start", begin.isoformat()), ("end", (begin + HOUR).isoformat()), *against])
            # Twice the same is answered from memory: what counts is the first.
            answer = self._timed(look, name, partial(client.get, "/comparison", params=asked), 1)
            place = next((number for number, group in enumerate(answer.json()["groups"], 1) if CULPRIT in json.dumps(group)), 0)
            look.note(f"{name}: place of the incident's process", place, "")

    def _export(self, look: Look, client: httpx.Client) -> None:
        begin = self.sender.host.start + look.days // 2 * DAY
        for name, length in (("CSV of a day of mpstat", DAY), ("CSV of a week of mpstat", min(7, look.days // 2) * DAY)):
            params = {"host": HOST, "stat": "mpstat_linux", "start": begin.isoformat(), "end": (begin + length).isoformat()}
            began, first_s, n_lines = time.perf_counter(), 0.0, 0
            ours, theirs = cpu_seconds(self.rig.process.pid), cpu_seconds(self.rig.postmaster)
            with client.stream("GET", "/export.csv", params=params) as answer:
                answer.raise_for_status()
                for chunk in answer.iter_bytes():
                    first_s = first_s or time.perf_counter() - began
                    n_lines += chunk.count(b"\n")
            used = cpu_seconds(self.rig.process.pid) - ours + cpu_seconds(self.rig.postmaster) - theirs
            look.note(f"{name}: first byte", first_s, "s")
            look.note(name, time.perf_counter() - began, "s")
            look.note(f"{name}: CPU of a million lines", 1e6 * used / n_lines, "s")
            look.note(f"{name}: lines", n_lines, "")


def reset_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def peak_bytes(pid: int) -> int:
    """What the process held resident at most since `reset_peak`."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) << 10


def live(options: argparse.Namespace, folder: Path) -> None:
    looks = tuple(look for look in map(int, options.looks.split(",")) if look < options.days)
    today = dt.datetime.now(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    # Mondays begin a week, and the year ends in the past.
    start = today - (options.days + 14) * DAY
    start -= start.weekday() * DAY
    clock = FakedClock(Path(os.environ[CLOCK_VARIABLE]).parent)
    clock.set(start)
    incident_days = frozenset(day - 2 for day in (*looks, options.days))
    host = YearHost(start, n_cpus=options.cpus, interval_s=options.interval, incident_days=incident_days)
    with embedded_database(folder, clock.environment()) as url, serving(url, 1) as rig:
        sender = Sender(host, Poster(rig.port, rig.agent_token(), HOST, keeps=False))
        year = Year(rig, clock, sender)
        before = rig.usage()
        began = time.perf_counter()
        year.run(options.days, looks)
        report_cost(rig.usage() - before, year, time.perf_counter() - began)


def report_cost(used: Usage, year: Year, wall_s: float) -> None:
    """Prints what the year cost, all of it."""
    print(
        f"\nCPU s: server {used.server:.0f}, database {used.database:.0f}, jobs {year.jobs_s:.0f};"
        f" writing the text {year.sender.generated_s:.0f}; wall {wall_s:.0f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=28, help="365: a year, which takes an hour or more")
    parser.add_argument("--interval", type=int, default=30, help="seconds between reports")
    parser.add_argument("--cpus", type=int, default=64)
    parser.add_argument("--looks", default=LOOKS, help="days after which to look, each at least 3, besides the last")
    parser.add_argument("--data", type=Path, help="keeps the database in this folder")
    options = parser.parse_args()
    if min(options.days, *map(int, options.looks.split(","))) < 3:
        parser.error("--days, --looks: 3 at least, or no day comes before that of the incident")
    if CLOCK_VARIABLE not in os.environ:
        folder = Path(tempfile.mkdtemp(prefix="normstat-clock-"))
        folder.chmod(0o711)
        clock = FakedClock(folder)
        clock.build()
        # From here on this process lives by it, too.
        os.execve(sys.executable, [sys.executable, "-m", "bench.bench_year", *sys.argv[1:]], os.environ | clock.environment())
    if options.data is not None:
        options.data.mkdir(mode=0o711, parents=True, exist_ok=True)
        live(options, options.data)
    else:
        with tempfile.TemporaryDirectory(prefix="normstat-year-") as name:
            Path(name).chmod(0o711)
            live(options, Path(name))


if __name__ == "__main__":
    main()
