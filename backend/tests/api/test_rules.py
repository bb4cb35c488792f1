"""Rules through the API: a user's rule is saved, tried on the past, enabled, and then finds what arrives."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from normstat.api.http.state import AppState
from normstat.auth.roles import Role
from normstat.db.session import open_read_session
from normstat.watch.backtest_job import work_off_backtests
from normstat.watch.rule_book import read_watch_book
from normstat.watch.watcher import Watcher
from tests.api.people import People, body_of
from tests.api.test_access import assert_envelope
from tests.watch.live import at, send_mpstat

API = "/api/v1"
RULE = """
format = 1
name = "spin"
title = "Spinning"
subsystem = "mutex"
version = 1
of = "cpu"
about = "CPUs that spin."
source = "a test"
[inputs]
smtx = { meaning = "lock.mutex", unit = "1/s" }
[limits]
most = { value = 800, unit = "1/s", source = "a test" }
[[states]]
state = "amber"
when = "smtx > limit.most"
action = "Find the lock."
explanation = "The CPU spins."
[[states]]
state = "green"
action = "Nothing to do."
"""
CONTENDED = range(40, 60)


@pytest.fixture
async def anna(people: People, state: AppState) -> httpx.AsyncClient:
    await send_mpstat(state.sessions, "sun1", range(120), CONTENDED)
    return await people.enter(Role.OPERATOR, "anna")


async def try_rule(anna: httpx.AsyncClient, state: AppState, toml: str = RULE) -> dict[str, Any]:
    body = {"toml": toml, "hosts": ["sun1"], "start": at(0).isoformat(), "end": at(120).isoformat()}
    backtest = body_of(await anna.post(f"{API}/backtests", json=body), 201)
    assert (backtest["state"], backtest["results"]) == ("queued", None)
    assert await work_off_backtests(state.settings.database_url, state.sessions)
    return body_of(await anna.get(f"{API}/backtests/{backtest['id']}"))


async def test_nothing_is_enabled_without_having_been_shown_its_past(anna: httpx.AsyncClient, state: AppState) -> None:
    detail = body_of(await anna.put(f"{API}/rules/spin", json={"toml": RULE}))
    assert (detail["info"]["is_enabled"], detail["info"]["is_watching"], detail["has_backtest"]) == (False, False, False)
    enable = {"is_enabled": True}
    assert_envelope(await anna.put(f"{API}/rules/spin/enabled", json=enable), 409, "conflict")
    backtest = await try_rule(anna, state)
    [result] = backtest["results"]
    assert (backtest["state"], backtest["n_done"], backtest["is_present_text"]) == ("done", 1, True)
    assert (result["n_episodes"], result["episodes"][0]["instance"], result["problem"]) == (1, "1", "")
    assert result["episodes"][0]["saw"][0] | {"at": ""} == {"name": "smtx", "value": 900, "unit": "1/s", "text": "900 /s", "at": ""}
    detail = body_of(await anna.put(f"{API}/rules/spin/enabled", json=enable))
    assert (detail["info"]["is_watching"], detail["info"]["version"]) == (True, 1)
    # Another text has another past.
    changed = RULE.replace("800", "700")
    detail = body_of(await anna.put(f"{API}/rules/spin", json={"toml": changed}))
    assert (detail["info"]["is_enabled"], detail["info"]["version"], detail["has_backtest"]) == (False, 2, False)
    assert_envelope(await anna.put(f"{API}/rules/spin/enabled", json=enable), 409, "conflict")
    assert [change["change"] for change in detail["changes"]] == ["changed", "enabled", "created"]
    assert [change["changed_by"] for change in detail["changes"]] == ["anna"] * 3
    body_of(await anna.delete(f"{API}/rules/spin"))
    assert_envelope(await anna.get(f"{API}/rules/spin"), 404, "not_found")


async def test_a_text_that_is_no_rule_is_refused(anna: httpx.AsyncClient) -> None:
    for name, toml, why in (
        ("spin", "format = 2", "format must be 1"),
        ("spin", RULE.replace("smtx > limit.most", "smtx > limit.most and __import__('os')"), "functions are"),
        ("spun", RULE, "names the rule 'spin'"),
    ):
        answer = await anna.put(f"{API}/rules/{name}", json={"toml": toml})
        assert_envelope(answer, 400, "bad_request")
        assert why in answer.json()["error"]["message"]


async def test_a_backtest_can_be_stopped_and_says_why_a_host_has_no_result(anna: httpx.AsyncClient, state: AppState) -> None:
    builtin = body_of(await anna.get(f"{API}/rules/disk-slow"))["toml"]
    backtest = await try_rule(anna, state, builtin)
    assert backtest["state"] == "done"
    assert "needs busy, which sun1 never sent" in backtest["results"][0]["problem"]
    body = {"toml": RULE, "hosts": ["sun1"], "start": at(0).isoformat(), "end": at(120).isoformat()}
    queued = body_of(await anna.post(f"{API}/backtests", json=body), 201)
    body_of(await anna.post(f"{API}/jobs/{queued['job_id']}/stop"))
    await work_off_backtests(state.settings.database_url, state.sessions)
    assert body_of(await anna.get(f"{API}/backtests/{queued['id']}"))["state"] == "stopped"


async def test_what_is_on_is_acknowledged_muted_and_marked(anna: httpx.AsyncClient, state: AppState) -> None:
    now = datetime.now(UTC)
    ago = round((now - at(0)).total_seconds() / 10)
    await send_mpstat(state.sessions, "sun2", range(ago - 60, ago), range(ago - 20, ago))
    assert body_of(await anna.get(f"{API}/watch"))["summary"]["n_hosts"] == 0
    await Watcher(state.sessions).run(now)
    watch = body_of(await anna.get(f"{API}/watch"))
    [on] = watch["on"]
    assert (on["host"], on["source"], on["colour"], on["n_instances"], on["mute"]) == ("sun2", "mutex", "red", 1, None)
    assert (on["of"], on["episodes"][0]["instance"]) == ("cpu", "1")
    host = {"host": "sun2", "colour": "red", "n": 1}
    assert body_of(await anna.get(f"{API}/watch/open")) == {"n_waiting": 1, "worst": "red", "hosts": [host], "behind": None}
    rules = {rule["name"]: rule for rule in body_of(await anna.get(f"{API}/rules"))["rules"]}
    # Those that judge the host, and those that need no samples.
    judging = [name for name, rule in rules.items() if rule["n_hosts"] or rule["subsystem"] == "normstat"]
    assert (watch["summary"]["n_rules"], watch["summary"]["n_hosts"]) == (len(judging), 1)
    assert (rules["mutex"]["n_on"], rules["mutex"]["n_hosts"], rules["disk-slow"]["n_lacking"]) == (1, 1, 1)
    episode = on["episodes"][0]
    path = f"{API}/episodes/{episode['id']}"
    seen = body_of(await anna.post(f"{path}/acknowledge", json={"note": "I look"}))
    assert (seen["acknowledged_by"], seen["note"]) == ("anna", "I look")
    assert body_of(await anna.get(f"{API}/watch/open")) == {"n_waiting": 0, "worst": None, "hosts": [host], "behind": None}
    back = body_of(await anna.delete(f"{path}/acknowledge"))
    assert (back["acknowledged_at"], back["acknowledged_by"], back["note"]) == (None, "", "")
    assert body_of(await anna.get(f"{API}/watch/open"))["n_waiting"] == 1
    body_of(await anna.post(f"{path}/acknowledge", json={"note": "I look"}))
    # Before it began nothing was on.
    before = {"at": (now - timedelta(minutes=8)).isoformat()}
    assert body_of(await anna.get(f"{API}/watch/open", params=before))["hosts"] == []
    during = {"at": (now - timedelta(minutes=1)).isoformat()}
    assert body_of(await anna.get(f"{API}/watch/open", params=during))["hosts"] == [host]
    marked = body_of(await anna.post(f"{path}/incident", json={}))
    [exclusion] = body_of(await anna.get(f"{API}/exclusions"))["exclusions"]
    assert (marked["exclusion_id"], exclusion["host"], exclusion["name"]) == (exclusion["id"], "sun2", "Kernel mutexes: 1")
    assert_envelope(await anna.post(f"{path}/incident", json={}), 409, "conflict")
    mute = body_of(await anna.post(f"{API}/watch/mutes", json={"host": "sun2", "reason": "work"}), 201)
    [on] = body_of(await anna.get(f"{API}/watch"))["on"]
    assert (on["is_acknowledged"], on["mute"]["id"]) == (True, mute["id"])
    body_of(await anna.delete(f"{API}/watch/mutes/{mute['id']}"))
    [on] = body_of(await anna.get(f"{API}/watch"))["on"]
    assert on["mute"] is None
    page = body_of(await anna.get(f"{API}/episodes", params={"host": "sun2", "is_open": True}))
    assert (page["n_total"], page["episodes"][0]["id"]) == (1, episode["id"])
    window = {"start": (now - timedelta(hours=1)).isoformat(), "end": now.isoformat()}
    timeline = body_of(await anna.get(f"{API}/watch/timeline", params=window))
    assert [change["colour"] for change in timeline["changes"] if change["source"] == "mutex"] == [2, 4]


async def test_limits_of_a_host_hold_instead_of_the_rules_own(anna: httpx.AsyncClient, state: AppState) -> None:
    limit = {"name": "smtx", "value": 1000, "host": "sun1", "reason": "fast CPUs"}
    record = body_of(await anna.post(f"{API}/rules/mutex/limits", json=limit), 201)
    await Watcher(state.sessions).run(at(120))
    assert body_of(await anna.get(f"{API}/episodes"))["n_total"] == 0
    body_of(await anna.delete(f"{API}/rule-limits/{record['id']}"))
    detail = body_of(await anna.get(f"{API}/rules/mutex"))
    assert detail["limits"] == []
    assert "limit smtx is 1000 for host sun1: fast CPUs" in detail["changes"][1]["change"]
    assert_envelope(await anna.post(f"{API}/rules/mutex/limits", json=limit | {"name": "none"}), 400, "bad_request")


async def test_limits_of_a_group_hold_for_its_hosts_after_those_of_a_host(anna: httpx.AsyncClient, state: AppState) -> None:
    body_of(await anna.post(f"{API}/host-groups", json={"name": "big", "note": "", "hosts": ["sun1"]}), 201)
    limit = {"name": "smtx", "value": 1000, "reason": "fast CPUs"}
    record = body_of(await anna.post(f"{API}/rules/mutex/limits", json=limit | {"group": "big"}), 201)
    assert (record["group"], record["host"], record["tag"]) == ("big", None, None)
    await Watcher(state.sessions).run(at(120))
    assert body_of(await anna.get(f"{API}/episodes"))["n_total"] == 0
    # The host's own counts before that of its group.
    body_of(await anna.post(f"{API}/rules/mutex/limits", json=limit | {"host": "sun1", "value": 500}), 201)
    async with open_read_session(state.sessions) as session:
        book = await read_watch_book(session)
    assert book.limits_of("mutex", "sun1", ()) == {"smtx": 500}
    assert book.limits_of("mutex", "other", ()) == {}
    detail = body_of(await anna.get(f"{API}/rules/mutex"))
    assert "limit smtx is 1000 for group big: fast CPUs" in detail["changes"][1]["change"]
    both = limit | {"group": "big", "tag": "prod"}
    assert_envelope(await anna.post(f"{API}/rules/mutex/limits", json=both), 400, "bad_request")
