"""The built page: its own addresses, its files, and what caches may do with them."""

import base64
import hashlib
import os
import shutil
from pathlib import Path

import httpx
import pytest

from normstat.settings import Settings

INDEX = "<!doctype html><title>normstat</title>"


@pytest.fixture(scope="module")
def page_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all tests, so that they share an application, which prepares all routes before it looks for a file."""
    return tmp_path_factory.mktemp("built") / "page"


@pytest.fixture
def settings(settings: Settings, page_dir: Path) -> Settings:
    shutil.rmtree(page_dir, ignore_errors=True)
    return settings.model_copy(update={"page_dir": page_dir})


@pytest.fixture
def page(settings: Settings) -> Path:
    folder = settings.page_dir
    assert folder is not None
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX)
    (folder / "favicon.svg").write_text("<svg/>")
    (folder / "assets/index-3f2a.js").write_text("export {}")
    (folder.parent / "secret.txt").write_text("hidden words")
    return folder


async def test_the_pages_own_addresses_get_index(client: httpx.AsyncClient, page: Path) -> None:
    for path in ("/", "/login", "/hosts/web1", "/hosts/web.1.js", "/a/b/c?x=1", "/index.html", "/assets"):
        response = await client.get(path)
        assert response.status_code == 200
        assert response.text == INDEX
        assert response.headers["Cache-Control"] == "no-cache"
        assert response.headers["Content-Type"] == "text/html; charset=utf-8"
        assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
        assert response.headers["Referrer-Policy"] == "same-origin"


async def test_scripts_in_index_are_allowed_by_their_hash_and_no_others(client: httpx.AsyncClient, page: Path) -> None:
    script = "start();"
    (page / "index.html").write_text(f"{INDEX}<script>{script}</script>")
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    response = await client.get("/hosts/web1")
    assert f"script-src 'self' 'sha256-{allowed}';" in response.headers["Content-Security-Policy"]
    # The headers of a 304 replace those of the page that the browser keeps.
    kept = await client.get("/hosts/web1", headers={"If-None-Match": response.headers["ETag"]})
    assert kept.status_code == 304
    assert kept.headers["Content-Security-Policy"] == response.headers["Content-Security-Policy"]
    assert "sha256" not in (await client.get("/favicon.svg")).headers["Content-Security-Policy"]
    os.utime(page / "index.html", (1, 1))
    (page / "index.html").write_text(f"{INDEX}<script>other();</script>")
    assert allowed not in (await client.get("/")).headers["Content-Security-Policy"]


async def test_hashed_files_may_be_kept_for_ever(client: httpx.AsyncClient, page: Path) -> None:
    response = await client.get("/assets/index-3f2a.js")
    assert response.headers["Content-Type"].startswith("text/javascript")
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    svg = await client.get("/favicon.svg")
    assert svg.headers["Content-Type"] == "image/svg+xml"
    assert svg.headers["Cache-Control"] == "no-cache"
    assert (await client.head("/")).status_code == 200


async def test_files_of_an_older_build_are_missing_and_not_index(client: httpx.AsyncClient, page: Path) -> None:
    response = await client.get("/assets/index-0000.js")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "not_found"


async def test_nothing_outside_of_the_folder(client: httpx.AsyncClient, page: Path) -> None:
    for path in ("/../secret.txt", "/..%2fsecret.txt", "/assets/..%2f..%2fsecret.txt", "/%2e%2e/secret.txt", "/a%00b"):
        response = await client.get(path)
        assert response.status_code in {200, 404}
        assert "hidden words" not in response.text


async def test_a_page_that_is_not_built_says_what_to_do(client: httpx.AsyncClient) -> None:
    response = await client.get("/hosts")
    assert response.status_code == 503
    assert "make page" in response.text


@pytest.mark.parametrize(
    ("accepted", "coding", "content"),
    [
        ("gzip, br", "br", b"packed by br"),
        ("gzip;q=0.5", "gzip", b"packed by gzip"),
        ("br;q=0", None, b"export {}"),
        ("", None, b"export {}"),
    ],
)
async def test_files_are_sent_as_the_build_packed_them(
    client: httpx.AsyncClient, page: Path, accepted: str, coding: str | None, content: bytes
) -> None:
    script = page / "assets/index-3f2a.js"
    (page / "assets/index-3f2a.js.br").write_bytes(b"packed by br")
    (page / "assets/index-3f2a.js.gz").write_bytes(b"packed by gzip")
    async with client.stream("GET", f"/assets/{script.name}", headers={"Accept-Encoding": accepted}) as response:
        body = b"".join([piece async for piece in response.aiter_raw()])
    assert (body, response.headers.get("Content-Encoding")) == (content, coding)
    assert response.headers["Content-Type"].startswith("text/javascript")
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    if coding is not None:
        assert response.headers["Vary"] == "Accept-Encoding"


async def test_a_packed_file_of_an_older_build_is_not_sent(client: httpx.AsyncClient, page: Path) -> None:
    old = page / "index.html.gz"
    old.write_bytes(b"old")
    os.utime(old, (1, 1))
    assert (await client.get("/hosts", headers={"Accept-Encoding": "gzip"})).text == INDEX
