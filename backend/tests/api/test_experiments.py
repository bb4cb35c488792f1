"""Experiments over HTTP: runs added by people, agents and from artefacts, analysed, changed, excluded, deleted, restored."""

import csv
import io
from typing import Any

import httpx

from tests.api.people import People, body_of
from tests.api.samples import HOST
from tests.api.test_access import assert_envelope

EXPERIMENTS = "/api/v1/experiments"
START = "2026-11-22T10:00:00Z"
END = "2026-11-22T10:00:08Z"


def body(threads: int, real: float, **more: Any) -> dict[str, Any]:
    results = [{"name": "real", "value": real, "unit": "s"}, {"name": "user", "value": real, "unit": "s"}]
    factors = {"threads": str(threads)}
    return {"experiment": "xz", "host": HOST, "start": START, "end": END, "factors": factors, "results": results} | more


async def add(client: httpx.AsyncClient, **values: Any) -> dict[str, Any]:
    return body_of(await client.post(f"{EXPERIMENTS}/runs", json=values), 201)


async def test_runs_make_an_experiment_that_is_analysed(operator: httpx.AsyncClient) -> None:
    for threads, real in ((1, 8.0), (1, 8.2), (2, 4.1), (2, 4.0), (4, 4.1), (4, 4.0)):
        made = await add(operator, **body(threads, real))
    failed = await add(operator, **body(4, 0.1, exit_status=137))
    assert (made["left_out"], failed["left_out"]) == ("", "it failed with exit status 137")
    [experiment] = (await operator.get(EXPERIMENTS, params={"search": "XZ"})).json()["experiments"]
    assert (experiment["n_runs"], experiment["hosts"], experiment["factors"]) == (7, [HOST], ["threads"])
    address = f"{EXPERIMENTS}/{experiment['id']}"
    assert len((await operator.get(address)).json()["runs"]) == 7
    analysis = (await operator.get(f"{address}/analysis")).json()
    assert (analysis["result"]["name"], analysis["factor"]["name"]) == ("real", "threads")
    assert analysis["left_out"] == [{"run": failed["id"], "reason": "it failed with exit status 137"}]
    assert_envelope(await operator.get(f"{address}/analysis", params={"factor": "x"}), 400, "bad_request")
    rows = list(csv.DictReader(io.StringIO((await operator.get(f"{address}/runs.csv")).text)))
    assert [row["real (s)"] for row in rows[:2]] == ["8.0", "8.2"]
    assert (rows[-1]["left_out"], rows[-1]["threads"], rows[-1]["start"]) == ("it failed with exit status 137", "4", START)


async def test_a_run_is_changed_excluded_deleted_and_restored(operator: httpx.AsyncClient) -> None:
    made = await add(operator, **body(1, 8.0))
    address = f"{EXPERIMENTS}/runs/{made['id']}"
    change = {"factors": {"threads": "2"}, "note": "warm cache", "excluded_reason": "backup was running"}
    changed = (await operator.put(address, json=change)).json()
    assert (changed["factors"], changed["left_out"]) == ({"threads": "2"}, "excluded: backup was running")
    assert changed["results"] == made["results"]
    [experiment] = (await operator.get(EXPERIMENTS)).json()["experiments"]
    assert (await operator.delete(address)).status_code == 200
    assert_envelope(await operator.delete(address), 404, "not_found")
    assert (await operator.get(f"{EXPERIMENTS}/{experiment['id']}")).json()["runs"] == []
    assert (await operator.post(f"{address}/restore")).json()["note"] == "warm cache"
    values = [{"name": "tps", "value": 12.5, "unit": "1/s"}] * 2
    assert_envelope(await operator.put(address, json=change | {"results": values}), 400, "bad_request")
    replaced = (await operator.put(address, json=change | {"results": values[:1]})).json()
    assert replaced["results"] == values[:1]


async def test_an_experiment_is_renamed_deleted_and_restored(operator: httpx.AsyncClient) -> None:
    made = (await operator.post(EXPERIMENTS, json={"name": "io", "title": "IOzone on ext4"})).json()
    assert_envelope(await operator.post(EXPERIMENTS, json={"name": "io"}), 409, "conflict")
    address = f"{EXPERIMENTS}/{made['id']}"
    assert (await operator.delete(address)).status_code == 200
    assert_envelope(await operator.get(address), 404, "not_found")
    # Its name is free; then it cannot come back under it.
    other = (await operator.post(EXPERIMENTS, json={"name": "io"})).json()
    assert_envelope(await operator.post(f"{address}/restore"), 409, "conflict")
    renamed = await operator.put(f"{EXPERIMENTS}/{other['id']}", json={"name": "io2", "title": "", "note": ""})
    assert renamed.json()["name"] == "io2"
    assert (await operator.post(f"{address}/restore")).json()["title"] == "IOzone on ext4"


async def test_artefacts_become_runs_and_belong_to_them(operator: httpx.AsyncClient) -> None:
    text = b"real 452.73\nuser 16.597\nsys 437.231\n"
    artefact = (await operator.post("/api/v1/artefacts", content=text, params={"host": HOST, "start": START})).json()
    wanted = {"experiment": "encrypt", "artefact": artefact["id"], "factors": {"version": "1"}}
    response = body_of(await operator.post(f"{EXPERIMENTS}/artefact-runs", json=wanted), 201)
    [run] = (await operator.get(f"{EXPERIMENTS}/{response['id']}")).json()["runs"]
    values = {each["name"]: round(each["value"], 3) for each in run["results"]}
    assert values == {"real": 452.73, "user": 16.597, "sys": 437.231, "cpus_used": 1.002, "sys_share": 96.577}
    assert (run["artefacts"], run["end"], run["factors"]) == ([artefact["id"]], "2026-11-22T10:07:32.730000Z", {"version": "1"})
    unknown = (await operator.post("/api/v1/artefacts", content=b"what is this?", params={"host": HOST})).json()
    assert_envelope(
        await operator.post(f"{EXPERIMENTS}/artefact-runs", json=wanted | {"artefact": unknown["id"]}), 400, "bad_request"
    )
    assert_envelope(await operator.post(f"{EXPERIMENTS}/runs", json=body(1, 1.0, artefacts=[987654])), 404, "not_found")
    linked = await add(operator, **body(1, 1.0, artefacts=[artefact["id"]]))
    assert {"name": "time real", "value": 452.73, "unit": "s"} in linked["results"]


async def test_an_agent_reports_a_run_of_its_own_host_only(people: People, viewer: httpx.AsyncClient) -> None:
    async with await people.agent(HOST) as agent:
        report = {
            "experiment": "dd", "start": START, "end": END, "factors": {"bs": "8k"}, "exit_status": 0,
            "real": 8, "user": 1, "sys": 6,
        }  # fmt: skip
        made = body_of(await agent.post("/api/v1/ingest/runs", json=report), 201)
        assert (made["host"], made["source"]) == (HOST, "agent")
        assert_envelope(await agent.post("/api/v1/ingest/runs", json=report | {"host": "other"}), 403, "not_allowed")
        assert_envelope(await agent.post("/api/v1/ingest/runs", json=report | {"end": "2026-11-22T09:00:00Z"}), 400, "bad_request")
        [experiment] = (await viewer.get(EXPERIMENTS)).json()["experiments"]
        assert experiment["name"] == "dd"


async def test_what_a_spreadsheet_would_run_is_text(operator: httpx.AsyncClient) -> None:
    await add(operator, **body(1, 1.0, command='=HYPERLINK("x")'))
    [experiment] = (await operator.get(EXPERIMENTS)).json()["experiments"]
    [row] = csv.DictReader(io.StringIO((await operator.get(f"{EXPERIMENTS}/{experiment['id']}/runs.csv")).text))
    assert row["command"] == '\'=HYPERLINK("x")'
