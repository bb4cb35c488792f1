"""Specs as an attacker, or an unlucky operator, writes them: refused soon, at the cost of another process."""

import asyncio
import sys
from pathlib import Path

import httpx
import pytest

from normstat.auth.roles import Role
from normstat.runtime.isolated_module import PACKAGES
from normstat.stats.toml_text import MAX_BYTES
from tests.addons import APP_USER
from tests.api.server import serving
from tests.attack.clients import peak_bytes
from tests.attack.readers import PAGE, enter
from tests.database_access import Database
from tests.databases import on_one_database

API = "/api/v1"
MIB = 1 << 20
DOTTED = ".".join("a" * 40_000) + " = 1\n"
HALF = MAX_BYTES // 2


def in_layout(text: str) -> str:
    return APP_USER.replace("[layout]\n", f"[layout]\n{text}\n")


HOSTILE = {
    "a key of 40,000 parts": DOTTED,
    "such a key in a spec": in_layout(DOTTED),
    "such a table": f"{APP_USER}\n[{'.'.join('a' * 40_000)}]\n",
    "arrays in arrays": in_layout("x = " + "[" * HALF + "]" * HALF),
    "tables in tables": in_layout("x = " + "{a = " * (HALF // 5) + "1" + "}" * (HALF // 5)),
    "a decimal number": in_layout("x = " + "7" * HALF),
    "a hexadecimal number": in_layout("x = 0x" + "f" * HALF),
    "a version": "version = 0x" + "f" * 190 + "\n" + APP_USER.replace('title = "Users', 'ttle = "Users'),
    "very many keys": in_layout("\n".join(f"a.b{number} = 1" for number in range(15_000))),
    "very many tables": APP_USER + "\n".join(f"[a.b{number}.c]" for number in range(12_000)),
    "very many stats": APP_USER + "\n[[stats]]" * 20_000,
    "very many columns": in_layout("x = [" + "[]," * 60_000 + "]"),
    "a long list that is none": APP_USER.replace('commands = ["app_user 10"]', "commands = [" + "1," * 100_000 + "]"),
    "a long text": in_layout('ignored = ["' + "x" * 200_000 + '"]'),
    "a long name": APP_USER.replace('"app_user"', '"' + "x" * 200_000 + '"'),
    "blank lines": "\n" * MAX_BYTES,
    "a long comment": "#" * MAX_BYTES,
    "quotes": '"""' * (HALF // 3),
    "nested groups": in_layout("banner = '" + "(" * 499 + ")" * 499 + "'"),
    "a large repeat": in_layout("banner = '(a{1,1000}){1,1000}'"),
    "many large repeats": in_layout("ignored = [" + ",".join(["'" + ".{0,100}" * 100 + "'"] * 200) + "]"),
    "very many patterns": in_layout("ignored = [" + ",".join(f"'x{number}.*'" for number in range(15_000)) + "]"),
}


@on_one_database
@pytest.mark.heavy
async def test_hostile_specs_cost_the_server_nothing(db: Database, tmp_path: Path) -> None:
    cookies = await enter(db.sessions, Role.ADMINISTRATOR, "mallory")
    health: list[int] = []
    with serving(db.url, tmp_path / "log") as (address, process):

        async def watch() -> None:
            async with httpx.AsyncClient(base_url=address, timeout=60) as client:
                while True:
                    health.append((await client.get(f"{API}/health")).status_code)
                    await asyncio.sleep(0.02)

        watching = asyncio.create_task(watch())
        before = peak_bytes(process.pid)
        async with httpx.AsyncClient(base_url=address, cookies=cookies, headers=PAGE, timeout=60) as client:
            for what, toml in HOSTILE.items():
                for answer in (
                    await client.post(f"{API}/specs/preview", json={"toml": toml, "sample": "1 2 3\n"}),
                    await client.put(f"{API}/specs/app_user", json={"toml": toml}),
                ):
                    assert answer.status_code in {400, 413, 422}, what
                    assert len(answer.json()["error"]["message"]) < 1000, what
            assert (await client.put(f"{API}/specs/app_user", json={"toml": APP_USER})).status_code == 200
            watching.cancel()
        assert set(health) == {200}
        assert peak_bytes(process.pid) - before < 150 * MIB


@pytest.mark.parametrize(
    ("work", "said"),
    [("x = bytearray(1 << 30)", b"MemoryError"), ("x = 7 ** (7 ** 9)", b"")],
)
async def test_the_process_that_reads_a_spec_has_limits(work: str, said: bytes) -> None:
    """What no check before it saw coming ends that process, and not the server."""
    program = f"from normstat.ingest import preview_process\npreview_process.MAX_CPU_S = 1\npreview_process._limit()\n{work}\n"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, cwd=PACKAGES, stderr=asyncio.subprocess.PIPE)
    _, complaint = await process.communicate()
    assert process.returncode
    assert said in complaint
