"""Series for drawing, and their statistics."""

from dataclasses import replace
from typing import Annotated

from anyio import to_thread
from fastapi import Depends, Query, Request, Response
from pydantic import Field, StringConstraints

from normstat.api.http.body import NO_NUL, Body
from normstat.api.http.deps import (
    NEEDS_VIEWER,
    HostQuery,
    InWindow,
    LargeReadSession,
    Operator,
    ReadSession,
    StatQuery,
    WriteSession,
)
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.instants import Instant
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.schemas import SeriesBlock
from normstat.api.routes.series_body import make_response
from normstat.comparison.next_questions.reference_lines import ReferenceRule, list_reference_rules, to_reference_rule
from normstat.errors import BadRequest, NotFound
from normstat.profiles import line_baseline
from normstat.profiles.line_baseline import PanelStatistics
from normstat.query import series_points
from normstat.query.series_points import SeriesRequest
from normstat.samples.lookup import find_stat
from normstat.storage.expected_value_rows import (
    ExpectedValue,
    delete_expected_value,
    list_expected_values,
    put_expected_value,
)
from normstat.window import Window

router = LazyRouter(tags=["series"], dependencies=[NEEDS_VIEWER])
FieldKey = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=NO_NUL)]
InstanceName = Annotated[str, StringConstraints(max_length=1000, pattern=NO_NUL)]
# The width of a graph does not matter to its statistics.
NO_WIDTH = 1


def read_request(
    *,
    host: HostQuery,
    stat: StatQuery,
    window: InWindow,
    field: Annotated[list[FieldKey], Query(min_length=1, max_length=100, description="keys of the fields")],
    instance: Annotated[
        list[InstanceName] | None, Query(max_length=200, description="names of instances; default: all, up to the limit")
    ] = None,
    instances: Annotated[
        str | None,
        Query(
            pattern=r"^top:[1-9][0-9]{0,2}$",
            description="top:N, the instances with the highest mean of the first field, or the lowest where less is worse",
        ),
    ] = None,
) -> SeriesRequest:
    """Return the series that the parameters name.

    Raises: BadRequest for both names and top:N
    """
    if instance and instances is not None:
        raise BadRequest("Give either `instance` (names) or `instances` (top:N), not both")
    return SeriesRequest(
        host=host,
        stat=stat,
        window=window,
        width=NO_WIDTH,
        fields=tuple(dict.fromkeys(field)),
        instances=tuple(dict.fromkeys(instance or ())),
        top=None if instances is None else int(instances.removeprefix("top:")),
    )


class ReferenceList(Body):
    """The reference lines of graphs."""

    references: list[ReferenceRule]


InRequest = Annotated[SeriesRequest, Depends(read_request)]


@router.get("/series", response_model=SeriesBlock, responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_series(
    *,
    request: Request,
    wanted: InRequest,
    session: LargeReadSession,
    width: Annotated[int, Query(ge=16, le=8000, description="width of the graph in pixels")],
) -> Response:
    """Return the series of a stat for a graph of this width: every sample, or the envelope of each pixel column.

    The body is built from the arrays (series_body.py): validating a hundred thousand numbers one by one takes longer than reading
    them.
    """
    found = await series_points.read_series(session, replace(wanted, width=width))
    return await to_thread.run_sync(make_response, found, request.headers.get("accept-encoding", ""))


@router.get("/statistics", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_statistics(
    *,
    wanted: InRequest,
    session: LargeReadSession,
    baseline: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="id of a baseline to set beside the window")] = None,
    baseline_start: Annotated[Instant | None, Query(description="instead of a baseline: its first instant")] = None,
    baseline_end: Annotated[Instant | None, Query(description="instead of a baseline: the first instant after it")] = None,
) -> PanelStatistics:
    """Return number, lowest, mean, 95 % quantile, highest and last of each series over all samples of the window.

    They are never computed from the points of a graph. `source` says what they were read from, `note` what is missing and why.
    """
    if (baseline_start is None) != (baseline_end is None) or (baseline is not None and baseline_start is not None):
        raise BadRequest("Give `baseline`, or `baseline_start` with `baseline_end`, or none of them")
    other = None if baseline_start is None or baseline_end is None else Window(baseline_start, baseline_end)
    return await line_baseline.read_statistics(session, wanted, baseline_id=baseline, baseline_window=other)


@router.get("/references", responses=guarded_answers(NotFound))
@open_to_limited()
async def list_references(
    session: ReadSession,
    host: Annotated[
        str | None, Query(description="also what is expected of its series", min_length=1, max_length=200, pattern=NO_NUL)
    ] = None,
) -> ReferenceList:
    """List the reference lines of graphs: known values of what a field measures, and what people expect of the host's series."""
    expected = [] if host is None else await list_expected_values(session, host)
    return ReferenceList(references=[*list_reference_rules(), *map(to_reference_rule, expected)])


class ExpectedValuePut(Body):
    """What people expect of a series; without an instance of all instances."""

    host: Annotated[str, Field(min_length=1, max_length=200, pattern=NO_NUL)]
    stat: Annotated[str, Field(min_length=1, max_length=63, pattern=NO_NUL)]
    field: Annotated[str, Field(min_length=1, max_length=200, pattern=NO_NUL)]
    instance: Annotated[str | None, Field(max_length=100_000, pattern=NO_NUL)] = None
    value: Annotated[float | None, Field(allow_inf_nan=False, description="in the unit of the field; null: nothing is expected")]
    note: Annotated[str, Field(max_length=1000, pattern=NO_NUL, description="where the number comes from")] = ""


@router.put("/references", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def put_expected(body: ExpectedValuePut, principal: Operator, session: WriteSession) -> ReferenceList:
    """Say what is expected of a series, in place of what was; list the reference lines of the host."""
    await find_stat(session, body.stat)
    if body.value is None:
        await delete_expected_value(session, body.host, body.stat, body.field, body.instance)
    else:
        expected = ExpectedValue(body.stat, body.field, body.instance, body.value, body.note, principal.name)
        await put_expected_value(session, body.host, expected)
    return await list_references(session, body.host)
