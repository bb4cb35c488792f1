"""Baselines over HTTP: made in each way, changed, read in all versions; and what is around them.

What may be changed, and what follows from it: tests/baselines/test_baseline_versions.py and tests/baselines/test_lifecycle.py.
"""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from pydantic import TypeAdapter

from normstat.api.routes import baseline_schemas
from normstat.auth.roles import Role
from normstat.baselines.baseline_records import BaselineInfo, ProfileInfo, RuleInfo
from normstat.baselines.host_group_rows import HostGroupInfo
from normstat.baselines.mute_rows import MuteInfo
from tests.api.people import People, body_of
from tests.api.samples import HOST, VMSTAT, frames_of, send
from tests.api.test_access import assert_envelope

BASELINES = "/api/v1/baselines"
WINDOW = {"start": "2026-11-21T10:00:00Z", "end": "2026-11-21T10:01:00Z"}
RULE = {"rrule": "weekdays", "start": "09:00", "duration_s": 8 * 3600, "keep_days": 28}


@pytest.fixture
async def operator(people: People) -> httpx.AsyncClient:
    """An operator, where two hosts have sent a minute of vmstat."""
    for host in (HOST, "web2"):
        async with await people.agent() as agent:
            assert (await send(agent, frames_of(VMSTAT), **{"Normstat-Host": host})).status_code == 200
    return await people.enter(Role.OPERATOR)


async def make(operator: httpx.AsyncClient, status: int = 201, **body: object) -> dict[str, object]:
    return body_of(await operator.post(BASELINES, json={"name": "normal", "hosts": [HOST]} | body), status)


async def test_by_windows_and_all_of_its_versions(operator: httpx.AsyncClient) -> None:
    made = TypeAdapter(BaselineInfo).validate_python(await make(operator, windows=[WINDOW], note="calm"))
    path = f"{BASELINES}/{made.id}"
    assert (made.time_zone, made.rule, made.recording_until, made.group, made.excluded, made.archived_at) == (
        "UTC", None, None, None, [], None,
    )  # fmt: skip
    assert made.profile == ProfileInfo(state="queued", n_done=0, n_total=0, message="")
    later = WINDOW | {"end": "2026-11-21T10:05:00Z"}
    changed = await operator.patch(path, json={"windows": [later], "reason": "longer"})
    assert changed.json()["version"] == 2
    answer = await operator.get(f"{path}/versions")
    versions = baseline_schemas.VersionList.model_validate(answer.json()).versions
    assert [(item.version, item.reason, item.made_by, item.hosts) for item in versions] == [
        (2, "longer", "operator", [HOST]),
        (1, "made", "operator", [HOST]),
    ]
    health = baseline_schemas.BaselineHealth.model_validate((await operator.get(f"{path}/health")).json())
    assert (health.version, health.hosts[0].host, health.hosts[0].state) == (2, HOST, "insufficient_data")
    assert health.hosts[0].stats[0].n_samples == 60
    copy = await operator.post(f"{path}/copy", json={"name": "again"})
    assert (copy.status_code, copy.json()["windows"], copy.json()["version"]) == (201, changed.json()["windows"], 1)
    assert (await operator.post(f"{path}/archive", json={"is_archived": True})).json()["archived_at"] is not None
    assert [item["name"] for item in (await operator.get(BASELINES)).json()["baselines"]] == ["again"]
    archived = await operator.get(BASELINES, params={"archived": True, "host": HOST})
    assert [item["name"] for item in archived.json()["baselines"]] == ["normal"]
    assert_envelope(await operator.delete(f"{path}/recording"), 409, "conflict")


async def test_by_a_recording(operator: httpx.AsyncClient) -> None:
    before = datetime.now(UTC)
    made = TypeAdapter(BaselineInfo).validate_python(await make(operator, record_hours=2))
    assert made.recording_until is not None
    assert timedelta(hours=2) <= made.recording_until - before < timedelta(hours=2, minutes=5)
    assert [window.end for window in made.windows] == [made.recording_until]
    stopped = TypeAdapter(BaselineInfo).validate_python((await operator.delete(f"{BASELINES}/{made.id}/recording")).json())
    assert (stopped.recording_until, stopped.version) == (None, 2)
    assert stopped.windows[0].end <= datetime.now(UTC)


async def test_by_a_rule(operator: httpx.AsyncClient) -> None:
    made = TypeAdapter(BaselineInfo).validate_python(await make(operator, rule=RULE, time_zone="Europe/Berlin"))
    assert made.rule is not None
    assert (made.rule.rrule, f"{made.rule.start:%H:%M:%S}") == ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "09:00:00")
    path = f"{BASELINES}/{made.id}"
    # What was read can be sent back.
    rule = TypeAdapter(RuleInfo).dump_python(made.rule, mode="json")
    same = await operator.patch(path, json={"rule": rule, "name": "working days"})
    assert (same.json()["version"], same.json()["rule"]) == (1, rule)
    freed = await operator.patch(path, json={"rule": None, "windows": [WINDOW]})
    assert (freed.json()["rule"], freed.json()["version"], len(freed.json()["windows"])) == (None, 2, 1)


async def test_bad_wishes_are_answered(operator: httpx.AsyncClient) -> None:
    wrong: tuple[tuple[dict[str, object], int, str], ...] = (
        ({}, 400, "exactly one of windows, record_hours and rule"),
        ({"windows": [WINDOW], "record_hours": 1}, 400, "exactly one of"),
        ({"rule": RULE | {"rrule": "FREQ=SECONDLY"}}, 400, "Invalid FREQ=SECONDLY"),
        ({"rule": RULE | {"start": "nine"}}, 400, "Invalid start of a rule"),
        ({"windows": [WINDOW], "time_zone": "../../etc/passwd"}, 400, "no time zone"),
        ({"windows": [WINDOW], "hosts": None}, 400, "at least one host"),
        ({"windows": [WINDOW], "group": "web"}, 400, "not both"),
        ({"windows": [WINDOW], "group": "web", "hosts": None}, 404, "no host group 'web'"),
        ({"windows": [{"start": WINDOW["end"], "end": WINDOW["start"]}]}, 400, "is empty"),
    )
    for body, status, words in wrong:
        assert words in str((await make(operator, status, **body))["error"])
    assert (await operator.get(BASELINES)).json() == {"baselines": []}


async def test_exclusions(operator: httpx.AsyncClient) -> None:
    made = await make(operator, windows=[WINDOW], hosts=[HOST, "web2"])
    path = f"{BASELINES}/{made['id']}"
    part = {"start": "2026-11-21T10:00:30Z", "end": "2026-11-21T11:00:00Z"}
    response = body_of(await operator.post("/api/v1/exclusions", json=part | {"name": "reboot", "host": HOST}), 201)
    exclusion = baseline_schemas.ExclusionMade.model_validate(response)
    assert (exclusion.n_baselines, exclusion.exclusion.host, exclusion.exclusion.created_by) == (1, HOST, "operator")
    assert [item["name"] for item in (await operator.get(path)).json()["excluded"]] == ["reboot"]
    health = baseline_schemas.BaselineHealth.model_validate((await operator.get(f"{path}/health")).json()).hosts
    assert [(host.host, host.n_samples) for host in health] == [(HOST, 30), ("web2", 60)]
    assert_envelope(await operator.get(f"{path}/health", params={"host": "web3"}), 404, "not_found")
    for host, n in ((HOST, 1), ("web2", 0)):
        listed = await operator.get("/api/v1/exclusions", params={"host": host})
        assert len(baseline_schemas.ExclusionList.model_validate(listed.json()).exclusions) == n
    number = exclusion.exclusion.id
    assert (await operator.delete(f"/api/v1/exclusions/{number}")).json() == {"n_baselines": 1}
    assert_envelope(await operator.delete(f"/api/v1/exclusions/{number}"), 404, "not_found")


async def test_mutes(operator: httpx.AsyncClient) -> None:
    body = {"host": HOST, "stat": "vmstat_linux", "field": "procs_r", "reason": "known"}
    response = body_of(await operator.post("/api/v1/mutes", json=body), 201)
    mute = TypeAdapter(MuteInfo).validate_python(response)
    assert (mute.host, mute.instance, mute.created_by) == (HOST, None, "operator")
    assert_envelope(await operator.post("/api/v1/mutes", json=body), 409, "conflict")
    for host, n in ((HOST, 1), ("web2", 0)):
        assert len((await operator.get("/api/v1/mutes", params={"host": host})).json()["mutes"]) == n
    assert (await operator.delete(f"/api/v1/mutes/{mute.id}")).json() == {}
    assert_envelope(await operator.delete(f"/api/v1/mutes/{mute.id}"), 404, "not_found")


async def test_host_groups(operator: httpx.AsyncClient) -> None:
    response = body_of(await operator.post("/api/v1/host-groups", json={"name": "web", "hosts": [HOST]}), 201)
    group = TypeAdapter(HostGroupInfo).validate_python(response)
    made = await make(operator, windows=[WINDOW], hosts=None, group="web")
    assert (made["hosts"], made["group"]) == ([HOST], "web")
    path = f"/api/v1/host-groups/{group.id}"
    changed = await operator.patch(path, json={"hosts": [HOST, "web2"]})
    assert (changed.json()["hosts"], changed.json()["baselines"]) == ([HOST, "web2"], ["normal"])
    assert_envelope(await operator.patch(path, json={"hosts": ["nobody"]}), 404, "not_found")
    assert (await operator.delete(path)).json() == {}
    assert_envelope(await operator.delete(path), 404, "not_found")
    assert (await operator.get("/api/v1/host-groups")).json() == {"groups": []}
