"""Who reaches what, over every route that the application has; and that no route answers in a form of its own."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from normstat.api.schemas import ErrorBody
from normstat.auth.roles import Role
from tests.api.people import People

# The rule: operation -> the least role that reaches it. A new route needs a line here, written with care.
OPEN = "open"
AGENT = "agent"
POLICY = {
    "getHealth": OPEN,
    "logIn": OPEN,
    "useLink": OPEN,
    "getLoginMethods": OPEN,
    "beginProviderLogin": OPEN,
    "finishProviderLogin": OPEN,
    "getAgentFile": OPEN,
    "ingest": AGENT,
    "openShareLink": OPEN,
    "listShareLinks": Role.OPERATOR,
    "createShareLink": Role.OPERATOR,
    "revokeShareLink": Role.OPERATOR,
    "enrolHost": AGENT,
    "replaceAgentToken": AGENT,
    "listJoinTokens": Role.ADMINISTRATOR,
    "createJoinToken": Role.ADMINISTRATOR,
    "revokeJoinToken": Role.ADMINISTRATOR,
    "rotateAgentToken": Role.ADMINISTRATOR,
    "writePrometheus": AGENT,
    "federate": Role.VIEWER,
    "writeOtlp": AGENT,
    "getDocument": Role.VIEWER,
    "readArtefactFlame": Role.VIEWER,
    "listArtefactFunctions": Role.VIEWER,
    "diffArtefactFlames": Role.VIEWER,
    "diffArtefactFunctions": Role.VIEWER,
    "listAuditEntries": Role.ADMINISTRATOR,
    "examineInstallation": Role.ADMINISTRATOR,
    "exportAuditCsv": Role.ADMINISTRATOR,
    "exportAuditLines": Role.ADMINISTRATOR,
    "listJobs": Role.VIEWER,
    "listExperiments": Role.VIEWER,
    "getExperiment": Role.VIEWER,
    "analyseExperiment": Role.VIEWER,
    "exportRuns": Role.VIEWER,
    "createExperiment": Role.OPERATOR,
    "updateExperiment": Role.OPERATOR,
    "deleteExperiment": Role.OPERATOR,
    "restoreExperiment": Role.OPERATOR,
    "createRun": Role.OPERATOR,
    "createArtefactRuns": Role.OPERATOR,
    "updateRun": Role.OPERATOR,
    "deleteRun": Role.OPERATOR,
    "restoreRun": Role.OPERATOR,
    "reportRun": AGENT,
    "listProcesses": Role.VIEWER,
    "readProcess": Role.VIEWER,
    "readProcessReport": Role.VIEWER,
    "readCpuBalance": Role.VIEWER,
    "getJob": Role.VIEWER,
    "stopJob": Role.OPERATOR,
    "retryJob": Role.OPERATOR,
    "logOut": Role.VIEWER,
    "getMe": Role.VIEWER,
    "changePassword": Role.VIEWER,
    "getSecondFactor": Role.VIEWER,
    "beginSecondFactor": Role.VIEWER,
    "confirmSecondFactor": Role.VIEWER,
    "renewRecoveryCodes": Role.VIEWER,
    "removeSecondFactor": Role.VIEWER,
    "resetSecondFactor": Role.ADMINISTRATOR,
    "listSessions": Role.VIEWER,
    "endOtherSessions": Role.VIEWER,
    "endSession": Role.VIEWER,
    "listUserSessions": Role.ADMINISTRATOR,
    "endUserSessions": Role.ADMINISTRATOR,
    "endUserSession": Role.ADMINISTRATOR,
    "listUsers": Role.ADMINISTRATOR,
    "createUser": Role.ADMINISTRATOR,
    "updateUser": Role.ADMINISTRATOR,
    "deleteUser": Role.ADMINISTRATOR,
    "listApiTokens": Role.VIEWER,
    "createApiToken": Role.VIEWER,
    "revokeApiToken": Role.VIEWER,
    "listAgentTokens": Role.ADMINISTRATOR,
    "createAgentToken": Role.ADMINISTRATOR,
    "revokeAgentToken": Role.ADMINISTRATOR,
    "listHosts": Role.VIEWER,
    "updateHostTags": Role.OPERATOR,
    "listHostZones": Role.VIEWER,
    "readFleet": Role.VIEWER,
    "readFleetUse": Role.VIEWER,
    "getHost": Role.VIEWER,
    "readFacts": Role.VIEWER,
    "readEvents": Role.VIEWER,
    "listEvents": Role.VIEWER,
    "exportEvents": Role.VIEWER,
    "createEvent": Role.OPERATOR,
    "updateEvent": Role.OPERATOR,
    "deleteEvent": Role.OPERATOR,
    "restoreEvent": Role.OPERATOR,
    "reportEvent": AGENT,
    "listRejectedLines": Role.VIEWER,
    "readAccounts": Role.VIEWER,
    "readContext": Role.VIEWER,
    "listInstances": Role.VIEWER,
    "listStats": Role.VIEWER,
    "search": Role.VIEWER,
    "readSeries": Role.VIEWER,
    "listHostMetrics": Role.VIEWER,
    "readSeriesOfHosts": Role.VIEWER,
    "readStatistics": Role.VIEWER,
    "listReferences": Role.VIEWER,
    "readCoverage": Role.VIEWER,
    "readScores": Role.VIEWER,
    "readUseMatrix": Role.VIEWER,
    "listBaselines": Role.VIEWER,
    "createBaseline": Role.OPERATOR,
    "getBaseline": Role.VIEWER,
    "updateBaseline": Role.OPERATOR,
    "deleteBaseline": Role.OPERATOR,
    "listBaselineVersions": Role.VIEWER,
    "getBaselineHealth": Role.VIEWER,
    "copyBaseline": Role.OPERATOR,
    "archiveBaseline": Role.OPERATOR,
    "stopBaselineRecording": Role.OPERATOR,
    "readBand": Role.VIEWER,
    "listExclusions": Role.VIEWER,
    "createExclusion": Role.OPERATOR,
    "deleteExclusion": Role.OPERATOR,
    "listMutes": Role.VIEWER,
    "createMute": Role.OPERATOR,
    "deleteMute": Role.OPERATOR,
    "listHostGroups": Role.VIEWER,
    "createHostGroup": Role.OPERATOR,
    "updateHostGroup": Role.OPERATOR,
    "deleteHostGroup": Role.OPERATOR,
    "readWatch": Role.VIEWER,
    "readTimeline": Role.VIEWER,
    "listWatchMutes": Role.VIEWER,
    "createWatchMute": Role.OPERATOR,
    "endWatchMute": Role.OPERATOR,
    "listEpisodes": Role.VIEWER,
    "getEpisode": Role.VIEWER,
    "readOpen": Role.VIEWER,
    "takeBackAcknowledgement": Role.OPERATOR,
    "acknowledgeEpisode": Role.OPERATOR,
    "markIncident": Role.OPERATOR,
    "listRules": Role.VIEWER,
    "checkRule": Role.OPERATOR,
    "getRule": Role.VIEWER,
    "putRule": Role.OPERATOR,
    "deleteRule": Role.OPERATOR,
    "enableRule": Role.OPERATOR,
    "setRuleLimit": Role.OPERATOR,
    "removeRuleLimit": Role.OPERATOR,
    "createBacktest": Role.OPERATOR,
    "listBacktests": Role.VIEWER,
    "getBacktest": Role.VIEWER,
    "listWebhooks": Role.VIEWER,
    "createWebhook": Role.ADMINISTRATOR,
    "putWebhook": Role.ADMINISTRATOR,
    "deleteWebhook": Role.ADMINISTRATOR,
    "testWebhook": Role.ADMINISTRATOR,
    "listWebhookDeliveries": Role.VIEWER,
    "retryWebhookDelivery": Role.ADMINISTRATOR,
    "listAlertChannels": Role.VIEWER,
    "createAlertChannel": Role.ADMINISTRATOR,
    "putAlertChannel": Role.ADMINISTRATOR,
    "deleteAlertChannel": Role.ADMINISTRATOR,
    "testAlertChannel": Role.ADMINISTRATOR,
    "listAlertRoutes": Role.VIEWER,
    "createAlertRoute": Role.ADMINISTRATOR,
    "putAlertRoute": Role.ADMINISTRATOR,
    "deleteAlertRoute": Role.ADMINISTRATOR,
    "orderAlertRoutes": Role.ADMINISTRATOR,
    "tryAlertRoute": Role.OPERATOR,
    "listAlerts": Role.VIEWER,
    "getAlert": Role.VIEWER,
    "acknowledgeAlert": Role.OPERATOR,
    "takeBackAlertAcknowledgement": Role.OPERATOR,
    "retryAlertMessage": Role.OPERATOR,
    # Whoever got the message may silence it: the token in its link is the permission.
    "checkSilenceLink": OPEN,
    "useSilenceLink": OPEN,
    "listArtefacts": Role.VIEWER,
    "listReports": Role.VIEWER,
    "listReportTemplates": Role.VIEWER,
    "createReport": Role.OPERATOR,
    "getReport": Role.VIEWER,
    "updateReport": Role.OPERATOR,
    "deleteReport": Role.OPERATOR,
    "restoreReport": Role.OPERATOR,
    "saveAsTemplate": Role.OPERATOR,
    "addNote": Role.OPERATOR,
    "updateNote": Role.OPERATOR,
    "deleteNote": Role.OPERATOR,
    "restoreNote": Role.OPERATOR,
    "orderNotes": Role.OPERATOR,
    "previewMarkdown": Role.VIEWER,
    "exportReportHtml": Role.VIEWER,
    "exportReportPdf": Role.VIEWER,
    "uploadReportFile": Role.OPERATOR,
    "downloadReportFile": Role.VIEWER,
    "reportPages": Role.VIEWER,
    "createArtefact": Role.OPERATOR,
    "putArtefact": AGENT,
    "getArtefact": Role.VIEWER,
    "updateArtefact": Role.OPERATOR,
    "deleteArtefact": Role.OPERATOR,
    "restoreArtefact": Role.OPERATOR,
    "reparseText": Role.OPERATOR,
    "downloadArtefact": Role.VIEWER,
    "readArtefactText": Role.VIEWER,
    "readArtefactTable": Role.VIEWER,
    "exportArtefactTable": Role.VIEWER,
    "readArtefactHistogram": Role.VIEWER,
    "readArtefactIntervals": Role.VIEWER,
    "readArtefactDiff": Role.VIEWER,
    "exportArtefactDiff": Role.VIEWER,
    "readArtefactAnswers": Role.VIEWER,
    "listLogEvents": Role.VIEWER,
    "readLogLatencies": Role.VIEWER,
    "readLogLanes": Role.VIEWER,
    "readLogBlocking": Role.VIEWER,
    "exportLogLines": Role.VIEWER,
    "exportLogEvents": Role.VIEWER,
    "drawLogLanes": Role.VIEWER,
    "printLogLanes": Role.VIEWER,
    "drawLogLatencies": Role.VIEWER,
    "printLogLatencies": Role.VIEWER,
    "listViews": Role.VIEWER,
    # A private view belongs to its author; what others see is changed by operators (tests/api/test_views.py).
    "createView": Role.VIEWER,
    "getView": Role.VIEWER,
    "updateView": Role.VIEWER,
    "deleteView": Role.VIEWER,
    "starView": Role.VIEWER,
    "compare": Role.VIEWER,
    "compareWithProgress": Role.VIEWER,
    "listComparedSeries": Role.VIEWER,
    "reportComparison": Role.VIEWER,
    "reportNumbers": Role.VIEWER,
    "listComparisons": Role.VIEWER,
    "saveComparison": Role.OPERATOR,
    "getComparison": Role.VIEWER,
    "updateComparison": Role.OPERATOR,
    "deleteComparison": Role.OPERATOR,
    "exportBundle": Role.VIEWER,
    "createBundleImport": Role.OPERATOR,
    "exportCsv": Role.VIEWER,
    "exportParquet": Role.VIEWER,
    "createImport": Role.OPERATOR,
    "listImports": Role.VIEWER,
    "getImport": Role.VIEWER,
    "deleteImport": Role.OPERATOR,
    "retryImport": Role.OPERATOR,
    "undoImport": Role.OPERATOR,
    "listSpecs": Role.VIEWER,
    "getSpec": Role.VIEWER,
    "putSpec": Role.ADMINISTRATOR,
    "deleteSpec": Role.ADMINISTRATOR,
    "draftSpec": Role.OPERATOR,
    "previewSpec": Role.OPERATOR,
    "createReparse": Role.OPERATOR,
    "listReparses": Role.VIEWER,
    "getReparse": Role.VIEWER,
    "stopReparse": Role.OPERATOR,
    "getRetention": Role.VIEWER,
    "putRetention": Role.ADMINISTRATOR,
    "createRetentionRun": Role.ADMINISTRATOR,
    "getStorage": Role.VIEWER,
    "deleteHost": Role.ADMINISTRATOR,
    "listHostDeletions": Role.VIEWER,
    "follow": Role.VIEWER,
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
GUARDED = [name for name, role in POLICY.items() if role not in {OPEN, AGENT}]
ABOVE_VIEWER = [name for name, role in POLICY.items() if role in {Role.OPERATOR, Role.ADMINISTRATOR}]


def address_of(operation_id: str) -> tuple[str, str]:
    method, path, _ = OPERATIONS[operation_id]
    return method, re.sub(r"\{(\w+)\}", lambda match: PARAMETERS[match[1]], path)


def assert_envelope(response: httpx.Response, status: int, code: str) -> None:
    assert response.status_code == status, response.text
    error = ErrorBody.model_validate(response.json()).error
    assert error.code == code
    assert error.request_id == response.headers["X-Request-Id"] != ""
    assert error.message


def test_policy_names_every_route(app: FastAPI) -> None:
    assert set(POLICY) == set(OPERATIONS), "write the least role of each new route into POLICY"
    paths = {context.path for context in iter_route_contexts(app.routes)}
    # What Prometheus reads is described in docs/metrics.md.
    assert paths - {"/metrics"} == set(DOCUMENT["paths"]), "every route is in the OpenAPI document; none is hidden"


@pytest.mark.parametrize("operation_id", [*GUARDED, *(name for name, role in POLICY.items() if role == AGENT)])
async def test_nobody_gets_401(client: httpx.AsyncClient, operation_id: str) -> None:
    method, path = address_of(operation_id)
    response = await client.request(method, path, headers={"X-Normstat-Request": "1"})
    assert_envelope(response, 401, "not_authenticated")
    assert response.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("operation_id", ABOVE_VIEWER)
async def test_too_small_a_role_gets_403(people: People, operation_id: str) -> None:
    method, path = address_of(operation_id)
    smaller = Role.VIEWER if POLICY[operation_id] is Role.OPERATOR else Role.OPERATOR
    async with await people.enter(smaller) as client:
        assert_envelope(await client.request(method, path), 403, "not_allowed")


@pytest.mark.parametrize("operation_id", [name for name in GUARDED if OPERATIONS[name][0] != "GET"])
async def test_change_without_our_header_gets_403(people: People, operation_id: str) -> None:
    method, path = address_of(operation_id)
    async with await people.enter(Role.ADMINISTRATOR) as client:
        del client.headers["X-Normstat-Request"]
        assert_envelope(await client.request(method, path), 403, "not_allowed")


async def test_tokens_open_only_what_they_are_for(people: People) -> None:
    async with await people.enter(Role.ADMINISTRATOR) as admin, await people.agent() as agent:
        made = await admin.post("/api/v1/api-tokens", json={"name": "script", "role": "administrator"})
        script = people.client(authorization=f"Bearer {made.json()['token']}")
        assert (await script.get("/api/v1/users")).status_code == 200
        assert_envelope(await script.post("/api/v1/ingest"), 401, "not_authenticated")
        assert_envelope(await agent.get("/api/v1/hosts"), 401, "not_authenticated")
        # The cookie of an administrator does not make up for a wrong token.
        assert_envelope(await admin.get("/api/v1/users", headers={"Authorization": "Bearer x"}), 401, "not_authenticated")
        assert_envelope(await admin.get("/api/v1/users", headers={"Authorization": "Basic eDp5"}), 401, "not_authenticated")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/v1/nothing", 404, "not_found"),
        ("GET", "/api/v2/hosts", 404, "not_found"),
        ("GET", "/api", 404, "not_found"),
        ("POST", "/api/v1/health", 405, "method_not_allowed"),
        ("PUT", "/api/v1/hosts", 405, "method_not_allowed"),
        ("POST", "/somewhere", 405, "method_not_allowed"),
        ("POST", "/api/v1/auth/login", 422, "invalid_request"),
        ("GET", "/api/v1/agent/passwd", 404, "not_found"),
        ("GET", "/api/v1/agent/..%2f..%2fetc%2fpasswd", 404, "not_found"),
        ("GET", "/docs", 503, ""),
    ],
)
async def test_unknown_addresses_and_methods(client: httpx.AsyncClient, method: str, path: str, status: int, code: str) -> None:
    response = await client.request(method, path)
    if code:
        assert_envelope(response, status, code)
    else:
        assert response.status_code == status
    if status == 405:
        assert response.headers["Allow"]


def test_every_operation_declares_its_errors() -> None:
    for operation_id, (_, _, operation) in OPERATIONS.items():
        declared = set(operation["responses"])
        needed = {"422", "500", "503"} | (set() if POLICY[operation_id] == OPEN else {"401", "403"})
        assert needed <= declared, operation_id
        for status, answer in operation["responses"].items():
            if int(status) >= 400:
                schema = answer["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/ErrorBody"}, f"{operation_id} {status}"
        assert operation["summary"]
        assert operation["description"]
        assert operation["tags"]
