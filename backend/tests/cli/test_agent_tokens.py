"""`normstat agent-token` and `normstat join-token`."""

from tests.cli.test_baseline import run_command
from tests.databases import on_either_database

pytestmark = on_either_database


async def test_tokens_are_created_listed_rotated_and_revoked(database_url: str) -> None:
    assert (await run_command(database_url, "join-token", "list"))[:2] == (0, "no join tokens\n")
    code, out, _ = await run_command(
        database_url, "join-token", "create", "web", "--for", "30m", "--uses", "3", "--hosts", "web*", "--command"
    )
    assert code == 0
    assert "/api/v1/agent/install.sh | NORMSTAT_JOIN_TOKEN=nsj_" in out
    _, out, _ = await run_command(database_url, "join-token", "list")
    assert out.splitlines()[1].split()[:5] == ["1", "web", "0", "of", "3"]
    assert (await run_command(database_url, "join-token", "revoke", "1"))[0] == 0
    assert "revoked" in (await run_command(database_url, "join-token", "list"))[1]
    code, _, err = await run_command(database_url, "join-token", "create", "--for", "soon")
    assert (code, "expected a number with m, h or d" in err) == (2, True)

    await run_command(database_url, "agent-token", "create", "web1's agent", "--host", "web1")
    await run_command(database_url, "agent-token", "create", "anybody's agent")
    code, out, _ = await run_command(database_url, "agent-token", "rotate", "--all")
    assert (code, out) == (0, "asked 1 agent to take a new token, with the next delivery\n")
    states = [line.split()[-1] for line in (await run_command(database_url, "agent-token", "list"))[1].splitlines()[1:]]
    assert states == ["active", "rotating"]
    assert (await run_command(database_url, "agent-token", "rotate"))[0] == 2
    assert (await run_command(database_url, "agent-token", "revoke", "1"))[0] == 0
    assert "revoked or expired" in (await run_command(database_url, "agent-token", "rotate", "1"))[2]
