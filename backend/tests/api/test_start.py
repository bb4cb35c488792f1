"""What a server imports before it is asked for anything; counted in modules, for seconds depend on the machine."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
from fastapi import FastAPI

from normstat.api.http import router
from normstat.api.http.lazy_routing import prepare_route
from normstat.api.http.route_table import ROUTES
from normstat.cli.gen_command import ROUTE_TABLE
from tests.api.test_access import assert_envelope

# Libraries, and packages of ours that bring hundreds of modules with them.
UNWANTED = {
    "numpy", "httpx", "joserfc", "cryptography", "PIL", "typst", "pyarrow", "markdown_it", "zxcvbn", "argon2", "segno",
    "alembic", "dateutil", "pcodec", "re2", "normstat.query", "normstat.comparison", "normstat.profiles", "normstat.watch.rules",
    "normstat.watch.fleet", "normstat.report", "normstat.experiments", "normstat.watch", "normstat.stats.catalogue",
    "normstat.stats.readers", "normstat.api.routes.schemas", "normstat.ingest.transaction", "normstat.artefacts.reading",
}  # fmt: skip
PRINT_MODULES = "print(json.dumps(sorted(sys.modules)))"
ANSWER_HEALTH = """
import asyncio, json, sys
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from normstat.app import create_app
from normstat.settings import Settings

# No task may become due meanwhile.
AsyncIOScheduler._process_jobs = lambda self: 60
SCOPE = {
    "type": "http", "method": "GET", "path": "/api/v1/health", "raw_path": b"/api/v1/health", "query_string": b"", "root_path": "",
    "headers": [(b"host", b"127.0.0.1")], "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "scheme": "http",
}

async def main():
    app = create_app(Settings())
    answers = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        answers.append(message)

    async with app.router.lifespan_context(app):
        await app(dict(SCOPE), receive, send)
    assert answers[0]["status"] in {200, 503}, answers

asyncio.run(main())
"""


def imported_by(code: str, **variables: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{code}\n{PRINT_MODULES}"],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_a_server_that_answers_health_has_imported_little(app: FastAPI, database_url: str) -> None:
    """On the emptied database of `app`: workers are imported when there is work."""
    modules = imported_by(ANSWER_HEALTH, NORMSTAT_DATABASE_URL=database_url)
    assert UNWANTED & modules == set()
    assert {f"normstat.api.routes.{name}" for name in router.MODULES} & modules == {"normstat.api.routes.health"}


def test_the_table_of_routes_is_what_the_modules_say() -> None:
    assert router.render_route_table() == ROUTE_TABLE.read_text(), "a route was changed: run make gen"
    folder = Path(router.__file__).parents[1] / "routes"
    with_routes = {path.stem for path in folder.glob("*.py") if "\nrouter = LazyRouter(" in path.read_text()}
    assert with_routes == set(router.MODULES), "a module of routes needs a place in router.MODULES"


def test_a_route_has_the_path_of_the_table() -> None:
    for path, module, name in ROUTES:
        route = prepare_route(module, name)
        assert (route.path, route.name) == (path, name)


async def test_a_path_of_two_routes_takes_the_method_and_says_which_there_are(client: httpx.AsyncClient) -> None:
    answer = await client.delete("/api/v1/baselines", headers={"X-Normstat-Request": "1"})
    assert_envelope(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET"
    assert_envelope(await client.get("/api/v1/baselines"), 401, "not_authenticated")
    assert_envelope(await client.post("/api/v1/baselines", headers={"X-Normstat-Request": "1"}, json={}), 401, "not_authenticated")
    assert_envelope(await client.get("/api/v1/baselines/"), 404, "not_found")
    assert_envelope(await client.get("/api/v1/no-such-path"), 404, "not_found")
