"""The built page: its files, and index.html for every path that the page's own router knows."""

import base64
import hashlib
import mimetypes
import os
import re
from http import HTTPStatus
from pathlib import Path
from typing import Final

import anyio.to_thread
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from normstat.api.http.middleware import make_content_policy
from normstat.errors import NotFound, shorten

# The build puts a content hash into these names, so a changed file has another name.
HASHED_FOLDER: Final = "assets/"
FOR_EVER: Final = "public, max-age=31536000, immutable"
ASK_EACH_TIME: Final = "no-cache"
# What the build wrote beside a file, the smallest first: the coding and the end of its name.
PACKED: Final = (("br", ".br"), ("gzip", ".gz"))
# What the build put into index.html, which the policy allows by its hash.
INLINE_SCRIPT: Final = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
NOT_BUILT: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>normstat: page not built</title></head>
<body><h1>The page is not built</h1>
<p>The server runs and its API answers under <code>/api/v1</code>, but there is no built page{where}.</p>
<p>Build it with <code>make page</code> and start the server again, or name its folder in <code>NORMSTAT_PAGE_DIR</code>.</p>
</body></html>
"""


class PageFiles:
    """Serves every path that no API route matches."""

    def __init__(self, page_dir: Path | None) -> None:
        self._dir = page_dir
        self._files = StaticFiles(directory=page_dir, check_dir=False) if page_dir is not None else None
        # Of the index.html that was changed last at this time.
        self._policy: tuple[int, str] = (0, "")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request.

        Raises: NotFound, HTTPException 405
        """
        if scope["type"] != "http":
            raise NotFound("WebSockets are not supported")
        request = Request(scope)
        path = request.url.path.lstrip("/")
        if path == "api" or path.startswith("api/"):
            raise NotFound(f"Unknown path {shorten(request.url.path)}; docs/api.md lists all routes")
        if request.method not in {"GET", "HEAD"}:
            raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": "GET, HEAD"})
        response = await anyio.to_thread.run_sync(self._find, scope, path)
        await response(scope, receive, send)

    def _find(self, scope: Scope, path: str) -> Response:
        if self._files is None or self._dir is None or not (self._dir / "index.html").is_file():
            where = "" if self._dir is None else " in its folder"
            return HTMLResponse(
                NOT_BUILT.format(where=where), HTTPStatus.SERVICE_UNAVAILABLE, {"Cache-Control": ASK_EACH_TIME, "Retry-After": "60"}
            )
        found, stat_result = self._files.lookup_path(os.path.normpath(path)) if path and "\x00" not in path else ("", None)
        if stat_result is None or not Path(found).is_file():
            if path.startswith(HASHED_FOLDER):
                # A page of an older build requests its own files; index.html in their place would be an unreadable script.
                raise NotFound(f"Unknown file {shorten(path)}; reload the page")
            found = str(self._dir / "index.html")
            stat_result = Path(found).stat()
        is_hashed = path.startswith(HASHED_FOLDER)
        response = self._packed_or_plain(found, stat_result, scope)
        response.headers["Cache-Control"] = FOR_EVER if is_hashed else ASK_EACH_TIME
        if found.endswith("index.html"):
            response.headers["Content-Security-Policy"] = self._policy_of(Path(found), stat_result)
        if Headers(raw=response.raw_headers).get("content-type", "").startswith("text/html"):
            response.headers["Content-Type"] = "text/html; charset=utf-8"
        return response

    def _policy_of(self, index: Path, stat_result: os.stat_result) -> str:
        """Return the policy that allows the scripts in index.html, also for a 304, whose headers replace those that are kept."""
        changed_ns, policy = self._policy
        if changed_ns != stat_result.st_mtime_ns:
            scripts = INLINE_SCRIPT.findall(index.read_bytes())
            policy = make_content_policy([f"sha256-{base64.b64encode(hashlib.sha256(own).digest()).decode()}" for own in scripts])
            self._policy = (stat_result.st_mtime_ns, policy)
        return policy

    def _packed_or_plain(self, found: str, stat_result: os.stat_result, scope: Scope) -> Response:
        """Return the file as the build packed it, if the client reads that coding, else as it is.

        A packed file that is older than the plain one belongs to another build.
        """
        assert self._files is not None
        accepted = _accepted_codings(Headers(scope=scope).get("accept-encoding", ""))
        for coding, suffix in PACKED:
            packed = Path(found + suffix)
            if coding in accepted and packed.is_file() and packed.stat().st_mtime >= stat_result.st_mtime:
                response = self._files.file_response(packed, packed.stat(), scope)
                if "content-type" in response.headers:
                    response.headers["Content-Type"] = mimetypes.guess_type(found)[0] or "application/octet-stream"
                response.headers["Content-Encoding"] = coding
                response.headers["Vary"] = "Accept-Encoding"
                return response
        return self._files.file_response(found, stat_result, scope)


def _accepted_codings(header: str) -> set[str]:
    """Return the codings that a client reads.

    >>> sorted(_accepted_codings("gzip, deflate;q=0.5, br;q=0"))
    ['deflate', 'gzip']
    """
    accepted = set()
    for part in header.lower().split(","):
        coding, _, weight = part.partition(";")
        if weight.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}:
            accepted.add(coding.strip())
    return accepted - {""}
