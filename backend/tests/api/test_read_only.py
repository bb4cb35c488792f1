"""NORMSTAT_READ_ONLY: requests that change something are refused with a sentence; reading, logging in and out still work."""

import httpx
import pytest
from fastapi import FastAPI

from normstat.auth.roles import Role
from normstat.settings import Settings
from tests.api.people import People, body_of
from tests.api.samples import VMSTAT, frames_of, send
from tests.api.test_access import GUARDED, OPERATIONS, address_of, assert_envelope
from tests.api.test_audit import READ_ONLY
from tests.api.test_login import link_token

API = "/api/v1"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"read_only": True})


def changes(operation: str) -> bool:
    method, _, described = OPERATIONS[operation]
    return method != "GET" and operation != "logOut" and described["operationId"] not in {_camel(name) for name in READ_ONLY}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


async def test_no_account_changes_anything(people: People) -> None:
    admin = await people.enter(Role.ADMINISTRATOR)
    refused = [operation for operation in GUARDED if changes(operation)]
    assert len(refused) > 80
    for operation in refused:
        method, path = address_of(operation)
        answer = await admin.request(method, path, json={})
        assert_envelope(answer, 403, "read_only")
        assert "nothing in it can be changed" in answer.json()["error"]["message"]


async def test_agents_are_refused_and_keep_what_they_have(people: People) -> None:
    # 403 is one of the answers after which an agent keeps its bytes and comes again (docs/wire-format.md).
    async with await people.agent() as agent:
        assert_envelope(await send(agent, frames_of(VMSTAT)), 403, "read_only")
        assert_envelope(await agent.post(f"{API}/ingest/events", json={}), 403, "read_only")
    joined = await people.client(authorization="Bearer x", normstat_host="web1").post(f"{API}/ingest/enrol")
    assert_envelope(joined, 403, "read_only")


async def test_people_log_in_read_and_log_out(client: httpx.AsyncClient, app: FastAPI, people: People) -> None:
    logged_in = await client.post(f"{API}/auth/link", json={"token": await link_token(app.state.normstat)})
    me = body_of(logged_in)
    assert me["is_read_only"] is True
    assert body_of(await client.get(f"{API}/hosts"))["hosts"] == []
    # What takes a body and changes nothing goes on.
    checked = await client.post(f"{API}/report-preview", json={"markdown": "*a*"}, headers={"X-Normstat-Request": "1"})
    assert checked.status_code == 200
    assert (await client.post(f"{API}/auth/logout", headers={"X-Normstat-Request": "1"})).status_code == 200
    assert (await client.get(f"{API}/hosts")).status_code == 401
