"""`normstat agent-token` and `normstat join-token`."""

from tests.cli.commands import Commands
from tests.databases import on_either_database

pytestmark = on_either_database


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
