"""The accounts of what an agent sent, and the lines around one that could not be read."""

import httpx
import pytest
from pydantic import TypeAdapter

from normstat.api.schemas import HostList
from normstat.auth.roles import Role
from normstat.query.context import StreamContext
from normstat.query.host_lists import RejectedLineList
from normstat.query.line_accounts import HostAccounts
from tests.api.people import People
from tests.api.samples import HOST, N_SAMPLES, VMSTAT, deliver, frames_of

GARBAGE = b" 1  2 garbage\n"
ACCOUNTS = f"/api/v1/hosts/{HOST}/accounts"


@pytest.fixture
async def reader(people: People, agent: httpx.AsyncClient) -> httpx.AsyncClient:
    """A viewer, where one host has sent a minute of vmstat and ten unreadable lines."""
    await deliver(agent, frames_of(VMSTAT + GARBAGE * 10))
    return await people.enter(Role.VIEWER)


async def test_the_account_of_a_stream_leads_to_the_lines_around_a_rejected_one(reader: httpx.AsyncClient) -> None:
    """What is counted and found is tested in tests/query; here it is whether the bodies have it."""
    accounts = TypeAdapter(HostAccounts).validate_python((await reader.get(ACCOUNTS)).json())
    assert (accounts.n_bytes, accounts.n_matching) == (len(VMSTAT) + 10 * len(GARBAGE), 1)
    (account,) = accounts.streams
    assert (account.stream.n_lines.sample, account.stream.n_lines.rejected) == (N_SAMPLES, 10)
    (host,) = HostList.model_validate((await reader.get("/api/v1/hosts")).json()).hosts
    assert (host.n_rejected_last_hour, host.has_reject_rise) == (10, True)
    asked: dict[str, str | int] = {"reason": account.reasons[0].reason, "limit": 500}
    listed = await reader.get(f"/api/v1/hosts/{HOST}/rejected", params=asked)
    line = TypeAdapter(RejectedLineList).validate_python(listed.json()).rejected_lines[-1]
    context = await reader.get(f"/api/v1/streams/{line.stream_id}/context", params={"offset": line.offset, "before": 3, "after": 1})
    found = TypeAdapter(StreamContext).validate_python(context.json())
    assert [text.is_target for text in found.lines] == [False, False, False, True, False]
