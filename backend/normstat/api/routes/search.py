"""Search by words, for the command palette of the page."""

from functools import lru_cache
from typing import Annotated, Final

import anyio.to_thread
from fastapi import Query

from normstat.api.http.deps import NEEDS_VIEWER, ReadSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.comparison.next_questions.field_meanings import list_field_meanings
from normstat.comparison.next_questions.question_rules import load_rules
from normstat.errors import NotFound
from normstat.query.search import search_answer
from normstat.query.search.metric_index import MetricIndex
from normstat.query.search.search_answer import SearchAnswer, SearchKind, SearchRequest
from normstat.runtime.body import NO_NUL
from normstat.samples.spec_refresh import refresh_catalogue
from normstat.stats.catalogue import load_catalogue

router = LazyRouter(prefix="/search", tags=["search"], dependencies=[NEEDS_VIEWER])

# The present catalogue, and the one before a spec changed.
MAX_INDEXES: Final = 2


@lru_cache(maxsize=MAX_INDEXES)
def _load_index(revision: str) -> MetricIndex:
    """Return the index of the present catalogue, which the revision identifies; made once for each."""
    del revision
    catalogue = load_catalogue()
    return MetricIndex(catalogue, list_field_meanings(catalogue.stats, load_rules()))


@router.get("", responses=guarded_answers(NotFound))
@open_to_limited()
async def search(
    session: ReadSession,
    q: Annotated[str, Query(max_length=200, pattern=NO_NUL, description="words that must all fit; `iowait`, `sda util`, `4711`")],
    host: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=200,
            pattern=NO_NUL,
            description="its metrics come first; instances, processes and events are its own. Default: all hosts",
        ),
    ] = None,
    kind: Annotated[list[SearchKind] | None, Query(max_length=12, description="only these kinds; default: all")] = None,
    limit: Annotated[int, Query(ge=1, le=50, description="most hits of each kind; all are counted")] = 12,
) -> SearchAnswer:
    """Find metrics by column, title, meaning and unit; hosts, disks, processes, baselines, comparisons, artefacts and events by
    name, artefacts also by what their tool printed."""
    await refresh_catalogue(session)
    index = await anyio.to_thread.run_sync(_load_index, load_catalogue().revision)
    return await search_answer.find(session, SearchRequest(q, host, frozenset(kind or SearchKind), limit), index)
