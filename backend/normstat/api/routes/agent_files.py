"""Agent downloads, so that a host can be added with one command."""

from pathlib import Path as FilePath
from typing import Annotated, Final

import anyio
from fastapi import Path
from fastapi.responses import PlainTextResponse

from normstat.api.http.deps import State
from normstat.api.http.handlers import error_answers, text_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.errors import NotFound, shorten

router = LazyRouter(prefix="/agent", tags=["agent"])

# Name in the URL -> possible locations below the agents' folder.
FILES: Final = {
    "normstat-agent": ("normstat-agent",),
    "install.sh": ("install.sh", "install/install.sh"),
    "stats.conf.linux": ("stats.conf.linux",),
    "stats.conf.sunos": ("stats.conf.sunos",),
}


@router.get(
    "/{file}",
    response_class=PlainTextResponse,
    responses=text_answers(error_answers(NotFound), media_type="text/plain", description="the file"),
)
async def get_agent_file(
    file: Annotated[str, Path(description="normstat-agent, install.sh, stats.conf.linux or stats.conf.sunos")], state: State
) -> PlainTextResponse:
    """Download the agent script, its installer or a list of commands. Public: these files contain no secrets."""
    path = await anyio.to_thread.run_sync(_require_file, state.agents_dir, file)
    return PlainTextResponse(await anyio.Path(path).read_bytes(), headers={"Cache-Control": "no-cache"})


def _require_file(agents_dir: FilePath | None, name: str) -> FilePath:
    if name not in FILES:
        raise NotFound(f"Unknown agent file {shorten(name)}; available: {', '.join(FILES)}")
    if agents_dir is None:
        raise NotFound("This server has no agent files; set NORMSTAT_AGENTS_DIR to their folder")
    for place in FILES[name]:
        if (agents_dir / place).is_file():
            return agents_dir / place
    raise NotFound(f"The agent file {name} is missing from the server's NORMSTAT_AGENTS_DIR")
