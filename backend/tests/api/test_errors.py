"""Every failure has the one form, and nothing that failed looks as if it had worked."""

from collections.abc import AsyncIterator

import httpx
import psycopg
import pytest
from fastapi import APIRouter, FastAPI
from fastapi.responses import StreamingResponse
from sqlalchemy import text
from structlog.testing import capture_logs

from normstat.api.http.body import Empty
from normstat.api.http.deps import ReadSession, State, WriteSession
from normstat.api.http.state import AppState
from normstat.app import create_app
from normstat.db.session import open_read_session
from normstat.settings import Settings
from tests.api.people import run_sql
from tests.api.samples import VMSTAT, frames_of, send
from tests.api.test_access import assert_envelope

TABLE = "CREATE TABLE deferred (n int REFERENCES users (id) DEFERRABLE INITIALLY DEFERRED)"
router = APIRouter(prefix="/api/test")

HSTS = "Strict-Transport-Security"


@router.get("/defect")
async def defect() -> Empty:
    raise ZeroDivisionError("the secret of the stack")


@router.get("/bad-sql")
async def bad_sql(session: ReadSession) -> Empty:
    await session.execute(text("SELECT no_such_column"))
    return Empty()


@router.post("/commit-fails")
async def commit_fails(session: WriteSession) -> Empty:
    # A deferred constraint: PostgreSQL finds out at COMMIT, when the route has returned already.
    await session.execute(text("INSERT INTO deferred VALUES (999)"))
    return Empty()


@router.post("/loses-connection")
async def loses_connection(session: WriteSession, state: State) -> Empty:
    pid = (await session.execute(text("SELECT pg_backend_pid()"))).scalar_one()
    async with open_read_session(state.sessions) as other:
        await other.execute(text("SELECT pg_terminate_backend(:pid, 10000)"), {"pid": pid})
    return Empty()


@router.get("/driver/{name}")
async def driver(name: str) -> Empty:
    errors = {"away": psycopg.errors.AdminShutdown, "closed": psycopg.InterfaceError, "defect": psycopg.errors.UndefinedTable}
    raise errors[name]("terminating connection due to administrator command")


@router.post("/fails-after-writing")
async def fails_after_writing(session: WriteSession) -> Empty:
    await session.execute(text("INSERT INTO users (name, role) VALUES ('half', 'viewer')"))
    raise ZeroDivisionError


@router.get("/breaks-off")
async def breaks_off() -> StreamingResponse:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"time,epoch\r\n"
        raise ZeroDivisionError

    return StreamingResponse(pieces(), media_type="text/csv")


@pytest.fixture(scope="session")
def failing_app() -> FastAPI:
    app = create_app(Settings())
    app.include_router(router)
    return app


@pytest.fixture
async def failing(failing_app: FastAPI, state: AppState) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the application with the routes above."""
    failing_app.state.normstat = state
    async with httpx.AsyncClient(transport=httpx.ASGITransport(failing_app), base_url="http://normstat.test") as client:
        yield client


async def test_defects_and_errors_of_our_sql_are_enveloped_and_tell_nothing(failing: httpx.AsyncClient) -> None:
    for path, secret in (("defect", "secret"), ("bad-sql", "no_such_column")):
        response = await failing.get(f"/api/test/{path}")
        assert_envelope(response, 500, "internal")
        assert secret not in response.text
        assert response.headers["X-Content-Type-Options"] == "nosniff"


async def test_a_failed_commit_is_no_success(failing: httpx.AsyncClient, state: AppState) -> None:
    async with state.engine.begin() as connection:
        await connection.execute(text(TABLE))
    try:
        response = await failing.post("/api/test/commit-fails")
        assert_envelope(response, 500, "internal")
    finally:
        async with state.engine.begin() as connection:
            await connection.execute(text("DROP TABLE deferred"))


async def test_a_lost_connection_at_commit_is_no_success(failing: httpx.AsyncClient) -> None:
    response = await failing.post("/api/test/loses-connection")
    assert_envelope(response, 503, "database_away")
    assert int(response.headers["Retry-After"]) >= 1


async def test_errors_of_the_driver_are_told_apart(failing: httpx.AsyncClient) -> None:
    assert_envelope(await failing.get("/api/test/driver/away"), 503, "database_away")
    assert_envelope(await failing.get("/api/test/driver/closed"), 503, "database_away")
    assert_envelope(await failing.get("/api/test/driver/defect"), 500, "internal")


async def test_an_outage_is_logged_once_however_many_requests_meet_it(failing: httpx.AsyncClient, state: AppState) -> None:
    with capture_logs() as logs:
        for _ in range(3):
            await failing.get("/api/test/driver/away")
        state.outage.end()
    told = [line for line in logs if line["event"].startswith("database_")]
    assert [line["event"] for line in told] == ["database_away", "database_back"]
    assert told[1]["n_requests"] == 3


async def test_what_was_written_before_a_failure_is_gone(failing: httpx.AsyncClient, state: AppState) -> None:
    assert_envelope(await failing.post("/api/test/fails-after-writing"), 500, "internal")
    assert await run_sql(state, "SELECT count(*) FROM users") == [(0,)]


async def test_a_stream_that_fails_is_cut_off(failing: httpx.AsyncClient) -> None:
    # In the server the exception makes uvicorn cut the connection; here it comes out.
    with pytest.raises(ZeroDivisionError):
        await failing.get("/api/test/breaks-off")


async def test_without_a_database_every_answer_is_503() -> None:
    app = create_app(Settings(database_url="postgresql://nobody@127.0.0.1:1/nothing"))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://localhost", headers={"Authorization": "Bearer x"}
    ) as client:
        for method, path in [("GET", "/api/v1/health"), ("GET", "/api/v1/hosts"), ("POST", "/api/v1/ingest")]:
            response = await client.request(method, path)
            assert_envelope(response, 503, "database_away")
            assert int(response.headers["Retry-After"]) >= 1
    await app.state.normstat.engine.dispose()


async def test_request_ids_of_proxies_are_kept_when_they_are_harmless(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/v1/nothing", headers={"X-Request-Id": "a.b-c_1"})).headers["X-Request-Id"] == "a.b-c_1"
    for odd in (b"a b", b"x" * 65, "é".encode("latin-1"), b""):
        response = await client.get("/api/v1/nothing", headers={b"X-Request-Id": odd})
        assert_envelope(response, 404, "not_found")
        assert len(response.headers["X-Request-Id"]) == 32


async def test_large_bodies_of_people_are_refused(admin: httpx.AsyncClient) -> None:
    response = await admin.post("/api/v1/users", content=b" " * (1024 * 1024 + 1), headers={"Content-Type": "application/json"})
    assert_envelope(response, 413, "too_large")

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 65536

    response = await admin.post("/api/v1/users", content=endless(), headers={"Content-Type": "application/json"})
    assert_envelope(response, 413, "too_large")


async def test_json_is_packed_when_the_client_can(viewer: httpx.AsyncClient) -> None:
    stats = await viewer.get("/api/v1/stats")
    assert stats.headers["Content-Encoding"] == "gzip"
    assert stats.json()["stats"]
    assert "Content-Encoding" not in (await viewer.get("/api/v1/stats", headers={"Accept-Encoding": "identity"})).headers
    assert "Content-Encoding" not in (await viewer.get("/api/v1/auth/me")).headers


async def browse(settings: Settings, state: AppState, address: str = "127.0.0.1") -> httpx.AsyncClient:
    """A client at this address of an application with these settings."""
    app = create_app(settings)
    await app.state.normstat.engine.dispose()
    app.state.normstat = state
    return httpx.AsyncClient(transport=httpx.ASGITransport(app, client=(address, 4711)), base_url="http://normstat.test")


async def test_foreign_names_are_refused_with_a_sentence(client: httpx.AsyncClient) -> None:
    with capture_logs() as lines:
        response = await client.get("/", headers={"Host": "normstat.test.evil.example"})
    assert_envelope(response, 400, "unknown_host")
    assert "NORMSTAT_ALLOWED_HOSTS" in response.text
    assert response.headers["X-Frame-Options"] == "DENY"
    assert [line["event"] for line in lines if line["log_level"] == "warning"] == ["host_refused"]


async def test_our_names_are_taken(client: httpx.AsyncClient) -> None:
    """Which they are: tests/auth/test_request_sender.py."""
    for host in ("normstat.test:8080", "192.0.2.1", "[::1]:8080"):
        assert (await client.get("/api/v1/health", headers={"Host": host})).status_code == 200


async def test_two_names_are_refused(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/v1/health", headers=[("Host", "normstat.test"), ("Host", "evil.example")])
    assert_envelope(response, 400, "unknown_host")


async def test_agents_send_under_any_name(agent: httpx.AsyncClient) -> None:
    # A 400 would make them set their data aside; see api/http/host_guard.py.
    assert (await send(agent, frames_of(VMSTAT), Host="alias.example")).status_code == 200


async def test_strict_transport_where_browsers_come_by_tls(settings: Settings, state: AppState) -> None:
    for changes, (address, headers, is_sent) in (
        ({}, ("127.0.0.1", {"X-Forwarded-Proto": "https"}, False)),
        ({"cookie_secure": True}, ("127.0.0.1", {}, True)),
        ({"public_url": "https://normstat.test"}, ("127.0.0.1", {}, True)),
        ({"trusted_proxies": ("10.0.0.0/8",)}, ("10.1.2.3", {"X-Forwarded-Proto": "https"}, True)),
        ({"trusted_proxies": ("10.0.0.0/8",)}, ("192.0.2.1", {"X-Forwarded-Proto": "https"}, False)),
    ):
        async with await browse(settings.model_copy(update=changes), state, address) as client:
            response = await client.get("/api/v1/health", headers=headers)
        assert response.status_code == 200
        assert (HSTS in response.headers) == is_sent


async def test_a_proxy_that_nobody_named_is_mentioned_once(settings: Settings, state: AppState) -> None:
    with capture_logs() as lines:
        async with await browse(settings, state) as client:
            for number in range(3):
                await client.get("/api/v1/health", headers={"X-Forwarded-For": f"198.51.100.{number}"})
    assert [line["peer"] for line in lines if line["event"] == "forwarded_header_ignored"] == ["127.0.0.1"]


def test_settings_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NORMSTAT_TRUSTED_PROXIES", " 10.0.0.0/8, ::1 ,")
    monkeypatch.setenv("NORMSTAT_ALLOWED_HOSTS", "")
    settings = Settings()
    assert settings.trusted_proxies == ("10.0.0.0/8", "::1")
    assert settings.allowed_hosts == ()
