"""Saved comparisons and reports: a saved result never changes, in any of its forms."""

import csv
import html
import io
import re
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs

import httpx
import numpy as np
import pytest
import zstandard
from pydantic import TypeAdapter
from sqlalchemy import text, update

from normstat.auth.roles import Role
from normstat.comparison.saved_comparison_rows import SavedComparisonInfo, SavedComparisonList
from normstat.comparison.saved_format import SavedComparison
from normstat.db.schema.baseline_models import SavedComparisonRow
from normstat.window import to_us
from tests.api.people import People, body_of
from tests.api.samples import START
from tests.api.test_access import assert_envelope
from tests.databases import Sessions
from tests.query.filling import fill_values

API = "/api/v1"
N_NORMAL, N_INCIDENT = 600, 60
# A host, and what it calls its CPU, as badly as they can.
HOST = "web1<script>alert(1)</script>"
CPU = '=1+1"><img src=x onerror=alert(2)>'


def at(seconds: int) -> str:
    return f"{START + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


INCIDENT = {"host": [HOST], "start": at(N_NORMAL), "end": at(N_NORMAL + N_INCIDENT)}
ASKED = INCIDENT | {"baseline_start": at(0), "baseline_end": at(N_NORMAL)}


async def fill(sessions: Sessions) -> None:
    """Ten quiet minutes, then one in which one of two CPUs burns."""
    rng = np.random.default_rng(5)
    n = N_NORMAL + N_INCIDENT
    is_hot = np.repeat(np.arange(n) >= N_NORMAL, 2) & np.tile([False, True], n)
    usr = np.where(is_hot, 97.0, 3.0) + np.round(rng.uniform(-1, 1, 2 * n), 2)
    time_us = np.repeat(to_us(START) + np.arange(n) * 1_000_000, 2)
    await fill_values(sessions, HOST, "mpstat_linux", time_us=time_us, instances=("0", CPU) * n, values={"usr_pct": usr})


@pytest.fixture
async def operator(people: People, sessions: Sessions) -> httpx.AsyncClient:
    await fill(sessions)
    return await people.enter(Role.OPERATOR, "kim")


async def save(operator: httpx.AsyncClient, **change: object) -> SavedComparisonInfo:
    body = {"name": "Burnt", "note": "Ask Kim.", "inputs": ASKED} | change
    return TypeAdapter(SavedComparisonInfo).validate_python(body_of(await operator.post(f"{API}/comparisons", json=body), 201))


async def saved_of(operator: httpx.AsyncClient) -> list[SavedComparisonInfo]:
    return TypeAdapter(SavedComparisonList).validate_python(body_of(await operator.get(f"{API}/comparisons"))).comparisons


def without_time(page: str) -> str:
    return re.sub(r"Created by normstat.*? for", "", page)


async def test_a_saved_comparison_outlives_what_it_was_made_from(operator: httpx.AsyncClient, sessions: Sessions) -> None:
    info = await save(operator)
    assert (info.name, info.note, info.created_by, info.inputs) == ("Burnt", "Ask Kim.", "kim", ASKED)
    before = (await operator.get(f"{API}/comparisons/{info.id}")).json()
    saved = TypeAdapter(SavedComparison).validate_python(before)
    assert saved.result.groups[0].field == "usr_pct"
    assert saved.result.groups[0].instances == [CPU]
    of_saved = {"comparison": info.id}
    page = (await operator.get(f"{API}/comparison/report.html", params=of_saved)).text
    numbers = (await operator.get(f"{API}/comparison/report.csv", params=of_saved)).text
    async with sessions() as session, session.begin():
        # As an undone import does: the stream goes with its samples.
        for table in ("samples.mpstat_linux", "streams"):
            await session.execute(text(f"DELETE FROM {table}"))
    assert_envelope(await operator.get(f"{API}/comparison/report.csv", params=ASKED), 404, "no_data")
    assert (await operator.get(f"{API}/comparisons/{info.id}")).json() == before
    assert without_time((await operator.get(f"{API}/comparison/report.html", params=of_saved)).text) == without_time(page)
    assert (await operator.get(f"{API}/comparison/report.csv", params=of_saved)).text == numbers


async def test_the_version_that_was_used_is_saved(operator: httpx.AsyncClient) -> None:
    window = {"start": at(0), "end": at(N_NORMAL)}
    made = body_of(await operator.post(f"{API}/baselines", json={"name": "quiet", "hosts": [HOST], "windows": [window]}), 201)
    asked = INCIDENT | {"baseline": made["id"]}
    info = await save(operator, inputs=asked)
    assert info.inputs == asked | {"version": 1}
    report = await operator.get(f"{API}/comparison/report.html", params=asked)
    assert "&amp;version=1&amp;" in report.text
    shorter = {"windows": [window | {"start": at(60)}]}
    assert (await operator.patch(f"{API}/baselines/{asked['baseline']}", json=shorter)).status_code == 200
    again = await operator.get(f"{API}/comparison/report.csv", params=info.inputs)
    saved = await operator.get(f"{API}/comparison/report.csv", params={"comparison": info.id})
    assert again.text == saved.text
    newest = await operator.get(f"{API}/comparison/report.csv", params=asked)
    assert newest.text != saved.text


async def test_saved_comparisons_are_listed_renamed_and_deleted(operator: httpx.AsyncClient) -> None:
    first, second = await save(operator), await save(operator, name="Again", note="")
    assert await saved_of(operator) == [second, first]
    renamed = await operator.patch(f"{API}/comparisons/{first.id}", json={"note": "It was the fan."})
    assert TypeAdapter(SavedComparisonInfo).validate_python(renamed.json()) == replace(first, note="It was the fan.")
    renamed = await operator.patch(f"{API}/comparisons/{first.id}", json={"name": "Fan"})
    assert (renamed.json()["name"], renamed.json()["note"]) == ("Fan", "It was the fan.")
    report = await operator.get(f"{API}/comparison/report.html", params={"comparison": first.id})
    assert "It was the fan." in report.text
    assert f"/comparison?saved={first.id}" in report.text
    assert (await operator.delete(f"{API}/comparisons/{second.id}")).status_code == 200
    assert [saved.id for saved in await saved_of(operator)] == [first.id]
    for method, body in (("GET", None), ("PATCH", {"name": "x"}), ("DELETE", None)):
        assert_envelope(await operator.request(method, f"{API}/comparisons/{second.id}", json=body), 404, "not_found")
    gone = await operator.get(f"{API}/comparison/report.html", params={"comparison": second.id})
    assert_envelope(gone, 404, "not_found")


async def test_an_answer_of_another_program_is_said_to_be_unreadable(operator: httpx.AsyncClient, sessions: Sessions) -> None:
    info = await save(operator)
    async with sessions() as session, session.begin():
        await session.execute(update(SavedComparisonRow).values(result=zstandard.compress(b'{"hosts": []}')))
    for address in (f"comparisons/{info.id}", f"comparison/report.csv?comparison={info.id}"):
        assert_envelope(await operator.get(f"{API}/{address}"), 409, "conflict")
    assert (await operator.get(f"{API}/comparisons")).json()["comparisons"][0]["name"] == "Burnt"


async def test_a_report_without_saving(operator: httpx.AsyncClient) -> None:
    answer = await operator.get(f"{API}/comparison/report.html", params=ASKED | {"note": "<b>now</b>"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    name = "comparison-web1_script_alert_1_script_-20261121T101000Z.html"
    assert answer.headers["content-disposition"] == f'inline; filename="{name}"'
    assert "&lt;b&gt;now&lt;/b&gt;" in answer.text
    assert "<script" not in answer.text
    assert "<img" not in answer.text
    (link,) = re.findall(r'href="http://normstat.test/comparison\?([^"]+)"', answer.text)
    assert parse_qs(html.unescape(link)) == {
        "host": [HOST],
        "incident": [f"{at(N_NORMAL)}/{at(N_NORMAL + N_INCIDENT)}"],
        "baseline_window": [f"{at(0)}/{at(N_NORMAL)}"],
    }
    numbers = await operator.get(f"{API}/comparison/report.csv", params=ASKED)
    assert numbers.headers["content-type"] == "text/csv; charset=utf-8"
    row = next(csv.DictReader(io.StringIO(numbers.text, newline="")))
    assert (row["state"], row["host"], row["field"], row["instance"]) == ("finding", HOST, "usr_pct", f"'{CPU}")
    assert float(row["incident_median"]) == pytest.approx(97, abs=0.5)
    # Saved, it has the same numbers.
    info = await save(operator)
    saved = await operator.get(f"{API}/comparison/report.csv", params={"comparison": info.id})
    assert saved.text == numbers.text
