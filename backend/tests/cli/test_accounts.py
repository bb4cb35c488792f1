"""`normstat sessions`, `second-factor`, `agent-token`, `join-token`, `audit`: what an administrator at the shell sees and ends."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from normstat.auth.account_rows import SessionOrigin, add_session, add_user
from normstat.db.schema.account_models import SecondFactor
from normstat.db.session import open_write_session
from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database

pytestmark = on_either_database

CONFIRMED_AT = datetime(2026, 11, 21, 10, tzinfo=UTC)


@pytest.fixture
async def _two_logged_in(sessions: Sessions) -> None:
    """Ann is logged in twice and has a second factor; Bob is logged in once."""
    async with open_write_session(sessions) as session:
        for name, n_sessions in (("ann", 2), ("bob", 1)):
            user = await add_user(session, name=name, role="operator", password_hash=None)
            assert user is not None
            for number in range(n_sessions):
                origin = SessionOrigin("192.0.2.7", "Firefox on Linux", "password")
                token = f"{name} {number}".encode().ljust(32)
                await add_session(
                    session, user_id=user.id, password_hash=None, token_hash=token, lifetime=timedelta(days=1), origin=origin
                )
            if name == "ann":
                session.add(SecondFactor(user_id=user.id, secret=b"sealed", confirmed_at=CONFIRMED_AT))


@pytest.mark.usefixtures("_two_logged_in")
async def test_sessions_are_listed_and_ended(normstat: Commands) -> None:
    rows = (await normstat.do("sessions", "list")).splitlines()[1:]
    assert sorted(row.split()[1] for row in rows) == ["ann", "ann", "bob"]
    assert all("192.0.2.7" in row and "Firefox on Linux" in row and row.endswith("password") for row in rows)
    own = [row.split()[0] for row in (await normstat.do("sessions", "list", "--account", "ann")).splitlines()[1:]]
    assert await normstat.do("sessions", "end", "--account", "ann", "--session", own[0]) == "ended: 1\n"
    code, _, err = await normstat("sessions", "end", "--account", "bob", "--session", own[1])
    assert (code != 0, f"bob has no session {own[1]}" in err) == (True, True)
    assert await normstat.do("sessions", "end", "--account", "ann") == "ended: 1\n"
    assert await normstat.do("sessions", "list", "--account", "ann") == "no sessions\n"


@pytest.mark.usefixtures("_two_logged_in")
async def test_a_lost_second_factor_is_removed_with_the_sessions(normstat: Commands) -> None:
    events: list[str] = []

    async def do(*arguments: str) -> list[str]:
        code, out, err = await normstat("second-factor", *arguments)
        assert code == 0, out
        events.extend(json.loads(line)["event"] for line in err.splitlines())
        return out.splitlines()

    assert [row.split(maxsplit=1) for row in (await do("list"))[1:]] == [["ann", "2026-11-21 10:00:00Z"], ["bob", "-"]]
    assert await do("reset", "ann") == ["removed the second factor of ann"]
    # For the log, on standard error.
    assert events == ["second_factor_removed"]
    assert await do("reset", "ann") == ["ann has no second factor"]
    assert [row.split() for row in (await do("list"))[1:]] == [["ann", "-"], ["bob", "-"]]
    # Who took it over is out, and others stay.
    code, out, _ = await normstat("sessions", "list")
    assert (code, [row.split()[1] for row in out.splitlines()[1:]]) == (0, ["bob"])


async def test_tokens_are_created_listed_rotated_and_revoked(normstat: Commands) -> None:
    assert (await normstat("join-token", "list"))[:2] == (0, "no join tokens\n")
    code, out, _ = await normstat("join-token", "create", "web", "--for", "30m", "--uses", "3", "--hosts", "web*", "--command")
    assert code == 0
    assert "/api/v1/agent/install.sh | NORMSTAT_JOIN_TOKEN=nsj_" in out
    _, out, _ = await normstat("join-token", "list")
    assert out.splitlines()[1].split()[:5] == ["1", "web", "0", "of", "3"]
    assert (await normstat("join-token", "revoke", "1"))[0] == 0
    assert "revoked" in (await normstat("join-token", "list"))[1]
    code, _, err = await normstat("join-token", "create", "--for", "soon")
    assert (code, "expected a number with m, h or d" in err) == (2, True)

    await normstat("agent-token", "create", "web1's agent", "--host", "web1")
    await normstat("agent-token", "create", "anybody's agent")
    code, out, _ = await normstat("agent-token", "rotate", "--all")
    assert (code, out) == (0, "asked 1 agent to take a new token, with the next delivery\n")
    states = [line.split()[-1] for line in (await normstat("agent-token", "list"))[1].splitlines()[1:]]
    assert states == ["active", "rotating"]
    assert (await normstat("agent-token", "rotate"))[0] == 2
    assert (await normstat("agent-token", "revoke", "1"))[0] == 0
    assert "revoked or expired" in (await normstat("agent-token", "rotate", "1"))[2]


async def test_commands_are_noted_when_they_change_something(normstat: Commands) -> None:
    """Those that only read leave nothing."""
    assert (await normstat("audit"))[:2] == (0, "no entries\n")
    code, out, err = await normstat("agent-token", "create", "web1's agent", "--host", "web1")
    assert code == 0, err
    await normstat("agent-token", "list")
    code, out, _ = await normstat("audit", "--json")
    (entry,) = map(json.loads, out.splitlines())
    assert (code, entry["means"], entry["action"]) == (0, "command", "run_command")
    assert entry["target"] == {"command": "agent-token create"}
    _, out, _ = await normstat("audit", "--csv", "--action", "run_command")
    assert out.splitlines()[0].startswith("id,time,account,means")
    _, out, _ = await normstat("audit", "--refused")
    assert out == "no entries\n"
