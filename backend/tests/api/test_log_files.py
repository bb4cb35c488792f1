"""Files of logs over HTTP: lines, CSV, SVG and PDF of what a filter and a window choose."""

import csv
import io

import httpx

from tests.api.test_artefacts import ARTEFACTS, upload
from tests.artefacts.test_trace_log import LKST


async def test_the_files_of_a_log(operator: httpx.AsyncClient) -> None:
    made = await upload(operator, LKST.encode(), title="who waits?")
    address = f"{ARTEFACTS}/{made['id']}/parts/0/log"
    chosen = {"where": "cpu=1 or cpu=3", "start": "39615543851386"}
    text = await operator.get(f"{address}/events.txt", params=chosen)
    assert text.content.decode() == "\n".join([*LKST.splitlines()[:2], *LKST.splitlines()[5:], ""])
    assert text.headers["content-disposition"] == f'attachment; filename="artefact-{made["id"]}-0-events.txt"'
    rows = list(csv.DictReader(io.StringIO((await operator.get(f"{address}/events.csv", params=chosen)).text, newline="")))
    assert [row["time_ns"] for row in rows] == ["39615543853871", "39615543862258"]
    for name, start in (("lanes.svg", b"<svg"), ("lanes.pdf", b"%PDF"), ("latencies.svg", b"<svg"), ("latencies.pdf", b"%PDF")):
        file = await operator.get(f"{address}/{name}", params=chosen)
        assert (file.status_code, file.content[:4], "sandbox" in file.headers["content-security-policy"]) == (
            200,
            start,
            name.endswith("svg"),
        )
