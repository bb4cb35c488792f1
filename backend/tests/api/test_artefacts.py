"""Artefacts over HTTP: uploaded, listed, drawn as tables and distributions, changed, deleted, read again, compared."""

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from normstat.api.http.state import AppState
from normstat.auth.roles import Role
from normstat.db.session import open_read_session
from normstat.samples.lookup import require_host
from tests.alerts.stored import add_episode
from tests.api.people import People, body_of
from tests.api.samples import HOST, VMSTAT, deliver, deliver_text, frames_of, send
from tests.api.test_access import assert_envelope
from tests.artefacts.test_trace_log import LKST
from tests.generated import PLOCKSTAT

ARTEFACTS = "/api/v1/artefacts"
DISTRIBUTION = b"""
           value  ------------- Distribution ------------- count
               0 |                                         0
               1 |@@@@@@@@@@@@@@@@@@@@                     5
               2 |@@@@@@@@@@@@@@@@@@@@                     5
               4 |                                         0

"""

AFTER = PLOCKSTAT.replace(b"   78    69427", b"    7    69427").replace(b"netconfig_free+0x10", b'netconfig_free+0x20, "quoted"')


async def upload(client: httpx.AsyncClient, text: bytes, **params: str) -> dict[str, Any]:
    return body_of(await client.post(ARTEFACTS, content=text, params={"host": HOST} | params), 201)


async def test_a_table_is_read_ranked_and_grouped(operator: httpx.AsyncClient) -> None:
    made = await upload(operator, PLOCKSTAT, command="plockstat -A -e 10 -p 4711", start="2026-11-22T00:00:00Z")
    assert (made["tool"], made["effect"], made["duration_s"], made["source"]) == ("plockstat", "light", 10.0, "api")
    assert (made["end"], made["n_rejected"]) == ("2026-11-22T00:00:10Z", 0)
    [part] = made["parts"]
    assert (part["kind"], part["stat"], part["n_rows"]) == ("table", "plockstat", 3)
    view = (await operator.get(f"{ARTEFACTS}/{made['id']}/parts/0/table")).json()
    assert (view["order"], view["total"]) == ("total_ns", 78 * 69427 + 44 * 99867 + 10483)
    raw = await operator.get(f"{ARTEFACTS}/{made['id']}/raw")
    assert raw.content == PLOCKSTAT
    assert_envelope(await operator.get(f"{ARTEFACTS}/{made['id']}/parts/1/table"), 404, "not_found")
    assert_envelope(await operator.get(f"{ARTEFACTS}/{made['id']}/parts/0/histogram"), 400, "bad_request")
    assert_envelope(await operator.get(f"{ARTEFACTS}/{made['id']}/parts/0/table", params={"order": "x"}), 400, "bad_request")


async def test_a_distribution_and_an_unknown_text(operator: httpx.AsyncClient) -> None:
    made = await upload(operator, DISTRIBUTION, question="how long are writes?")
    assert made["tool"] == "dtrace"
    view = (await operator.get(f"{ARTEFACTS}/{made['id']}/parts/0/histogram")).json()
    assert [distribution["counts"] for distribution in view["distributions"]] == [[0, 5, 5, 0]]
    other = await upload(operator, b"who knows what this is\n\x00\xff")
    assert (other["tool"], other["parts"], other["n_lines"]) == ("", [], 2)
    assert (await operator.get(f"{ARTEFACTS}/{other['id']}/raw")).content == b"who knows what this is\n\x00\xff"
    assert_envelope(await operator.post(ARTEFACTS, content=b"", params={"host": HOST}), 400, "bad_request")
    assert_envelope(await operator.post(ARTEFACTS, content=b"x", params={"host": "no good name"}), 400, "bad_request")


async def test_a_log_of_events(operator: httpx.AsyncClient) -> None:
    made = await upload(operator, LKST.encode(), question="who holds the kernel lock? mask set: perf")
    log = f"{ARTEFACTS}/{made['id']}/parts/0/log"
    events = (await operator.get(log, params={"where": "command=crond", "limit": "1", "offset": "1"})).json()
    assert (events["n_events"], events["n_all_events"]) == (2, 5)
    [row] = events["rows"]
    assert (row["time"], row["printed"], row["since_ns"], row["cpu"]) == ("39615543862258", "11:00:15.543862258", 8387, 1)
    latencies = (await operator.get(f"{log}/latencies")).json()
    assert (latencies["pair"]["name"], latencies["summary"]["count"], latencies["summary"]["n_unmatched_end"]) == ("hold", 2, 1)
    lanes = (await operator.get(f"{log}/lanes", params={"by": "cpu", "width": "800"})).json()
    assert [lane["label"] for lane in lanes["lanes"]] == ["CPU 0", "CPU 1", "CPU 3"]
    [blocked] = (await operator.get(f"{log}/blocking")).json()["rows"]
    assert (blocked["holder"]["command"], blocked["gap_ns"]) == ("iozone", 2486)
    # As files: what a filter and a window choose.
    chosen = {"where": "cpu=1 or cpu=3", "start": "39615543851386"}
    text = await operator.get(f"{log}/events.txt", params=chosen)
    assert text.content.decode() == "\n".join([*LKST.splitlines()[:2], *LKST.splitlines()[5:], ""])
    assert text.headers["content-disposition"] == f'attachment; filename="artefact-{made["id"]}-0-events.txt"'
    rows = list(csv.DictReader(io.StringIO((await operator.get(f"{log}/events.csv", params=chosen)).text, newline="")))
    assert [row["time_ns"] for row in rows] == ["39615543853871", "39615543862258"]
    for name, start in (("lanes.svg", b"<svg"), ("lanes.pdf", b"%PDF"), ("latencies.svg", b"<svg"), ("latencies.pdf", b"%PDF")):
        file = await operator.get(f"{log}/{name}", params=chosen)
        assert (file.status_code, file.content[:4]) == (200, start)
        assert ("sandbox" in file.headers["content-security-policy"]) is name.endswith("svg")


async def test_found_changed_deleted_restored_and_read_again(operator: httpx.AsyncClient) -> None:
    made = await upload(operator, PLOCKSTAT, start="2026-11-22T00:00:00Z", title="Malloc")
    assert (await upload(operator, PLOCKSTAT, start="2026-11-22T00:00:00Z"))["id"] == made["id"], "the same text twice"
    for search, n in {"malloc netconfig_free": 1, HOST: 1, "nothing like it": 0}.items():
        assert (await operator.get(ARTEFACTS, params={"search": search})).json()["n_total"] == n
    change = {
        "start": "2026-11-22T00:00:00Z", "end": "2026-11-22T00:00:10Z", "duration_s": 10, "title": "Locks of mqd", "question": "",
        "command": "plockstat -A", "effect": "heavy",
    }  # fmt: skip
    assert (await operator.put(f"{ARTEFACTS}/{made['id']}", json=change)).json()["title"] == "Locks of mqd"
    assert (await operator.get(ARTEFACTS, params={"search": "malloc"})).json()["n_total"] == 1
    assert (await operator.delete(f"{ARTEFACTS}/{made['id']}")).status_code == 200
    assert_envelope(await operator.get(f"{ARTEFACTS}/{made['id']}"), 404, "not_found")
    assert (await operator.get(ARTEFACTS)).json()["n_total"] == 0
    assert (await operator.post(f"{ARTEFACTS}/{made['id']}/restore")).json()["id"] == made["id"]
    again = (await operator.post(f"{ARTEFACTS}/{made['id']}/reparse", json={})).json()
    assert (again["parts"], again["title"]) == (made["parts"], "Locks of mqd")


async def test_it_is_an_event_of_its_host(operator: httpx.AsyncClient) -> None:
    window = {"start": "2026-11-22T00:00:00Z", "end": "2026-11-22T00:00:20Z"}
    truss = await upload(operator, b"who knows\n", effect="heavy", command="truss -c -p 1", **window)
    none = await upload(operator, b"numbers\n", effect="none", title="IOzone", start="2026-11-22T00:01:00Z")
    for params in ({"host": HOST}, {}):
        page = (await operator.get("/api/v1/events", params=params)).json()
        made = [event for event in page["events"] if event["artefact"] is not None]
        assert [(event["artefact"], event["kind"], event["text"], event["end"], event["id"]) for event in made] == [
            (none["id"], "artefact", "artefact: IOzone", None, None),
            (truss["id"], "tracer", "artefact: truss -c -p 1 (it slows what it watches several times)", window["end"], None),
        ]
        assert page["n_total"] == len(page["events"])
        for filters, found in (({"kind": "tracer"}, 1), ({"search": "iozone"}, 1), ({"tag": "x"}, 0), ({"kind": "note"}, 0)):
            assert (await operator.get("/api/v1/events", params=params | filters)).json()["n_total"] == found
    shown = (
        await operator.get(f"/api/v1/hosts/{HOST}/events", params={"start": "2026-11-22T00:00:10Z", "end": window["end"]})
    ).json()
    assert [event["artefact"] for event in shown["events"]] == [truss["id"]]
    await operator.delete(f"{ARTEFACTS}/{truss['id']}")
    assert (await operator.get("/api/v1/events", params={"kind": "tracer"})).json()["n_total"] == 0


async def test_an_agent_puts_evidence_of_its_own_host(people: People) -> None:
    async with await people.agent(HOST) as agent:
        path = "/api/v1/ingest/artefacts"
        made = body_of(await agent.post(path, content=PLOCKSTAT, params={"command": "plockstat -e 5 -p 1"}), 201)
        assert (made["host"], made["tool"]) == (HOST, "plockstat")
        assert_envelope(await agent.post(path, content=PLOCKSTAT, params={"host": "web9"}), 403, "not_allowed")


async def test_evidence_belongs_to_the_episode_that_its_host_was_told_of(people: People, state: AppState) -> None:
    async with await people.agent(HOST) as agent, await people.agent("web2") as other:
        await deliver(agent, frames_of(VMSTAT))
        await deliver(other, frames_of(VMSTAT), **{"Normstat-Host": "web2"})
        async with open_read_session(state.sessions) as session:
            host_id = await require_host(session, HOST)
        now = datetime.now(UTC)
        recent = await add_episode(state.sessions, host_id, now, last_at=now)
        await add_episode(state.sessions, host_id, now, instance="2", last_at=now, ended_at=now, ended_by="fine")
        await add_episode(state.sessions, host_id, now - timedelta(days=1), instance="3")
        await state.begun.renew()
        assert (await send(agent, frames_of(VMSTAT))).headers["Normstat-Begun"] == f"{recent}/mutex"
        assert "Normstat-Begun" not in (await send(other, frames_of(VMSTAT), **{"Normstat-Host": "web2"})).headers
        path = "/api/v1/ingest/artefacts"
        asked = {"command": "plockstat -e 5 -p 1", "episode": recent}
        made = body_of(await agent.post(path, content=PLOCKSTAT, params=asked), 201)
        # The episode is of another host, or gone: an artefact like any other.
        for client, number in ((other, recent), (agent, recent + 100)):
            answer = await client.post(path, content=PLOCKSTAT + b"\n", params=asked | {"episode": number})
            assert answer.status_code == 201, answer.text
    async with await people.enter(Role.VIEWER) as viewer:
        episode = (await viewer.get(f"/api/v1/episodes/{recent}")).json()
        assert episode["evidence"] == [{"id": made["id"], "command": "plockstat -e 5 -p 1", "tool": "plockstat"}]
        on = (await viewer.get("/api/v1/watch")).json()["on"]
        assert [each["evidence"] for entry in on for each in entry["episodes"] if each["evidence"]] == [episode["evidence"]]
        listed = (await viewer.get(ARTEFACTS)).json()["artefacts"]
        assert sorted(artefact["episode_id"] or 0 for artefact in listed) == [0, 0, recent]


async def test_the_whole_table_as_csv_and_the_text_by_pages(operator: httpx.AsyncClient) -> None:
    made = await upload(operator, PLOCKSTAT, command="plockstat -A -e 10 -p 4711", start="2026-11-22T00:00:00Z")
    file = await operator.get(f"{ARTEFACTS}/{made['id']}/parts/0/table.csv")
    assert file.headers["content-type"] == "text/csv; charset=utf-8"
    assert file.text.split("\r\n")[:2] == [
        "report,time,section,lock,caller,count[events],nsec[ns],total_ns[ns]",
        "0,2026-11-22T00:00:00Z,Mutex block,libc.so.1`libc_malloc_lock,libzip.so`deflate+0x29c,78,69427,5415306",
    ]
    assert_envelope(await operator.get(f"{ARTEFACTS}/{made['id']}/parts/7/table.csv"), 404, "not_found")
    lines = b"".join(b"line %06d \xff\x00\xc3\xa9\n" % number for number in range(7000))
    long = await upload(operator, lines, start="2026-11-22T00:00:00Z")
    read, offset, n_pages = "", 0, 0
    while offset is not None:
        page = (await operator.get(f"{ARTEFACTS}/{long['id']}/text", params={"offset": offset})).json()
        assert (page["offset"], page["n_bytes"], page["text"].endswith("\n")) == (offset, len(lines), True)
        read, offset, n_pages = read + page["text"], page["next_offset"], n_pages + 1
    assert n_pages > 1
    assert read == lines.decode(errors="replace").replace("\x00", "\u2400")
    beyond = (await operator.get(f"{ARTEFACTS}/{long['id']}/text", params={"offset": len(lines) + 5})).json()
    assert (beyond["text"], beyond["next_offset"]) == ("", None)


async def test_before_and_after_by_key_or_by_bucket(operator: httpx.AsyncClient) -> None:
    """How rows and buckets are compared: tests/artefacts/test_artefact_diffs.py."""

    async def diff(before: bytes, after: bytes, **about: str) -> tuple[dict[str, Any], str]:
        made = [await upload(operator, text, title=title, **about) for title, text in (("a", before), ("b", after))]
        asked = {"before": made[0]["id"], "after": made[1]["id"]}
        found = (await operator.get(f"{ARTEFACTS}/diff", params=asked)).json()
        assert [found[side]["id"] for side in asked] == list(asked.values())
        return found["diff"], (await operator.get(f"{ARTEFACTS}/diff.csv", params=asked)).text

    found, text = await diff(PLOCKSTAT, AFTER, command="plockstat -A -e 10 -p 4711")
    assert (found["pair"], found["table"]["normalisation"], found["histogram"]) == (0, "per_second", None)
    first = found["table"]["rows"][0]
    assert (first["key"][2], first["state"]) == ("libzip.so`deflate+0x29c", "both")
    assert first["difference"] == pytest.approx(-71 * 69427 / 10)
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == found["table"]["n_rows"]
    assert any('"quoted"' in row["caller"] for row in rows)
    found, text = await diff(DISTRIBUTION, DISTRIBUTION.replace(b"5\n               2", b"9\n               2"))
    [distribution] = found["histogram"]["distributions"]
    assert (distribution["before_total"], distribution["after_total"]) == (10, 14)
    assert text.startswith("distribution,unit,bucket,low,high,before,after\r\n")
    assert_envelope(await operator.get(f"{ARTEFACTS}/diff", params={"before": 998, "after": 999}), 404, "not_found")


LOCKSTAT = b"""Adaptive mutex spin: 3318 events

Count indv cuml rcnt     spin Lock                   Caller
-------------------------------------------------------------------------------
  601  18%  18% 1.00        1 flock_lock             cleanlocks+0x10
"""
SECOND = 1_795_255_200
HEADER = "CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl\n"


# 3318 spins in the five seconds of lockstat, whose reports are printed at their ends.
SPINS = {1: 664, 2: 663, 3: 664, 4: 663, 5: 664}


def mpstat(second: int) -> str:
    """Two CPUs of one report, with the spins of the second that ends then; few outside of the five."""
    spins = SPINS.get(second - SECOND, 10)
    rows = "".join(
        f"  {cpu}    1   0    2   350  100  500   20   30  {own}    0  9000    1  21   0  78\n"
        for cpu, own in ((0, spins // 2), (1, spins - spins // 2))
    )
    return f"{second}\n{HEADER}{rows}"


FACTS = """{0}
os\tSunOS
cpus\t24
processor_set 1\t96 97 98 99 100 102 103
agent\t0.1.0
"""
PRSTAT = """{0}
   PID USERNAME USR SYS TRP TFL DFL LCK SLP LAT VCX ICX SCL SIG PROCESS/NLWP
 14344 web      61 12 0.0 0.0 0.1 3.2  20 3.7  12   3 900   0 java/31
 14345 web      61 12 0.0 0.0 0.1 3.2  20 3.7  12   3 900   0 java/31
     1 root     0.0 0.0 0.0 0.0 0.0 0.0 100 0.0   1   0   9   0 init/1
Total: 3 processes, 63 lwps, load averages: 0.51, 0.40, 0.33
"""


async def test_collector_threads_of_the_jvms_that_were_recorded(people: People, operator: httpx.AsyncClient) -> None:
    yields = b"# dtrace -n 'syscall::yield:entry { @[pid, tid] = count(); }'\n\npid\ttid\tcount\n14344\t4\t25000\n14344\t3\t26000\n"
    made = await upload(operator, yields, start=datetime.fromtimestamp(SECOND, UTC).isoformat())
    async with await people.agent(HOST) as agent:
        prstat = "".join(PRSTAT.format(SECOND + number) for number in (0, 5, 10))
        await deliver_text(agent, "prstat_solaris", prstat.encode(), command="prstat -mc 5")
        await deliver_text(agent, "host_facts", FACTS.format(SECOND - 60).encode(), command="facts 300")
    answers = (await operator.get(f"{ARTEFACTS}/{made['id']}/answers")).json()["answers"]
    [gc] = [answer for answer in answers if answer["key"] == "gc_threads"]
    assert gc["sentence"] == (
        "18 by default on 24 CPUs: 36 of the 2 JVMs here together; in processor set 1 of 7 CPUs 7, 2 x 7 = 14 of 2 JVMs."
    )
    assert [source["text"] for source in gc["sources"]] == [
        "process 14344 is java", "24 CPUs", "2 processes java", "processor set 1: 7 CPUs",
    ]  # fmt: skip


async def test_answers_read_the_series_of_the_same_seconds(people: People, operator: httpx.AsyncClient) -> None:
    start = datetime.fromtimestamp(SECOND, UTC).isoformat()
    made = await upload(operator, LOCKSTAT, command="lockstat sleep 5", start=start)
    url = f"{ARTEFACTS}/{made['id']}/answers"
    [alone] = [answer for answer in (await operator.get(url)).json()["answers"] if answer["key"] == "mutex_stalls"]
    assert alone["value"] == pytest.approx(663.6)
    assert "mpstat 1 (Solaris)" in alone["sentence"]
    data = "".join(mpstat(SECOND - 1 + number) for number in range(12)).encode()
    async with await people.agent(HOST) as agent:
        await deliver_text(agent, "mpstat_solaris", data, command="mpstat -T u 1")
    found = (await operator.get(url)).json()
    assert found["artefact"] == made["id"]
    [stalls] = [answer for answer in found["answers"] if answer["key"] == "mutex_stalls"]
    assert "663.6 mutex stalls/s by lockstat, 663.6/s by mpstat (smtx over all CPUs): they agree." in stalls["sentence"]
    assert {source["field"] for source in stalls["sources"]} == {"", "smtx"}
    assert_envelope(await operator.get(f"{ARTEFACTS}/999999/answers"), 404, "not_found")
