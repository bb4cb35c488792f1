"""A rule over recorded samples, through the database: pieces join, gaps and changes of the tool are no alarms."""

from datetime import timedelta

import numpy as np
import pytest

from normstat.errors import NoData
from normstat.samples.lookup import find_hosts
from normstat.watch.rules.past import PIECE, PastRun, run_over_past
from normstat.watch.rules.rule_file import Colour, load_builtin_rules
from normstat.window import Window, from_us
from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_stat

pytestmark = on_either_database

START = from_us(1_700_000_000_000_000)
# Two pieces and a half; the lock is contended over the border of the first two.
N = int(2.5 * PIECE.total_seconds() / 10)
CONTENDED = slice(350, 380)


async def fill_mpstat(sessions: Sessions, host: str, *, gap: slice = slice(0, 0)) -> None:
    """Two CPUs each ten seconds; CPU 1 spins while the lock is contended."""
    keep = np.ones(N, dtype=bool)
    keep[gap] = False
    smtx, sys = np.full((N, 2), 100.0), np.full((N, 2), 5.0)
    smtx[CONTENDED, 1], sys[CONTENDED, 1] = 900, 40
    seconds = 10 * np.flatnonzero(keep)
    values = {"smtx": smtx[keep].ravel(), "sys_pct": sys[keep].ravel()}
    await fill_stat(sessions, "mpstat_solaris", START, seconds, ("0", "1"), host=host, values=values, usr_pct=10.0)


async def over_all(sessions: Sessions, host: str, rule: str = "mutex") -> PastRun:
    async with sessions() as session:
        host_id = (await find_hosts(session, [host]))[host]
        window = Window(START, START + timedelta(seconds=10 * N))
        return await run_over_past(session, (host_id, host), load_builtin_rules()[rule], window)


async def test_an_episode_over_two_pieces_is_one(sessions: Sessions) -> None:
    await fill_mpstat(sessions, "sun1")
    past = await over_all(sessions, "sun1")
    [episode] = past.episodes
    assert (episode.instance, episode.state.colour, episode.n_reports) == ("1", Colour.RED, 30)
    assert from_us(round(episode.start_s * 1e6)) == START + timedelta(seconds=3500)
    assert episode.end_s - episode.start_s == 290
    assert episode.values == {"smtx": 900, "usr": 10, "sys": 40}
    assert past.seconds == {Colour.RED: 300, Colour.GREEN: 10 * N - 300}
    assert (past.n_reports, past.unknown_s) == (N, 0)
    assert past.sources == {"smtx": ["mpstat_solaris.smtx"], "usr": ["mpstat_solaris.usr_pct"], "sys": ["mpstat_solaris.sys_pct"]}
    assert past.n_a_week == pytest.approx(7 * 86_400 / (10 * N))


async def test_a_gap_ends_an_episode(sessions: Sessions) -> None:
    await fill_mpstat(sessions, "sun1", gap=slice(360, 374))
    past = await over_all(sessions, "sun1")
    assert [episode.n_reports for episode in past.episodes] == [10, 6]
    # Nobody knows what happened in the gap.
    assert sum(past.seconds.values()) < 10 * (N - 4)


async def test_a_host_without_the_inputs_is_told_what_gives_them(sessions: Sessions) -> None:
    await fill_mpstat(sessions, "sun1")
    with pytest.raises(NoData, match=r"rule disk-slow needs busy, which sun1 never sent; .*iostat_linux\.util_pct"):
        await over_all(sessions, "sun1", "disk-slow")


async def test_the_command_tells_when_it_would_have_fired(sessions: Sessions, database_url: str) -> None:
    await fill_mpstat(sessions, "sun1")
    times = ("--from", START.isoformat(), "--to", (START + timedelta(seconds=10 * N)).isoformat())

    async def ask(*arguments: str) -> tuple[int, str, str]:
        return await Commands(database_url)("rules", *arguments)

    code, out, err = await ask("test", "mutex", "--host", "sun1", *times)
    assert (code, err) == (0, "")
    assert "900 reports; smtx from mpstat_solaris.smtx" in out
    assert "The worst CPU was red 5 min, green 2 h." in " ".join(out.split())
    assert "It would have fired 1 time:" in out
    assert "smtx 900 /s, usr 10 %, sys 40 %" in out
    code, out, _ = await ask("test", "mutex", "--host", "sun1", *times, "--limit", "smtx=1000")
    assert "It would not have fired." in out
    code, out, _ = await ask("test", "mutex", "--host", "sun1", *times, "--csv")
    assert out.splitlines()[0] == "host,rule,instance,start,end,reports,state,smtx,usr,sys"
    assert out.splitlines()[1].endswith(",30,red,900.0,10.0,40.0")
    for arguments, why in (
        (("test", "mutexx", "--host", "sun1", *times), "there is no rule 'mutexx'"),
        (("test", "mutex", "--host", "sun1", *times, "--limit", "smpx=3"), "has no limit 'smpx'"),
        (("test", "mutex", "--host", "sun1", *times, "--limit", "smtx=x"), "a limit is a number"),
        (("test", "mutex", "--host", "moon", *times), "There is no host 'moon'"),
        (("test", "nowhere.toml", "--host", "sun1", *times), "No such file"),
    ):
        code, _, err = await ask(*arguments)
        assert code != 0
        assert why in " ".join(err.replace("│", "").split()), err
    assert "Kernel mutexes" in (await ask("list"))[1]
    assert "limit.smtx" in (await ask("show", "mutex"))[1]


async def test_facts_count_the_cpus_where_a_tool_has_only_their_sum(sessions: Sessions) -> None:
    seconds = np.arange(0, 120, 10)
    await fill_stat(sessions, "vmstat_linux", START, seconds, procs_r=16)
    await fill_stat(sessions, "sar_linux_cpu", START, seconds, ("all",), user_pct=50.0)
    await fill_stat(sessions, "host_facts", START - timedelta(hours=1), [0], cpus=4)
    past = await over_all(sessions, "web1", "run-queue-linux")
    assert past.sources["cpus"] == ["the host's facts (cpus)"]
    assert past.seconds.keys() == {Colour.AMBER}
