"""`normstat audit` prints what commands changed, and commands that only read leave nothing."""

import json

from tests.cli.commands import Commands
from tests.databases import on_either_database

pytestmark = on_either_database


async def test_commands_are_noted_when_they_change_something(normstat: Commands) -> None:
    assert (await normstat("audit"))[:2] == (0, "no entries\n")
    code, out, err = await normstat("agent-token", "create", "web1's agent", "--host", "web1")
    assert code == 0, err
    await normstat("agent-token", "list")
    code, out, _ = await normstat("audit", "--json")
    (entry,) = map(json.loads, out.splitlines())
    assert (code, entry["means"], entry["action"], entry["target"]) == (
        0,
        "command",
        "run_command",
        {"command": "agent-token create"},
    )
    _, out, _ = await normstat("audit", "--csv", "--action", "run_command")
    assert out.splitlines()[0].startswith("id,time,account,means")
    _, out, _ = await normstat("audit", "--refused")
    assert out == "no entries\n"
