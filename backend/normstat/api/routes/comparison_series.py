"""Ask about the series of a comparison, ranked or not."""

from typing import Annotated, Final, Literal

import anyio.to_thread
from fastapi import Query, Request
from pydantic import Field, StringConstraints

from normstat.api.http.deps import State, Viewer
from normstat.api.http.disconnect import run_while_connected
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.comparison_answer import find_result
from normstat.api.routes.comparison_inputs import ComparisonInputs
from normstat.comparison.series_rows import SeriesVerdict
from normstat.comparison.series_search import AskedSeriesPage, SeriesQuestion, SeriesSort, ask_series
from normstat.errors import BadRequest, NoData, NotFound, Overloaded, TooLarge
from normstat.runtime.body import NO_NUL

router = LazyRouter(prefix="/comparison", tags=["comparison"])

MAX_SERIES: Final = 1000
MAX_OFFSET: Final = 10_000_000


class SeriesInputs(ComparisonInputs):
    """The parameters of GET /comparison, and which of its series are wanted."""

    search: Annotated[str, StringConstraints(max_length=200, pattern=NO_NUL)] = Field(
        default="",
        description="words that are all in the stat, field, column or instance: `util` finds %util of all disks; `-word`: not",
    )
    verdict: list[SeriesVerdict] = Field(default_factory=list, max_length=7, description="only series with one of these verdicts")
    sort: Annotated[
        SeriesSort, Field(description="what to sort by; `difference`: how many times the medians are apart, `series`: name")
    ] = "significance"
    order: Annotated[
        Literal["asc", "desc"] | None, Field(description="default: `asc` for `series`, otherwise `desc`; missing values come last")
    ] = None
    offset: Annotated[int, Field(ge=0, le=MAX_OFFSET, description="series to skip")] = 0
    limit: Annotated[int, Field(ge=1, le=MAX_SERIES, description="most series in the answer; all are counted")] = 100

    def to_question(self) -> SeriesQuestion:
        """Return the question for `ask_series`."""
        is_descending = self.sort != "series" if self.order is None else self.order == "desc"
        return SeriesQuestion(self.search, self.verdict, self.sort, is_descending, self.offset, self.limit)

    def to_comparison(self) -> ComparisonInputs:
        """Return the parameters of the comparison alone."""
        own = set(SeriesInputs.model_fields) - (set(ComparisonInputs.model_fields) - {"limit"})
        return ComparisonInputs.model_validate(self.model_dump(exclude=own))


@router.get("/series", responses=guarded_answers(BadRequest, NotFound, NoData, TooLarge, Overloaded))
@open_to_limited(needs_whole_group=True)
async def list_compared_series(
    inputs: Annotated[SeriesInputs, Query()], request: Request, principal: Viewer, state: State
) -> AskedSeriesPage:
    """Find series of a comparison by words, with both values, the verdict and its reason."""
    result = await run_while_connected(request, find_result(state, principal.name, inputs.to_comparison()))
    return await anyio.to_thread.run_sync(ask_series, result.rows, inputs.to_question())
