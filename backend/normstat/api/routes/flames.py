"""Stacks of artefacts as flame graphs, and two of them over each other."""

from typing import Annotated, Final, Literal

import anyio.to_thread
from fastapi import Query
from pydantic import Field

from normstat.api.http.deps import NEEDS_VIEWER, IdPath, ReadSession, State
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.artefacts.flame_diff import (
    FlameDiffFunctions,
    FlameDiffRequest,
    FlameDiffView,
    Scaling,
    diff_flames,
    diff_functions,
)
from normstat.artefacts.flame_growth import Direction, GrowthRequest, Threads
from normstat.artefacts.flame_view import (
    MAX_FUNCTIONS,
    MAX_NODES,
    FlameFunctions,
    FlameRequest,
    FlameView,
    FunctionsRequest,
    list_functions,
    view_flame,
)
from normstat.errors import BadRequest, DamagedArtefact, NotFound
from normstat.records import artefact_rows
from normstat.runtime.body import NO_NUL

router = LazyRouter(tags=["artefacts"])

# 64 bits; larger ids do not exist.
PART_REFERENCE: Final = r"^\d{1,18}:\d{1,5}$"
# Numbers of names with dots between them, of 1,500 frames.
FOCUS: Final = r"^(\d{1,8}(\.\d{1,8})*)?$"
MAX_FOCUS: Final = 12_000

PartPath = Annotated[int, Field(ge=0, le=10_000)]
Column = Annotated[str, Query(description="key of the column that weighs the stacks", max_length=63, pattern=NO_NUL)]
ThreadsQuery = Annotated[
    Threads,
    Query(description="first frames that are threads: those of one name together (named), each, or none: all threads as one"),
]
ThreadQuery = Annotated[
    str | None, Query(description="only stacks with this first frame, named as `threads` says", max_length=20_000, pattern=NO_NUL)
]
SearchQuery = Annotated[
    str, Query(description="part of a function's name, several with | between them", max_length=300, pattern=NO_NUL)
]
DirectionQuery = Annotated[
    Direction, Query(description="down: merged from the root, what was called; up: from the leaf, who called it")
]
FocusQuery = Annotated[
    str, Query(description="the ids of the frames down to where the graph begins, with dots", max_length=MAX_FOCUS, pattern=FOCUS)
]
FunctionQuery = Annotated[
    int | None, Query(description="a function's id: its callees (down) or callers (up), from wherever it stands", ge=0, lt=1 << 31)
]
MinShare = Annotated[
    float, Query(description="nodes narrower than this share of the graph are left out: a pixel, for instance", ge=0, le=1)
]
MaxNodes = Annotated[int, Query(description="the widest nodes, at most", ge=1, le=MAX_NODES)]
FunctionOrder = Annotated[
    Literal["own", "total"], Query(description="own: by what ends in a function; total: by what passes through it")
]
FunctionLimit = Annotated[int, Query(ge=1, le=MAX_FUNCTIONS)]
Before = Annotated[str, Query(description="the baseline: ARTEFACT:PART", pattern=PART_REFERENCE)]
After = Annotated[str, Query(description="the incident: ARTEFACT:PART", pattern=PART_REFERENCE)]
ScalingQuery = Annotated[
    Scaling | None,
    Query(
        description="how the baseline is made comparable: to the duration of the incident's run, to its total, or not; "
        "default: by duration where both are known, else by total"
    ),
]
ERRORS: Final = (BadRequest, NotFound, DamagedArtefact)


@router.get("/artefacts/{id}/parts/{part}/flame", dependencies=[NEEDS_VIEWER], responses=guarded_answers(*ERRORS))
@open_to_limited()
async def read_artefact_flame(  # noqa: PLR0917 (parameters of a route, given by name)
    id: IdPath,  # noqa: A002
    part: PartPath,
    session: ReadSession,
    state: State,
    column: Column = "",
    threads: ThreadsQuery = Threads.NAMED,
    thread: ThreadQuery = None,
    search: SearchQuery = "",
    direction: DirectionQuery = Direction.DOWN,
    focus: FocusQuery = "",
    function: FunctionQuery = None,
    min_share: MinShare = 0.0003,
    max_nodes: MaxNodes = 5000,
) -> FlameView:
    """Return the nodes of a flame graph of a part with stacks."""
    tree = await state.trees.load(session, id, part)
    growth = GrowthRequest(direction, _to_focus(focus), function, min_share, max_nodes)
    return await anyio.to_thread.run_sync(view_flame, tree, FlameRequest(column, threads, thread, search, growth))


@router.get("/artefacts/{id}/parts/{part}/functions", dependencies=[NEEDS_VIEWER], responses=guarded_answers(*ERRORS))
@open_to_limited()
async def list_artefact_functions(  # noqa: PLR0917 (parameters of a route, given by name)
    id: IdPath,  # noqa: A002
    part: PartPath,
    session: ReadSession,
    state: State,
    column: Column = "",
    threads: ThreadsQuery = Threads.NAMED,
    thread: ThreadQuery = None,
    search: SearchQuery = "",
    order: FunctionOrder = "own",
    limit: FunctionLimit = 100,
) -> FlameFunctions:
    """List the functions of a part with stacks: those first that most of the weight ends in."""
    tree = await state.trees.load(session, id, part)
    asked = FunctionsRequest(column, threads, thread, search, order == "total", limit)
    return await anyio.to_thread.run_sync(list_functions, tree, asked)


@router.get("/artefacts/diff/flame", dependencies=[NEEDS_VIEWER], responses=guarded_answers(*ERRORS))
@open_to_limited()
async def diff_artefact_flames(  # noqa: PLR0917 (parameters of a route, given by name)
    session: ReadSession,
    state: State,
    before: Before,
    after: After,
    column: Column = "",
    scaling: ScalingQuery = None,
    threads: ThreadsQuery = Threads.NAMED,
    thread: ThreadQuery = None,
    search: SearchQuery = "",
    direction: DirectionQuery = Direction.DOWN,
    focus: FocusQuery = "",
    function: FunctionQuery = None,
    min_share: MinShare = 0.0003,
    max_nodes: MaxNodes = 5000,
) -> FlameDiffView:
    """Return the nodes of two flame graphs, one over the other, with the values of both."""
    left, right = _to_part(before), _to_part(after)
    asked = FlameDiffRequest(
        column=column, threads=threads, thread=thread, search=search, scaling=scaling,
        before_s=(await artefact_rows.read_artefact_row(session, left[0])).duration_s,
        after_s=(await artefact_rows.read_artefact_row(session, right[0])).duration_s,
        growth=GrowthRequest(direction, _to_focus(focus), function, min_share, max_nodes),
    )  # fmt: skip
    trees = await state.trees.load(session, *left), await state.trees.load(session, *right)
    return await anyio.to_thread.run_sync(diff_flames, *trees, asked)


@router.get("/artefacts/diff/functions", dependencies=[NEEDS_VIEWER], responses=guarded_answers(*ERRORS))
@open_to_limited()
async def diff_artefact_functions(  # noqa: PLR0917 (parameters of a route, given by name)
    session: ReadSession,
    state: State,
    before: Before,
    after: After,
    column: Column = "",
    scaling: ScalingQuery = None,
    threads: ThreadsQuery = Threads.NAMED,
    thread: ThreadQuery = None,
    search: SearchQuery = "",
    order: FunctionOrder = "own",
    limit: FunctionLimit = 100,
) -> FlameDiffFunctions:
    """List the functions of two parts with stacks, the largest change first."""
    left, right = _to_part(before), _to_part(after)
    asked = FlameDiffRequest(
        column=column, threads=threads, thread=thread, search=search, scaling=scaling,
        before_s=(await artefact_rows.read_artefact_row(session, left[0])).duration_s,
        after_s=(await artefact_rows.read_artefact_row(session, right[0])).duration_s,
        by_total=order == "total", limit=limit,
    )  # fmt: skip
    trees = await state.trees.load(session, *left), await state.trees.load(session, *right)
    return await anyio.to_thread.run_sync(diff_functions, *trees, asked)


def _to_part(reference: str) -> tuple[int, int]:
    artefact_id, _, part = reference.partition(":")
    return int(artefact_id), int(part)


def _to_focus(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("."))) if text else ()
