"""False alarms and found faults: a week of made-up hosts, by the rules and by the continuous comparison, as they run live.

    python -m bench.bench_alarms [--hosts 8] [--seed 0] [--database embedded|timescaledb|URL]

Two weeks of samples every minute (alarm_hosts.py). Nobody marks a baseline: the rolling one is made after the first week and
follows each day. Half of the hosts stay quiet, the others have a fault each day of the second week. Told are the episodes of each
source on the quiet hosts, by host and week, and which faults any episode touches that began while they lasted.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np

from bench.alarm_hosts import INTERVAL_S, KINDS, AlarmHost, make_host, put_faults, tables
from bench.record import record
from bench.rig import database
from normstat.baselines.rolling_baseline import update_rolling_baselines
from normstat.db.session import make_engine, make_sessions, open_read_session
from normstat.errors import NoData
from normstat.profiles.profile_job import run_profiles
from normstat.records.episode_rows import CONTINUOUS, WITHDRAWN, read_episodes_after
from normstat.records.score_rows import read_scores
from normstat.samples.lookup import find_hosts
from normstat.watch.fleet.minute_store import MINUTE_US
from normstat.watch.rule_book import read_watch_book
from normstat.watch.rules.past import run_over_past
from normstat.watch.scores.culprits import AskedSpells
from normstat.watch.scores.score_job import backfill, note_spells
from normstat.window import Window, from_us, to_us
from tests.databases import Sessions
from tests.query.filling import fill_values

LEARN_DAYS = 7
JUDGE_DAYS = 7
# The first baseline is made at the end of the first week.
START = datetime(2026, 11, 2, tzinfo=UTC)
JUDGED = Window(START + timedelta(days=LEARN_DAYS), START + timedelta(days=LEARN_DAYS + JUDGE_DAYS))
# An episode may begin this long after the fault: windows are of five minutes, and rules wait.
LATE = timedelta(minutes=10)
# What began so long after a fault has ended is its aftermath.
AFTER = timedelta(minutes=30)
MAX_TOLD = 40


@dataclass(frozen=True, slots=True)
class Alarm:
    """An episode."""

    source: str
    instance: str
    window: Window
    colour: str
    text: str = ""


@dataclass(slots=True)
class HostResult:
    """A host, and what was said of it in the second week."""

    name: str
    host: AlarmHost
    alarms: list[Alarm] = field(default_factory=list)

    def is_of_fault(self, alarm: Alarm) -> bool:
        return any(window.start <= alarm.window.end and alarm.window.start <= window.end + AFTER for _, window in self.host.faults)

    def finds(self, fault: Window, source: str | None = None) -> list[Alarm]:
        """The alarms that touch a fault and began while it lasted, or shortly after."""
        return [
            alarm
            for alarm in self.alarms
            if (source is None or (alarm.source == CONTINUOUS) == (source == CONTINUOUS))
            and fault.start - timedelta(minutes=1) <= alarm.window.start <= fault.end + LATE
        ]


async def fill(sessions: Sessions, name: str, host: AlarmHost) -> None:
    """Stores a day at a time, as agents begin new streams."""
    per_day = 86400 // INTERVAL_S
    time_us = to_us(host.start) + host.second * 1_000_000
    for stat, (instances, columns) in tables(host).items():
        for number, begin in enumerate(range(0, len(time_us), per_day)):
            own = slice(begin, begin + per_day)
            times = time_us[own]
            await fill_values(
                sessions,
                name,
                stat,
                time_us=np.repeat(times, len(instances)),
                instances=instances * len(times),
                values={key: values[own].ravel() for key, values in columns.items()},
                key=f"{stat} {number}",
            )


async def replay(sessions: Sessions, names: Sequence[str], ids: dict[str, int]) -> None:
    """The second week of the continuous comparison, a day at a time: the baseline follows, then the day is scored."""
    for day in range(JUDGE_DAYS):
        start = JUDGED.start + timedelta(days=day)
        # Streams that begin later count as recorded by their times, so that a host sends at each of these moments.
        while await update_rolling_baselines(sessions, start + timedelta(minutes=5)):
            await run_profiles(sessions, budget_s=36000, now=datetime.now(UTC) + timedelta(days=1))
        for name in names:
            minutes = range(to_us(start) // MINUTE_US, to_us(start + timedelta(days=1)) // MINUTE_US)
            end = from_us(minutes.stop * MINUTE_US)
            await backfill(sessions, ids[name], minutes, now=end)
            async with open_read_session(sessions) as session:
                rows = await read_scores(session, ids[name], Window(start, end))
            await note_spells(sessions, rows, minutes, AskedSpells(), now=end, only=ids[name])


async def read_alarms(sessions: Sessions, name: str, host_id: int) -> list[Alarm]:
    """What both said of a host in the second week."""
    async with open_read_session(sessions) as session:
        found = [
            Alarm(CONTINUOUS, row.instance, Window(row.start_at, row.last_at + timedelta(minutes=1)), row.colour, row.sentence)
            for row in await read_episodes_after(session, host_id, [CONTINUOUS], JUDGED.start)
            if row.ended_by != WITHDRAWN
        ]
        for rule in (await read_watch_book(session)).rules_for(name, ()):
            try:
                past = await run_over_past(session, (host_id, name), rule, JUDGED)
            except NoData:
                continue
            found += [
                Alarm(rule.name, episode.instance, _window(episode.start_s, episode.end_s), episode.state.colour)
                for episode in past.episodes
            ]
    return sorted(found, key=lambda alarm: alarm.window)


def _window(start_s: float, end_s: float) -> Window:
    return Window(from_us(round(start_s * 1e6)), from_us(round((end_s + INTERVAL_S) * 1e6)))


def tell(results: Sequence[HostResult]) -> dict[str, float]:
    """Prints the tables; returns the figures to record."""
    quiet = [own for own in results if not own.host.faults]
    faulty = [own for own in results if own.host.faults]
    by_source = Counter(alarm.source for own in quiet for alarm in own.alarms)
    outside = Counter(alarm.source for own in faulty for alarm in own.alarms if not own.is_of_fault(alarm))
    n_weeks = max(1, len(quiet)) * JUDGE_DAYS / 7
    print(f"false alarms on {len(quiet)} quiet hosts, by host and week; in brackets: beside the faults of {len(faulty)} others")
    for source in sorted({*by_source, *outside}):
        print(f"  {source:24} {by_source[source] / n_weeks:6.2f}   ({outside[source]})")
    _list((own.name, alarm) for own in results for alarm in own.alarms if not own.is_of_fault(alarm))
    print("faults: found by rules / by the continuous comparison / by either / put in")
    found: Counter[tuple[str, str]] = Counter()
    for own in faulty:
        for name, window in own.host.faults:
            rules, comparison = own.finds(window, "rules"), own.finds(window, CONTINUOUS)
            found[name, "all"] += 1
            found[name, "rules"] += bool(rules)
            found[name, "comparison"] += bool(comparison)
            found[name, "either"] += bool(rules or comparison)
    for name in sorted({name for name, _ in found}):
        print(f"  {name:24} " + " / ".join(f"{found[name, what]:3}" for what in ("rules", "comparison", "either", "all")))
    n_all = sum(n for (_, what), n in found.items() if what == "all")
    n_either = sum(n for (_, what), n in found.items() if what == "either")
    n_comparison = by_source[CONTINUOUS]
    return {
        "false alarms of rules": (sum(by_source.values()) - n_comparison) / n_weeks,
        "false alarms of the comparison": n_comparison / n_weeks,
        "found": n_either / max(1, n_all),
    }


def _list(alarms: Iterable[tuple[str, Alarm]]) -> None:
    for number, (name, alarm) in enumerate(alarms):
        if number == MAX_TOLD:
            print("  and more")
            return
        start, minutes = alarm.window.start, (alarm.window.end - alarm.window.start).total_seconds() / 60
        print(f"    {name:12} {alarm.source} {alarm.instance} {alarm.colour} {start:%a %H:%M} {minutes:.0f} min {alarm.text}")


async def measure(url: str, n_hosts: int, seed: int) -> list[HostResult]:
    engine = make_engine(url, pool_size=4)
    sessions = make_sessions(engine)
    results = []
    for number in range(n_hosts):
        kind = KINDS[number // 2 % len(KINDS)]
        host = make_host(kind, START, LEARN_DAYS + JUDGE_DAYS, seed + number)
        if number % 2:
            put_faults(host, LEARN_DAYS)
        name = f"{kind}{number}"
        await fill(sessions, name, host)
        results.append(HostResult(name, host))
    names = [own.name for own in results]
    async with open_read_session(sessions) as session:
        ids = await find_hosts(session, names)
    await replay(sessions, names, ids)
    for own in results:
        own.alarms = await read_alarms(sessions, own.name, ids[own.name])
    await engine.dispose()
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--database", default="embedded")
    options = parser.parse_args()
    with database(options.database) as url:
        results = asyncio.run(measure(url, options.hosts, options.seed))
    for name, value in tell(results).items():
        print(f"{name:32} {value:8.2f}")
        record("", f"alarms {options.hosts} hosts {name}", value, "share" if name == "found" else "by host and week")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
