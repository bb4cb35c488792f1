"""An account that is limited to host groups: what it sees and changes, and that no route shows it anything of another host."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import orjson
import pytest
from sqlalchemy import exists, func, select, update
from sqlalchemy.orm import aliased

from normstat.api.http.host_list_answers import HostListAnswers
from normstat.api.http.state import AppState
from normstat.app import create_app
from normstat.auth.roles import Role
from normstat.db.host_limits import limit_hosts, list_limits
from normstat.db.limited_session import all_hosts
from normstat.db.schema.alert_models import AlertEpisodeRow, AlertMessageRow, AlertRow
from normstat.db.schema.all_models import Base
from normstat.db.schema.job_models import ImportedFileRow, ImportRow, Job
from normstat.db.schema.models import Host, Rollup, StatTable, Stream, User
from normstat.db.schema.watch_models import EpisodeRow, WatchedHost, WatchedState
from normstat.db.session import open_read_session, open_write_session
from normstat.ingest.protocol import Frame, FrameKind, format_frames
from tests.api.people import People
from tests.api.samples import START, VMSTAT, frames_of
from tests.api.test_access import ABOVE_VIEWER, GUARDED, OPERATIONS, POLICY, assert_envelope
from tests.artefacts.test_trace_log import LKST
from tests.auth.test_throttle import Clock
from tests.generated import PLOCKSTAT

API: Final = "/api/v1"
MINE, HIDDEN = "web1", "zz-hidden-db1"
# In every name and text of the other host.
MARK: Final = "zz-hidden"
END: Final = START + timedelta(minutes=1)
LOADED: Final = {
    "spec": "vmstat_linux", "stats": ["vmstat_linux"], "n_reports": 1, "n_samples": 1, "n_samples_new": 1, "n_rejected": 0,
    "reasons": [], "first_sample_at": START.isoformat(), "last_sample_at": START.isoformat(), "note": "",
    "n_since_boot": 0, "missing": [], "stream_id": None, "is_undone": False,
}  # fmt: skip
WINDOW: Final = {"start": START.isoformat(), "end": END.isoformat()}


async def made(answer: httpx.Response) -> Any:
    assert answer.status_code in {200, 201, 202}, answer.text
    return answer.json()


@dataclass
class World:
    """Two hosts with all that belongs to a host, and what was made for the hidden one: ids by the word of their path."""

    people: People
    team: httpx.AsyncClient
    operator: httpx.AsyncClient
    admin: httpx.AsyncClient
    mine: dict[str, int | str]
    hidden: dict[str, int | str]
    joint: dict[str, int]


async def fill(people: People, operator: httpx.AsyncClient, state: AppState, host: str, text: str) -> dict[str, int | str]:
    """Make one of everything that belongs to a host; `text` stands in all of it."""
    async with await people.agent(host) as agent:
        sent = await agent.post(f"{API}/ingest", content=frames_of(VMSTAT + text.encode() + b"\n"), headers={"Normstat-Host": host})
        assert sent.status_code == 200, sent.text
    ids: dict[str, int | str] = {"host": host}

    async def make(kind: str, path: str, body: dict[str, Any]) -> int:
        answer = await made(await operator.post(f"{API}/{path}", json=body))
        found = answer.get(kind, answer)
        ids[kind] = found["id"]
        return int(found["id"])

    await made(await operator.post(f"{API}/host-tags", json={"hosts": [host], "add": [f"{text}-tag"], "remove": []}))
    await make("baseline", "baselines", {"name": f"{text} quiet", "note": text, "hosts": [host], "windows": [WINDOW]})
    await make("event", "events", {"text": f"{text} happened", "at": START.isoformat(), "hosts": [host], "tags": [text]})
    await make("exclusion", "exclusions", {"name": f"{text} outage", "note": text, "host": host, **WINDOW})
    await make("mute", "mutes", {"host": host, "stat": "vmstat_linux", "field": "cpu_us", "reason": text})
    await make("watch_mute", "watch/mutes", {"host": host, "reason": text})
    await make("rule_limit", "rules/mutex/limits", {"name": "smtx", "value": 700, "host": host, "reason": text})
    # Within the samples: the second half beside the first.
    middle = START + timedelta(seconds=30)
    inputs = {
        "host": [host], "start": middle.isoformat(), "end": END.isoformat(),
        "baseline_start": START.isoformat(), "baseline_end": middle.isoformat(),
    }  # fmt: skip
    await make("comparison", "comparisons", {"name": f"{text} slow", "note": text, "inputs": inputs})
    share = await made(await operator.post(f"{API}/share-links", json={"comparison": ids["comparison"], "lifetime_s": 3600}))
    ids["share_link"] = share["info"]["id"]
    past = (await made(await operator.get(f"{API}/comparisons/{ids['comparison']}/past")))["own"]
    ids["past_incident"] = past["id"]
    await made(await operator.patch(f"{API}/past-incidents/{past['id']}", json={"cause": text, "remedy": text}))
    asked = {"host": host, "title": f"{text} locks", "question": text, "start": START.isoformat()}
    artefact = await made(await operator.post(f"{API}/artefacts", content=PLOCKSTAT + text.encode(), params=asked))
    ids["artefact"] = artefact["id"]
    log = await made(await operator.post(f"{API}/artefacts", content=LKST.replace("iozone", text).encode(), params=asked))
    ids["log"] = log["id"]
    run = {"experiment": f"{text}-io", "host": host, "factors": {"fs": text}, **WINDOW, "note": text, "command": text}
    await make("run", "experiments/runs", run)
    experiments = (await made(await operator.get(f"{API}/experiments")))["experiments"]
    ids["experiment"] = next(each["id"] for each in experiments if each["name"] == f"{text}-io")
    await make("report", "reports", {"title": f"{text} report", "hosts": [host], **WINDOW})
    note = {"kind": "graph", "title": text, "host": host, "stat": "vmstat_linux", "fields": ["cpu_us"], **WINDOW}
    ids["note"] = (await made(await operator.post(f"{API}/reports/{ids['report']}/notes", json={"note": note})))["id"]
    asked = {"report": str(ids["report"]), "name": f"{text}.txt", "image": "false"}
    ids["report_file"] = (await made(await operator.post(f"{API}/report-files", content=b"x", params=asked)))["id"]
    await make("reparse", "reparses", {"host": host})
    ids |= await add_watched(state, host, text)
    found = await made(await operator.get(f"{API}/hosts/{host}"))
    ids["stream"] = found["streams"][0]["id"]
    return ids


async def add_watched(state: AppState, host: str, text: str) -> dict[str, int | str]:
    """Store what background tasks would: an episode, its alert and message, an import."""
    now = datetime.now(UTC)
    async with open_write_session(state.sessions) as session:
        host_id = await session.scalar(select(Host.id).where(Host.name == host))
        episode = EpisodeRow(
            source="mutex", source_version=1, host_id=host_id, instance=text, start_at=START, last_at=END, colour="red",
            worst_at=START, title=text, sentence=f"{text} spins.", action=text, saw=[],
        )  # fmt: skip
        alert = AlertRow(
            route="night", host_id=host_id, state="firing", opened_at=now, start_at=START, due_at=now, fired_at=now, told_at=now,
            told_colour="red", silence_key=b"x", note=text,
        )  # fmt: skip
        job = Job(kind="import", state="done", host_id=host_id, asked_by=text, message=text, next_try_at=None)
        session.add_all([episode, alert, job])
        await session.flush()
        session.add(AlertEpisodeRow(alert_id=alert.id, episode_id=episode.id, route_id=1))
        message = AlertMessageRow(
            alert_id=alert.id, channel="mail", kind="fired", number=1, key=text, content={"subject": text}, state="failed",
            next_try_at=now, answer=text,
        )  # fmt: skip
        load = ImportRow(job_id=job.id, host=host, name=f"{text}.tar", file_path="/nonexistent", n_files=1)
        session.add_all([message, load])
        session.add(WatchedState(host_id=host_id, source="mutex", from_at=START, colour=4))
        session.add(WatchedHost(host_id=host_id, judged_at=END, progress={}))
        await session.flush()
        session.add(ImportedFileRow(import_id=load.id, position=0, result=LOADED | {"path": f"{text}/vmstat"}))
        return {"episode": episode.id, "alert": alert.id, "message": message.id, "import": load.id, "job": job.id}


@pytest.fixture(scope="module")
async def world(shared_state: AppState) -> World:
    app = create_app(shared_state.settings)
    app.state.normstat = shared_state
    people = People(app, shared_state, timedelta(days=1))
    admin, operator = await people.enter(Role.ADMINISTRATOR), await people.enter(Role.OPERATOR)
    mine = await fill(people, operator, shared_state, MINE, "shop")
    hidden = await fill(people, operator, shared_state, HIDDEN, MARK)
    for name, hosts in {"shop": [MINE], f"{MARK} group": [HIDDEN], "all": [MINE, HIDDEN]}.items():
        await made(await operator.post(f"{API}/host-groups", json={"name": name, "hosts": hosts}))
    # What covers both.
    both = {"hosts": [MINE, HIDDEN]}
    joint = {
        "baseline": await made(await operator.post(f"{API}/baselines", json={"name": "joint", "windows": [WINDOW]} | both)),
        "event": await made(await operator.post(f"{API}/events", json={"text": "joint work", "at": WINDOW["start"]} | both)),
        "exclusion": (await made(await operator.post(f"{API}/exclusions", json={"name": "power", **WINDOW})))["exclusion"],
        "mute": await made(await operator.post(f"{API}/mutes", json=SERIES)),
        "watch_mute": await made(await operator.post(f"{API}/watch/mutes", json={"reason": "move"})),
    }
    team = await people.enter(Role.OPERATOR, "team")
    limited = await made(await admin.patch(f"{API}/users/team", json={"host_groups": ["shop"]}))
    assert limited["host_groups"] == ["shop"]
    return World(people, team, operator, admin, mine, hidden, {kind: each["id"] for kind, each in joint.items()})


# What a path's parameter is, by the path; ids of the world.
PATHS: Final = {
    "/alert-messages/{id}": "message", "/alerts/{id}": "alert", "/artefacts/{id}/parts/{part}/log": "log",
    "/artefacts/{id}": "artefact", "/baselines/{id}": "baseline", "/comparisons/{id}": "comparison", "/episodes/{id}": "episode",
    "/events/{id}": "event", "/exclusions/{id}": "exclusion", "/experiments/runs/{id}": "run", "/experiments/{id}": "experiment",
    "/imports/{id}": "import", "/jobs/{id}": "job", "/mutes/{id}": "mute",
    "/past-incidents/{id}": "past_incident", "/reparses/{id}": "reparse",
    "/report-files/{id}": "report_file", "/reports/{id}": "report", "/rule-limits/{id}": "rule_limit",
    "/share-links/{id}": "share_link", "/streams/{id}": "stream", "/watch/mutes/{id}": "watch_mute",
}  # fmt: skip


def paths_of(operation: str, ids: dict[str, int | str]) -> str:
    """The path of an operation, about the things of one host."""
    path: str = OPERATIONS[operation][1]
    for part, word in PATHS.items():
        if path.startswith(API + part):
            path = path.replace("{id}", str(ids[word]))
            break
    known = {
        "id": "1",
        "note": ids["note"],
        "part": "0",
        "host": ids["host"],
        "stat": "vmstat_linux",
        "rule": "mutex",
        "key": "use",
    }
    return path.format(**known | {"name": "vmstat_linux"})


# Parameters that routes need, or that make them show the most.
AGAINST: Final = {
    "start": (START + timedelta(seconds=30)).isoformat(), "end": END.isoformat(),
    "baseline_start": START.isoformat(), "baseline_end": (START + timedelta(seconds=30)).isoformat(),
}  # fmt: skip
SERIES: Final = {"stat": "vmstat_linux", "field": "cpu_us"}
PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    "readSeries": SERIES | {"width": 100},
    "readSeriesOfHosts": {"metric": "vmstat_linux.cpu_us", "width": 100, "group": "all"},
    "listHostMetrics": {"group": "all"},
    "readStatistics": SERIES | AGAINST,
    "readBand": SERIES,
    "exportCsv": {"stat": "vmstat_linux"},
    "exportParquet": {"stat": "vmstat_linux"},
    "search": {"q": MARK},
    "compare": AGAINST,
    "recallComparison": AGAINST,
    "compareWithProgress": AGAINST,
    "listComparedSeries": AGAINST,
    "readFleetUse": {"at": WINDOW["end"]},
    "readFleet": {"at": WINDOW["end"]},
    "readProcess": {"command": "x"},
    "readProcessReport": {"at": WINDOW["end"]},
    "readCpuBalance": {"stat": "mpstat_linux", "width": 100},
    "readContext": {"offset": 0},
    "listBacktests": {"rule": "mutex"},
}
# `follow` ends only when the reader goes; test_live.py reads it. The document is made of the program alone, and takes a second.
UNREAD: Final = {"follow", "getDocument"}
READS: Final = [
    name for name in GUARDED if OPERATIONS[name][0] == "GET" and POLICY[name] != Role.ADMINISTRATOR and name not in UNREAD
]


def query_of(operation: str, ids: dict[str, int | str], *, with_host: bool) -> dict[str, Any]:
    declared = {each["name"]: each for each in OPERATIONS[operation][2].get("parameters", []) if each["in"] == "query"}
    is_log = "/log" in OPERATIONS[operation][1]
    query: dict[str, Any] = dict(WINDOW) if "start" in declared and not is_log else {}
    query = query | PARAMETERS.get(operation, {})
    if "comparison" in declared:
        return {"comparison": ids["comparison"]}
    if "host" in declared and (with_host or declared["host"]["required"]):
        query["host"] = ids["host"]
        query.pop("group", None)
    if operation == "exportBundle":
        query["baseline"] = f"{MARK} quiet" if ids["host"] == HIDDEN else "shop quiet"
    elif operation in {"readBand", "readProcessReport"}:
        query["baseline"] = ids["baseline"]
    elif operation in {"readArtefactDiff", "exportArtefactDiff"}:
        query |= {"before": ids["artefact"], "after": ids["artefact"]}
    elif operation in {"diffArtefactFlames", "diffArtefactFunctions"}:
        query |= {"before": f"{ids['artefact']}:0", "after": f"{ids['artefact']}:0"}
    return query


@pytest.mark.slow
async def test_no_route_shows_a_limited_account_anything_of_another_host(world: World) -> None:
    """Every route that reads is asked without a host, about the own one, and about the hidden one."""
    n_seen = 0
    # All that is wrong is reported at once.
    shown: dict[str, str] = {}
    for operation in READS:
        asked = []
        for ids, with_host in ((world.mine, False), (world.mine, True), (world.hidden, True)):
            path, query = paths_of(operation, ids), query_of(operation, ids, with_host=with_host)
            if (path, query) in asked:
                continue
            asked.append((path, query))
            answer = await world.team.get(path, params=query)
            n_seen += answer.status_code == 200
            if answer.status_code >= 500:
                shown[f"{operation} {path} {query}"] = f"{answer.status_code}: {answer.text[:300]}"
            # An error may repeat what was asked.
            text = answer.text if answer.status_code < 400 else ""
            at = text.find(MARK)
            if at >= 0:
                shown[f"{operation} {path} {query}"] = text[max(at - 150, 0) : at + 50]
    assert not shown, "\n".join(f"{key}: {text}" for key, text in shown.items())
    assert n_seen > 100, "most routes answer a limited account about its own host"


async def test_what_covers_several_hosts_is_seen_without_the_others_and_cannot_be_changed(world: World) -> None:
    team, joint = world.team, world.joint
    baseline = await made(await team.get(f"{API}/baselines/{joint['baseline']}"))
    assert baseline["hosts"] == [MINE]
    events = (await made(await team.get(f"{API}/events", params=WINDOW)))["events"]
    assert [(each["text"], each["hosts"]) for each in events if each["id"] == joint["event"]] == [("joint work", [MINE])]
    groups = (await made(await team.get(f"{API}/host-groups")))["groups"]
    assert [(each["name"], each["hosts"]) for each in groups] == [("all", [MINE]), ("shop", [MINE])]
    exclusions = (await made(await team.get(f"{API}/exclusions")))["exclusions"]
    assert {each["name"] for each in exclusions} == {"power", "shop outage"}
    event = {"text": "mine", "at": WINDOW["start"], "kind": "note", "tags": [], "hosts": [MINE]}
    for method, path, body in (
        ("PATCH", f"baselines/{joint['baseline']}", {"name": "mine"}),
        ("DELETE", f"baselines/{joint['baseline']}", None),
        ("POST", f"baselines/{joint['baseline']}/archive", {"is_archived": True}),
        ("PUT", f"events/{joint['event']}", event),
        ("DELETE", f"events/{joint['event']}", None),
        ("DELETE", f"exclusions/{joint['exclusion']}", None),
        ("DELETE", f"mutes/{joint['mute']}", None),
        ("DELETE", f"watch/mutes/{joint['watch_mute']}", None),
        ("POST", "baselines", {"name": "mine", "group": "all", "windows": [WINDOW]}),
        ("POST", "comparisons", {"name": "mine", "inputs": {"host": [MINE], "group": "all", **WINDOW}}),
        ("POST", "rules/mutex/limits", {"name": "smtx", "value": 1, "group": "all", "host": MINE}),
    ):
        refused = await team.request(method, f"{API}/{path}", json=body)
        assert_envelope(refused, 403, "not_allowed")
        assert HIDDEN not in refused.text


async def test_changes_reach_no_other_host(world: World, shared_state: AppState) -> None:
    """Every route that changes something is sent the ids, and then the name, of the hidden host's things."""

    async def look() -> dict[str, int]:
        async with open_read_session(shared_state.sessions) as session:
            counts = {}
            for mapper in Base.registry.mappers:
                if mapper.class_ in list_limits():
                    rows = (await session.execute(select(mapper.class_.__table__))).all()
                    counts[mapper.class_.__name__] = hash(tuple(sorted(map(repr, rows))))
            return counts

    before = await look()
    body = {"hosts": [HIDDEN], "host": HIDDEN, "name": "taken", "title": "taken", "reason": "x", "text": "x", "note": "x", **WINDOW}
    n_refused = 0
    for operation in ABOVE_VIEWER:
        method, _, _ = OPERATIONS[operation]
        if method == "GET" or POLICY[operation] == Role.ADMINISTRATOR:
            continue
        path = paths_of(operation, world.hidden)
        for sent in (None, body):
            answer = await world.team.request(method, path, json=sent, params={"host": HIDDEN} if sent else {})
            assert answer.status_code in {400, 403, 404, 409, 422}, f"{operation} {path} {answer.status_code} {answer.text}"
            n_refused += answer.status_code in {403, 404}
    assert await look() == before
    assert n_refused > 50


async def test_a_name_that_a_hidden_thing_has_is_taken_and_nothing_else_is_said(world: World) -> None:
    experiment, baseline = f"{MARK}-io", f"{MARK} quiet"
    changes: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "experiments", {"name": experiment}),
        ("POST", "experiments/runs", {"experiment": experiment, "host": MINE, **WINDOW}),
        ("PUT", f"experiments/{world.mine['experiment']}", {"name": experiment, "title": "", "note": ""}),
        ("POST", "baselines", {"name": baseline, "hosts": [MINE], "windows": [WINDOW]}),
        ("PATCH", f"baselines/{world.mine['baseline']}", {"name": baseline}),
        ("POST", f"baselines/{world.mine['baseline']}/copy", {"name": baseline}),
    ]
    for method, path, body in changes:
        answer = await world.team.request(method, f"{API}/{path}", json=body)
        assert_envelope(answer, 409, "conflict")
        assert answer.json()["error"]["details"] == {"name": body.get("experiment") or body["name"]}


async def test_a_team_works_with_its_own_hosts(world: World) -> None:
    team = world.team
    window = {"name": "Monday", "hosts": [MINE], "windows": [WINDOW]}
    baseline = await made(await team.post(f"{API}/baselines", json=window))
    assert (await made(await team.patch(f"{API}/baselines/{baseline['id']}", json={"note": "calm"})))["note"] == "calm"
    # In a group of which it sees every host.
    shop = await made(await team.post(f"{API}/baselines", json={"name": "shop Monday", "group": "shop", "windows": [WINDOW]}))
    assert shop["hosts"] == [MINE]
    event = {"text": "deploy", "at": WINDOW["start"], "hosts": [MINE]}
    made_event = await made(await team.post(f"{API}/events", json=event))
    assert (await team.delete(f"{API}/events/{made_event['id']}")).status_code == 200
    acknowledged = await team.post(f"{API}/episodes/{world.mine['episode']}/acknowledge", json={"note": "mine"})
    assert acknowledged.status_code == 200, acknowledged.text
    saved = {"name": "slow", "inputs": {"host": [MINE], **AGAINST}}
    comparison = await made(await team.post(f"{API}/comparisons", json=saved))
    assert comparison["id"] in {each["id"] for each in (await made(await team.get(f"{API}/comparisons")))["comparisons"]}
    rows = (await made(await team.get(f"{API}/hosts")))["hosts"]
    assert [each["name"] for each in rows] == [MINE]
    assert {each["name"] for each in (await made(await world.operator.get(f"{API}/hosts")))["hosts"]} == {MINE, HIDDEN}


async def test_without_a_host_it_would_be_about_all(world: World) -> None:
    # Read as JSON by the framework, too, where it does not say what it is.
    unnamed = b'{"text": "x", "at": "2026-11-21T10:00:00Z", "hosts": ["zz-hidden-db1"]}'
    assert_envelope(await world.team.post(f"{API}/events", content=unnamed), 403, "not_allowed")
    for path, body in {
        "events": {"text": "for all", "at": WINDOW["start"]},
        "exclusions": {"name": "for all", **WINDOW},
        "mutes": SERIES,
        "watch/mutes": {"reason": "for all"},
        "reparses": {},
        "reports": {"title": "for all"},
    }.items():
        assert_envelope(await world.team.post(f"{API}/{path}", json=body), 403, "not_allowed")


async def test_the_fleet_is_kept_for_all_and_shown_to_each(world: World) -> None:
    at = {"at": WINDOW["end"]}
    for first, second in ((world.team, world.operator), (world.operator, world.team)):
        for client in (first, second):
            expected = {MINE} if client is world.team else {MINE, HIDDEN}
            fleet = await made(await client.get(f"{API}/fleet", params=at))
            assert {host["name"] for host in fleet["hosts"]} == expected
            use = await made(await client.get(f"{API}/use", params=at))
            assert {host["host"] for host in use["hosts"]} == expected


async def test_the_list_of_hosts_is_kept_for_all_and_shown_to_each(world: World, shared_state: AppState) -> None:
    for client, expected in ((world.team, [MINE]), (world.operator, [MINE, HIDDEN]), (world.team, [MINE])):
        assert [host["name"] for host in (await made(await client.get(f"{API}/hosts")))["hosts"]] == expected
    async with open_read_session(shared_state.sessions) as session:
        user_id = await session.scalar(select(User.id).where(User.name == "team"))
    # One that is kept between requests, made for either account first.
    for order in ((user_id, None), (None, user_id)):
        answers = HostListAnswers(shared_state.sessions, Clock(), many=1)
        for account in order:
            limit_hosts(account)
            hosts = orjson.loads((await answers.find()).plain)["hosts"]
            assert [host["name"] for host in hosts] == ([MINE, HIDDEN] if account is None else [MINE])
    limit_hosts(None)


async def test_a_limited_account_loads_no_file_that_names_its_hosts_itself(world: World) -> None:
    asked = {"host": MINE, "name": "all.out", "each_host": "true"}
    assert_envelope(await world.team.post(f"{API}/imports", params=asked, content=b"x"), 403, "not_allowed")


async def test_a_limit_is_set_changed_and_lifted(world: World) -> None:
    users, admin = f"{API}/users", world.admin
    guest = await world.people.enter(Role.OPERATOR, "guest")
    own = await made(await world.operator.post(f"{API}/host-groups", json={"name": "own", "hosts": [MINE]}))
    assert not (await made(await guest.get(f"{API}/auth/me")))["is_limited"]
    await made(await admin.patch(f"{users}/guest", json={"host_groups": ["own"]}))
    assert (await made(await guest.get(f"{API}/auth/me")))["is_limited"]
    assert_envelope(await admin.patch(f"{users}/guest", json={"host_groups": ["none"]}), 404, "not_found")
    assert_envelope(await admin.patch(f"{users}/guest", json={"role": "administrator"}), 400, "bad_request")
    assert_envelope(await admin.patch(f"{users}/administrator", json={"host_groups": ["own"]}), 400, "bad_request")
    # A role alone leaves the limit.
    assert (await made(await admin.patch(f"{users}/guest", json={"role": "operator"})))["host_groups"] == ["own"]
    token = await made(await guest.post(f"{API}/api-tokens", json={"name": "script", "role": "operator"}))
    script = world.people.client(authorization=f"Bearer {token['token']}")
    assert [each["name"] for each in (await made(await script.get(f"{API}/hosts")))["hosts"]] == [MINE]
    assert_envelope(await script.get(f"{API}/hosts/{HIDDEN}"), 403, "not_allowed")
    assert_envelope(await script.get(f"{API}/hosts/never-seen"), 403, "not_allowed")
    # Without its last group it sees nothing, rather than all.
    assert (await world.operator.delete(f"{API}/host-groups/{own['id']}")).status_code == 200
    assert (await made(await script.get(f"{API}/hosts")))["hosts"] == []
    assert (await made(await admin.patch(f"{users}/guest", json={"host_groups": None})))["host_groups"] is None
    assert len((await made(await script.get(f"{API}/hosts")))["hosts"]) == 2
    limited = {"name": "visitor", "role": "viewer", "password": "long enough for everybody", "host_groups": ["all"]}
    assert (await made(await admin.post(users, json=limited)))["host_groups"] == ["all"]


async def test_a_column_is_shown_to_whoever_sees_a_host_that_sends_it(world: World, shared_state: AppState) -> None:
    """Hosts may send columns that no spec knows; each is of all hosts, and its name may say something of the one that sends it."""
    text = VMSTAT.decode().replace(" st ", " st MARKED JOINT ", 1).replace(" 0 0 2026", " 0 0 7 8 2026")
    frame = Frame(FrameKind.STREAM, "vmstat_linux", "vmstat_linux.columns", 0, len(text), "vmstat -t 1", text.encode())
    async with await world.people.agent(HIDDEN) as agent:
        sent = await agent.post(f"{API}/ingest", content=format_frames([frame]), headers={"Normstat-Host": HIDDEN})
        assert sent.status_code == 200, sent.text

    async def columns(client: httpx.AsyncClient, **query: str) -> set[str]:
        stats = (await made(await client.get(f"{API}/stats", params=query)))["stats"]
        return {each["key"] for stat in stats for each in stat["fields"]} & {"marked", "joint"}

    assert (await columns(world.operator), await columns(world.team)) == ({"marked", "joint"}, set())
    async with open_write_session(shared_state.sessions) as session:
        host_id = await session.scalar(select(Host.id).where(Host.name == MINE))
        stat_id = await session.scalar(select(StatTable.id).where(StatTable.name == "vmstat_linux"))
        session.add(Rollup(host_id=host_id, stat_id=stat_id, level=1, field_key="joint", block_at=START, body=b""))
    assert await columns(world.team) == await columns(world.team, host=MINE) == {"joint"}
    asked = {"host": MINE, "stat": "vmstat_linux", **WINDOW}
    hidden, unknown = [await world.team.get(f"{API}/export.csv", params=asked | {"field": key}) for key in ("marked", "unknown")]
    assert (hidden.status_code, hidden.text.replace("marked", "unknown").partition("request_id")[0]) == (
        404, unknown.text.partition("request_id")[0]
    )  # fmt: skip


# What says nothing of hosts, or is shown to administrators alone.
UNLIMITED: Final = {
    "AlertChannelRow", "AlertRouteRow", "ApiToken", "AuditEntryRow", "AuditForwardingRow", "DataCheck", "JoinToken", "KnownBrowser",
    "LoginAttempt", "LoginLink", "RecoveryCode", "RetentionMark", "RetentionRuleRow", "RetentionRunRow", "SavedView",
    "SecondFactor", "ServerProcess", "Session", "StatField", "StatTable", "StorageDay", "StoreIdentity", "StoredRule", "User",
    "UserHostGroup", "UserSpec", "ViewStar", "WebhookDeliveryRow", "WebhookRow",
}  # fmt: skip


def test_every_table_is_limited_or_says_nothing_of_hosts() -> None:
    tables = {mapper.class_.__name__ for mapper in Base.registry.mappers}
    assert {model.__name__ for model in list_limits()} | UNLIMITED == tables
    assert not {model.__name__ for model in list_limits()} & UNLIMITED


async def test_a_statement_is_limited_wherever_it_names_a_host(world: World, shared_state: AppState) -> None:
    """As part of a join, of a subquery, under another name, in an update: without a word about the limit."""
    async with open_write_session(shared_state.sessions) as session:
        user_id = await session.scalar(select(User.id).where(User.name == "team"))
        host_id = await session.scalar(select(Host.id).where(Host.name == MINE))
        limit_hosts(user_id)
        other = aliased(Host)
        assert list(await session.scalars(select(other.name))) == [MINE]
        assert list(await session.scalars(select(Host.name).outerjoin(Stream))) == [MINE]
        assert await session.scalar(select(func.count()).select_from(Stream)) == 1
        assert await session.scalar(select(func.max(select(func.count(Host.id)).scalar_subquery()))) == 1
        inner = select(other.name, func.row_number().over().label("place")).subquery()
        assert list(await session.scalars(select(inner.c.name))) == [MINE]
        outer = select(select(inner.c.name).subquery().c.name)
        assert list(await session.scalars(outer)) == [MINE]
        both = select(Host.name).union_all(select(other.name)).cte()
        assert list(await session.scalars(select(both.c.name))) == [MINE, MINE]
        assert list(await session.scalars(select(User.name).where(select(Host.id).where(Host.name == HIDDEN).exists()))) == []
        named = exists().where(Stream.host_id == Host.id)
        assert await session.scalar(select(func.count()).select_from(select(Host.id).where(named).subquery())) == 1
        # Loaded with a row, without being named.
        assert [row.job.host_id for row in await session.scalars(select(ImportRow))] == [host_id]
        changed = await session.scalars(update(EpisodeRow).values(note="x").returning(EpisodeRow.instance))
        assert list(changed) == ["shop"]
        with all_hosts():
            assert len(list(await session.scalars(select(Host.name)))) == 2
        assert list(await session.scalars(select(Host.name))) == [MINE]
        limit_hosts(None)
