"""The documentation, public as the program is: pages for people, and all of it as text for assistants (llmstxt.org)."""

import anyio.to_thread
from fastapi import Response
from fastapi.responses import HTMLResponse, PlainTextResponse

from normstat.api.http.deps import State
from normstat.api.http.lazy_routing import LazyRouter
from normstat.runtime.documentation import render_docs, render_html, render_index, require_docs

router = LazyRouter(root="")


@router.get("/docs", include_in_schema=False)
async def list_documentation() -> HTMLResponse:
    """Return the list of pages."""
    return HTMLResponse(await anyio.to_thread.run_sync(render_html, require_docs(), None))


@router.get("/docs/{page}", include_in_schema=False)
async def get_documentation_page(page: str) -> HTMLResponse:
    """Return a page, such as `glossary`."""
    return HTMLResponse(await anyio.to_thread.run_sync(render_html, require_docs(), page))


@router.get("/llms.txt", include_in_schema=False)
async def get_documentation_index(state: State) -> PlainTextResponse:
    """Return what normstat is, and where its documentation is."""
    return PlainTextResponse(render_index(require_docs(), state.settings.public_url))


@router.get("/docs.md", include_in_schema=False)
async def get_documentation() -> Response:
    """Return the documentation as one Markdown file."""
    return Response(await anyio.to_thread.run_sync(render_docs, require_docs()), media_type="text/markdown; charset=utf-8")
