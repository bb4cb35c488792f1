"""Stats of one's own, as docs/add-ons.md describes them: a file, a line in stats.conf, and they are like built-in ones."""

import csv
import io
from pathlib import Path

import httpx
import pytest

from tests.addons import APP_USER, TIMINGS, app_time_spec
from tests.databases import on_either_database
from tests.e2e.product import Server, running_agent, wait_until

pytestmark = on_either_database

# Prints without a time, as dim_STAT's worked example does.
APP_TIME = """#!/bin/sh
n=0
while :; do
    n=$((n + 1))
    echo "0.1$((n % 10)) 0.20 0.30 0.40 0.50 $n.00"
    sleep 1
done
"""
# Prints once and ends; the number of users differs from call to call.
APP_USER_ONCE = """#!/bin/sh
echo User Calls Wait
echo "anna $(date +%S) 0.5"
[ $(( $(date +%s) % 2 )) = 0 ] || echo "bert 7 1.5"
"""
STAMPED = 'while IFS= read -r line; do date -u +%Y-%m-%dT%H:%M:%SZ; echo "$line"; done'
ALWAYS = {"start": "2020-01-01T00:00:00Z", "end": "2100-01-01T00:00:00Z"}


def rows_of(client: httpx.Client, stat: str) -> list[dict[str, str]]:
    answer = client.get("/export.csv", params=ALWAYS | {"host": "h", "stat": stat})
    return list(csv.DictReader(io.StringIO(answer.text))) if answer.status_code == 200 else []


@pytest.mark.matrix
@pytest.mark.timeout(120)  # a server with all modules of its own, commands beside it, and a busy machine
def test_two_add_ons_live_changed_and_read_again(database_url: str, tmp_path: Path) -> None:
    for name, text in (("app_time", APP_TIME), ("app_user", APP_USER_ONCE)):
        tool = tmp_path / name
        tool.write_text(text)
        tool.chmod(0o755)
        (tmp_path / f"{name}.toml").write_text(app_time_spec() if name == "app_time" else APP_USER)
    stats = f"app_time\t{tmp_path}/app_time | {STAMPED}\napp_user\t@1 {tmp_path}/app_user\n"
    with Server(database_url, tmp_path / "server.log", is_forked=False) as server:
        assert server.normstat("stat", "add", str(tmp_path / "app_time.toml")).startswith("Added app_time, version 1")
        token = server.normstat("agent-token", "create", "test")
        with server.log_in() as client, running_agent(server.url, token, tmp_path / "agent", stats, host="h"):
            wait_until(lambda: len(rows_of(client, "app_time")) > 3, "timings")
            # Nobody can read the users yet; their bytes are kept.
            wait_until(lambda: [host["n_streams"] for host in client.get("/hosts").json()["hosts"]] == [2], "both streams")
            added = server.normstat("stat", "add", str(tmp_path / "app_user.toml"))
            assert added == "1 stream was read with another version; `normstat reparse --spec app_user` reads it again"
            wait_until(lambda: len(rows_of(client, "app_user")) > 1, "users")
            first_live = rows_of(client, "app_user")[0]
            changed = tmp_path / "app_time.toml"
            changed.write_text(app_time_spec().replace('key = "logout_s"', 'key = "leave_s"'))
            server.normstat("stat", "add", str(changed))
            server.normstat("reparse", "--outdated")
            specs = {spec["name"]: spec for spec in client.get("/specs").json()["specs"]}
            assert [(specs[name]["version"], specs[name]["n_streams_outdated"]) for name in ("app_time", "app_user")] == [
                (2, 0),
                (1, 0),
            ]
            # What the agent had sent before anybody could read it is there now, and it goes on live.
            users = rows_of(client, "app_user")
            assert users[0]["time"] < first_live["time"]
            n_before = len(rows_of(client, "app_time"))
            wait_until(lambda: len(rows_of(client, "app_time")) > n_before, "more timings")
            times = rows_of(client, "app_time")
            accounts = client.get("/hosts/h/accounts").json()
    assert [row["leave_s[s]"] for row in times] == [f"{number}.00" for number in range(1, len(times) + 1)]
    assert [key.partition("_s[")[0] for key in times[0]][3:] == [*TIMINGS[:-1], "leave"]
    assert {row["instance"] for row in users} <= {"anna", "bert"}
    assert accounts["n_lines"]["rejected"] == 0
