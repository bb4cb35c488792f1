"""Who reaches what, over every route that the application has; and that no route answers in a form of its own."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI
from fastapi.routing import APIRoute

from normstat.api.http.application import AGENT, OPEN, ROLE, role_of
from normstat.api.http.body import ErrorBody
from normstat.api.http.lazy_routing import operation_id as id_of
from normstat.auth.roles import Role
from tests.api.people import People

# The rule: viewers read and operators change. A route that lets in more people than that needs a line here, with care.
LETS_IN_MORE = {
    # Anyone who received an alert may silence it: the token in the link is the permission.
    OPEN: """getHealth getLoginMethods beginProviderLogin finishProviderLogin getAgentFile logIn useLink openShareLink
        checkSilenceLink useSilenceLink""",
    AGENT: "ingest enrolHost replaceAgentToken writePrometheus writeOtlp reportRun reportEvent putArtefact",
    # One's own account, and views: a private one belongs to its author, what others see is changed by operators (test_views.py).
    # A batch is of reads, each of which asks for its own role.
    Role.VIEWER: """logOut changePassword beginSecondFactor confirmSecondFactor renewRecoveryCodes removeSecondFactor
        endOtherSessions endSession createApiToken revokeApiToken previewMarkdown readBatch createView updateView deleteView
        starView""",
}
# What the path's parameters stand for; the guard answers before anybody looks the thing up.
PARAMETERS = {
    "part": "0",
    "note": "1",
    "id": "1",
    "key": "use",
    "name": "somebody",
    "host": "web1",
    "stat": "vmstat_linux",
    "rule": "mutex",
    "file": "normstat-agent",
}

# A test of the documents holds this file against the application.
DOCUMENT: dict[str, Any] = json.loads((Path(__file__).parents[3] / "frontend" / "openapi.json").read_text())
OPERATIONS = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
}
# Operation -> the least role that reaches it.
POLICY: dict[str, str] = {name: operation[ROLE] for name, (_, _, operation) in OPERATIONS.items()}
GUARDED = [name for name, role in POLICY.items() if role not in {OPEN, AGENT}]
ABOVE_VIEWER = [name for name, role in POLICY.items() if role in {Role.OPERATOR, Role.ADMINISTRATOR}]


def address_of(operation_id: str) -> tuple[str, str]:
    method, path, _ = OPERATIONS[operation_id]
    return method, re.sub(r"\{(\w+)\}", lambda match: PARAMETERS[match[1]], path)


def assert_envelope(response: httpx.Response, status: int, code: str) -> None:
    assert response.status_code == status, f"{response.request.method} {response.request.url}: {response.text}"
    error = ErrorBody.model_validate(response.json()).error
    assert error.code == code
    assert error.request_id == response.headers["X-Request-Id"] != ""
    assert error.message


def test_every_route_is_in_the_document_with_its_role(app: FastAPI) -> None:
    # What Prometheus reads is described in docs/run.md, what assistants read in docs/assistants.md.
    others = {"/metrics", "/mcp", "/llms.txt", "/docs.md", "/docs", "/docs/{page}"}
    routes = [route for route in app.routes if isinstance(route, APIRoute) and route.path not in others]
    assert {(method, route.path) for route in routes for method in (route.methods or set()) - {"HEAD"}} == {
        (method, path) for method, path, _ in OPERATIONS.values()
    }
    people = {id_of(route): role for route in routes if (role := role_of(route))}
    assert people == {name: role for name, role in POLICY.items() if role not in {OPEN, AGENT}}


def test_a_route_lets_in_more_people_only_on_purpose() -> None:
    named = {name: role for role, names in LETS_IN_MORE.items() for name in names.split()}
    demanded = {name: Role.VIEWER if method == "GET" else Role.OPERATOR for name, (method, _, _) in OPERATIONS.items()}
    lets_in_more = {name: role for name, role in POLICY.items() if role in {OPEN, AGENT} or not Role(role).reaches(demanded[name])}
    assert lets_in_more == named, "guard these, or write into LETS_IN_MORE whom they let in"


async def test_nobody_gets_401(client: httpx.AsyncClient) -> None:
    for operation_id in POLICY.keys() - {name for name, role in POLICY.items() if role == OPEN}:
        method, path = address_of(operation_id)
        response = await client.request(method, path, headers={"X-Normstat-Request": "1"})
        assert_envelope(response, 401, "not_authenticated")
        assert response.headers["WWW-Authenticate"] == "Bearer"


async def test_too_small_a_role_gets_403(people: People) -> None:
    clients = {Role.OPERATOR: await people.enter(Role.VIEWER), Role.ADMINISTRATOR: await people.enter(Role.OPERATOR)}
    for operation_id in ABOVE_VIEWER:
        method, path = address_of(operation_id)
        assert_envelope(await clients[Role(POLICY[operation_id])].request(method, path), 403, "not_allowed")


async def test_change_without_our_header_gets_403(admin: httpx.AsyncClient) -> None:
    del admin.headers["X-Normstat-Request"]
    for operation_id in GUARDED:
        method, path = address_of(operation_id)
        if method != "GET":
            assert_envelope(await admin.request(method, path), 403, "not_allowed")


async def test_tokens_open_only_what_they_are_for(people: People, agent: httpx.AsyncClient, admin: httpx.AsyncClient) -> None:
    made = await admin.post("/api/v1/api-tokens", json={"name": "script", "role": "administrator"})
    script = people.client(authorization=f"Bearer {made.json()['token']}")
    assert (await script.get("/api/v1/users")).status_code == 200
    assert_envelope(await script.post("/api/v1/ingest"), 401, "not_authenticated")
    assert_envelope(await agent.get("/api/v1/hosts"), 401, "not_authenticated")
    # The cookie of an administrator does not make up for a wrong token.
    assert_envelope(await admin.get("/api/v1/users", headers={"Authorization": "Bearer x"}), 401, "not_authenticated")
    assert_envelope(await admin.get("/api/v1/users", headers={"Authorization": "Basic eDp5"}), 401, "not_authenticated")


async def test_unknown_addresses_and_methods(client: httpx.AsyncClient) -> None:
    for method, path, status, code in (
        ("GET", "/api/v1/nothing", 404, "not_found"),
        ("GET", "/api/v2/hosts", 404, "not_found"),
        ("GET", "/api", 404, "not_found"),
        ("POST", "/api/v1/health", 405, "method_not_allowed"),
        ("PUT", "/api/v1/hosts", 405, "method_not_allowed"),
        ("POST", "/somewhere", 405, "method_not_allowed"),
        ("POST", "/api/v1/auth/login", 422, "invalid_request"),
        ("GET", "/api/v1/agent/passwd", 404, "not_found"),
        ("GET", "/api/v1/agent/..%2f..%2fetc%2fpasswd", 404, "not_found"),
        ("GET", "/hosts", 503, ""),
    ):
        response = await client.request(method, path)
        if code:
            assert_envelope(response, status, code)
        else:
            assert response.status_code == status
        if status == 405:
            assert response.headers["Allow"]


def test_every_operation_declares_its_errors() -> None:
    for answer in DOCUMENT["components"]["responses"].values():
        assert answer["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/ErrorBody"}
    for operation_id, (_, _, operation) in OPERATIONS.items():
        declared = set(operation["responses"])
        needed = {"422", "500", "503"} | (set() if POLICY[operation_id] == OPEN else {"401", "403"})
        assert needed <= declared, operation_id
        for status, answer in operation["responses"].items():
            if int(status) >= 400:
                assert answer["$ref"].startswith("#/components/responses/"), f"{operation_id} {status}"
        assert operation["summary"]
        assert operation["description"]
        assert operation["tags"]
