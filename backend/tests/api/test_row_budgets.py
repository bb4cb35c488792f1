"""Budgets of rows: every route that makes rows has one, an account or token that used it up gets 429, and others do not."""

import importlib
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from fastapi import FastAPI

from normstat.api.http import router
from normstat.api.http.row_budgets import MARK
from normstat.api.http.state import AppState
from normstat.app import create_app
from normstat.auth.roles import Role
from normstat.db import row_budgets
from normstat.db.row_budgets import CHURN, RowBudget
from normstat.settings import Settings
from tests.api.people import People, body_of, run_sql
from tests.api.test_access import OPERATIONS, POLICY
from tests.api.test_host_access import fill, made, paths_of

API: Final = "/api/v1"
# What only changes what is there, or is made by nobody but the server. Administrators' routes are not asked about.
MAKES_NO_ROWS: Final = {
    "log_out", "change_password", "begin_second_factor", "confirm_second_factor", "renew_recovery_codes", "remove_second_factor",
    "update_event", "restore_event", "update_artefact", "restore_artefact", "reparse_text", "update_experiment",
    "restore_experiment", "update_run", "restore_run", "update_report", "restore_report", "update_note", "restore_note",
    "order_notes", "preview_markdown", "archive_baseline", "update_comparison", "update_view",
    "acknowledge_episode", "acknowledge_alert", "retry_alert_message", "retry_job", "stop_job", "undo_import",
    "update_past_incident", "read_batch",
    "update_import", "undo_import_change", "draft_spec", "preview_spec", "look_at_file", "check_rule", "try_alert_route",
}  # fmt: skip
# As many as there are hosts, ready-made and own views, or as another limit says: 50 tags and 500 expected values a host, 200 rules.
LIMITED_OTHERWISE: Final = {"update_host_tags", "put_expected", "star_view", "put_rule", "enable_rule"}


def name_of(operation: str) -> str:
    """The function of a route, by the name of its operation.

    >>> name_of("createApiToken")
    'create_api_token'
    """
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", operation)


BUDGETS: Final[dict[str, RowBudget]] = {
    name: budget
    for module in router.MODULES
    for name, (_, endpoint, _) in importlib.import_module(f"normstat.api.routes.{module}").router.declared.items()
    if (budget := getattr(endpoint, MARK, None))
}
OPERATION_OF: Final = {name_of(operation): operation for operation in OPERATIONS}


def test_every_route_that_makes_rows_has_a_budget() -> None:
    changing = {
        name_of(operation)
        for operation, (method, _, _) in OPERATIONS.items()
        if method in {"POST", "PUT", "PATCH"} and POLICY[operation] in {Role.VIEWER, Role.OPERATOR}
    }
    assert changing == BUDGETS.keys() | MAKES_NO_ROWS | LIMITED_OTHERWISE
    all_budgets = {each for each in vars(row_budgets).values() if isinstance(each, RowBudget)}
    assert set(BUDGETS.values()) == all_budgets
    documented = (Path(__file__).parents[3] / "docs" / "security.md").read_text()
    for each in all_budgets:
        assert f"| {Settings.model_fields[each.setting].default:,} | `{each.variable}` |" in documented


def limit(app: FastAPI, state: AppState, **limits: int) -> None:
    app.state.normstat = replace(state, settings=state.settings.model_copy(update=limits))


@pytest.fixture(scope="module")
async def world(shared_state: AppState) -> tuple[FastAPI, People, httpx.AsyncClient, dict[str, int | str]]:
    """An operator who has made one of everything."""
    app = create_app(shared_state.settings)
    app.state.normstat = shared_state
    people = People(app, shared_state, timedelta(days=1))
    operator = await people.enter(Role.OPERATOR)
    ids = await fill(people, operator, shared_state, "web1", "shop")
    await made(await operator.post(f"{API}/views", json={"name": "mine", "panels": []}))
    await made(await operator.post(f"{API}/api-tokens", json={"name": "ci", "role": "viewer"}))
    await made(await operator.post(f"{API}/host-groups", json={"name": "shop", "hosts": ["web1"]}))
    return app, people, operator, ids


@pytest.mark.parametrize("route", sorted(BUDGETS))
async def test_a_budget_that_is_used_up_is_told_with_its_setting(
    world: tuple[FastAPI, People, httpx.AsyncClient, dict[str, int | str]], shared_state: AppState, route: str
) -> None:
    app, people, operator, ids = world
    budget = BUDGETS[route]
    method, path = OPERATIONS[OPERATION_OF[route]][0], paths_of(OPERATION_OF[route], ids)
    try:
        limit(app, shared_state, **{budget.setting: 1})
        refused = await operator.request(method, path, json={})
        others = await (await people.enter(Role.OPERATOR, f"lee-{route}")).request(method, path, json={})
    finally:
        app.state.normstat = shared_state
    error = body_of(refused, 429)["error"]
    assert (error["code"], error["details"]["setting"], error["details"]["limit"]) == (
        "too_many_requests", f"NORMSTAT_{budget.setting.upper()}", 1
    )  # fmt: skip
    assert f"the limit is 1 ({budget.variable})" in error["message"]
    assert refused.headers["Retry-After"] == "3600"
    assert others.status_code != 429
    assert (await operator.request(method, path, json={})).status_code != 429


@pytest.fixture
async def operator(people: People) -> httpx.AsyncClient:
    return await people.enter(Role.OPERATOR, "kim")


async def test_what_ended_makes_room_but_not_for_ever(operator: httpx.AsyncClient, app: FastAPI, state: AppState) -> None:
    limit(app, state, max_api_tokens=1)
    for _ in range(CHURN):
        token = body_of(await operator.post(f"{API}/api-tokens", json={"name": "ci", "role": "viewer"}), 201)
        error = body_of(await operator.post(f"{API}/api-tokens", json={"name": "ci", "role": "viewer"}), 429)["error"]
        assert (
            error["message"] == "'kim' has 1 API tokens; the limit is 1 (NORMSTAT_MAX_API_TOKENS). Revoke some that are not needed"
        )
        assert (await operator.delete(f"{API}/api-tokens/{token['info']['id']}")).is_success
    error = body_of(await operator.post(f"{API}/api-tokens", json={"name": "ci", "role": "viewer"}), 429)["error"]
    assert f"made {CHURN} API tokens in 24 hours" in error["message"]
    await run_sql(state, "UPDATE api_tokens SET created_at = now() - interval '2 days'")
    assert (await operator.post(f"{API}/api-tokens", json={"name": "ci", "role": "viewer"})).status_code == 201


RUN: Final = {"experiment": "io", "host": "web1", "start": "2026-11-22T00:00:00Z", "real": 1.0}
SENT: Final[dict[str, tuple[RowBudget, dict[str, Any]]]] = {
    "ingest/events": (row_budgets.EVENTS, {"json": {"text": "deploy", "host": "web1"}}),
    "ingest/runs": (row_budgets.RUNS, {"json": RUN}),
    "ingest/artefacts": (row_budgets.ARTEFACTS, {"content": b"text", "params": {"host": "web1"}}),
}


@pytest.mark.parametrize("path", sorted(SENT))
async def test_an_agent_token_has_budgets_too(people: People, app: FastAPI, state: AppState, path: str) -> None:
    budget, sent = SENT[path]
    async with await people.agent() as agent:
        # Makes the host.
        body_of(await agent.post(f"{API}/ingest/runs", json=RUN), 201)
        limit(app, state, **{budget.setting: 1})
        if budget is not row_budgets.RUNS:
            body_of(await agent.post(f"{API}/{path}", **sent), 201)
        error = body_of(await agent.post(f"{API}/{path}", **sent), 429)["error"]
    assert error["details"]["setting"] == budget.variable


async def test_a_run_makes_no_experiment_or_host_too_many(
    people: People, operator: httpx.AsyncClient, app: FastAPI, state: AppState
) -> None:
    limit(app, state, max_experiments=1, ingest_max_hosts=1)
    async with await people.agent() as agent:
        body_of(await agent.post(f"{API}/ingest/runs", json=RUN), 201)
        refused = body_of(await agent.post(f"{API}/ingest/runs", json=RUN | {"experiment": "net"}), 429)
        assert refused["error"]["details"]["setting"] == "NORMSTAT_MAX_EXPERIMENTS"
        # Of one that there is, any number.
        body_of(await agent.post(f"{API}/ingest/runs", json=RUN), 201)
        for path, (_, sent) in SENT.items():
            where = {"params": {"host": "web2"}} if "params" in sent else {"json": sent["json"] | {"host": "web2"}}
            assert "limit of 1 hosts" in body_of(await agent.post(f"{API}/{path}", **(sent | where)), 429)["error"]["message"]
    own = {key: value for key, value in RUN.items() if key != "real"}
    body_of(await operator.post(f"{API}/experiments/runs", json=own | {"experiment": "cpu"}), 201)
    refused = body_of(await operator.post(f"{API}/experiments/runs", json=own | {"experiment": "net"}), 429)
    assert refused["error"]["details"]["setting"] == "NORMSTAT_MAX_EXPERIMENTS"
