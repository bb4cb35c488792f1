"""Guesses of passwords and names pointed at us, from the socket on. How the throttle counts: tests/auth and tests/api."""

from pathlib import Path

import httpx

from normstat.auth.throttle import FREE_TRIES
from tests.attack.clients import plain_database
from tests.databases import ServerPool
from tests.e2e.product import Server

N_GUESSES = 20


def guess(client: httpx.Client, forwarded_for: str) -> int:
    body = {"name": "nobody", "password": "a wrong password"}
    return client.post("/api/v1/auth/login", json=body, headers={"X-Forwarded-For": forwarded_for}).status_code


def test_behind_a_trusted_proxy_each_client_counts(servers: ServerPool, tmp_path: Path) -> None:
    with (
        plain_database(servers) as url,
        Server(url, tmp_path / "log", settings={"NORMSTAT_TRUSTED_PROXIES": "127.0.0.1"}) as server,
        httpx.Client(base_url=server.url, timeout=60) as client,
    ):
        # The client wrote all but the last address itself; the proxy added that one.
        forwarded = (f"198.51.100.{n}, 203.0.113.9" for n in range(N_GUESSES))
        assert [guess(client, next(forwarded)) for _ in range(FREE_TRIES)] == [401] * FREE_TRIES
        # On a slow machine a wait may be over before the next guess, and then the next one is twice as long.
        assert 429 in (guess(client, each) for each in forwarded)
        assert guess(client, "203.0.113.10") == 401
        for path in ("/", "/api/v1/health", "/api/v1/agent/install.sh"):
            rebound = client.get(path, headers={"Host": f"rebound.evil.example:{server.port}"})
            assert (rebound.status_code, rebound.json()["error"]["code"]) == (400, "unknown_host")
