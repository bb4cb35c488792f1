"""`normstat verdict`: what a script that deploys learns from its exit code."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from normstat.records.change_verdict_rows import Verdict
from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database

pytestmark = on_either_database


async def judge(sessions: Sessions, verdict: Verdict) -> None:
    """Store a verdict as a server does."""
    insert = """
        INSERT INTO change_verdicts (event_id, host_id, at, verdict, sentence, changes, before_start_at, before_end_at,
            after_start_at, after_end_at, judged_at)
        SELECT 1, id, now(), :verdict, 'dd wrote 80 MiB/s.', CAST(:changes AS jsonb), now(), now(), now(), now(), now() FROM hosts
        ON CONFLICT (event_id, host_id) WHERE event_id IS NOT NULL DO UPDATE SET verdict = excluded.verdict
    """
    changes = [{"sentence": "dd wrote 80 MiB/s.", "is_worse": True}, {"sentence": "usr fell.", "is_worse": False}]
    async with sessions() as session, session.begin():
        await session.execute(text(insert), {"verdict": verdict.value, "changes": json.dumps(changes)})


@pytest.mark.usefixtures("_filled")
async def test_exit_codes(normstat: Commands, sessions: Sessions) -> None:
    await normstat.do("event", "add", "web 1.4", "--host", "web1", "--kind", "deployment")
    code, out, _ = await normstat("verdict", "1")
    assert (code, "not judged yet; due at" in out) == (2, True)
    for verdict, expected in ((Verdict.SAME, 0), (Verdict.BETTER, 0), (Verdict.WORSE, 1), (Verdict.TOO_LITTLE_DATA, 2)):
        await judge(sessions, verdict)
        code, out, err = await normstat("verdict", "1", "--wait")
        assert (code, err) == (expected, ""), verdict
        assert f": {verdict.replace('_', ' ')}\nweb1: {verdict.replace('_', ' ')}. dd wrote 80 MiB/s.\n" in out
    await judge(sessions, Verdict.WORSE)
    code, out, _ = await normstat("verdict", "1")
    assert out.splitlines()[2:] == ["  better: usr fell."]
    code, out, _ = await normstat("verdict", "1", "--json")
    assert (code, json.loads(out)["verdict"]["verdict"]) == (1, "worse")
    listed = (await normstat.do("event", "list")).splitlines()
    assert "deployment web 1.4 worse command line" in " ".join(listed[1].split())


@pytest.mark.usefixtures("_filled")
async def test_an_error_is_not_a_verdict(normstat: Commands) -> None:
    await normstat.do("event", "add", "lunch", "--host", "web1")
    old = datetime.now(UTC) - timedelta(days=2)
    await normstat.do("event", "add", "web 1.3", "--host", "web1", "--kind", "deployment", "--at", old.isoformat())
    code, _, err = await normstat("verdict", "9")
    assert (code, "There is no event 9" in err) == (2, True)
    code, _, err = await normstat("verdict", "1")
    assert (code, "only events of kind deployment, setting and reboot are judged" in err) == (2, True)
    # Long due, and no server has judged it: waiting would be in vain.
    code, out, _ = await normstat("verdict", "2", "--wait")
    assert (code, "not judged yet" in out) == (2, True)
