"""Two artefacts compared over HTTP, as JSON and CSV; and what follows from one with the series of its host."""

import csv
import io
from datetime import UTC, datetime

import httpx
import pytest

from tests.api.people import People
from tests.api.samples import HOST, deliver_text
from tests.api.test_access import assert_envelope
from tests.api.test_artefacts import ARTEFACTS, DISTRIBUTION, upload
from tests.generated import PLOCKSTAT

AFTER = PLOCKSTAT.replace(b"   78    69427", b"    7    69427").replace(b"netconfig_free+0x10", b'netconfig_free+0x20, "quoted"')


async def test_before_and_after_by_key(operator: httpx.AsyncClient) -> None:
    ids = [(await upload(operator, text, command="plockstat -A -e 10 -p 4711"))["id"] for text in (PLOCKSTAT, AFTER)]
    asked = {"before": ids[0], "after": ids[1]}
    found = (await operator.get(f"{ARTEFACTS}/diff", params=asked)).json()
    assert [found[side]["id"] for side in asked] == ids
    diff = found["diff"]
    assert (diff["pair"], diff["table"]["normalisation"], diff["histogram"]) == (0, "per_second", None)
    first = diff["table"]["rows"][0]
    assert (first["key"][2], first["state"]) == ("libzip.so`deflate+0x29c", "both")
    assert first["difference"] == pytest.approx(-71 * 69427 / 10)
    text = (await operator.get(f"{ARTEFACTS}/diff.csv", params=asked)).text
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == diff["table"]["n_rows"]
    assert '"quoted"' in rows[-1]["caller"] or any('"quoted"' in row["caller"] for row in rows)


async def test_distributions_and_requests_that_cannot_be_answered(operator: httpx.AsyncClient) -> None:
    table = await upload(operator, PLOCKSTAT)
    first = await upload(operator, DISTRIBUTION)
    last = await upload(operator, DISTRIBUTION.replace(b"5\n               2", b"9\n               2"), title="later")
    found = (await operator.get(f"{ARTEFACTS}/diff", params={"before": first["id"], "after": last["id"]})).json()["diff"]
    [distribution] = found["histogram"]["distributions"]
    assert (distribution["before_total"], distribution["after_total"]) == (10, 14)
    text = (await operator.get(f"{ARTEFACTS}/diff.csv", params={"before": first["id"], "after": last["id"]})).text
    assert text.startswith("distribution,unit,bucket,low,high,before,after\r\n")
    assert_envelope(await operator.get(f"{ARTEFACTS}/diff", params={"before": table["id"], "after": 999}), 404, "not_found")
    bad = {"before": table["id"], "after": table["id"], "group": "colour"}
    assert_envelope(await operator.get(f"{ARTEFACTS}/diff", params=bad), 400, "bad_request")


LOCKSTAT = b"""Adaptive mutex spin: 3318 events

Count indv cuml rcnt     spin Lock                   Caller
-------------------------------------------------------------------------------
  601  18%  18% 1.00        1 flock_lock             cleanlocks+0x10
"""
SECOND = 1_795_255_200
HEADER = "CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl\n"


def mpstat(second: int) -> str:
    """Two CPUs of one report, with 310 and 350 spins a second."""
    rows = "".join(
        f"  {cpu}    1   0    2   350  100  500   20   30  {spins}    0  9000    1  21   0  78\n"
        for cpu, spins in ((0, 310), (1, 350))
    )
    return f"{second}\n{HEADER}{rows}"


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
    assert "663.6 mutex stalls/s by lockstat, 660/s by mpstat (smtx over all CPUs): they agree." in stalls["sentence"]
    assert {source["field"] for source in stalls["sources"]} == {"", "smtx"}
    assert_envelope(await operator.get(f"{ARTEFACTS}/999999/answers"), 404, "not_found")
