"""The audit log has every change, login, refusal and export; the log says who came in, and who did not; neither has a secret."""

import asyncio
import csv
import io
import json
import socket
from collections.abc import AsyncIterator, Iterator, MutableMapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from sqlalchemy import insert, select
from sqlalchemy.exc import DBAPIError
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from normstat.api.http.audit_notes import EXPORT_ENDINGS, note_of
from normstat.api.http.state import AppState
from normstat.auth.account_rows import list_agent_tokens
from normstat.auth.accounts import revoke_agent_token
from normstat.auth.audit_forwarding import check_receiver, forget_audit_entries, forward_audit_log
from normstat.auth.audit_trail import AuditTrail
from normstat.auth.roles import Role
from normstat.auth.security_log import MAX_AUDITED, MAX_IN_FULL, SecurityLog
from normstat.db.schema.audit_models import AuditEntryRow
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import BadRequest
from normstat.records.audit_rows import AuditEntry, find_sent
from tests.api.people import PASSWORD, ROOT, People, run_sql
from tests.api.samples import VMSTAT, frames_of, send
from tests.api.test_login import CHANGE, link_token, log_in
from tests.auth.test_throttle import Clock

NEW = {"name": "bob", "role": "viewer", "password": "seven yellow trams"}
# They take a body and change nothing.
READ_ONLY = {
    "read_batch",
    "draft_spec",
    "preview_spec",
    "check_rule",
    "preview_markdown",
    "try_alert_route",
    "check_silence_link",
    "look_at_file",
    # Each call of a tool is noted by itself.
    "serve_assistant",
}
# Requests without an account: they are logged in by them, or by an agent's token, or the link is the permission.
WITHOUT_ACCOUNT = {"log_in", "use_link", "use_silence_link"}

Lines = list[MutableMapping[str, Any]]
# A password typed into the wrong field.
SLIP = "my secret in the name field"


@pytest.fixture
async def last_id(state: AppState) -> int:
    """The number of the newest entry before the test: nothing can remove them."""
    async with open_read_session(state.sessions) as session:
        return await session.scalar(select(AuditEntryRow.id).order_by(AuditEntryRow.id.desc()).limit(1)) or 0


async def entries_after(state: AppState, last_id: int) -> list[AuditEntryRow]:
    await state.audit_trail.flush()
    async with open_read_session(state.sessions) as session:
        return list(await session.scalars(select(AuditEntryRow).where(AuditEntryRow.id > last_id).order_by(AuditEntryRow.id)))


def test_every_request_that_changes_something_is_noted(app: FastAPI) -> None:
    names = set()
    for route in app.routes:
        assert isinstance(route, APIRoute)
        for method in route.methods or ():
            path = route.path
            action = note_of({"type": "http", "method": method, "route": route, "path": path})
            if method in {"GET", "HEAD"}:
                assert (action is not None) == (method == "GET" and path.endswith(EXPORT_ENDINGS)), path
            elif "/ingest" not in path and route.name not in READ_ONLY:
                assert action == route.name, path
                names.add(route.name)
    assert names >= {"delete_host", "create_user", "put_retention", "create_bundle_import"}
    assert names >= WITHOUT_ACCOUNT


async def test_a_change_is_noted_with_itself_and_without_secrets(admin: httpx.AsyncClient, state: AppState, last_id: int) -> None:
    made = await admin.post("/api/v1/users", json=NEW, headers={"X-Request-Id": "r-1"})
    assert made.status_code == 201
    # Refused by the rules of accounts: nothing changed, nothing noted.
    assert (await admin.post("/api/v1/users", json=NEW)).status_code == 409
    await admin.patch("/api/v1/users/bob", json={"role": "operator", "password": "eight green trams"})
    await admin.delete("/api/v1/users/bob")
    found = await entries_after(state, last_id)
    assert [(row.account, row.means, row.action, row.target) for row in found] == [
        ("administrator", "session", "create_user", {"name": "bob", "role": "viewer"}),
        ("administrator", "session", "update_user", {"name": "bob", "role": "operator"}),
        ("administrator", "session", "delete_user", {"name": "bob"}),
    ]
    assert (found[0].request_id, found[0].address, found[0].is_refused) == ("r-1", "127.0.0.1", False)
    assert "trams" not in repr([vars(row) for row in found])


async def test_tokens_exports_and_refusals(people: People, admin: httpx.AsyncClient, state: AppState, last_id: int) -> None:
    made = (await admin.post("/api/v1/api-tokens", json={"name": "ci", "role": "viewer"})).json()
    async with people.client(authorization=f"Bearer {made['token']}") as script:
        assert (await script.get("/api/v1/events.csv")).status_code == 200
        assert (await script.get("/api/v1/events")).status_code == 200
        assert (await script.delete("/api/v1/hosts/web1")).status_code == 403
    found = await entries_after(state, last_id)
    assert [(row.account, row.means, row.action, row.is_refused) for row in found] == [
        ("administrator", "session", "create_api_token", False),
        ("administrator", "api_token", "export_events", False),
        ("administrator", "none", "request_not_allowed", True),
    ]
    assert found[1].token_id == made["info"]["id"]
    assert made["token"] not in repr([vars(row) for row in found])


async def test_logins(client: httpx.AsyncClient, admin: httpx.AsyncClient, state: AppState, last_id: int) -> None:
    await admin.post("/api/v1/users", json=NEW)
    await log_in(client, "bob", password="wrong")
    await log_in(client, "my secret in the name field", password="wrong")
    await log_in(client, "bob", password=NEW["password"])
    found = (await entries_after(state, last_id))[1:]
    assert [(row.account, row.action, row.is_refused) for row in found] == [
        ("bob", "login_failed", True),
        (None, "login_failed", True),
        ("bob", "login_succeeded", False),
    ]
    assert "my secret" not in repr([vars(row) for row in found])


def test_strangers_cannot_fill_the_table() -> None:
    clock = Clock()
    entries: list[AuditEntry] = []
    security_log = SecurityLog(clock, audit=entries.append)
    for n in range(1000):
        security_log.note("login_failed", f"10.0.{n // 250}.{n % 250}", reason="unknown_account")
    assert len(entries) == MAX_AUDITED
    # A known account still is noted, and says how many were not.
    security_log.note("login_succeeded", "ann", level="info", account="ann")
    assert entries[-1].account == "ann"
    assert int(entries[-1].target["more_before"]) > 0


async def test_entries_cannot_be_changed(state: AppState) -> None:
    state.audit_trail.put(AuditEntry("ann", "session", "10.0.0.1", "delete_host", {"host": "web1"}))
    await state.audit_trail.flush()
    for change in ("UPDATE audit_entries SET account = 'nobody'", "DELETE FROM audit_entries", "TRUNCATE audit_entries"):
        with pytest.raises(DBAPIError, match="audit_entries only grows"):
            await run_sql(state, change)


async def test_old_entries_are_deleted_by_retention_alone(state: AppState, last_id: int) -> None:
    now = datetime.now(UTC)
    await add_at(state, [now - timedelta(days=days) for days in (500, 399, 31, 0)])
    await forget_audit_entries(state.sessions, 400)
    assert len(await entries_after(state, last_id)) == 3
    # Nothing within 30 days, whatever is set.
    await forget_audit_entries(state.sessions, 1)
    assert len(await entries_after(state, last_id)) == 1


async def add_at(state: AppState, times: list[datetime]) -> None:
    async with open_write_session(state.sessions) as session:
        values = {"account": "ann", "means": "session", "address": "10.0.0.1", "is_refused": False, "request_id": ""}
        rows = [values | {"at": at, "action": "delete_host", "target": {"host": f"web{n}"}} for n, at in enumerate(times)]
        await session.execute(insert(AuditEntryRow), rows)


async def test_it_is_read_page_by_page_filtered_and_as_a_file(admin: httpx.AsyncClient, state: AppState) -> None:
    await add_at(state, [datetime(2026, 11, 1, tzinfo=UTC) + timedelta(minutes=n) for n in range(5)])
    async with open_write_session(state.sessions) as session:
        row = {"account": None, "means": "none", "address": "=1+1", "is_refused": True, "request_id": "", "action": "login_failed"}
        at = datetime(2026, 11, 1, 1, tzinfo=UTC)
        await session.execute(insert(AuditEntryRow), [row | {"target": {"reason": 'say "no"'}, "at": at}])
    window = {"start": "2026-11-01T00:00:00Z", "end": "2026-11-01T02:00:00Z"}
    first = (await admin.get("/api/v1/audit", params=window | {"limit": 4})).json()
    assert [entry["target"].get("host") for entry in first["entries"]] == [None, "web4", "web3", "web2"]
    rest = (await admin.get("/api/v1/audit", params=window | {"before": first["next_before"]})).json()
    assert ([entry["target"]["host"] for entry in rest["entries"]], rest["next_before"]) == (["web1", "web0"], None)
    assert {"delete_host", "login_failed"} <= set(first["actions"])
    for wanted, n in (
        ({"account": "ann"}, 5),
        ({"action": "login_failed"}, 1),
        ({"refused": "true"}, 1),
        ({"refused": "false"}, 5),
        ({"search": "WEB3"}, 1),
        ({"search": "%"}, 0),
    ):
        assert len((await admin.get("/api/v1/audit", params=window | wanted)).json()["entries"]) == n, wanted
    table = list(csv.DictReader(io.StringIO((await admin.get("/api/v1/audit/export.csv", params=window)).text)))
    assert len(table) == 6
    # No formula, and quotes as they were.
    assert table[0]["address"] == "'=1+1"
    assert json.loads(table[0]["target"]) == {"reason": 'say "no"'}
    lines = (await admin.get("/api/v1/audit/export.jsonl", params=window)).text.splitlines()
    assert json.loads(lines[1]).items() >= {"account": "ann", "action": "delete_host", "outcome": "done"}.items()
    assert (await admin.get("/api/v1/audit", params={"start": window["end"], "end": window["start"]})).status_code == 400


async def test_what_waits_for_the_database_is_kept(state: AppState) -> None:
    trail = AuditTrail(state.sessions)
    for n in range(3):
        trail.put(AuditEntry("ann", "session", "10.0.0.1", "delete_host", {"host": f"web{n}"}))
    working = asyncio.create_task(trail.run())
    await asyncio.sleep(0)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    async with open_read_session(state.sessions) as session:
        newest = await session.scalars(select(AuditEntryRow).order_by(AuditEntryRow.id.desc()).limit(3))
    assert [row.target["host"] for row in newest] == ["web2", "web1", "web0"]


class TcpReceiver:
    """Takes messages of RFC 6587, with their length before them."""

    def __init__(self) -> None:
        self.text = b""
        self.has_some = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.text += await reader.read()
        self.has_some.set()
        writer.close()

    def messages(self) -> list[bytes]:
        found, rest = [], self.text
        while rest:
            size, _, rest = rest.partition(b" ")
            found.append(rest[: int(size)])
            rest = rest[int(size) :]
        return found


@pytest.fixture
async def tcp() -> AsyncIterator[tuple[str, TcpReceiver]]:
    receiver = TcpReceiver()
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
    async with server:
        yield f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}", receiver


async def test_syslog_gets_each_entry_in_order(state: AppState, tcp: tuple[str, TcpReceiver]) -> None:
    address, receiver = tcp
    await forward_audit_log(state.sessions, address)
    receiver.text = b""
    receiver.has_some.clear()
    # The second is too young: a transaction with a smaller number may still be open.
    await add_at(state, [datetime.now(UTC) - timedelta(minutes=2), datetime.now(UTC)])
    assert await forward_audit_log(state.sessions, address) == 1
    assert await forward_audit_log(state.sessions, address) == 0
    await receiver.has_some.wait()
    (message,) = receiver.messages()
    # 13 * 8 + 5: log audit, notice.
    assert message.startswith(b"<109>1 20")
    head, _, body = message.partition(b" - {")
    assert head.split(b" ")[3:] == [b"normstat", b"-", b"delete_host"]
    assert json.loads(b"{" + body)["target"] == {"host": "web0"}


async def test_a_receiver_that_is_away_gets_them_later(state: AppState, tmp_path: Path) -> None:
    path = tmp_path / "log"
    receiver = f"unix:{path}"
    await add_at(state, [datetime.now(UTC) - timedelta(minutes=2)])
    assert await forward_audit_log(state.sessions, receiver) == 0
    async with open_read_session(state.sessions) as session:
        assert await find_sent(session, receiver) is None
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(path))
        listener.settimeout(10)

        def receive() -> list[bytes]:
            found: list[bytes] = []
            while not found or b'"web0"' not in found[-1]:
                found.append(listener.recv(65536))
            return found

        receiving = asyncio.create_task(asyncio.to_thread(receive))
        n_sent = await forward_audit_log(state.sessions, receiver)
        messages = await receiving
    assert n_sent >= len(messages) > 0


@pytest.mark.parametrize("wrong", ["syslog", "udp://", "udp://host", "unix:log", "http://x:1", "tcp://h:port", "unix://h/log"])
def test_a_wrong_receiver_is_said_at_the_start(wrong: str) -> None:
    with pytest.raises(BadRequest, match=r"udp://HOST:PORT, tcp://HOST:PORT or unix:/PATH"):
        check_receiver(wrong)
    for right in ("udp://127.0.0.1:514", "tcp://[::1]:601", "unix:/dev/log"):
        check_receiver(right)


@pytest.fixture
def lines(ann: str) -> Iterator[Lines]:
    with capture_logs() as lines:
        yield lines
    assert PASSWORD not in repr(lines)
    assert SLIP not in repr(lines)


def events(lines: Lines, *keys: str) -> list[tuple[object, ...]]:
    return [tuple(line.get(key) for key in ("event", *keys)) for line in lines if line["event"] != "request_done"]


async def test_logins_are_told(client: httpx.AsyncClient, people: People, lines: Lines) -> None:
    await log_in(client, password="guess")
    await log_in(client, SLIP)
    await log_in(client)
    await log_in(client)
    await client.post("/api/v1/auth/logout", headers=CHANGE)
    async with await people.enter(Role.VIEWER, "linked"):
        await log_in(people.client(), "linked")
    assert events(lines, "account", "reason", "is_known_browser") == [
        ("login_failed", "'ann'", "wrong_password", None),
        ("login_failed", None, "unknown_account", None),
        ("login_succeeded", "'ann'", None, False),
        ("login_succeeded", "'ann'", None, True),
        ("logged_out", "'ann'", None, None),
        ("login_failed", "'linked'", "no_password_set", None),
    ]


async def test_links(client: httpx.AsyncClient, state: AppState, lines: Lines) -> None:
    token = await link_token(state, "ann", must_forget_password=True)
    for text in (token, token, "unknown"):
        await client.post("/api/v1/auth/link", json={"token": text})
    assert events(lines, "account", "reason") == [
        ("password_forgotten", "'ann'", None),
        ("login_link_made", "'ann'", None),
        ("login_link_used", "'ann'", None),
        ("login_link_refused", None, "used"),
        ("login_link_refused", None, "unknown"),
    ]
    assert token not in repr(lines)


async def test_passwords_and_accounts(client: httpx.AsyncClient, admin: httpx.AsyncClient, lines: Lines) -> None:
    await log_in(client)
    wrong = {"old_password": "wrong", "new_password": "another good password"}
    await client.put("/api/v1/auth/password", json=wrong, headers=CHANGE)
    await client.put("/api/v1/auth/password", json=wrong | {"old_password": PASSWORD}, headers=CHANGE)
    await admin.post("/api/v1/users", json={"name": "bob", "role": "viewer", "password": PASSWORD})
    await admin.post("/api/v1/users", json={"name": "bob", "role": "viewer", "password": PASSWORD})
    await admin.patch("/api/v1/users/bob", json={"role": "operator"})
    await admin.patch("/api/v1/users/bob", json={"is_disabled": True, "password": "another good password"})
    await admin.delete("/api/v1/users/bob")
    assert events(lines, "account", "by", "role", "is_disabled", "is_password_set")[1:] == [
        ("request_not_allowed", "'ann'", None, None, None, None),
        ("password_changed", "'ann'", None, None, None, None),
        ("account_created", "'bob'", "'administrator'", "viewer", None, None),
        ("account_changed", "'bob'", "'administrator'", "operator", None, False),
        ("account_changed", "'bob'", "'administrator'", None, True, True),
        ("account_deleted", "'bob'", "'administrator'", None, None, None),
    ]


async def test_tokens(people: People, admin: httpx.AsyncClient, lines: Lines) -> None:
    made = (await admin.post("/api/v1/api-tokens", json={"name": "script", "role": "viewer"})).json()
    agent = (await admin.post("/api/v1/agent-tokens", json={"name": "rack", "host": "web1"})).json()
    await admin.delete(f"/api/v1/api-tokens/{made['info']['id']}")
    await admin.delete(f"/api/v1/agent-tokens/{agent['info']['id']}")
    for token, path in ((made["token"], "/api/v1/hosts"), ("nst_unknown", "/api/v1/hosts")):
        await people.client(authorization=f"Bearer {token}").get(path)
    for token in (agent["token"], "nsa_unknown"):
        await people.client(authorization=f"Bearer {token}").post("/api/v1/ingest")
    assert events(lines, "kind", "reason") == [
        ("api_token_created", None, None),
        ("agent_token_created", None, None),
        ("api_token_revoked", None, None),
        ("agent_token_revoked", None, None),
        ("token_refused", "api", "revoked"),
        ("token_refused", "api", "unknown"),
        ("token_refused", "agent", "revoked"),
        ("token_refused", "agent", "unknown"),
    ]
    assert made["token"] not in repr(lines)
    assert agent["token"] not in repr(lines)


async def test_a_token_of_a_disabled_account(people: People, admin: httpx.AsyncClient, lines: Lines) -> None:
    async with await people.enter(Role.OPERATOR, "carl") as carl:
        token = (await carl.post("/api/v1/api-tokens", json={"name": "script", "role": "viewer"})).json()["token"]
        await admin.patch("/api/v1/users/carl", json={"is_disabled": True})
        await people.client(authorization=f"Bearer {token}").get("/api/v1/hosts")
    assert events(lines, "reason")[-1] == ("token_refused", "account_disabled")


async def test_a_token_revoked_in_another_process(agent: httpx.AsyncClient, state: AppState, lines: Lines) -> None:
    assert (await send(agent, frames_of(VMSTAT))).status_code == 200
    async with open_write_session(state.sessions) as session:
        token, _ = (await list_agent_tokens(session))[0]
        await revoke_agent_token(session, ROOT, token.id)
    for _ in range(2):
        assert (await send(agent, frames_of(VMSTAT))).status_code == 401
    assert events(lines, "reason")[-2:] == [("token_refused", "revoked")] * 2


async def test_what_a_role_does_not_reach(viewer: httpx.AsyncClient, lines: Lines) -> None:
    for _ in range(20):
        assert (await viewer.get("/api/v1/users")).status_code == 403
    del viewer.headers["X-Normstat-Request"]
    assert (await viewer.post("/api/v1/auth/logout")).status_code == 403
    refused = events(lines, "account", "method", "path")
    assert refused[:MAX_IN_FULL] == [("request_not_allowed", "'viewer'", "GET", "'/api/v1/users'")] * MAX_IN_FULL
    # The one of another site's page comes from nobody yet.
    assert refused[MAX_IN_FULL:] == [("request_not_allowed", None, "POST", "'/api/v1/auth/logout'")]


async def test_lines_name_the_address_and_the_request(people: People, ann: str) -> None:
    with capture_logs(processors=[merge_contextvars]) as lines:
        answer = await log_in(people.client(address="192.0.2.7"), password="guess")
    assert lines[0]["event"] == "login_failed"
    assert lines[0]["address"] == "192.0.2.7"
    assert lines[0]["request_id"] == answer.headers["X-Request-Id"]
