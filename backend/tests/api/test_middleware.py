"""Names that are not ours, addresses behind proxies, and what TLS adds."""

import httpx
import pytest
from structlog.testing import capture_logs

from normstat.api.state import AppState
from normstat.app import create_app
from normstat.settings import Settings
from tests.api.samples import VMSTAT, frames_of, send
from tests.api.test_access import assert_envelope

HSTS = "Strict-Transport-Security"


async def ask(settings: Settings, state: AppState, *, address: str = "127.0.0.1", **headers: str) -> httpx.Response:
    app = create_app(settings)
    await app.state.normstat.engine.dispose()
    app.state.normstat = state
    transport = httpx.ASGITransport(app, client=(address, 4711))
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx.AsyncClient(transport=transport, base_url="http://normstat.test") as client:
        return await client.get("/api/v1/health", headers=named)


async def test_foreign_names_are_refused_with_a_sentence(client: httpx.AsyncClient) -> None:
    with capture_logs() as lines:
        response = await client.get("/", headers={"Host": "normstat.test.evil.example"})
    assert_envelope(response, 400, "unknown_host")
    assert "NORMSTAT_ALLOWED_HOSTS" in response.text
    assert response.headers["X-Frame-Options"] == "DENY"
    assert [line["event"] for line in lines if line["log_level"] == "warning"] == ["host_refused"]


async def test_our_names_are_taken(client: httpx.AsyncClient) -> None:
    """Which they are: tests/auth/test_allowed_hosts.py."""
    for host in ("normstat.test:8080", "192.0.2.1", "[::1]:8080"):
        assert (await client.get("/api/v1/health", headers={"Host": host})).status_code == 200


async def test_two_names_are_refused(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/v1/health", headers=[("Host", "normstat.test"), ("Host", "evil.example")])
    assert_envelope(response, 400, "unknown_host")


async def test_agents_send_under_any_name(agent: httpx.AsyncClient) -> None:
    # A 400 would make them set their data aside; see api/host_guard.py.
    assert (await send(agent, frames_of(VMSTAT), Host="alias.example")).status_code == 200


@pytest.mark.parametrize(
    ("changes", "case"),
    [
        ({}, ("127.0.0.1", {"X_Forwarded_Proto": "https"}, False)),
        ({"cookie_secure": True}, ("127.0.0.1", {}, True)),
        ({"public_url": "https://normstat.test"}, ("127.0.0.1", {}, True)),
        ({"trusted_proxies": ("10.0.0.0/8",)}, ("10.1.2.3", {"X_Forwarded_Proto": "https"}, True)),
        ({"trusted_proxies": ("10.0.0.0/8",)}, ("192.0.2.1", {"X_Forwarded_Proto": "https"}, False)),
    ],
)
async def test_strict_transport_where_browsers_come_by_tls(
    settings: Settings, state: AppState, changes: dict[str, object], case: tuple[str, dict[str, str], bool]
) -> None:
    address, headers, is_sent = case
    response = await ask(settings.model_copy(update=changes), state, address=address, **headers)
    assert response.status_code == 200
    assert (HSTS in response.headers) == is_sent


async def test_a_proxy_that_nobody_named_is_mentioned_once(settings: Settings, state: AppState) -> None:
    app = create_app(settings)
    await app.state.normstat.engine.dispose()
    app.state.normstat = state
    with capture_logs() as lines:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://normstat.test") as client:
            for number in range(3):
                await client.get("/api/v1/health", headers={"X-Forwarded-For": f"198.51.100.{number}"})
    assert [line["peer"] for line in lines if line["event"] == "forwarded_header_ignored"] == ["127.0.0.1"]


def test_settings_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NORMSTAT_TRUSTED_PROXIES", " 10.0.0.0/8, ::1 ,")
    monkeypatch.setenv("NORMSTAT_ALLOWED_HOSTS", "")
    settings = Settings()
    assert settings.trusted_proxies == ("10.0.0.0/8", "::1")
    assert settings.allowed_hosts == ()
