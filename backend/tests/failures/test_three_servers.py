"""Three servers over one database, each with a data folder of its own, behind a proxy that takes them in turns; one is killed."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import psycopg
import pytest

from normstat.auth.secret_tokens import API_TOKEN_PREFIX, new_secret
from normstat.db.connecting import connect_arguments
from normstat.db.leader import LEADER_LOCK
from tests.e2e.product import Server, wait_until
from tests.failures.round_robin import balancing
from tests.failures.sender import Agent, Fleet, log_in, make_agent_token
from tests.failures.test_workers import events
from tests.generated import vmstat_text, vmstat_times

# Three servers start here, on a machine that may be busy.
pytestmark = pytest.mark.timeout(120)

N_IMPORTED = 2_000


class Site:
    """The servers, and the port of the proxy before them."""

    def __init__(self, database_url: str, servers: list[Server], port: int) -> None:
        self.database_url = database_url
        self.servers = servers
        self.port = port

    def leaders(self) -> list[Server]:
        """Those that lead now, as their logs say."""
        return [
            server
            for server in self.servers
            if len(events(server, "schedule_started")) > len(events(server, "schedule_stopped")) and is_alive(server)
        ]


def is_alive(server: Server) -> bool:
    return server.process is not None and server.process.poll() is None


@pytest.fixture
def site(database_url: str, tmp_path: Path) -> Iterator[Site]:
    with ExitStack() as stack:
        servers = []
        for name in ("a", "b", "c"):
            (tmp_path / name).mkdir()
            settings = {"NORMSTAT_IMPORT_DIR": str(tmp_path / name / "imports")}
            servers.append(stack.enter_context(Server(database_url, tmp_path / name / "log", settings=settings)))
        yield Site(database_url, servers, stack.enter_context(balancing([server.port for server in servers])))


def n_holding_the_lead(database_url: str) -> int:
    with psycopg.connect(database_url) as connection:
        query = """SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = %s AND objid = %s
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
        row = connection.execute(query, [LEADER_LOCK >> 32, LEADER_LOCK & 0xFFFFFFFF]).fetchone()
        assert row is not None
        return int(row[0])


@pytest.mark.matrix
def test_three_servers_are_one_and_survive_the_leader(site: Site, tmp_path: Path) -> None:
    wait_until(lambda: len(site.leaders()) == 1, "one leader")
    [leader] = site.leaders()
    first, second = (server for server in site.servers if server is not leader)
    token = make_agent_token(site.database_url)
    times = vmstat_times(N_IMPORTED)
    with log_in(first, site.database_url) as at_first, ExitStack() as stack:
        at_second, at_any = (
            stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", headers=at_first.headers, timeout=60))
            for port in (second.port, site.port)
        )
        with Fleet(site.port, token, n_agents=4, n_rows=1200, n_pieces=12) as fleet:
            fleet.wait_until(0.2)
            leader.kill()
            fleet.wait_until(1.0)
        assert set(fleet.answers) <= {200, 0, 503}, "only connections of the one that was killed are cut"
        fleet.assert_stored_once(site.database_url)

        # Loaded where its file is, seen everywhere, once.
        started = at_first.post("/imports", params={"host": "imported", "name": "v.txt"}, content=vmstat_text(times, seed=9))
        assert started.status_code == 202, started.text
        path = f"/imports/{started.json()['id']}"
        wait_until(lambda: at_second.get(path).json()["state"] == "done", "the import is done, as another server says")
        assert (len(events(first, "import_started")), len(events(second, "import_started"))) == (1, 0)

        # What an agent sends to one server is told to the reader of another.
        agent = Agent(first.port, token, "live1", vmstat_text(times[:50], seed=3), 1 << 20)
        with at_second.stream("GET", "/live", params={"host": "live1"}) as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith(("retry:", ": connected"))
            assert agent._post(agent.data)[0] == 200
            told = json.loads(next(line for line in lines if line.startswith("data:")).removeprefix("data:"))
        assert (told["host"], told["spec"]) == ("live1", "vmstat_linux")

        # Both know the token by heart; revoked at one, the next request to the other is refused.
        late = [Agent(server.port, token, "late1", b"", 1) for server in (first, second)]
        assert [each._post(b"")[0] for each in late] == [200, 200]
        with psycopg.connect(site.database_url) as connection:
            [(token_id,)] = connection.execute("SELECT id FROM agent_tokens").fetchall()
            admin = new_secret(API_TOKEN_PREFIX)
            connection.execute("UPDATE users SET role = 'administrator'")
            connection.execute(
                "INSERT INTO api_tokens (name, role, created_by, token_hash) VALUES ('boss', 'administrator', 'operator', %s)",
                [admin.token_hash],
            )
        headers = {"Authorization": f"Bearer {admin.token}"}
        assert at_first.delete(f"/agent-tokens/{token_id}", headers=headers).status_code in {200, 204}
        assert [each._post(b"")[0] for each in reversed(late)] == [401, 401]
        listed = at_second.get("/api-tokens", headers=headers).json()["tokens"]
        boss_id = next(each["id"] for each in listed if each["name"] == "boss")
        assert at_second.get("/auth/me", headers=headers).status_code == 200
        at_first.delete(f"/api-tokens/{boss_id}", headers=headers)
        assert at_second.get("/auth/me", headers=headers).status_code == 401

        # Guesses count together, whichever server they reach.
        guess = {"name": "operator", "password": "wrong wrong wrong"}
        answers = [at_any.post("/auth/login", json=guess, headers={"Connection": "close"}).status_code for _ in range(24)]
        # The waits double, so a slow machine lets some more through; of three counts each server would let eight of them through.
        assert answers[:5] == [401] * 5
        assert answers.count(401) < 16

        wait_until(lambda: len(site.leaders()) == 1, "another one leads")
    assert n_holding_the_lead(site.database_url) == 1
    assert sum(len(events(server, "schedule_started")) for server in site.servers) == 2, "nobody led beside the leader"


def test_a_database_forgets_a_server_whose_machine_is_gone(database_url: str) -> None:
    """No packet says so: PostgreSQL would keep its connections, and with them the locks of leader and jobs, for two hours."""
    with psycopg.connect(**connect_arguments(database_url)) as connection:  # type: ignore[arg-type]  # strings and numbers
        names = ("tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count", "tcp_user_timeout", "TimeZone")
        found = [connection.execute("SELECT current_setting(%s)", [name]).fetchall()[0][0] for name in names]
    assert found == ["30", "10", "3", "60000", "UTC"]


@pytest.mark.matrix
def test_a_leader_that_hangs_is_replaced_and_does_nothing_more_when_it_goes_on(site: Site) -> None:
    wait_until(lambda: len(site.leaders()) == 1, "one leader")
    [leader] = site.leaders()
    assert leader.process is not None
    others = [server for server in site.servers if server is not leader]
    os.kill(leader.process.pid, signal.SIGSTOP)
    try:
        wait_until(lambda: any(events(server, "schedule_started") for server in others), "another one leads", 90)
        wait_until(lambda: any(events(server, "server_process_cut_off") for server in others), "the hung one is named")
        cut_off = [event for server in others for event in events(server, "server_process_cut_off")]
        assert str(cut_off[0]["place"]).endswith(f":{leader.process.pid}")
        assert int(str(cut_off[0]["heartbeat_age_s"])) >= 30
    finally:
        os.kill(leader.process.pid, signal.SIGCONT)
    wait_until(lambda: len(events(leader, "schedule_stopped")) == 1, "the old one leads no more")
    assert n_holding_the_lead(site.database_url) == 1
    # It serves again.
    with log_in(leader, site.database_url) as client:
        wait_until(lambda: client.get("/health").status_code == 200, "the old one serves")
    assert "Traceback" not in leader.log_path.read_text()
