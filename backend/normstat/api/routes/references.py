"""Reference lines of graphs: known values of what a field measures, and expected values of series."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from normstat.api.http.deps import NEEDS_VIEWER, Operator, ReadSession, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.comparison.next_questions.reference_lines import ReferenceRule, list_reference_rules, to_reference_rule
from normstat.errors import BadRequest, NotFound
from normstat.records.expected_value_rows import ExpectedValue, delete_expected_value, list_expected_values, put_expected_value
from normstat.runtime.body import NO_NUL, Body
from normstat.samples.lookup import find_stat

router = LazyRouter(prefix="/references", tags=["series"])


class ReferenceList(Body):
    """The reference lines of graphs."""

    references: list[ReferenceRule]


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def list_references(
    session: ReadSession,
    host: Annotated[
        str | None, Query(description="include the expected values of this host", min_length=1, max_length=200, pattern=NO_NUL)
    ] = None,
) -> ReferenceList:
    """List the reference lines of graphs: known values of what a field measures, and the expected values of a host."""
    expected = [] if host is None else await list_expected_values(session, host)
    return ReferenceList(references=[*list_reference_rules(), *map(to_reference_rule, expected)])


class ExpectedValuePut(Body):
    """The expected value of a series; without an instance, of all instances."""

    host: Annotated[str, Field(min_length=1, max_length=200, pattern=NO_NUL)]
    stat: Annotated[str, Field(min_length=1, max_length=63, pattern=NO_NUL)]
    field: Annotated[str, Field(min_length=1, max_length=200, pattern=NO_NUL)]
    instance: Annotated[str | None, Field(max_length=100_000, pattern=NO_NUL)] = None
    value: Annotated[float | None, Field(allow_inf_nan=False, description="in the unit of the field; null: delete it")]
    note: Annotated[str, Field(max_length=1000, pattern=NO_NUL, description="where the number comes from")] = ""


@router.put("", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def put_expected(body: ExpectedValuePut, principal: Operator, session: WriteSession) -> ReferenceList:
    """Set or delete the expected value of a series; return the reference lines of the host."""
    await find_stat(session, body.stat)
    if body.value is None:
        await delete_expected_value(session, body.host, body.stat, body.field, body.instance)
    else:
        expected = ExpectedValue(body.stat, body.field, body.instance, body.value, body.note, principal.name)
        await put_expected_value(session, body.host, expected)
    return await list_references(session, body.host)
