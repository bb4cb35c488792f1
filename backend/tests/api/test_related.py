"""What moves with a series: of this and of other hosts, with the lag; and clear refusals."""

from datetime import UTC, datetime, timedelta
from typing import Final

import httpx
import numpy as np
import pytest

from normstat.comparison.related_series import RelatedAnswer
from tests.api.people import body_of
from tests.api.samples import deliver_text
from tests.api.test_access import assert_envelope
from tests.generated import VMSTAT_HEADER

START: Final = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
N_SECONDS: Final = 900
DIP: Final = slice(400, 460)
WINDOW: Final = {"start": "2026-11-21T10:05:00Z", "end": "2026-11-21T10:10:00Z"}
ORDERS: Final = {"stat": "vmstat_linux", "field": "system_cs", **WINDOW}


def shifted(dip: slice, lag_s: int) -> slice:
    return slice(dip.start + lag_s, dip.stop + lag_s)


def vmstat(*, cs_dip: slice | None, bo_burst: slice | None, seed: int) -> str:
    """Return a quarter of an hour of vmstat: context switches that fall in a dip, blocks that are written in a burst."""
    rng = np.random.default_rng(seed)
    cs, bo = rng.integers(950, 1050, N_SECONDS + 1), rng.integers(0, 40, N_SECONDS + 1)
    free, interrupts = 800_000 + rng.integers(-50, 50, N_SECONDS + 1).cumsum(), rng.integers(200, 300, N_SECONDS + 1)
    if cs_dip is not None:
        cs[cs_dip] -= 700
    if bo_burst is not None:
        bo[bo_burst] += 5000
    lines = [
        f" 1 0 0 {free[at]} 10244 409600 0 0 5 {bo[at]} {interrupts[at]} {cs[at]} 10 2 88 0 0"
        f" {START + timedelta(seconds=at - 1):%Y-%m-%d %H:%M:%S}\n"
        for at in range(N_SECONDS + 1)
    ]
    return VMSTAT_HEADER + "".join(lines)


@pytest.fixture
async def reader(agent: httpx.AsyncClient, operator: httpx.AsyncClient) -> httpx.AsyncClient:
    """An operator, where web1's switches dip after db1 began to write; disks of web2 do nothing."""
    texts = {
        "web1": vmstat(cs_dip=DIP, bo_burst=None, seed=1),
        "db1": vmstat(cs_dip=None, bo_burst=shifted(DIP, -8), seed=2),
        "web2": vmstat(cs_dip=None, bo_burst=None, seed=3),
    }
    for host, text in texts.items():
        await deliver_text(agent, "vmstat_linux", text, command="vmstat -t 1", host=host)
    return operator


async def ask(reader: httpx.AsyncClient, **params: str | list[str]) -> RelatedAnswer:
    answer = body_of(await reader.get("/api/v1/hosts/web1/related-series", params={**ORDERS, **params}))
    return RelatedAnswer(**{**answer, "related": [_Row(**one) for one in answer["related"]]})


class _Row:
    def __init__(self, **values: object) -> None:
        self.__dict__.update(values)


async def test_a_burst_on_another_host_that_began_first(reader: httpx.AsyncClient) -> None:
    found = await ask(reader, other_host=["db1", "web2"])
    first = found.related[0]
    assert (first.host, first.stat, first.field) == ("db1", "vmstat_linux", "io_bo")
    assert first.correlation < -0.8
    assert abs(first.lag_s + 8) <= 2 * found.step_ms / 1000
    assert first.sentence.startswith("moves the other way, ")
    assert first.sentence.endswith(" before it")
    assert "vmstat io bo of db1 moved first" in found.sentence
    assert len(found.starts) == len(found.values) == len(first.values)
    # Both sides of the window are read, and nothing outside of it.
    assert (found.read_start, found.read_end) == ("2026-11-21T10:00:00Z", "2026-11-21T10:15:00Z")
    assert found.n_found <= 2


async def test_nothing_is_said_honestly(reader: httpx.AsyncClient) -> None:
    found = await ask(reader)
    assert (found.n_found, found.related) == (0, [])
    assert found.sentence.startswith("Nothing moves with vmstat system cs: none of ")
    assert found.n_compared >= 3


async def test_wrong_questions(reader: httpx.AsyncClient) -> None:
    for change, host, status, code in (
        ({"field": "rubbish"}, "web1", 404, "not_found"),
        ({"stat": "iostat_linux"}, "web1", 404, "not_found"),
        ({"instance": "sda"}, "web1", 404, "not_found"),
        ({}, "web9", 404, "not_found"),
        ({"other_host": "web9"}, "web1", 404, "not_found"),
        ({"end": "2027-01-21T10:05:00Z"}, "web1", 400, "bad_request"),
        ({"field": "memory_swpd"}, "web1", 404, "no_data"),
        ({"start": "2026-11-22T10:00:00Z", "end": "2026-11-22T10:05:00Z"}, "web1", 404, "no_data"),
    ):
        assert_envelope(await reader.get(f"/api/v1/hosts/{host}/related-series", params={**ORDERS, **change}), status, code)
